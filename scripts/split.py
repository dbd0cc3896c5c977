"""How well splits find what is alike: copies are planted among the conversations of corpora, and what the program leaves out or puts
together is counted. Called by split.sh."""

import argparse
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

LINE = b"condenser split verdicts 1\n"
RECORD = struct.Struct(">IQIBQ")
REASONS = {0: None, 2: "duplicate", 4: "near_duplicate", 6: "contaminated"}


def verdicts(run):
    """Of each line of the only input: whether it is evaluated on, why it is left out, and what goes with that."""
    data = (run / "split/verdicts.bin").read_bytes()
    assert data.startswith(LINE)
    (count,) = struct.unpack_from("<Q", data, len(LINE))
    first = len(LINE) + 8
    texts = first + count * RECORD.size
    found = {}
    for number in range(count):
        _, row, chat, bits, at = RECORD.unpack_from(data, first + number * RECORD.size)
        text = None
        if at != 2**64 - 1:
            (length,) = struct.unpack_from("<I", data, texts + at)
            text = data[texts + at + 4 : texts + at + 4 + length].decode()
        found[row, chat] = (bool(bits & 1), REASONS[bits & 6], text)
    return found


def split(program, folder, lines, **options):
    """Runs a job over these lines and gives the verdicts by line."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    job = 'kind = "dataset"\ninputs = ["in.jsonl"]\noutput = "run"\n[engine]\nhide_by = "look"\n[dataset]\n'
    job += "".join(f"{key} = {json.dumps(value)}\n" for key, value in options.items())
    (folder / "job.toml").write_text(job)
    subprocess.run(["rm", "-rf", "run"], cwd=folder, check=True)
    done = subprocess.run([program, "run", "job.toml", "-q"], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return {row: verdict for (row, chat), verdict in verdicts(folder / "run").items() if chat == 0}


WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\W_぀-ヿ㐀-鿿가-힯]+")


def words(text):
    return WORD.findall(text.lower())


def contents(record):
    """The texts of a record's messages as one can change them."""
    for message in record["messages"]:
        content = message.get("content")
        if isinstance(content, str) and content:
            yield message, "content", content
        for part in content if isinstance(content, list) else []:
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                yield part, "text", part["text"]


def changed(texts, share, draw):
    """The texts with this share of their words exchanged, in another case, with other spaces."""
    places = [(at, match.span()) for at, text in enumerate(texts) for match in WORD.finditer(text)]
    chosen = {}
    for at, span in draw.sample(places, round(share * len(places))):
        chosen.setdefault(at, []).append(span)
    out = []
    for at, text in enumerate(texts):
        for start, end in sorted(chosen.get(at, []), reverse=True):
            text = text[:start] + f"q{draw.randrange(10**6)}" + text[end:]
        text = draw.choice([str, str.upper, str.lower])(text)
        out.append(re.sub(r" ", lambda _: draw.choice([" ", "  ", "\n"]), text))
    return out


def copy(record, share, draw, name):
    """A copy with words exchanged everywhere but in the system prompt, which is another one."""
    record = json.loads(json.dumps(record))
    record["id"] = name
    said = [it for it in contents(record) if it[0].get("role") != "system"]
    for (holder, key, _), text in zip(said, changed([text for _, _, text in said], share, draw)):
        holder[key] = text
    messages = record["messages"]
    while messages and messages[0].get("role") == "system":
        messages = messages[1:]
    record["messages"] = [{"role": "system", "content": f"You are assistant number {draw.random()}."}] + messages
    return record


def spoken(record):
    said = [word for holder, _, text in contents(record) if holder.get("role") != "system" for word in words(text)]
    calls = [call for message in record["messages"] for call in message.get("tool_calls") or []]
    return said + [word for call in calls for word in words(json.dumps(call.get("function", ""), ensure_ascii=False))]


def pairs(record):
    said = spoken(record)
    return set(zip(said, said[1:]))


def prompt_of(record):
    for message in record["messages"]:
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, list):
                content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
            return content or ""
    return ""


def percent(part, whole):
    return f"{100 * part / max(whole, 1):6.2f} %"


def near_duplicates(program, folder, name, records, draw):
    """Recall on planted copies, and what is left out although it is not alike."""
    chosen = draw.sample(range(len(records)), min(200, len(records)))
    chosen = [at for at in chosen if len(spoken(records[at])) >= 10]
    copies = [copy(records[at], 0.05, draw, f"copy/{n}") for n, at in enumerate(chosen)]
    others = [copy(records[at], 0.5, draw, f"other/{n}") for n, at in enumerate(chosen)]
    lines = records + copies + others
    found = split(program, folder, lines, group_by="prompt")
    names = {record["id"]: at for at, record in enumerate(lines)}

    def stays(at):
        return found[at][1] is None

    # Where the conversation itself is near to a third one, the copy may stay instead of it.
    n_found = sum(not (stays(len(records) + n) and stays(at)) for n, at in enumerate(chosen))
    base = len(records) + len(copies)
    n_other = sum(found[base + n][1] is not None for n in range(len(others)))
    out = [at for at in range(len(records)) if found[at][1] in ("duplicate", "near_duplicate")]
    n_false, examples = 0, []
    for at in out:
        twin = names[found[at][2]]
        mine, its = pairs(lines[at]), pairs(lines[twin])
        likeness = len(mine & its) / max(min(len(mine), len(its)), 1)
        said = spoken(lines[at])
        is_beginning = spoken(lines[twin])[: len(said)] == said
        if likeness < 0.7 and not is_beginning:
            n_false += 1
            examples.append((lines[at]["id"], lines[twin]["id"], round(likeness, 2)))
    print(
        f"{name:24} {len(records):6} {len(chosen):6} {percent(n_found, len(chosen))} {percent(n_other, len(others))}"
        f" {len(out):6} {percent(n_false, len(records))}",
        flush=True,
    )
    return (n_found, len(chosen), n_other + n_false, len(records) + len(others)), examples


def near_prompts(program, folder, records, draw):
    """How often a copy of a first prompt goes where the prompt went, whatever the seed."""
    chosen = [record for record in records if len(words(prompt_of(record))) >= 10]
    chosen = draw.sample(chosen, min(1000, len(chosen)))
    lines = []
    for n, record in enumerate(chosen):
        (text,) = changed([prompt_of(record)], 0.05, draw)
        for kind, said in [("a", prompt_of(record)), ("b", text)]:
            answer = " ".join(f"w{draw.randrange(10**6)}" for _ in range(30))
            messages = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
            lines.append({"id": f"{kind}{n}", "messages": messages})
    apart = set()
    for seed in range(1, 7):
        found = split(program, folder, lines, group_by="prompt", dedup="none", eval_share=0.5, seed=seed, stratify=False)
        apart |= {n for n in range(len(chosen)) if found[2 * n][0] != found[2 * n + 1][0]}
    return len(chosen) - len(apart), len(chosen)


def contamination(program, folder, items, records, draw):
    """Recall on planted items, and alarms where none was planted."""
    items = [item for item in items if 8 <= len(words(item)) <= 2000]
    items = draw.sample(items, min(400, len(items)))
    (folder / "eval").mkdir(parents=True, exist_ok=True)
    (folder / "eval/items.jsonl").write_text("".join(json.dumps({"question": item}) + "\n" for item in items))
    lines, planted = [json.loads(json.dumps(record)) for record in records], {}
    for at, item in zip(draw.sample(range(len(lines)), min(len(items), len(lines))), items):
        said = list(contents(lines[at]))
        if not said:
            continue
        holder, key, text = draw.choice(said)
        (other,) = changed([item], draw.choice([0.0, 0.05]), draw)
        holder[key] = f"{text}\n{other}\n{text[:40]}"
        planted[at] = item
    found = split(program, folder, lines, dedup="none", group_by="prompt", decontaminate=["eval/items.jsonl"])
    n_found = sum(found[at][1] == "contaminated" for at in planted)
    alarms = [(lines[at]["id"], found[at][2]) for at in found if at not in planted and found[at][1] == "contaminated"]
    return n_found, len(planted), alarms, len(lines) - len(planted)


def many(program, folder, n):
    """A job over so many invented conversations, one in ten of them a copy, under a watch."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(5)
    vocabulary = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ["", "n", "r", "s", "lo", "mi", "ta", "ve"]]
    vocabulary += [f"{word}{end}" for word in vocabulary for end in ["ka", "zo", "pi", "re", "du"]]
    with open(folder / "many.jsonl", "w") as file:
        before = []
        for at in range(n):
            if at % 10 == 9:
                prompt, answer = draw.choice(before)
                said = prompt.split(" ")
                said[draw.randrange(len(said))] = "other"
                prompt = " ".join(said)
            else:
                prompt, answer = (" ".join(draw.choices(vocabulary, k=k)) for k in (24, 60))
                before = before[-999:] + [(prompt, answer)]
            messages = [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}]
            file.write(json.dumps({"id": str(at), "messages": messages}) + "\n")
    job = 'kind = "dataset"\ninputs = ["many.jsonl"]\noutput = "run"\n[engine]\nhide_by = "look"\n'
    (folder / "job.toml").write_text(job)
    subprocess.run(["rm", "-rf", "run"], cwd=folder, check=True)
    began = time.monotonic()
    command = ["/usr/bin/time", "-v", program, "run", "job.toml"]
    done = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    for line in done.stderr:
        if re.search(r"^split:|looked at|conversation.* → |Maximum resident|Elapsed|rror", line):
            print(f"{time.monotonic() - began:7.1f} s  {line.strip()}", flush=True)
    assert done.wait() == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path, help="a folder for what is made on the way")
    parser.add_argument("corpora", type=pathlib.Path, nargs="*", help="files of JSON lines with messages")
    parser.add_argument("--many", type=int, help="so many invented conversations instead")
    args = parser.parse_args()
    program, draw = args.program.resolve(), random.Random(20)
    if args.many:
        return many(program, args.work, args.many)
    print("corpus                    lines  copies  found   half others  out    false", flush=True)
    sums, all_records = [0, 0, 0, 0], {}
    examples = []
    for path in args.corpora:
        records = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        records = [record for record in records if isinstance(record.get("messages"), list) and "id" in record]
        all_records[path.stem] = records
        counts, unlike = near_duplicates(program, args.work / path.stem, path.stem, records, draw)
        sums = [a + b for a, b in zip(sums, counts)]
        examples += unlike
    n_found, n_copies, n_false, n_clean = sums
    print(f"near-duplicates: {percent(n_found, n_copies)} of {n_copies} copies found, {percent(n_false, n_clean)} false alarms of {n_clean}")
    print("false:", examples[:5])
    prompts = [record for records in all_records.values() for record in records]
    n_same, n_prompts = near_prompts(program, args.work / "prompts", prompts, draw)
    print(f"first prompts: {percent(n_same, n_prompts)} of {n_prompts} copies on the same side with six seeds", flush=True)
    sources = [name for name in all_records if name in ("mtbench_arena", "sharegpt_tools")] or list(all_records)[:1]
    items = sorted({prompt_of(record) for name in sources for record in all_records[name]})
    rest = [record for name, records in all_records.items() if name not in sources for record in records]
    n_held, n_planted, alarms, n_clean = contamination(program, args.work / "items", items, rest, draw)
    print(f"contamination: {percent(n_held, n_planted)} of {n_planted} planted items found, {percent(len(alarms), n_clean)} false alarms of {n_clean}")
    print("false:", alarms[:5])
    enough = n_found >= 0.99 * n_copies and n_same >= 0.99 * n_prompts and n_held >= 0.99 * n_planted
    return 0 if enough and n_false <= 0.01 * sums[3] and len(alarms) <= 0.01 * n_clean else 1


if __name__ == "__main__":
    sys.exit(main())
