"""Batches of rows: Arrow, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from . import _condenser
from ._options import Options

#: The column with what brings a row back.
SIDECAR_COLUMN = "condenser_sidecar"
#: The column with the figures of a row.
METRICS_COLUMN = "condenser_metrics"
#: The column that says why a row was left as it came.
REJECTED_COLUMN = "condenser_rejected"

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
        /,
        *,
        column: str | None = None,
        threads: int = 1,
        **more: Any,
    ) -> None:
        named = {} if column is None else {"messages_column": column}
        self.options = Options(options, **named, **more)
        self.threads = threads
        self._native = _condenser.BatchCompressor(self.options.to_json(), threads)

    def __call__(self, rows: Rows) -> Rows:
        return _through(rows, self._native.compress, self._native.schema)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what becomes of rows with this schema."""
        return self._native.schema(schema)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch, as `mapInArrow` of Spark wants it."""
        return map(self._native.compress, batches)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_compressor, (self.options, self.threads))

    def __repr__(self) -> str:
        return f"BatchCompressor({self.options!r}, threads={self.threads})"


class BatchRestorer:
    """Brings rows back that :class:`BatchCompressor` compressed, and takes its columns away.

    `column` holds the conversations; without it, it is the one that a :class:`BatchCompressor` would find. Takes and gives
    what that does. Raises :class:`VerificationError` when a conversation or its sidecar was changed.
    """

    def __init__(self, *, column: str | None = None) -> None:
        self.column = column

    def __call__(self, rows: Rows) -> Rows:
        return _through(rows, self._restore, self.schema)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the rows as they were."""
        added = (SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN)
        return pa.schema([field for field in schema if field.name not in added], metadata=schema.metadata)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch, as `mapInArrow` of Spark wants it."""
        return map(self._restore, batches)

    def _restore(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return _condenser.restore_batch(rows, self.column)


def _compressor(options: Options, threads: int) -> BatchCompressor:
    return BatchCompressor(options, threads=threads)


def _through(rows: Any, work: Any, schema_of: Any) -> Any:
    """What `work` makes of each record batch in `rows`, as what `rows` is."""
    if isinstance(rows, pa.RecordBatch):
        return work(rows)
    if isinstance(rows, pa.RecordBatchReader):
        return pa.RecordBatchReader.from_batches(schema_of(rows.schema), map(work, rows))
    if isinstance(rows, pa.Table):
        return _table(rows, work, schema_of)
    if isinstance(rows, Mapping):
        return _table(pa.table({name: _plain(column) for name, column in rows.items()}), work, schema_of).to_pydict()
    kind = type(rows).__module__.split(".")[0]
    if kind == "pandas":
        table = _table(pa.Table.from_pandas(rows), work, schema_of)
        return table.to_pandas()
    if kind == "polars":
        import polars

        if isinstance(rows, polars.LazyFrame):
            schema = polars.from_arrow(schema_of(rows.collect_schema().to_frame().to_arrow().schema).empty_table()).schema
            return rows.map_batches(lambda frame: _through(frame, work, schema_of), schema=schema)
        return polars.from_arrow(_table(rows.to_arrow(), work, schema_of))
    raise TypeError(
        f"rows are a record batch, table or stream of pyarrow, a frame of pandas or polars, or a dictionary of columns; not {type(rows)}"
    )


def _table(table: pa.Table, work: Any, schema_of: Any) -> pa.Table:
    batches = [work(batch) for batch in table.to_batches() if batch.num_rows]
    return pa.Table.from_batches(batches) if batches else schema_of(table.schema).empty_table()


def _plain(column: Any) -> Any:
    """Columns of numpy hold lists as arrays of objects."""
    return column.tolist() if hasattr(column, "tolist") else column
