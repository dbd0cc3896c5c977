"""Loads what a run holds for training with `datasets`, and holds each row against what its target wants.

Knows no template: what is asked of rows for trl beyond their form, `templates` asks.
"""
import gzip
import json
import tempfile

import datasets
import yaml

ROLES = {"system", "developer", "user", "assistant", "tool"}
SHAREGPT_NAMES = {"system", "human", "gpt", "function_call", "observation"}


class Loaded:
    """What `datasets` makes of a run, and what is wrong with it, as sentences."""

    def __init__(self, target, run):
        self.target, self.run, self.splits, self.problems = target, run, {}, []

    def n_rows(self, split):
        return len(self.splits.get(split, ()))

    def conversations(self):
        """Of every row whose messages are objects these and the tools, or None."""
        for rows in self.splits.values():
            for row in rows:
                messages = row["messages"] if "messages" in row else row["prompt"] + row["completion"]
                if all(isinstance(message, dict) for message in messages):
                    yield {"id": row["id"], "messages": messages, "tools": row.get("tools")}


def load(target, run):
    """Loads the folder of the data as a user would, by its name alone."""
    loaded = Loaded(target, run)
    folder = run / "dataset"
    if not (folder / "README.md").is_file():
        loaded.problems.append("there is no dataset/README.md")
    else:
        loaded.problems += problems_of_readme(folder / "README.md")
    try:
        # With a cache of its own: what `datasets` keeps of other runs has nothing to say here.
        with tempfile.TemporaryDirectory() as cache:
            loaded.splits = dict(datasets.load_dataset(str(folder), cache_dir=cache, keep_in_memory=True))
    except Exception as error:  # what a library raises is what its user would see
        loaded.problems.append(f"datasets does not load it: {one_line(error)}")
        return loaded
    loaded.problems += problems_of_columns(loaded) if target == "trl" else problems_of_rows(loaded, folder)
    return loaded


def problems_of_readme(path):
    """Whether the YAML tells runs apart: `datasets` finds what it kept by the name of the folder and by the YAML alone, so that it
    would show the rows of a run to who asks for those of another one, or for those of the same one made anew."""
    front = path.read_text(encoding="utf-8").split("---\n")
    configs = (yaml.safe_load(front[1]) or {}).get("configs", []) if len(front) > 2 else []
    if not configs:
        yield "README.md has no YAML with `configs`"
    for config in configs:
        if not config.get("description"):
            yield (f"README.md: the entry {config.get('config_name')!r} of `configs` has no `description` that is another one for "
                   "every run: datasets would mix up runs that it keeps")


def one_line(error):
    """An error and its cause in a line."""
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{told[:200]}; {one_line(error.__cause__)}" if error.__cause__ else told[:200]


def problems_of_columns(loaded):
    """What is wrong with rows for trl: messages that are no objects, and keys without a value."""
    for name, rows in loaded.splits.items():
        for at, row in enumerate(rows):
            columns = ["messages"] if "messages" in row else ["prompt", "completion"]
            for message in [message for column in columns for message in row.get(column) or [None]]:
                problem = problem_of_message(message)
                if problem:
                    yield f"{name} row {at} ({row.get('id')}): {problem}"


def problem_of_message(message):
    """What is wrong with one message, or None."""
    if not isinstance(message, dict):
        return f"a message is {type(message).__name__}, not an object"
    if message.get("role") not in ROLES:
        return f"the role {message.get('role')!r} is none that templates know"
    holes = [key for key, value in message.items() if value is None]
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        holes += [key for key, value in [*call.items(), *function.items()] if value is None]
        if not isinstance(function.get("name"), str):
            return "a call has no name"
    return f"None stands in {', '.join(holes)}" if holes else None


def rows_of(loaded, folder):
    """Every row with where it stands: JSON lines as they are, since `datasets` gives each object the keys of all; tables as loaded."""
    for split, rows in loaded.splits.items():
        files = sorted((folder / split).glob("*.jsonl*"))
        for path in files:
            with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
                for at, line in enumerate(file):
                    yield f"{split}/{path.name} line {at + 1}", json.loads(line)
        if not files:
            yield from ((f"{split} row {at}", row) for at, row in enumerate(rows))


def problems_of_rows(loaded, folder):
    """What is wrong with the rows for a named target."""
    check = {"openai": openai, "axolotl": axolotl, "sharegpt": sharegpt, "llama-factory": llama_factory,
             "unsloth": unsloth}
    if loaded.target not in check:
        yield f"the target {loaded.target!r} is not known"
        return
    columns = set()
    for place, row in rows_of(loaded, folder):
        columns.update(row)
        problem = check[loaded.target](row)
        if problem:
            yield f"{place} ({row.get('id', '–')}): {problem}"
    if loaded.target == "llama-factory":
        yield from problems_of_dataset_info(folder, columns)


def openai(row):
    """Messages as the fine-tuning interface takes them: arguments are text that holds an object, results answer calls, and where
    something is called nothing need be said."""
    called = set()
    for message in row.get("messages") or [None]:
        says_nothing = isinstance(message, dict) and message.get("tool_calls") and message.get("content", "") is None
        problem = problem_of_message({**message, "content": ""} if says_nothing else message)
        if problem:
            return problem
        for call in message.get("tool_calls") or []:
            called.add(call.get("id"))
            arguments = call["function"].get("arguments")
            if not isinstance(arguments, str):
                return "arguments of a call are not text"
            if not isinstance(json.loads(arguments), dict):
                return "arguments of a call hold no object"
        if message["role"] == "tool" and message.get("tool_call_id") not in called:
            return "a result answers no call"
    return None


def axolotl(row):
    """Messages of a role and a text."""
    for message in row.get("messages") or [None]:
        problem = problem_of_message(message)
        if problem:
            return problem
        if not isinstance(message.get("content", ""), str):
            return "a content is not text"
    return None


def sharegpt(row):
    """Turns of `from` and `value`; a call is JSON in its value."""
    for turn in row.get("conversations") or [{}]:
        if turn.get("from") not in SHAREGPT_NAMES or not isinstance(turn.get("value"), str):
            return f"a turn has no known name or no text: {sorted(turn)}"
        if turn["from"] == "function_call":
            json.loads(turn["value"])
    return None


def unsloth(row):
    """Turns of `role` and `content`, both text, and nothing else that a template may stumble on."""
    for turn in row.get("conversations") or [{}]:
        if not isinstance(turn.get("role"), str) or not isinstance(turn.get("content"), str):
            return f"a turn has no role or no text: {sorted(turn)}"
    return None


def llama_factory(row):
    """Turns as its converter takes them, or the row is left out there: somebody or a result, then the assistant or a call."""
    turns = row.get("conversations") or [{}]
    names = [turn.get("from") for turn in turns][turns[0].get("from") == "system":]
    sides = [{"human", "observation"}, {"gpt", "function_call"}]
    wrong = next((name for at, name in enumerate(names) if name not in sides[at % 2]), None)
    if wrong or len(names) % 2:
        return f"LLaMA-Factory leaves it out: {f'{wrong} stands out of turn' if wrong else f'it ends with {names[-1]}'}"
    if not isinstance(row.get("tools", ""), str):
        return "tools are not text"
    return sharegpt(row)


def problems_of_dataset_info(folder, columns):
    """Whether what `dataset_info.json` names is there: each file, and each column in some row."""
    path = folder / "dataset_info.json"
    if not path.is_file():
        yield "there is no dataset/dataset_info.json"
        return
    for name, entry in json.loads(path.read_text(encoding="utf-8")).items():
        if not (folder / entry.get("file_name", "")).exists():
            yield f"dataset_info.json: {name}: there is no {entry.get('file_name')}"
        for column in set(entry.get("columns", {}).values()) - columns:
            yield f"dataset_info.json: {name}: no row has {column}, which its converter looks up"
