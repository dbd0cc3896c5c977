"""Options, under the names that they have on the command line and in job files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _condenser


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {name: plain(value) for name, value in value.items() if value is not None}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (str, bytes)):
        return value
    # A number or an array of numpy.
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, Iterable) else value


def as_json(values: Mapping[str, Any]) -> str:
    """Options or the keys of a job as a JSON object."""
    try:
        return json.dumps(plain(values), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise _condenser.UsageError(f"options: {error}") from error


class Options(Mapping[str, Any]):
    """What the engine does: names and values as `condenser compress --help` lists them, with `_` for `-`.

    Refuses what is no option when it is made, not when it is used:

    >>> from condenser import Options
    >>> Options(recency_window=2)
    Options(recency_window=2)
    >>> Options(recency_windw=2)
    Traceback (most recent call last):
        ...
    condenser.UsageError: recency_windw: unknown option `recency_windw`; did you mean `recency_window`?

    Options may stand on others:

    >>> Options(Options(recency_window=2), token_budget=1000)
    Options(recency_window=2, token_budget=1000)
    """

    __slots__ = ("_values",)

    def __init__(self, base: Mapping[str, Any] | None = None, /, **options: Any) -> None:
        if base is not None and not isinstance(base, Mapping):
            raise _condenser.UsageError(f"options: expected names and values, not {base!r}")
        values = {**(base or {}), **options}
        self._values = {name: plain(value) for name, value in values.items() if value is not None}
        _condenser.check_options(self.to_json())

    def to_json(self) -> str:
        """The options as a JSON object."""
        return as_json(self._values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._values,))
