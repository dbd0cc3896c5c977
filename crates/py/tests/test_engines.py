"""Engines that run workers of their own: each compresses a corpus as the command line does, and brings it back. Left out unless
`CONDENSER_ENGINES` is set, since they take half a minute to start."""

import os
import pathlib
import signal
import sys
import threading
import time

import condenser
import pyarrow.parquet as pq
import pytest
from conftest import record, same
from test_jobs import hashes

pytestmark = pytest.mark.skipif(not os.environ.get("CONDENSER_ENGINES"), reason="CONDENSER_ENGINES is not set")

COMPRESS = condenser.BatchCompressor()
RESTORE = condenser.BatchRestorer()
WORKERS = [2, 4]


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Four tries of a task, as on a cluster.
    builder = sql.SparkSession.builder.master("local[4,4]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    yield spark
    spark.stop()


def in_order(rows):
    return rows.sort_by("number")


def test_ray_data(corpus, ray):
    data = ray.data.read_parquet(str(corpus.path)).repartition(3)
    compressed = data.map_batches(COMPRESS, batch_format="pyarrow", batch_size=40)
    table = in_order(to_table(compressed))
    assert table["messages"].to_pylist() == corpus.texts
    back = compressed.map_batches(RESTORE, batch_format="pyarrow")
    assert same(in_order(to_table(back)), corpus.table)


def to_table(data):
    import pyarrow as pa

    return pa.concat_tables([batch for batch in data.iter_batches(batch_format="pyarrow", batch_size=None)])


def test_spark(corpus, spark):
    from condenser.spark import compress, restore

    compressed = compress(spark.read.parquet(str(corpus.path)).repartition(3), COMPRESS).cache()
    rows = compressed.orderBy("number").select("messages", "condenser_metrics.chars_out").collect()
    assert [row.messages for row in rows] == corpus.texts
    assert same(in_order(restore(compressed, RESTORE).toArrow()), corpus.table)


def test_dask(corpus):
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.read_parquet(str(corpus.path)).repartition(npartitions=3)
    compressed = frame.map_partitions(COMPRESS, meta=COMPRESS(frame.head(1)).iloc[:0])
    assert list(compressed["messages"].compute()) == corpus.texts
    back = compressed.map_partitions(RESTORE, meta=frame._meta).compute()
    assert list(back["messages"]) == corpus.table["messages"].to_pylist() and list(back["number"]) == list(range(len(back)))


@pytest.fixture(scope="session")
def daft():
    daft = pytest.importorskip("daft")
    # Else it takes a Ray that happens to run; it can be told once.
    daft.set_runner_native()
    return daft


def test_daft(corpus, daft):
    from condenser.daft import compress, restore

    frame = daft.read_parquet(str(corpus.path))
    compressed = compress(frame, COMPRESS)
    assert compressed.sort("number").to_pydict()["messages"] == corpus.texts
    back = restore(compressed, RESTORE).sort("number").to_arrow()
    assert same(back, corpus.table)


def test_daft_refuses_what_was_compressed_and_keeps_what_is_there(daft):
    import pyarrow as pa
    from condenser.daft import compress, restore

    frame = daft.from_arrow(pa.table({"condenser": ["mine"], "messages": [record()]}))
    once = compress(frame, COMPRESS)
    assert restore(once, RESTORE).to_pydict() == frame.to_pydict()
    with pytest.raises(condenser.UsageError, match="were compressed before"):
        compress(once, COMPRESS)


@pytest.fixture
def job(tmp_path, corpora, monkeypatch):
    """A job of some dozens of parts, and its run on one machine."""
    monkeypatch.chdir(tmp_path)
    for name, records in corpora.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{text}\n" for text in records))
    with open("much.jsonl", "w") as file:
        for n in range(40_000):
            file.write(record(30 + n % 40, id=str(n)) + "\n")
    job = {"inputs": ["*.jsonl"], "split_size": "2MiB", "quiet": True}
    condenser.run(job, output="alone")
    return job


class Killer(threading.Thread):
    """Kills the first worker that works on a run."""

    def __init__(self, run):
        super().__init__(daemon=True)
        self.run_folder, self.killed = pathlib.Path(run), None
        self.start()

    def run(self):
        deadline = time.time() + 120
        while time.time() < deadline and self.killed is None:
            # Who holds a file of the run open, works on it.
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                if int(process.name) == os.getpid() or not (self.run_folder / "commits").is_dir():
                    continue
                try:
                    files = [os.readlink(link) for link in (process / "fd").iterdir()]
                except OSError:
                    continue
                if any(file.startswith(str(self.run_folder.resolve() / "conversations")) for file in files):
                    os.kill(int(process.name), signal.SIGKILL)
                    self.killed = int(process.name)
                    return
            time.sleep(0.005)


@pytest.mark.parametrize("workers", WORKERS)
def test_a_job_on_ray_of_which_a_worker_dies(job, ray, workers, tmp_path):
    from condenser.ray import run

    killer = Killer(tmp_path / "run")
    done = run(job, output="run", remote={"num_cpus": 4 // workers})
    killer.join(1)
    assert killer.killed, "no worker was killed"
    assert hashes("run") == hashes("alone")
    assert done.metrics().num_rows > 40_000


def test_a_job_on_spark_of_which_a_worker_dies(job, spark, tmp_path):
    from condenser.spark import run

    killer = Killer(tmp_path / "run")
    run(job, spark=spark, output="run")
    killer.join(1)
    assert killer.killed, "no worker was killed"
    assert hashes("run") == hashes("alone")


def test_a_job_on_ray_whose_input_is_missing(ray, tmp_path):
    from condenser.ray import run

    with pytest.raises(condenser.CondenserError, match="none.jsonl"):
        run({"inputs": [str(tmp_path / "none.jsonl")], "output": str(tmp_path / "run")})


def test_tasks_that_fail_say_why(corpus, ray):
    data = ray.data.read_parquet(str(corpus.path))
    with pytest.raises(Exception, match="no column holds conversations"):
        data.drop_columns(["messages"]).map_batches(COMPRESS, batch_format="pyarrow").take_all()


def test_read_back(corpus):
    assert pq.read_table(corpus.path) == corpus.table
