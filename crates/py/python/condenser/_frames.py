"""Rows that are not Arrow: frames of pandas and polars, dictionaries of columns. Only the column of the conversations becomes Arrow,
and only what was made of it comes back: everything else stays the object that it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from . import _condenser
from ._single import _record

SIDECAR_COLUMN = "condenser_sidecar"
METRICS_COLUMN = "condenser_metrics"
REJECTED_COLUMN = "condenser_rejected"

#: A record batch becomes no longer than this before it is worked on.
SLICE_BYTES = 256 << 20
_HEAD = 100
_DECODER = json.JSONDecoder()


class Frame(Protocol):
    """Columns by their names."""

    def names(self) -> list[Any]: ...
    def column(self, name: Any) -> Any: ...
    def head(self, name: Any, n: int) -> Any: ...
    def changed(self, columns: Mapping[str, Any], dropped: Iterable[str]) -> Any: ...


class Columns:
    """A dictionary of columns."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        self.rows = rows

    def names(self) -> list[Any]:
        return list(self.rows)

    def column(self, name: Any) -> Any:
        column = self.rows[name]
        return column.tolist() if hasattr(column, "tolist") else column

    def head(self, name: Any, n: int) -> Any:
        return self.column(name)[:n]

    def changed(self, columns: Mapping[str, Any], dropped: Iterable[str]) -> Any:
        columns = {name: _list(column) for name, column in columns.items()}
        return {name: column for name, column in {**self.rows, **columns}.items() if name not in dropped}


class Pandas:
    """A frame of pandas."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def names(self) -> list[Any]:
        return list(self.rows.columns)

    def column(self, name: Any) -> Any:
        return _of_series(self.rows[name])

    def head(self, name: Any, n: int) -> Any:
        return _of_series(self.rows[name].iloc[:n])

    def changed(self, columns: Mapping[str, Any], dropped: Iterable[str]) -> Any:
        import pandas

        made = self.rows.drop(columns=[name for name in dropped if name in self.rows.columns])
        for name, column in columns.items():
            old = self.rows[name].dtype if name in self.rows.columns else None
            if isinstance(old, pandas.ArrowDtype):
                array = pandas.arrays.ArrowExtensionArray(pa.chunked_array([column]))
                made[name] = pandas.Series(array, index=self.rows.index)
            else:
                # Lists of Arrow are arrays of numpy here, as in every frame that was read from Parquet.
                is_of_arrow = isinstance(column, pa.Array) and pa.types.is_nested(column.type)
                values = column.to_pandas().tolist() if is_of_arrow else _list(column)
                made[name] = pandas.Series(values, index=self.rows.index, dtype=object if old is None else old)
        return made


class Polars:
    """A frame of polars."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def names(self) -> list[Any]:
        return list(self.rows.columns)

    def column(self, name: Any) -> Any:
        return self.rows.select(name).to_arrow().column(0)

    def head(self, name: Any, n: int) -> Any:
        return self.rows.select(name).head(n).to_arrow().column(0)

    def changed(self, columns: Mapping[str, Any], dropped: Iterable[str]) -> Any:
        import polars

        made = [polars.from_arrow(pa.table({name: column})).get_column(name) for name, column in columns.items()]
        return self.rows.with_columns(made).drop(list(dropped), strict=False)


def frame_of(rows: Any) -> Frame | None:
    """The columns of `rows`; nothing where these are Arrow, or no rows."""
    if isinstance(rows, Mapping):
        return Columns(rows)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(rows, pandas.DataFrame):
        return Pandas(rows)
    if polars is not None and isinstance(rows, polars.DataFrame):
        return Polars(rows)
    return None


def compress(frame: Frame, native: Callable[[], _condenser.BatchCompressor]) -> Any:
    """The rows with their conversations compressed."""
    # Refuses rows that have the columns already.
    native().schema(pa.schema([(str(name), pa.null()) for name in frame.names()]))
    name = _column(frame, native())
    values = frame.column(name)
    texts, wrong = _as_arrow(values)
    rows = _worked(pa.table({str(name): texts}), native().compress)
    columns = {column: rows[column].combine_chunks() for column in rows.column_names}
    if wrong is not None:
        columns[REJECTED_COLUMN] = pa.array(
            [why or said for why, said in zip(wrong, columns[REJECTED_COLUMN].to_pylist())], pa.large_string()
        )
        columns[str(name)] = _objects(columns[str(name)], columns[SIDECAR_COLUMN], values)
    return frame.changed({name if column == str(name) else column: made for column, made in columns.items()}, ())


def restore(frame: Frame, column: str | None) -> Any:
    """The rows as they were."""
    if SIDECAR_COLUMN not in frame.names():
        raise _condenser.InputError(f"{SIDECAR_COLUMN}: the rows do not have this column, which brings them back")
    sidecars = pa.array(_list(frame.column(SIDECAR_COLUMN)), pa.large_string())
    named = {column} if column is not None else {_named(sidecar) for sidecar in sidecars.to_pylist() if sidecar}
    by_text = {str(name): name for name in frame.names()}
    values = {name: frame.column(by_text[name]) for name in named if name in by_text}
    texts = {name: _as_arrow(of_name) for name, of_name in values.items()}
    rows = {name: array for name, (array, _) in texts.items()}
    rows[SIDECAR_COLUMN] = sidecars
    if REJECTED_COLUMN in frame.names():
        rows[REJECTED_COLUMN] = pa.array(_list(frame.column(REJECTED_COLUMN)), pa.large_string())
    back = _worked(pa.table(rows), lambda batch: _condenser.restore_batch(batch, column))
    made: dict[Any, Any] = {}
    for name, (_, wrong) in texts.items():
        array = back[name].combine_chunks()
        made[by_text[name]] = array if wrong is None else _objects(array, sidecars, values[name])
    return frame.changed(made, (SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN))


def slices(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """The rows of a batch in pieces of about :data:`SLICE_BYTES`."""
    n_pieces = max(1, -(-batch.nbytes // SLICE_BYTES))
    step = max(1, -(-batch.num_rows // n_pieces))
    return [batch.slice(start, step) for start in range(0, batch.num_rows, step)]


def _worked(table: pa.Table, work: Callable[[pa.RecordBatch], pa.RecordBatch]) -> pa.Table:
    batches = [piece for batch in table.to_batches() for piece in slices(batch)]
    # Of no rows there is a schema, too.
    batches = batches or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return pa.Table.from_batches([work(batch) for batch in batches])


def _column(frame: Frame, native: _condenser.BatchCompressor) -> Any:
    """The column with the conversations."""
    heads = {}
    for name in frame.names():
        try:
            head, _ = _as_arrow(frame.head(name, _HEAD))
        except (pa.ArrowException, _condenser.CondenserError, TypeError, ValueError, OverflowError):
            # What cannot be Arrow is no conversation.
            continue
        heads[name] = head.combine_chunks() if isinstance(head, pa.ChunkedArray) else head
    found = native.column(pa.record_batch(list(heads.values()), [str(name) for name in heads]))
    return next(name for name in heads if str(name) == found)


def _as_arrow(values: Any) -> tuple[pa.Array | pa.ChunkedArray, list[str | None] | None]:
    """A column as Arrow. Lists of Python become JSON texts, since Arrow would give every message the keys of all; with these goes why
    some cannot."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values, None
    first = next((value for value in values if not _is_null(value)), None)
    if not isinstance(first, (list, tuple)):
        # Arrays of numpy were Arrow before.
        return pa.array(values, from_pandas=True), None
    texts: list[str | None] = []
    wrong: list[str | None] = []
    for value in values:
        try:
            text = None if _is_null(value) else _record(list(value))
            texts.append(text)
            wrong.append(None)
        except _condenser.InputError as error:
            texts.append(None)
            wrong.append(str(error))
    return pa.array(texts, pa.large_string()), wrong


def _is_null(value: Any) -> bool:
    return value is None or isinstance(value, float) and value != value


def _objects(texts: pa.Array, sidecars: pa.Array, values: Sequence[Any]) -> list[Any]:
    """The messages of JSON texts; of rows that were rejected the values as they are."""
    pairs = zip(texts.to_pylist(), sidecars.to_pylist(), values)
    return [value if sidecar is None else json.loads(text)["messages"] for text, sidecar, value in pairs]


def _named(sidecar: str) -> str:
    try:
        return _DECODER.raw_decode(sidecar, len('{"column":'))[0]
    except (ValueError, IndexError):
        return ""


def _of_series(series: Any) -> Any:
    if type(series.dtype).__name__ == "ArrowDtype":
        array = pa.array(series)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    return series.tolist()


def _list(column: Any) -> Any:
    return column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else column
