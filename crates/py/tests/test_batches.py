"""Batches of Arrow, pandas, polars and dictionaries, and engines that need no server: each compresses a corpus as the command
line does, and brings it back."""

import json
import pickle

import condenser
import pyarrow as pa
import pytest
from conftest import chat, record, same

COMPRESS = condenser.BatchCompressor()
RESTORE = condenser.BatchRestorer()


def test_arrow(corpus):
    compressed = COMPRESS(corpus.table)
    assert compressed["messages"].to_pylist() == corpus.texts
    assert RESTORE(compressed) == corpus.table
    picked = compressed.take(list(range(compressed.num_rows - 1, -1, -3)))
    assert same(RESTORE(picked), corpus.table.take(list(range(corpus.table.num_rows - 1, -1, -3))))
    assert condenser.BatchCompressor(threads=0)(corpus.table) == compressed


def test_streams_and_batches(corpus):
    batches = corpus.table.to_batches(max_chunksize=7)
    stream = pa.RecordBatchReader.from_batches(corpus.table.schema, iter(batches))
    compressed = COMPRESS(stream)
    assert isinstance(compressed, pa.RecordBatchReader)
    assert COMPRESS.schema(corpus.table.schema) == compressed.schema
    compressed = compressed.read_all()
    assert compressed["messages"].to_pylist() == corpus.texts
    assert pa.Table.from_batches(RESTORE.batches(compressed.to_batches())) == corpus.table
    assert COMPRESS(batches[0]).num_rows == batches[0].num_rows


def test_pandas(corpus):
    frame = corpus.table.to_pandas()
    compressed = COMPRESS(frame)
    assert list(compressed["messages"]) == corpus.texts
    assert RESTORE(compressed).equals(frame)


def test_polars(corpus):
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(corpus.table)
    compressed = COMPRESS(frame)
    assert compressed["messages"].to_list() == corpus.texts
    assert RESTORE(compressed).equals(frame)
    lazy = COMPRESS(frame.lazy()).filter(polars.col("number") % 2 == 0).collect()
    assert lazy["messages"].to_list() == corpus.texts[::2]


def test_datasets(corpus):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_parquet(str(corpus.path), cache_dir=str(corpus.path.parent / "cache"))
    compressed = data.with_format("arrow").map(COMPRESS, batched=True, batch_size=50)
    assert list(compressed.with_format(None)["messages"]) == corpus.texts
    back = compressed.map(RESTORE, batched=True, remove_columns=compressed.column_names)
    assert same(back.with_format("arrow")[:], corpus.table)


def test_datasets_of_messages():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list([{"id": str(n), "messages": chat(100 + n)} for n in range(10)])
    compress = condenser.BatchCompressor(recency_window=1)
    compressed = data.with_format("arrow").map(compress, batched=True)
    assert len(compressed.with_format(None)[3]["messages"][1]["content"]) < 400
    back = compressed.map(RESTORE, batched=True, remove_columns=compressed.column_names).with_format(None)
    assert list(back) == list(data)


def test_duckdb(corpus):
    duckdb = pytest.importorskip("duckdb")
    db = duckdb.connect()
    rows = db.sql(f"SELECT * FROM '{corpus.path}' ORDER BY number").to_arrow_reader(100)
    compressed = COMPRESS(rows)
    # A stream is read while it is written, which takes a cursor of its own.
    db.cursor().execute("CREATE TABLE compressed AS SELECT * FROM compressed")
    assert [text for (text,) in db.execute("SELECT messages FROM compressed ORDER BY number").fetchall()] == corpus.texts
    back = RESTORE(db.sql("SELECT * FROM compressed ORDER BY number").to_arrow_table())
    assert same(back, corpus.table)
    shorter = db.execute("SELECT sum(condenser_metrics.chars_out) <= sum(condenser_metrics.chars_in) FROM compressed").fetchone()
    assert shorter == (True,)


def test_datatrove(corpus, tmp_path):
    pytest.importorskip("datatrove")
    from condenser.datatrove import Compress, Restore
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader, ParquetReader
    from datatrove.pipeline.writers import JsonlWriter

    def run(*steps):
        LocalPipelineExecutor(pipeline=list(steps), logging_dir=str(tmp_path / f"logs{len(list(tmp_path.iterdir()))}")).run()

    def read(folder):
        with pa.CompressedInputStream(pa.OSFile(str(tmp_path / folder / "00000.jsonl.gz")), "gzip") as stream:
            return [json.loads(line) for line in stream.read().decode().splitlines()]

    reader = ParquetReader(str(corpus.path.parent), glob_pattern="in.parquet", text_key="messages", id_key="number")
    run(reader, Compress(), JsonlWriter(str(tmp_path / "out")))
    assert [document["text"] for document in read("out")] == corpus.texts
    run(JsonlReader(str(tmp_path / "out")), Restore(), JsonlWriter(str(tmp_path / "back")))
    assert [document["text"] for document in read("back")] == corpus.table["messages"].to_pylist()
    assert not any(name.startswith("condenser") for name in read("back")[0]["metadata"])


def test_dictionaries_and_lists_of_messages():
    rows = {"id": ["a", "b"], "messages": [chat(), chat(30)]}
    compressed = condenser.BatchCompressor(recency_window=1)(rows)
    assert len(compressed["messages"][0][1]["content"]) < 400
    assert compressed["condenser_metrics"][0]["chars_in"] > compressed["condenser_metrics"][0]["chars_out"]
    assert RESTORE(compressed) == rows


def test_a_column_may_be_named():
    rows = pa.table({"messages": [record(30)], "second": [record()]})
    compressed = condenser.BatchCompressor(column="second", recency_window=1)(rows)
    assert compressed["messages"] == rows["messages"] and compressed["second"] != rows["second"]
    assert condenser.BatchRestorer(column="second")(compressed) == rows


def test_rows_that_hold_no_conversation_stay():
    rows = pa.table({"messages": [record(), "no conversation", None]})
    compressed = COMPRESS(rows)
    assert compressed["messages"].to_pylist()[1:] == ["no conversation", None]
    assert [bool(why) for why in compressed["condenser_rejected"].to_pylist()] == [False, True, True]
    assert RESTORE(compressed) == rows


def test_mistakes_are_told():
    rows = pa.table({"messages": [record()]})
    with pytest.raises(condenser.UsageError, match="were compressed before"):
        COMPRESS(COMPRESS(rows))
    with pytest.raises(condenser.InputError, match="no column holds conversations"):
        COMPRESS(pa.table({"n": [1]}))
    with pytest.raises(condenser.InputError, match="condenser_sidecar"):
        RESTORE(rows)
    with pytest.raises(condenser.UsageError, match="it takes a job"):
        condenser.BatchCompressor(target_ratio=2)
    with pytest.raises(TypeError, match="rows are"):
        COMPRESS([1])
    changed = COMPRESS(rows).to_pydict()
    changed["messages"] = [changed["messages"][0].replace("nightly", "daily")]
    with pytest.raises(condenser.VerificationError):
        RESTORE(pa.table(changed))


def test_compressors_travel():
    compress = pickle.loads(pickle.dumps(condenser.BatchCompressor(recency_window=1, column="messages", threads=2)))
    assert (compress.options["recency_window"], compress.threads) == (1, 2)
    assert pickle.loads(pickle.dumps(condenser.BatchRestorer(column="x"))).column == "x"


def test_no_text_is_copied_on_the_way_in():
    """The memory that grows is that of what comes out: a column that the engine keeps is the same buffer."""
    other = pa.array([b"x" * 1000] * 1000, pa.binary())
    rows = pa.record_batch({"messages": pa.array([record(1)] * 1000, pa.large_string()), "other": other})
    compressed = COMPRESS(rows)
    assert compressed.column("other").buffers()[2].address == other.buffers()[2].address
    # Nothing of these is worth a mark, so that the texts are those that came in.
    assert compressed.column("messages").buffers()[2].address == rows.column("messages").buffers()[2].address
