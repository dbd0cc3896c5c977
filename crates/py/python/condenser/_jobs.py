"""Jobs over whole corpora, and the runs that they write."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import sys
from collections.abc import Mapping
from typing import Any, Literal, overload

import pyarrow as pa

from . import _condenser
from ._options import as_json, plain

log = logging.getLogger("condenser")

#: A job file, or what one would say.
JobLike = str | os.PathLike[str] | Mapping[str, Any]
To = Literal["arrow", "pandas", "polars"]

_LEVELS = {"note": logging.INFO, "committed": logging.DEBUG, "warning": logging.WARNING, "failure": logging.ERROR}


class Run:
    """A finished run, or a store of nightly compaction; :func:`open` and :func:`run` give it."""

    def __init__(self, path: str, outcome: dict[str, Any] | None = None) -> None:
        path = path if "://" in path else os.path.abspath(path)
        self._native = _condenser.Opened(path)
        #: Where it is.
        self.path = path
        #: What the job came to that wrote it just now, as `--progress json` says it; else nothing.
        self.outcome = outcome

    def conversations(self, to: To = "arrow") -> Any:
        """The compressed conversations, as an Arrow table or a frame of pandas or polars."""
        return self._frame("conversations", to)

    def metrics(self, to: To = "arrow") -> Any:
        """The figures of each conversation."""
        return self._frame("metrics", to)

    def decisions(self, to: To = "arrow") -> Any:
        """What was done with each message and why; empty unless the job had `trace = true`."""
        return self._frame("decisions", to)

    def reader(self, table: str) -> pa.RecordBatchReader:
        """The rows of a table (conversations, verbatim, metrics, decisions) batch by batch, in bounded memory."""
        return self._native.table(table)

    def _frame(self, table: str, to: To) -> Any:
        if to not in ("arrow", "pandas", "polars"):
            raise _condenser.UsageError(f"to: expected arrow, pandas or polars, not {to!r}")
        try:
            rows = self.reader(table).read_all()
        except pa.ArrowException as error:
            raise _condenser.InputError(str(error).removeprefix("External error: ")) from error
        if to == "arrow":
            return rows
        if to == "pandas":
            return rows.to_pandas()
        import polars

        return polars.from_arrow(rows)

    def original(self, id: str) -> str:
        """The conversation with this id as it was: its record, byte for byte, or its row as JSON.

        Where several have it, the first; :meth:`originals` has all.
        """
        return self.originals(id)[0]

    def originals(self, id: str) -> list[str]:
        """All conversations with this id, as they were."""
        return self._native.originals(id)

    def report(self, against: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The report, or what changed since the run `against`, as `condenser report --json` prints it."""
        against = None if against is None else os.fspath(against)
        return json.loads(self._native.report(_watch, against))

    def verify(self, threads: int = 0) -> None:
        """Recomputes every hash and restores every record; raises :class:`VerificationError` at the first difference."""
        self._native.verify(_watch, threads)

    def __repr__(self) -> str:
        return f"Run({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Run, (self.path, self.outcome))


def open(path: str | os.PathLike[str]) -> Run:
    """Opens a finished run, or a store of nightly compaction, also in s3://, gs:// and az://."""
    return Run(os.fspath(path))


@overload
def run(
    job: JobLike | None = None, *, shard: None = None, fresh: bool = False, progress: bool | None = None, **keys: Any
) -> Run: ...
@overload
def run(
    job: JobLike | None = None,
    *,
    shard: tuple[int, int],
    fresh: bool = False,
    progress: bool | None = None,
    **keys: Any,
) -> Run | None: ...
def run(
    job: JobLike | None = None,
    *,
    shard: tuple[int, int] | None = None,
    fresh: bool = False,
    progress: bool | None = None,
    **keys: Any,
) -> Run | None:
    """Does a job: a job file, or a dictionary with its keys; `keys` go over it, tables as dictionaries.

    >>> import condenser, json, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> records = [{"id": str(n), "messages": [{"role": "user", "content": f"Question {n}"}]} for n in range(3)]
    >>> _ = (folder / "in.jsonl").write_text("".join(json.dumps(record) + "\\n" for record in records))
    >>> run = condenser.run({"inputs": [str(folder / "in.jsonl")]}, output=str(folder / "run"), quiet=True)
    >>> run.metrics().num_rows
    3
    >>> json.loads(run.original("1")) == records[1]
    True

    What was committed stays when it is interrupted, and the same call goes on from there. `shard=(i, n)` does only every
    n-th part, beginning with part i, and gives nothing unless the run is complete; :func:`finish` is for afterwards. With
    `fresh` a run that is there is left alone, and another one is made beside it. A bar of tqdm shows how far it is, where
    that is installed and somebody watches; what happens is told to the logger `condenser`.
    """
    native = Planned(job, keys).native()
    with Progress(native.output, native.quiet, progress) as watch:
        path, outcome = native.run(watch, shard, fresh)
    outcome = json.loads(outcome)
    return None if outcome.get("parts_missing") else Run(path, outcome)


def finish(job: JobLike | None = None, **keys: Any) -> Run:
    """Makes a finished run of what several machines did with `shard` of the same job."""
    path, outcome = Planned(job, keys).native().finish(_watch)
    return Run(path, json.loads(outcome))


class Planned:
    """A job as it travels to workers."""

    def __init__(self, job: JobLike | None, keys: Mapping[str, Any]) -> None:
        self.file: tuple[str, str] | None = None
        if isinstance(job, (str, os.PathLike)):
            name = os.fspath(job)
            self.file = (name, _read(name))
        elif not isinstance(job, Mapping) and job is not None:
            raise TypeError(f"a job is a file, or a dictionary with its keys; not {type(job)}")
        given = {**(job if isinstance(job, Mapping) else {}), **keys}
        if isinstance(given.get("inputs"), (str, os.PathLike)):
            given["inputs"] = [given["inputs"]]
        self.keys = {name: plain(value) for name, value in given.items() if value is not None}

    def native(self, **keys: Any) -> _condenser.Job:
        """The job with all its settings."""
        return _condenser.Job(self.file, as_json({**self.keys, **keys}))


def _read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _condenser.UsageError(f"{path}: the job file cannot be read: {error}") from error


class Progress:
    """Hears what a job tells: a bar for who watches, the rest for the logger."""

    def __init__(self, name: str, quiet: bool, wanted: bool | None) -> None:
        self.name = name
        self.bar: Any = None
        self.quiet = quiet
        self.wanted = not quiet and (_is_watched() if wanted is None else wanted)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def __call__(self, event: str, said: str) -> None:
        if event == "begins":
            self._begins(json.loads(said))
        elif event == "progress":
            self._progress(json.loads(said))
        elif not self.quiet or event == "failure":
            _watch(event, said)

    def _begins(self, said: dict[str, Any]) -> None:
        if not self.wanted:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self.bar = tqdm(
            desc=self.name, total=said["bytes"], initial=said["done"], unit="B", unit_scale=True, unit_divisor=1024
        )

    def _progress(self, said: dict[str, Any]) -> None:
        if self.bar is None:
            return
        self.bar.update(said["done"] - self.bar.n)
        ratio = said["chars_in"] / max(said["chars_out"], 1)
        rejects = {"rejected": said["rejects"]} if said["rejects"] else {}
        self.bar.set_postfix(conversations=said["conversations"], ratio=f"{ratio:.2f}", **rejects)


def _watch(event: str, said: str) -> None:
    if event in _LEVELS:
        log.log(_LEVELS[event], "%s", said)


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules
