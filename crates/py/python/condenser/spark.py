"""Spark: jobs on a cluster, and data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ._batches import BatchCompressor, BatchRestorer
from ._cluster import ClusterJob
from ._jobs import JobLike, Run


def compress(frame: DataFrame, compressor: BatchCompressor) -> DataFrame:
    """The rows of `frame` through `compressor`: `mapInArrow` with the schema that comes out."""
    return _through(frame, compressor)


def restore(frame: DataFrame, restorer: BatchRestorer) -> DataFrame:
    """The rows of `frame` through `restorer`."""
    return _through(frame, restorer)


def _through(frame: DataFrame, work: BatchCompressor | BatchRestorer) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    schema = from_arrow_schema(work.schema(to_arrow_schema(frame.schema)))
    return frame.mapInArrow(work.batches, schema)


def run(job: JobLike, *, spark: SparkSession | None = None, threads: int = 1, progress: bool | None = None, **keys: Any) -> Run:
    """Does a job in tasks of Spark: planned once, a task per part, each on `threads` threads, which should be `spark.task.cpus`.
    Inputs and output must be where all executors reach them. The run has the same bytes as one that `condenser run` writes on
    one machine.

    A task whose worker died is tried again, as often as `spark.task.maxFailures` says, and goes on from what was committed.
    `keys` go over the job, as for :func:`condenser.run`. Parts are `split_size` of the job long.
    """
    cluster = ClusterJob(job, keys, threads)
    spark = spark or SparkSession.builder.getOrCreate()

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            done = [cluster.task(index) for index in batch.column(0).to_pylist()]
            yield pa.record_batch({"id": pa.array(done, pa.int64())})

    tasks = spark.range(0, cluster.count, 1, max(cluster.count, 1)).mapInArrow(work, "id long")
    return cluster.finish((row.id for row in tasks.collect()), progress)
