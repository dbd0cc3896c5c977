"""What the turns of the assistant cost a causal language model with four contexts before them: the original one, the compacted
one, and the original one shortened to as many tokens by masking old results and by cutting the oldest turns.

The less a turn costs, the more of what it says the context tells. Knows no run and no file of a data set: `rows` loads both.
"""
import difflib
import json
import random
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl.chat_template_utils import supports_tool_calling

import rows
import templates
from tables import table

CONTEXTS = ["original", "compacted", "old results masked", "oldest turns cut"]
# A turn counts where its context became shorter by at least this share: elsewhere there is nothing to compare.
LEAST_SHARE_SAVED = 0.1
N_RESAMPLES = 2000


class Turn:
    """A turn of the assistant that stands in both conversations, and the tokens of what is before it."""

    def __init__(self, id_, target, original, compacted):
        self.id, self.target, self.original, self.compacted = id_, target, original, compacted


class Teller:
    """Writes messages as the model reads them: with its own template where that writes calls, else as ChatML."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        own = tokenizer.chat_template and supports_tool_calling(tokenizer)
        self.template = tokenizer.chat_template if own else (templates.FOLDER / "qwen2_5.jinja").read_text(encoding="utf-8")

    def text(self, messages, tools, asks=False):
        return self.tokenizer.apply_chat_template(messages, tools=tools, chat_template=self.template, tokenize=False,
                                                  add_generation_prompt=asks)

    def tokens(self, text):
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def context(self, messages, tools):
        return self.tokens(self.text(messages, tools, asks=True))

    def target(self, messages, tools, at):
        """The tokens of the turn at `at`, or None where the template writes it otherwise once it is there."""
        before, whole = self.text(messages[:at], tools, asks=True), self.text(messages[: at + 1], tools)
        return self.tokens(whole[len(before):]) if whole.startswith(before) else None


def load(folder, in_half):
    """The model and its tokenizer, from a folder of transformers or with a GGUF file; its weights in 16 bits or in 32."""
    weights = sorted(path.name for path in folder.glob("*.gguf"))
    named = {"gguf_file": weights[0]} if weights else {}
    tokenizer = AutoTokenizer.from_pretrained(folder, **named)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **named).eval()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.to(device, torch.bfloat16 if in_half else torch.float32), tokenizer


def same_turns(original, compacted):
    """Positions of turns of the assistant that say and call the same in both, in order."""
    def keyed(messages):
        turns = [(at, message) for at, message in enumerate(messages) if message["role"] == "assistant"]
        return [at for at, _ in turns], [json.dumps([turn.get("content"), turn.get("tool_calls")]) for _, turn in turns]

    (places, keys), (other_places, other_keys) = keyed(original), keyed(compacted)
    for block in difflib.SequenceMatcher(None, keys, other_keys, autojunk=False).get_matching_blocks():
        yield from zip(places[block.a: block.a + block.size], other_places[block.b: block.b + block.size])


def turns_of(teller, original, compacted, window):
    """The turns of a conversation that can be compared, the last one first."""
    tools = original["tools"]
    for at, other in reversed(list(same_turns(original["messages"], compacted["messages"]))):
        before, shorter = original["messages"][:at], compacted["messages"][:other]
        if before == shorter or not any(message["role"] == "tool" for message in before):
            continue
        context = teller.context(before, tools)
        target = teller.target(original["messages"], tools, at)
        if not target or len(context) + len(target) > window:
            continue
        if len(teller.context(shorter, tools)) <= (1 - LEAST_SHARE_SAVED) * len(context):
            yield Turn(original["id"], target, before, shorter)


def chosen(teller, originals, compacted, n_turns, window):
    """So many turns, of each conversation in its turn one, from its end, so that many conversations take part."""
    waiting = [turns_of(teller, originals[row["id"]], row, window) for row in compacted if row["id"] in originals]
    found = []
    while waiting and len(found) < n_turns:
        still = []
        for turns in waiting:
            turn = next(turns, None)
            if turn:
                found.append((turn, originals[turn.id]["tools"]))
                still.append(turns)
        waiting = still
    return found[:n_turns]


def masked(messages, keep, n_chars=0):
    """The messages with all results but the last `keep` replaced by how many lines they had; of the last of those so many
    characters stay."""
    results = [at for at, message in enumerate(messages) if message["role"] == "tool"]
    hidden = results[: len(results) - keep]

    def shown(at):
        content = str(messages[at].get("content"))
        begin = content[:n_chars] if at == hidden[-1] else ""
        return f"{begin}[{content.count(chr(10), len(begin)) + 1} lines hidden]"

    return [{**message, "content": shown(at)} if at in hidden else message for at, message in enumerate(messages)]


def longest(n, fits):
    """The largest number up to n that fits, where every smaller one does; 0 where none does."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def masked_context(teller, messages, tools, n_tokens):
    """The context with the last results, as many as so many tokens have room for, and the beginning of the one before them."""
    def context(*choice):
        return teller.context(masked(messages, *choice), tools)

    results = [message for message in messages if message["role"] == "tool"]
    keep = longest(len(results) - 1, lambda keep: len(context(keep)) <= n_tokens)
    before = str(results[len(results) - keep - 1].get("content"))
    return context(keep, longest(len(before), lambda n_chars: len(context(keep, n_chars)) <= n_tokens))


def cut_context(teller, messages, tools, n_tokens):
    """The head of the context, system messages and tools, and of the rest the last tokens, so many together."""
    n_head = next((at for at, message in enumerate(messages) if message["role"] not in ("system", "developer")), 0)
    whole = teller.context(messages, tools)
    head = teller.tokens(teller.text(messages[:n_head], tools)) if n_head else []
    n_tail = n_tokens - len(head)
    return head + whole[-n_tail:] if n_tail > 0 else whole[-n_tokens:]


def contexts_of(teller, turn, tools):
    """The four contexts of a turn, in the order of `CONTEXTS`."""
    compacted = teller.context(turn.compacted, tools)
    return [
        teller.context(turn.original, tools),
        compacted,
        masked_context(teller, turn.original, tools, len(compacted)),
        cut_context(teller, turn.original, tools, len(compacted)),
    ]


@torch.inference_mode()
def cost(model, context, target):
    """The sum of the losses of the target's tokens behind the context, in nats."""
    tokens = torch.tensor([context + target], device=model.device)
    logits = model(input_ids=tokens, logits_to_keep=len(target) + 1).logits[0, :-1].float()
    return torch.nn.functional.cross_entropy(logits, tokens[0, -len(target):], reduction="sum").item()


def interval(measured, at):
    """Bounds of the difference to the original per token that 95 % of resampled sets of conversations stay within."""
    by_id = {}
    for one in measured:
        by_id.setdefault(one["id"], []).append(one)
    groups, draw = [by_id[id_] for id_ in sorted(by_id)], random.Random(0)
    found = []
    for _ in range(N_RESAMPLES):
        drawn = [one for _ in groups for one in draw.choice(groups)]
        found.append(sum(one["costs"][at] - one["costs"][0] for one in drawn) / sum(one["n_target"] for one in drawn))
    found.sort()
    return found[int(0.025 * N_RESAMPLES)], found[int(0.975 * N_RESAMPLES)]


def told(measured):
    """The table: tokens of context and loss for each token of the turns, and how much more that is than with the original."""
    n_target = sum(one["n_target"] for one in measured)
    lines = []
    for at, name in enumerate(CONTEXTS):
        n_context = sum(one["n_context"][at] for one in measured) / len(measured)
        loss = sum(one["costs"][at] for one in measured) / n_target
        low, high = interval(measured, at)
        more = f"{loss - sum(one['costs'][0] for one in measured) / n_target:+.3f} ({low:+.3f} to {high:+.3f})"
        lines.append([name, f"{n_context:.0f}", f"{loss:.3f}", more if at else "–"])
    return table(["context", "tokens of context", "loss per token", "more than original"], lines)


def measure(folder, run, whole_run, n_turns, window, in_half):
    """Prints the table for a run; `whole_run` holds the same conversations with nothing compressed. Returns the exit code."""
    loaded = [rows.load("trl", one) for one in (run, whole_run)]
    for one in loaded:
        if not one.splits:
            print(f"error: {one.run}: {one.problems[-1]}", file=sys.stderr)
            return 1
    compacted, originals = list(loaded[0].conversations()), {row["id"]: row for row in loaded[1].conversations()}
    model, tokenizer = load(folder, in_half)
    window = min(window, getattr(model.config, "max_position_embeddings", window))
    teller, began = Teller(tokenizer), time.monotonic()
    turns = chosen(teller, originals, compacted, n_turns, window)
    if not turns:
        print(f"No turn of {run} has a shortened context whose original fits in {window} tokens: --window takes more.")
        return 1
    measured = []
    for turn, tools in turns:
        if sys.stderr.isatty():
            print(f"\rturn {len(measured) + 1} of {len(turns)} ", end="", file=sys.stderr, flush=True)
        contexts = contexts_of(teller, turn, tools)
        measured.append({"id": turn.id, "n_target": len(turn.target), "n_context": list(map(len, contexts)),
                         "costs": [cost(model, context, turn.target) for context in contexts]})
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    print(told(measured))
    print(f"{len(measured)} turns of {len({one['id'] for one in measured})} conversations, "
          f"{sum(one['n_target'] for one in measured)} tokens of the assistant, "
          f"{sum(p.numel() for p in model.parameters()) / 1e6:.0f} million weights, {time.monotonic() - began:.0f} s.")
    return 0
