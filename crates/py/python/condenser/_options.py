"""Options, under the names that they have on the command line and in job files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from . import _condenser


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
        values = {**(base or {}), **options}
        self._values = {name: value for name, value in values.items() if value is not None}
        _condenser.check_options(self.to_json())

    def to_json(self) -> str:
        """The options as a JSON object."""
        return json.dumps(self._values, sort_keys=True, default=str)

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
        return (Options, (self._values,))
