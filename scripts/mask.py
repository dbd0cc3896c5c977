#!/usr/bin/env python3
"""Masking, to hold condenser against: of every conversation the texts of all tool results but the last K are blanked.

Reads JSON lines with `messages` on stdin and writes them on stdout, each record under its own id. Nothing else of a record
changes: what the assistant says and calls stays, and so do the last results, whatever stands in them.

usage: mask.py --keep K      the last K results of each conversation stay
       mask.py --ratio R     K is the number that comes nearest to R over all records of the input; it is said on stderr

The ratio is visible characters before over after (contents, reasoning, values in the arguments of calls), both without the
last WINDOW messages of each conversation, over the whole input: what `target_ratio` counts.
Needs python3 alone.
"""
import argparse
import json
import sys

WINDOW = 4


def parts_of(content):
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [part if isinstance(part, str) else str(part.get("text") or "") for part in content if isinstance(part, (str, dict))]


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield json.dumps(value)


def arguments_of(message):
    for call in message.get("tool_calls") or []:
        arguments = (call.get("function") or {}).get("arguments") if isinstance(call, dict) else None
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                pass
        yield from leaves(arguments)


def size(message):
    """Visible characters of a message, one between each two texts."""
    texts = ["\n".join(parts_of(message.get("content"))), message.get("reasoning_content") or "", *arguments_of(message)]
    return sum(map(len, texts)) + len(texts)


def is_result(message):
    return message.get("role") in ("tool", "function")


def blanked(message):
    n_lines = "\n".join(parts_of(message.get("content"))).count("\n") + 1
    mark = f"⋯ {n_lines} lines"
    as_parts = isinstance(message.get("content"), list)
    return {**message, "content": [{"type": "text", "text": mark}] if as_parts else mark}


def masked(messages, keep):
    results = [at for at, message in enumerate(messages) if is_result(message)]
    hidden = set(results[: max(len(results) - keep, 0)])
    return [blanked(message) if at in hidden else message for at, message in enumerate(messages)]


def savings_of(messages):
    """Characters outside the window, and what blanking saves of each result, the last first; nothing in the window."""
    old = len(messages) - WINDOW
    before = sum(map(size, messages[: max(old, 0)]))
    results = [at for at, message in enumerate(messages) if is_result(message)]
    return before, [size(messages[at]) - size(blanked(messages[at])) if at < old else 0 for at in reversed(results)]


def nearest(conversations, ratio):
    """The K whose ratio comes nearest, of two as near the larger, and that ratio."""
    before, saved = 0, []
    for n_chars, savings in map(savings_of, conversations):
        before += n_chars
        saved += [0] * (len(savings) - len(saved))
        for at, n in enumerate(savings):
            saved[at] += n
    best, after = (len(saved), 1.0), before
    for keep in range(len(saved) - 1, -1, -1):
        after -= saved[keep]
        found = before / max(after, 1)
        if abs(found - ratio) < abs(best[1] - ratio):
            best = keep, found
    return best


def main():
    parser = argparse.ArgumentParser(description="Blanks all tool results but the last ones.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--keep", type=int, help="results of each conversation that stay")
    which.add_argument("--ratio", type=float, help="take the number of results that comes nearest to this ratio")
    options = parser.parse_args()
    text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    records = [json.loads(line) for line in text.split("\n") if line.strip()]
    keep = options.keep
    if keep is None:
        keep, found = nearest([record["messages"] for record in records], options.ratio)
        print(f"the last {keep} results stay: ratio {found:.3f}", file=sys.stderr)
    for record in records:
        line = json.dumps({**record, "messages": masked(record["messages"], max(keep, 0))}, ensure_ascii=False)
        sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass") + b"\n")


if __name__ == "__main__":
    main()
