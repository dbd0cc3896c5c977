"""What the tests share: a corpus, the command line, and what a job makes of the corpus.

The corpus is the sample of the repository, or what `CONDENSER_CORPORA` names. The command line is the one that
`CONDENSER_BIN` names; tests that compare with it are left out without it.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
#: Files of real corpora that are small enough for engines that take seconds to start.
REAL = ["tau_dev", "cc_gitsync", "sgd", "oasst2_valid"]
MOST_RECORDS = 150


def _records() -> dict[str, list[str]]:
    corpora = os.environ.get("CONDENSER_CORPORA")
    if not corpora:
        files = sorted((ROOT / "jobs" / "sample").glob("*.jsonl"))
        assert files, "the sample corpus is missing"
        return {file.stem: file.read_text().splitlines() for file in files}
    found = {}
    for name in REAL:
        for file in sorted(pathlib.Path(corpora).glob(f"{name}*.jsonl.zst")):
            with pa.CompressedInputStream(pa.OSFile(str(file)), "zstd") as stream:
                found[name] = stream.read().decode().splitlines()[:MOST_RECORDS]
    assert found, f"none of {REAL} in {corpora}"
    return found


@pytest.fixture(scope="session")
def corpora() -> dict[str, list[str]]:
    """The records of each corpus."""
    return _records()


@dataclass
class Corpus:
    """A corpus as a table, and what the command line makes of it."""

    name: str
    path: pathlib.Path
    table: pa.Table
    #: The compressed conversations, in their order.
    texts: list[str]


@pytest.fixture(scope="session")
def cli() -> str:
    binary = os.environ.get("CONDENSER_BIN")
    if not binary:
        pytest.skip("CONDENSER_BIN names no binary to compare with")
    return binary


@pytest.fixture(scope="session", params=list(_records()))
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cli: str) -> Corpus:
    """Each corpus as Parquet with a column of JSON texts."""
    records = _records()[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    table = pa.table({"number": list(range(len(records))), "messages": records})
    path = folder / "in.parquet"
    pq.write_table(table, path)
    subprocess.run([cli, "compress", str(path), "-o", str(folder / "run"), "-q"], check=True)
    written = pa.concat_tables(pq.read_table(file) for file in sorted((folder / "run" / "conversations").iterdir()))
    assert written.num_rows == table.num_rows
    return Corpus(request.param, path, table, written["messages"].to_pylist())


def same(back: pa.Table, table: pa.Table) -> bool:
    """Whether rows hold the same values in the same order, however an engine writes its types."""
    back = back.select(table.column_names)
    return back.num_rows == table.num_rows and all(
        back[name].to_pylist() == table[name].to_pylist() for name in table.column_names
    )


def log_of(n: int) -> str:
    return "".join(f"test keeps_row_{at} ... ok\n" for at in range(n))


def chat(n: int = 300) -> list[dict]:
    """A chat whose tool says much."""
    return [
        {"role": "user", "content": "Why does the nightly job fail?"},
        {"role": "tool", "content": log_of(n) + "test syncs ... FAILED: disk full\n1 failed\n"},
        {"role": "assistant", "content": "The disk of the runner is full."},
    ]


def record(n: int = 300, **more: object) -> str:
    return json.dumps({**more, "messages": chat(n)})
