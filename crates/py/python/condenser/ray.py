"""Jobs on a cluster of Ray. Batches of a Ray data set need nothing of this: `ds.map_batches(condenser.BatchCompressor(), ...)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ray as _ray

from ._cluster import ClusterJob
from ._jobs import JobLike, Run


def run(
    job: JobLike,
    *,
    num_cpus: float = 1,
    retries: int = 3,
    progress: bool | None = None,
    remote: dict[str, Any] | None = None,
    **keys: Any,
) -> Run:
    """Does a job in tasks of Ray: planned once, a task per part, each on `num_cpus` cores. Inputs and output must be where all
    workers reach them. The run has the same bytes as one that `condenser run` writes on one machine.

    A task whose worker died is tried again, `retries` times, and goes on from what was committed; `remote` has further
    options of `ray.remote`. `keys` go over the job, as for :func:`condenser.run`. Parts are `split_size` of the job long.
    """
    cluster = ClusterJob(job, keys, max(1, int(num_cpus)))
    options = {"num_cpus": num_cpus, "max_retries": retries, **(remote or {})}
    if not _ray.is_initialized():
        _ray.init()
    shared = _ray.put(cluster)
    task = _ray.remote(**options)(_task)
    return cluster.finish(_done([task.remote(shared, index) for index in range(cluster.count)]), progress)


def _task(cluster: ClusterJob, index: int) -> int:
    return cluster.task(index)


def _done(tasks: list[Any]) -> Iterator[int]:
    waiting = tasks
    try:
        while waiting:
            ready, waiting = _ray.wait(waiting, num_returns=1)
            yield from _ray.get(ready)
    except BaseException:
        for task in waiting:
            _ray.cancel(task, force=True)
        raise
