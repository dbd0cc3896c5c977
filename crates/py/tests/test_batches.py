"""Batches of Arrow, pandas, polars and dictionaries, and engines that need no server: each compresses a corpus as the command
line does, and brings it back."""

import json
import os
import pickle
import signal
import time

import condenser
import pyarrow as pa
import pyarrow.parquet as pq
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


RAGGED = [
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "n": 2}]}],
    [{"role": "user", "content": [{"type": "text", "text": "b"}]}, {"role": "user", "content": "c", "weight": 1.0}],
    chat(),
    None,
]


def test_what_arrow_would_change_stays_in_dictionaries():
    rows = {"messages": RAGGED, "other": [{"x": 1}, {"y": 2}, {1, 2}, ("a", 3)], 0: [object(), None, 1, "a"]}
    compressed = condenser.BatchCompressor(recency_window=1)(rows)
    assert len(compressed["messages"][2][1]["content"]) < 400
    assert compressed["other"] is rows["other"]
    assert RESTORE(compressed) == rows


def test_what_arrow_would_change_stays_in_pandas():
    pandas = pytest.importorskip("pandas")
    index = pandas.date_range("2031-05-06", periods=4, freq="D", name="day")
    other = pandas.array(["a", None, "b", "c"], dtype="string")
    columns = {"messages": RAGGED, "other": [{"x": 1}, {"y": 2}, {1, 2}, ("a", 3)], 0: [1, 2**80, "a", 2j], "text": other}
    frame = pandas.DataFrame(columns, index=index)
    compressed = condenser.BatchCompressor(recency_window=1)(frame)
    assert compressed["condenser_metrics"].iloc[2]["chars_out"] < compressed["condenser_metrics"].iloc[2]["chars_in"]
    assert isinstance(compressed["condenser_rejected"].iloc[3], str)
    back = RESTORE(compressed)
    assert back.index.freq == frame.index.freq and list(back.columns) == list(frame.columns)
    assert (back.dtypes == frame.dtypes).all() and back.to_dict("list") == frame.to_dict("list")


def test_frames_that_were_read_from_parquet_hold_arrays(tmp_path):
    pandas = pytest.importorskip("pandas")
    calls = [{"id": "c", "function": {"name": "run", "arguments": "{}"}}]
    messages = [{"role": "assistant", "content": "Let me see.", "tool_calls": calls}, *chat(), *chat(20)]
    pq.write_table(pa.table({"id": ["a", "b"], "messages": [messages, chat()]}), tmp_path / "in.parquet")
    frame = pandas.read_parquet(tmp_path / "in.parquet")
    compressed = condenser.BatchCompressor(recency_window=1)(frame)
    assert compressed["condenser_rejected"].isna().all() and len(compressed["messages"][0][2]["content"]) < 400
    compressed.to_parquet(tmp_path / "out.parquet")
    for frame_of in (compressed, pandas.read_parquet(tmp_path / "out.parquet")):
        back = RESTORE(frame_of)
        assert type(back["messages"][0]) is type(frame["messages"][0])
        back.to_parquet(tmp_path / "back.parquet")
        assert pq.read_table(tmp_path / "back.parquet").to_pylist() == pq.read_table(tmp_path / "in.parquet").to_pylist()


def test_frames_that_hold_arrow_stay_so():
    pandas = pytest.importorskip("pandas")
    table = pa.table({"messages": [chat(), chat(50)], "n": [1, 2]})
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    compressed = condenser.BatchCompressor(recency_window=1)(frame)
    assert compressed["messages"].dtype == frame["messages"].dtype
    assert pa.Table.from_pandas(RESTORE(compressed), preserve_index=False).equals(table)


def test_polars_columns_that_are_no_arrow_stay():
    polars = pytest.importorskip("polars")
    secret = object()
    frame = polars.DataFrame({"messages": [record(), record(20)]}).with_columns(
        polars.Series("secret", [secret, None], dtype=polars.Object), polars.Series("big", [2**100, 1], dtype=polars.Int128)
    )
    compressed = condenser.BatchCompressor(recency_window=1)(frame)
    assert compressed["secret"][0] is secret
    assert RESTORE(compressed)["messages"].equals(frame["messages"]) and RESTORE(compressed)["secret"][0] is secret


def test_batches_without_a_conversation_pass():
    texts = ["plain"] * 3 + [record()] * 3
    rows = pa.table({"id": range(6), "messages": texts})
    for at in range(6):
        for n in range(7 - at):
            compressed = COMPRESS(rows.slice(at, n))
            assert RESTORE(compressed).equals(rows.slice(at, n))
    compressed = COMPRESS(rows)
    assert all(RESTORE(compressed.slice(at, 1)).equals(rows.slice(at, 1)) for at in range(6))
    duckdb = pytest.importorskip("duckdb")
    db = duckdb.connect()
    stream = COMPRESS(db.sql("SELECT * FROM rows").to_arrow_reader(1))
    assert RESTORE(stream.read_all()).equals(rows)


def test_every_kind_of_rows_is_told_from_what_is_none():
    pandas = pytest.importorskip("pandas")
    for given in ([1], pandas.Series([record()]), None):
        with pytest.raises(TypeError, match="rows are"):
            COMPRESS(given)
    with pytest.raises(condenser.UsageError, match="column='messages'"):
        condenser.BatchCompressor("messages")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_threads_of_its_own():
    compress, rows = condenser.BatchCompressor(threads=2), pa.table({"messages": [record()] * 20})
    expected = compress(rows)
    child = os.fork()
    if child == 0:
        os._exit(0 if compress(rows).equals(expected) else 1)
    deadline = time.time() + 30
    while time.time() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


class Louder(condenser.BatchCompressor):
    """A subclass as users write them."""

    def __call__(self, rows):
        return super().__call__(rows).append_column("loud", pa.array([True] * rows.num_rows))


def test_subclasses_travel():
    louder = pickle.loads(pickle.dumps(Louder(recency_window=1)))
    assert type(louder) is Louder and "loud" in louder(pa.table({"messages": [record()]})).column_names


@pytest.mark.skipif(not os.environ.get("CONDENSER_ENGINES"), reason="takes 8 GB of memory; CONDENSER_ENGINES is not set")
def test_large_texts_come_back_in_slices():
    compressed = condenser.BatchCompressor(recency_window=1)(pa.table({"messages": [record(100_000)]}))
    many = compressed.take([0] * 900).combine_chunks()
    assert many["messages"].type == pa.string()
    lengths = [len(text.as_py()) for batch in RESTORE(many).to_batches() for text in batch["messages"]]
    assert lengths == [len(record(100_000))] * 900
    with pytest.raises(condenser.InputError, match="restore fewer rows at a time"):
        RESTORE(many.to_batches()[0])


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
