"""A job in tasks of an engine: planned once, a task for each part, and an end. What runs the tasks is the engine's business."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from ._jobs import JobLike, Planned, Progress, Run, _watch

#: A plan with more parts has several in a task: engines keep a record of each.
MAX_TASKS = 10_000


class ClusterJob:
    """What travels to the tasks of a job."""

    def __init__(self, job: JobLike, keys: dict[str, Any], threads: int) -> None:
        self.planned = Planned(job, keys)
        self.threads = threads
        #: Names of files are those of this folder.
        self.folder = os.getcwd()
        native = self.planned.native()
        #: How many tasks there are.
        self.count = min(native.begin(_watch), MAX_TASKS)
        self.name = native.output
        self.quiet = native.quiet

    def task(self, index: int) -> int:
        """Does a task on the worker; again after a worker that died, from what that had committed."""
        before = os.getcwd()
        if os.path.isdir(self.folder):
            os.chdir(self.folder)
        try:
            self.planned.native(threads=self.threads, quiet=True).run(_watch, (index, self.count), False)
        finally:
            os.chdir(before)
        return index

    def finish(self, done: Iterable[int], progress: bool | None) -> Run:
        """Waits for all tasks and ends the run."""
        with Progress(self.name, self.quiet, progress) as watch:
            bar = None
            if watch.wanted:
                try:
                    from tqdm.auto import tqdm

                    bar = watch.bar = tqdm(desc=self.name, total=self.count, unit="task")
                except ImportError:
                    pass
            for _ in done:
                if bar is not None:
                    bar.update()
        path, outcome = self.planned.native().finish(_watch)
        return Run(path, json.loads(outcome))
