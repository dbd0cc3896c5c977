"""Every example is run: those of the manual in a folder as it says, those of docstrings where they stand."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT

MODULES = ["condenser", "condenser._batches", "condenser._jobs", "condenser._options", "condenser._single"]
ENGINES = ["ray", "pyspark", "condenser.spark", "dask", "daft"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0


def examples():
    page = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    assert len(blocks) >= 13
    for block in blocks:
        modules = re.findall(r"^(?:import|from) ([\w., ]+?)(?: as \w+)?(?: import .*)?$", block, re.M)
        modules = [part.split(" as ")[0].strip() for line in modules for part in line.split(",")]
        yield pytest.param(block, modules, id=modules[-1] if len(modules) == 1 else "-".join(modules))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    (folder / "logs").mkdir()
    texts = []
    for file in sorted((ROOT / "jobs" / "sample").glob("*.jsonl")):
        (folder / "logs" / file.name).write_bytes(file.read_bytes())
        texts += file.read_text().splitlines()
    pq.write_table(pa.table({"number": range(len(texts)), "messages": texts}), folder / "chats.parquet")
    return folder


@pytest.mark.parametrize(("block", "modules"), list(examples()))
def test_the_manual(block, modules, folder):
    is_of_engine = any(module == engine or module.startswith(engine + ".") for module in modules for engine in ENGINES)
    if (is_of_engine or "condenser.ray" in modules) and not os.environ.get("CONDENSER_ENGINES"):
        pytest.skip("CONDENSER_ENGINES is not set")
    for module in modules:
        try:
            importlib.util.find_spec(module) or pytest.skip(f"{module} is not installed")
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            pytest.skip(f"{error.name} is not installed")
    # As a script: engines start from a fresh interpreter.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "MPLBACKEND": "agg", "RAY_DEDUP_LOGS": "0"}
    ended = subprocess.run([sys.executable, "-c", block], cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, f"{block}\n{ended.stdout}\n{ended.stderr[-3000:]}"


def test_the_manual_names_all_that_there_is():
    page = (ROOT / "docs" / "python.md").read_text()
    condenser = importlib.import_module("condenser")
    hidden = {"METRICS_COLUMN", "REJECTED_COLUMN", "SIDECAR_COLUMN", "Options", "Run", "__version__"}
    assert [name for name in condenser.__all__ if name not in page and name not in hidden] == []

