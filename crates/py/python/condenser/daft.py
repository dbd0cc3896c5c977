"""Data frames of Daft: the column of the conversations goes through a batch function, the others are not touched."""

from __future__ import annotations

from typing import Any

import daft as _daft
import pyarrow as pa

from ._batches import METRICS_COLUMN, REJECTED_COLUMN, SIDECAR_COLUMN, BatchCompressor, BatchRestorer

_ADDED = (SIDECAR_COLUMN, METRICS_COLUMN, REJECTED_COLUMN)


def compress(frame: _daft.DataFrame, compressor: BatchCompressor, column: str = "messages") -> _daft.DataFrame:
    """The rows of `frame` with the conversations in `column` compressed, and the three columns that `compressor` adds."""
    compressor = BatchCompressor(compressor.options, column=column, threads=compressor.threads)
    # Refuses a frame that has the columns already.
    compressor.schema(pa.schema([(name, pa.null()) for name in frame.column_names]))
    kind = frame.schema()[column].dtype.to_arrow_dtype()
    schema = compressor.schema(pa.schema([(column, kind)]))
    fields = {field.name: _daft.DataType.from_arrow_type(field.type) for field in schema}

    @_daft.func.batch(return_dtype=_daft.DataType.struct(fields))
    def work(conversations: _daft.Series) -> Any:
        rows = compressor(pa.record_batch({column: _array(conversations)}))
        return pa.StructArray.from_arrays(rows.columns, fields=list(rows.schema))

    together = "condenser"
    while together in frame.column_names:
        together += "_"
    made = frame.with_column(together, work(frame[column]))
    return made.with_columns({name: made[together][name] for name in fields}).exclude(together)


def restore(frame: _daft.DataFrame, restorer: BatchRestorer, column: str = "messages") -> _daft.DataFrame:
    """The rows of `frame` as they were before :func:`compress`."""

    @_daft.func.batch(return_dtype=frame.schema()[column].dtype)
    def work(conversations: _daft.Series, sidecars: _daft.Series, rejected: _daft.Series) -> Any:
        columns = {column: _array(conversations), SIDECAR_COLUMN: _array(sidecars), REJECTED_COLUMN: _array(rejected)}
        return restorer(pa.record_batch(columns)).column(column)

    back = work(frame[column], frame[SIDECAR_COLUMN], frame[REJECTED_COLUMN])
    return frame.with_column(column, back).exclude(*_ADDED)


def _array(series: _daft.Series) -> pa.Array:
    array = series.to_arrow()
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
