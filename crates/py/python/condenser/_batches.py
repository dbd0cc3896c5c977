"""Batches of rows: Arrow, and what is made of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from . import _condenser, _frames
from ._frames import METRICS_COLUMN, REJECTED_COLUMN, SIDECAR_COLUMN, frame_of, slices
from ._options import Options

#: A record batch, table or stream of Arrow, a frame of pandas or polars, or a dictionary of columns.
Rows = TypeVar("Rows")


class BatchCompressor:
    """Compresses the conversations of rows: as many rows come out, in their order, with three columns more.

    `column` holds the conversations, as lists of messages or as JSON text; without it, it is found by name and type. Every
    other column stays as it is. What brings a row back stands in its `condenser_sidecar`, its figures in
    `condenser_metrics`; a row that holds no conversation stays, and `condenser_rejected` says why. Each row stands for
    itself, so that rows may be filtered, sorted and joined before :class:`BatchRestorer` brings them back.

    Call it with a record batch, table or stream of Arrow, a frame of pandas or polars, or a dictionary of columns, and it
    gives the same. It may be pickled, and called from several threads. `threads` is 1, the caller's own, since engines run
    one task per core; 0 is one per core.

    >>> import condenser, pyarrow as pa
    >>> rows = pa.table({"id": ["a"], "messages": [[{"role": "user", "content": "Hi"}]]})
    >>> compressed = condenser.BatchCompressor(recency_window=1)(rows)
    >>> compressed.column_names
    ['id', 'messages', 'condenser_sidecar', 'condenser_metrics', 'condenser_rejected']
    >>> condenser.BatchRestorer()(compressed) == rows
    True
    """

    def __init__(
        self,
        options: Mapping[str, Any] | None = None,
        *,
        column: str | None = None,
        threads: int = 1,
        **more: Any,
    ) -> None:
        if isinstance(options, str):
            raise _condenser.UsageError(f"options: a column is named with column={options!r}")
        if column is not None:
            more["messages_column"] = column
        self.options = Options(options, **more)
        self.threads = threads
        self._begin()

    def _begin(self) -> None:
        self._made = (os.getpid(), _condenser.BatchCompressor(self.options.to_json(), self.threads))

    def _native(self) -> _condenser.BatchCompressor:
        pid, native = self._made
        if pid != os.getpid():
            # Threads do not live through a fork; what waits for them is left alone for ever.
            _LEFT.append(native)
            self._begin()
        return self._made[1]

    def __call__(self, rows: Rows) -> Rows:
        """The rows, of the same kind, with their conversations compressed and three columns more."""
        frame = frame_of(rows)
        if frame is not None:
            return _frames.compress(frame, self._native)
        return _through(rows, self)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what becomes of rows with this schema."""
        return self._native().schema(schema)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch, as `mapInArrow` of Spark wants it."""
        return (self._native().compress(batch) for batch in batches)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.options!r}, threads={self.threads})"


class BatchRestorer:
    """Brings rows back that :class:`BatchCompressor` compressed, and takes its columns away.

    `column` holds the conversations; without it, the one that each row says. Takes and gives what that does. Raises :class:`VerificationError` when a conversation or its sidecar was changed.
    """

    def __init__(self, *, column: str | None = None) -> None:
        self.column = column

    def __call__(self, rows: Rows) -> Rows:
        """The rows, of the same kind, as they were."""
        frame = frame_of(rows)
        if frame is not None:
            return _frames.restore(frame, self.column)
        return _through(rows, self)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the rows as they were."""
        added = (SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN)
        return pa.schema([field for field in schema if field.name not in added], metadata=schema.metadata)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch, as `mapInArrow` of Spark wants it."""
        return (_condenser.restore_batch(batch, self.column) for batch in batches)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(column={self.column!r})"


#: What a fork left behind.
_LEFT: list[_condenser.BatchCompressor] = []


def _through(rows: Any, work: BatchCompressor | BatchRestorer) -> Any:
    """What `work` makes of each record batch in `rows`, as what `rows` is."""
    if isinstance(rows, pa.RecordBatch):
        return next(work.batches([rows]))
    if isinstance(rows, pa.Table):
        batches = list(work.batches(piece for batch in rows.to_batches() for piece in slices(batch)))
        return pa.Table.from_batches(batches) if batches else work.schema(rows.schema).empty_table()
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(rows, polars.LazyFrame):
        head = rows.collect_schema().to_frame()
        return rows.map_batches(work, schema=work(head).schema)
    if hasattr(rows, "__arrow_c_stream__") and not type(rows).__name__ == "Series":
        reader = pa.RecordBatchReader.from_stream(rows)
        return pa.RecordBatchReader.from_batches(work.schema(reader.schema), work.batches(reader))
    raise TypeError(
        "rows are a record batch, table or stream of Arrow, a frame of pandas or polars, or a dictionary of columns; "
        f"not {type(rows)}"
    )
