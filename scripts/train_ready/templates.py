"""Renders rows with the chat templates that ship inside trl, and says what of a row does not come through.

Knows no file: rows come as objects of `messages` and `tools`. A template is asked twice: with the row, which has to render, and
with a twin of it in which no text holds what is looked for, so that what is found comes from the template.
"""
import json
import re
from pathlib import Path

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

FOLDER = Path(trl.__file__).parent / "chat_templates"
# A value of arguments without a value is written `None` by templates that write values as Python does.
NOTHING = "nothing"


def never(messages):
    """Says that no row is meant."""
    return False


class Family:
    """A family of models, its template, and of which rows the template is known to write a part only, or to refuse them."""

    def __init__(self, name, file, cuts=never, refuses=never, why=""):
        self.name, self.cuts, self.refuses, self.why = name, cuts, refuses, why
        self.template = (FOLDER / f"{file}.jinja").read_text(encoding="utf-8")


def calls_several(messages):
    """Whether some turn calls more than one tool."""
    return any(len(message.get("tool_calls") or []) > 1 for message in messages)


def says_beside_calls(messages):
    """Whether some turn says something beside its calls."""
    return any(message.get("tool_calls") and message.get("content") for message in messages)


def says_beside_later_calls(messages):
    """Whether some turn behind the first one that calls says something beside its calls."""
    first = next((at for at, message in enumerate(messages) if message.get("tool_calls")), len(messages))
    return says_beside_calls(messages[first + 1:])


def says_and_thinks_beside_calls(messages):
    """Whether some turn says something and thinks something beside its calls."""
    return any(message.get("tool_calls") and message.get("content") and reasoning_of(message) for message in messages)


# Templates for training where there is one: with them a row is trained on. That of DeepSeek for inference takes arguments as
# text only. LFM2's first template, Llama 3, Cohere, Phi 3, Gemma 3 and the ones for images do not write calls at all.
FAMILIES = [
    Family("Qwen2.5", "qwen2_5_training"),
    Family("Qwen3", "qwen3_training"),
    Family("Qwen3.5", "qwen3_5_think_training"),
    Family("Qwen3.8", "qwen3_8_training"),
    Family("GLM-4", "glm4moe_training"),
    Family("LFM2", "lfm2_v2_training"),
    Family("Nemotron 3", "nemotron_3_nano_training"),
    Family("Gemma 4", "gemma4_v5"),
    Family("DeepSeek-V3", "deepseekv3_training", cuts=says_beside_later_calls,
           why="leaves out what is said beside calls in every turn that calls but the first"),
    Family("Muse Glimmer", "muse_glimmer_training", cuts=says_beside_calls, why="leaves out what is said beside calls"),
    Family("gpt-oss", "gptoss_training", cuts=lambda messages: calls_several(messages) or says_beside_calls(messages),
           refuses=says_and_thinks_beside_calls,
           why="writes one call of each turn, and what is said beside it only when no final answer follows; it refuses turns that "
               "say and think something beside a call"),
    Family("Llama 3.1", "llama3_1", cuts=says_beside_calls, refuses=calls_several,
           why="refuses turns with more than one call, and leaves out what is said beside one"),
]


def tokenizer_for(texts, size=4096):
    """A small tokenizer that knows the texts, with the marks of ChatML; good enough to count and to train a toy."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    inner.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=marks, show_progress=False,
                                                         initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token=marks[0], bos_token=marks[0], eos_token=marks[2])


def render(tokenizer, template, row):
    """The text of a row, by the code that a trainer uses."""
    return tokenizer.apply_chat_template(row["messages"], tools=row["tools"], chat_template=template, tokenize=False)


def plain(value):
    """A value without the words `None` and `null` and without what looks like the beginning of an object inside of a text."""
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return re.sub(r"\bNone\b", NOTHING, re.sub(r"\{\s*\\*\"", "{'", value))
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return {plain(key): plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def twin(row):
    """The row with plain texts. What no text may stand in for stays: keys without a value, and arguments that are text."""
    def message_of(message):
        return {key: value if value is None else calls_of(value) if key == "tool_calls" else plain(value)
                for key, value in message.items()}

    def calls_of(calls):
        return [{**call, "function": {**call["function"], "arguments": arguments_of(call["function"].get("arguments"))}}
                for call in calls]

    def arguments_of(arguments):
        return arguments if arguments is None or isinstance(arguments, str) else plain(arguments)

    return {**row, "messages": list(map(message_of, row["messages"])), "tools": row["tools"] and plain(row["tools"])}


def squashed(text):
    """The text with every stretch of white space as one blank: templates trim and indent."""
    return " ".join(text.split())


def leaves(value):
    """Every text of a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)


def forms(text):
    """How a text may stand in a rendering: as it is, inside of JSON, inside of a literal of Python, whole or as LFM2 does it."""
    yield squashed(text)
    written = json.dumps(text, ensure_ascii=False)[1:-1]
    yield squashed(written)
    yield squashed(written.replace("'", "\\'"))
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    yield squashed(quoted)


def without_reasoning(content):
    """A content without what stands between the tags of reasoning, which templates put elsewhere."""
    return re.split(r"</think>", content)[-1] if "<think>" in content else content


def words_of(message):
    """Of a message what has to stand in the rendering, each with its name."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        text = part.get("text", "") if isinstance(part, dict) else part or ""
        yield f"what {message['role']} says", without_reasoning(text) if message["role"] == "assistant" else text
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        yield "the name of a call", function.get("name") or ""
        for text in leaves(function.get("arguments")):
            yield "an argument", text


def reasoning_of(message):
    return message.get("reasoning_content") or message.get("thinking") or ""


class Rendered:
    """What became of the rows with the template of a family."""

    def __init__(self, family):
        self.family, self.problems = family, []
        self.n_rows = self.n_rendered = self.n_cut = self.n_refused = self.n_thoughts = self.n_thoughts_kept = 0

    def cells(self):
        kept = f"{self.n_thoughts_kept} of {self.n_thoughts}" if self.n_thoughts else "–"
        return [self.family.name, self.n_rows, self.n_rendered, self.n_cut, self.n_refused, kept, len(self.problems)]

    def add(self, tokenizer, row):
        self.n_rows += 1
        is_cut = self.family.cuts(row["messages"])
        try:
            render(tokenizer, self.family.template, row)
            row = twin(row)
            text = render(tokenizer, self.family.template, row)
        except Exception as error:  # templates raise whatever they want
            self.n_refused += 1
            if not self.family.refuses(row["messages"]):
                self.problems.append(f"{row['id']}: {type(error).__name__}: {error}")
            return
        self.n_rendered += 1
        self.n_cut += is_cut
        found = squashed(text)
        problems = [*problems_of(text), *([] if is_cut else missing_words(found, row["messages"]))]
        self.problems += [f"{row['id']}: {problem}" for problem in problems]
        thoughts = [reasoning_of(message) for message in row["messages"] if reasoning_of(message).strip()]
        self.n_thoughts += len(thoughts)
        self.n_thoughts_kept += sum(squashed(thought) in found for thought in thoughts)


def problems_of(text):
    """What stands in the rendering of a twin and should not, as sentences."""
    if re.search(r"\bNone\b", text):
        yield "None stands in the rendering"
    if re.search(r'"\{\\+"', text):
        yield "arguments are encoded twice"


def missing_words(found, messages):
    """What should stand in the rendering and does not, as sentences."""
    for at, message in enumerate(messages):
        for name, word in words_of(message):
            if word.strip() and not any(form in found for form in forms(word)):
                yield f"message {at}: {name} is not in the rendering: {squashed(word)[:60]!r}"


def render_all(family, rows):
    """Renders every row with the template of a family."""
    tokenizer = tokenizer_for(["a tokenizer is asked for, but only text is rendered"], size=300)
    rendered = Rendered(family)
    for row in rows:
        rendered.add(tokenizer, row)
    return rendered
