"""Jobs and runs."""

import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import condenser
import pyarrow as pa
import pytest
from conftest import record


def hashes(folder):
    import hashlib

    folder = pathlib.Path(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "locks" not in path.parts)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def folder(tmp_path, corpora, monkeypatch):
    for name, records in corpora.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{text}\n" for text in records))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_that_of_the_command_line(folder, corpora, cli):
    inputs = [f"{name}.jsonl" for name in corpora]
    run = condenser.run({"inputs": inputs, "engine": {"recency_window": 2}, "trace": True}, output="run", quiet=True)
    subprocess.run([cli, "compress", *inputs, "-o", "other", "--recency-window", "2", "--trace", "-q"], check=True)
    assert hashes("run") == hashes("other")
    n_records = sum(map(len, corpora.values()))
    assert run.outcome["totals"]["conversations"] == n_records
    assert run.conversations().num_rows == run.metrics().num_rows == n_records
    assert len(run.metrics("pandas")) == n_records and run.decisions().num_rows > n_records
    assert sum(batch.num_rows for batch in run.reader("verbatim")) > 0
    id = run.metrics()["conversation_id"][5].as_py()
    said = subprocess.run([cli, "get", "other", id], capture_output=True, text=True, check=True).stdout
    assert "".join(f"{text}\n" for text in run.originals(id)) == said
    report = subprocess.run([cli, "report", "other", "--json"], capture_output=True, text=True, check=True).stdout
    assert {**run.report(), "runs": 0} == {**json.loads(report), "runs": 0}
    run.verify()
    opened = condenser.open(folder / "run")
    assert opened.conversations() == run.conversations() and opened.outcome is None
    polars = pytest.importorskip("polars")
    assert isinstance(run.metrics("polars"), polars.DataFrame)


def test_a_job_file_with_keys_over_it(folder, corpora):
    (folder / "job.toml").write_text('inputs = ["*.jsonl"]\noutput = "none"\n[engine]\nrecency_window = 3\n')
    run = condenser.run("job.toml", output=str(folder / "run"), engine={"token_budget": 300}, quiet=True)
    plan = json.loads(pa.CompressedInputStream(pa.OSFile("run/plan.json.zst"), "zstd").read())
    engine = plan["options"]["engine"]
    assert (engine["recency_window"], engine["token_budget"]) == (3, 300)
    assert run.path.endswith("run") and not (folder / "none").exists()
    assert condenser.run("job.toml", output="run", engine={"token_budget": 300}, quiet=True).outcome["parts_kept"] > 0


def test_shards_and_finish(folder, corpora):
    job = {"inputs": ["*.jsonl"], "output": "run", "split_size": "20KiB", "quiet": True}
    assert condenser.run(job, shard=(0, 2)) is None
    with pytest.raises(condenser.UnfinishedError):
        condenser.open("run")
    with pytest.raises(condenser.UnfinishedError):
        condenser.finish(job)
    condenser.run(job, shard=(1, 2))
    assert condenser.finish(job).metrics().num_rows == sum(map(len, corpora.values()))
    assert condenser.run(job, output="alone") and hashes("run") == hashes("alone")


def test_shards_that_are_none_are_refused(folder):
    job = {"inputs": "tests.jsonl", "output": "run"}
    for shard in [(2, 2), (0, 0), (-1, 2)]:
        with pytest.raises(condenser.UsageError, match="shard"):
            condenser.run(job, shard=shard)


def test_jobs_as_people_write_them(folder):
    import numpy

    (folder / "one.jsonl").write_text(record(id="a") + "\n")
    run = condenser.run(
        inputs=folder / "one.jsonl", output=folder / "run", engine=condenser.Options(recency_window=numpy.int64(1)), quiet=True
    )
    (folder / "else").mkdir()
    os.chdir("else")
    assert run.metrics().num_rows == 1
    with pytest.raises(TypeError, match="a job is"):
        condenser.run(["one.jsonl"])
    with pytest.raises(condenser.UsageError, match="`output`"):
        condenser.run(inputs=folder / "one.jsonl", output=folder / "run", engine={"recency_window": 3}, quiet=True)


def test_mistakes_are_told(folder):
    with pytest.raises(condenser.UsageError, match="there is no run here"):
        condenser.open("none")
    with pytest.raises(condenser.UsageError, match="cannot be read"):
        condenser.run("none.toml")
    with pytest.raises(condenser.UsageError, match="did you mean `recency_window`"):
        condenser.run({"inputs": ["*.jsonl"], "output": "run", "engine": {"recency_windw": 1}})
    with pytest.raises(condenser.CondenserError, match="none.jsonl"):
        condenser.run({"inputs": ["none.jsonl"], "output": "run"})
    run = condenser.run({"inputs": ["*.jsonl"], "output": "run", "quiet": True})
    with pytest.raises(condenser.InputError, match="no conversation with this id"):
        run.original("none")
    file = next((folder / "run" / "verbatim").iterdir())
    bytes = bytearray(file.read_bytes())
    bytes[len(bytes) // 2] ^= 1
    file.write_bytes(bytes)
    with pytest.raises(condenser.VerificationError):
        run.verify()


def test_inputs_of_several_kinds(folder):
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"chat": [record()]}), folder / "in.parquet")
    run = condenser.run({"inputs": ["in.parquet"], "output": "table", "quiet": True})
    assert run.conversations().column_names == ["chat"]
    assert json.loads(run.originals("in.parquet#0")[0]) == json.loads(record())
    run = condenser.run({"inputs": ["*.jsonl", "in.parquet"], "output": "both", "quiet": True})
    with pytest.raises(Exception, match="several kinds"):
        run.conversations()


def test_a_store_of_nights(folder):
    (folder / "logs").mkdir()
    (folder / "logs" / "a.jsonl").write_text(record(id="a") + "\n")
    job = {"kind": "compaction", "inputs": ["logs"], "output": "store", "quiet": True, "compaction": {"rested_after": "0s"}}
    store = condenser.run(job)
    assert json.loads(store.original("a")) == json.loads(record(id="a"))
    assert store.metrics().num_rows == 1 and store.report()["totals"]["conversations"] == 1


def test_what_happens_is_logged(folder, caplog):
    with caplog.at_level(logging.DEBUG, logger="condenser"):
        condenser.run({"inputs": ["*.jsonl"], "output": "run"}, progress=False)
    assert any("restored and compared" in line.message and line.levelname == "DEBUG" for line in caplog.records)
    assert any("conversations" in line.message and line.levelname == "INFO" for line in caplog.records)


def test_a_bar_shows_how_far_it_is(folder, capsys):
    pytest.importorskip("tqdm")
    condenser.run({"inputs": ["*.jsonl"], "output": "run"}, progress=True)
    assert "run:" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
def test_an_interrupt_stops_a_job_that_goes_on_later(folder):
    with open("large.jsonl", "w") as file:
        for n in range(60_000):
            file.write(record(40, id=str(n)) + "\n")
    script = textwrap.dedent("""
        import condenser, time
        try:
            condenser.run({"inputs": ["large.jsonl"], "output": "run", "split_size": "1MiB", "threads": 1}, progress=False)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    job = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    commits = folder / "run" / "commits"
    deadline = time.time() + 60
    while time.time() < deadline and not (commits.is_dir() and any(commits.iterdir())):
        time.sleep(0.02)
    asked = time.time()
    os.kill(job.pid, signal.SIGINT)
    said, wrong = job.communicate(timeout=30)
    assert said == "interrupted\n", wrong
    assert time.time() - asked < 5
    run = condenser.run({"inputs": ["large.jsonl"], "output": "run", "split_size": "1MiB"}, progress=False)
    assert run.outcome["parts_kept"] > 0 and run.metrics().num_rows == 60_000
