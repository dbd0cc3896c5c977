"""One conversation at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any, overload

from . import _condenser
from ._options import Options

#: A record as JSON text, a record as a dictionary, or a list of messages.
Conversation = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]

_SHOWN_CHARS = 1200


@dataclass(frozen=True, repr=False)
class Compressed:
    """What became of a conversation."""

    #: What was compressed, as it was given.
    original: Any
    #: What came of it, of the same kind: a JSON text, a record or a list of messages.
    conversation: Any
    #: What brings the original back: JSON, to be kept beside the conversation.
    sidecar: str
    #: What was gained, and what was lost from view: the figures of the metrics table.
    metrics: dict[str, Any]
    #: What was done with each message of the original and why, in its order.
    decisions: list[dict[str, Any]]
    #: The options that it was compressed with.
    options: Options

    @property
    def messages(self) -> list[Any]:
        """The messages that are left."""
        return self._messages(self.conversation)

    def _messages(self, conversation: Any) -> list[Any]:
        if isinstance(conversation, list):
            return conversation
        found = _compressor(self.options.to_json()).messages(_record(conversation))
        return [json.loads(message) for message in found]

    def restore(self) -> Any:
        """The original, put together again from the conversation and the sidecar."""
        return restore(self.conversation, self.sidecar)

    def __repr__(self) -> str:
        chars = f"{self.metrics['chars_in']:,} → {self.metrics['chars_out']:,} characters"
        return f"Compressed({chars}, {len(self.decisions)} → {len(self.messages)} messages)"

    def _repr_html_(self) -> str:
        before, after = self._messages(self.original), self.messages
        rows = []
        for decision in self.decisions:
            index, position = decision["message_index"], decision["position"]
            if index >= len(before) or position >= len(after):
                continue
            is_same = before[index] == after[position]
            role = escape(_role(before[index]))
            why = escape(decision["action"] if is_same else f"{decision['action']}: {decision['reason']}")
            old = _cell(before[index])
            new = '<td style="opacity:.5">the same</td>' if is_same else f"<td>{_cell(after[position])}</td>"
            rows.append(f"<tr><td><b>{role}</b><br><small>{why}</small></td><td>{old}</td>{new}</tr>")
        figures = f"{self.metrics['chars_in']:,} → {self.metrics['chars_out']:,} characters"
        return (
            '<table style="table-layout:fixed;width:100%"><caption style="text-align:left">'
            f"{figures}, every original restorable</caption>"
            '<colgroup><col style="width:12%"><col style="width:44%"><col style="width:44%"></colgroup>'
            f"<thead><tr><th></th><th>before</th><th>after</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


def compress(conversation: Conversation, /, options: Mapping[str, Any] | None = None, **more: Any) -> Compressed:
    """Compresses a conversation in any shape that condenser knows.

    `conversation` is a list of messages, a record that holds one, or a record as JSON text; the result is of the same
    kind. `options` and the keywords are those of :class:`Options`. That the original comes back was tried before this
    returns.

    >>> import condenser
    >>> record = '{"messages": [{"role": "user",  "content": "Hi"}]}'
    >>> compressed = condenser.compress(record)
    >>> condenser.restore(compressed.conversation, compressed.sidecar) == record
    True

    Raises :class:`InputError` where there is no conversation, :class:`UsageError` for an option that is none.
    """
    if not isinstance(conversation, (str, Mapping, Iterable)) or isinstance(conversation, bytes):
        kinds = "a list of messages, a record, or a record as JSON text"
        raise TypeError(f"a conversation is {kinds}; not {type(conversation)}")
    given = conversation if isinstance(conversation, (str, Mapping)) else list(conversation)
    checked = Options(options, **more)
    record, sidecar, metrics, decisions = _compressor(checked.to_json()).compress(_record(given))
    return Compressed(given, _as(given, record), sidecar, json.loads(metrics), json.loads(decisions), checked)


@overload
def restore(conversation: Compressed) -> Any: ...
@overload
def restore(conversation: Conversation, sidecar: str) -> Any: ...
def restore(conversation: Any, sidecar: str | None = None) -> Any:
    """The original of a compressed conversation; JSON text comes back byte for byte.

    Takes a :class:`Compressed`, or a conversation and its sidecar, which may have been stored in between. Raises
    :class:`VerificationError` when the two do not belong together or were changed.
    """
    if isinstance(conversation, Compressed):
        conversation, sidecar = conversation.conversation, conversation.sidecar if sidecar is None else sidecar
    if sidecar is None:
        raise _condenser.UsageError("sidecar: a conversation needs the sidecar that it was compressed with")
    return _as(conversation, _condenser.restore_record(_record(conversation), sidecar))


@overload
def count_tokens(texts: str, tokenizer: str = "o200k_base") -> int: ...
@overload
def count_tokens(texts: Iterable[str], tokenizer: str = "o200k_base") -> list[int]: ...
def count_tokens(texts: str | Iterable[str], tokenizer: str = "o200k_base") -> int | list[int]:
    """The tokens of a text, or of each of several: `o200k_base`, `cl100k_base`, the path of a `tokenizer.json`, or `chars`
    for an estimate by characters.

    >>> import condenser
    >>> condenser.count_tokens("Why does the nightly job fail?")
    7
    >>> condenser.count_tokens(["one", "one two"])
    [1, 2]
    """
    options = Options(tokenizer=str(tokenizer)).to_json()
    if isinstance(texts, str):
        return _condenser.count_tokens([_text(texts)], options)[0]
    texts = list(texts)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("tokens are counted of a text, or of a list of texts")
    return _condenser.count_tokens([_text(text) for text in texts], options)


@lru_cache(maxsize=16)
def _compressor(options: str) -> _condenser.Compressor:
    return _condenser.Compressor(options)


def _record(conversation: Any) -> str:
    """The conversation as the JSON text of a record."""
    if isinstance(conversation, str):
        return _text(conversation)
    record = conversation if isinstance(conversation, Mapping) else {"messages": conversation}
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_refuse)
        is_same = json.loads(text) == record
    except (TypeError, ValueError, RecursionError) as error:
        raise _condenser.InputError(f"the conversation cannot be written as JSON: {error}") from error
    if not is_same:
        raise _condenser.InputError(
            "the conversation would not come back the same from JSON: it has keys that are no texts, or tuples\n"
            "hint: give the JSON text of the record, or json.loads(json.dumps(conversation))"
        )
    try:
        return _text(text)
    except _condenser.InputError:
        # A half of a surrogate pair is no text to anybody but Python and JSON, which escapes it.
        return json.dumps(record, allow_nan=False, separators=(",", ":"))


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _condenser.InputError(f"the text holds half of a surrogate pair, which is no text: {error}") from error
    return text


def _refuse(value: Any) -> Any:
    hint = "; give message.model_dump()" if hasattr(value, "model_dump") else ""
    raise TypeError(f"a {type(value).__name__} is no JSON{hint}")


def _as(like: Any, record: str) -> Any:
    """A record as what `like` is."""
    if isinstance(like, str):
        return record
    return json.loads(record) if isinstance(like, Mapping) else json.loads(record)["messages"]


def _role(message: Any) -> str:
    return str(message.get("role", message.get("from", ""))) if isinstance(message, Mapping) else ""


def _cell(message: Any) -> str:
    message = message if isinstance(message, Mapping) else {"content": message}
    content = message.get("content", message.get("value"))
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    if message.get("tool_calls"):
        text = f"{text or ''}\n{json.dumps(message['tool_calls'], ensure_ascii=False)}"
    rest = "" if len(text) <= _SHOWN_CHARS else f"<i>… {len(text) - _SHOWN_CHARS:,} characters more</i>"
    style = "white-space:pre-wrap;overflow-wrap:anywhere;max-height:16em;overflow-y:auto;text-align:left"
    return f'<div style="{style}">{escape(text[:_SHOWN_CHARS])}{rest}</div>'
