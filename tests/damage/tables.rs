//! Damage of tables: Parquet and Arrow IPC. Every row that can be read comes back, with its schema.

use std::sync::Arc;

use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Encoding;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use super::{Case, Special, call, chats, n_conversations, rejects, special, tells};
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::tables::read_table;

const CASES: &[Special] = &[
    ("A Parquet file named `.jsonl`", "read as Parquet", 0, "every row", named_otherwise),
    ("JSON lines named `.parquet`", "refused; the other inputs go on", 1, "the other inputs", lines_as_table),
    ("An empty file named `.parquet`", "refused; the other inputs go on", 1, "the other inputs", nothing_as_table),
    ("A Parquet file that is cut off", "refused; the other inputs go on", 1, "the other inputs", cut_parquet),
    ("A damaged Parquet footer", "refused; the other inputs go on", 1, "the other inputs", footer),
    (
        "A damaged row group",
        "60 conversations; 30 rows rejected (`damaged_rows`)",
        3,
        "every row of the other row groups",
        row_group,
    ),
    (
        "A Parquet page that states more lengths than there is memory for",
        "60 conversations; 30 rows rejected (`damaged_rows`)",
        3,
        "every row of the other row groups",
        lengths,
    ),
    ("Garbage behind a Parquet file", "refused; the other inputs go on", 1, "the other inputs", glued),
    ("No column with conversations", "refused, with the names of the columns", 1, "the other inputs", no_column),
    ("Messages that are numbers", "refused, with the names of the columns", 1, "the other inputs", wrong_type),
    ("`--messages-column` names no column", "refused, with the names of the columns", 1, "nothing", no_such_column),
    ("Messages that are null", "1 conversation, 2 rejected (`no_messages`)", 3, "every row", null_messages),
    ("Broken JSON in a text column", "1 conversation, 1 rejected (`invalid_json`)", 3, "every row", broken_texts),
    ("A table without rows", "0 conversations", 3, "the schema", empty_table),
    ("A row larger than `--max-record-bytes`", "2 conversations, 1 rejected (`too_long`)", 3, "every row", long_row),
    ("Tables of different schemas", "each is read and written with its own", 0, "every row", drift),
    (
        "An Arrow file that is cut off",
        "30 conversations, 1 rejected (`damaged_rows`)",
        3,
        "every whole batch",
        cut_file,
    ),
    (
        "An Arrow stream that is cut off",
        "30 conversations, 1 rejected (`damaged_rows`)",
        3,
        "every whole batch",
        cut_stream,
    ),
    ("An Arrow stream cut inside its schema", "refused; the other inputs go on", 1, "the other inputs", cut_schema),
    ("Parquet on stdin", "refused: it is read from its end", 2, "nothing", on_stdin),
    ("A table with `--format jsonl`", "refused: lines cannot hold its columns", 2, "nothing", as_lines),
];

pub(super) fn cases() -> Vec<Case> {
    special(CASES)
}

// ---- tables ----

fn messages_type() -> DataType {
    let fields = ["role", "content"].map(|name| Field::new(name, DataType::Utf8, true));
    DataType::List(Arc::new(Field::new("item", DataType::Struct(Fields::from(fields.to_vec())), true)))
}

fn schema(messages: DataType, other: &str) -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Utf8, true),
        Field::new("messages", messages, true),
        Field::new(other, DataType::Int64, true),
    ]))
}

fn table(schema: &SchemaRef, rows: &[Value]) -> RecordBatch {
    let mut decoder = arrow::json::ReaderBuilder::new(schema.clone()).build_decoder().expect("a decoder");
    decoder.serialize(rows).expect("the rows fit the schema");
    decoder.flush().expect("the rows fit").unwrap_or_else(|| RecordBatch::new_empty(schema.clone()))
}

fn talk(number: usize) -> Value {
    json!([
        {"role": "user", "content": format!("Question {number}?")},
        {"role": "assistant", "content": format!("The answer to question {number} is that it works. ").repeat(9)},
    ])
}

/// Some conversations.
fn talks(n: usize) -> RecordBatch {
    let rows: Vec<Value> =
        (0..n).map(|row| json!({"id": format!("c{row}"), "messages": talk(row), "score": row})).collect();
    table(&schema(messages_type(), "score"), &rows)
}

/// Messages of another type.
fn others(messages: DataType, values: &[Value]) -> RecordBatch {
    let rows: Vec<Value> =
        values.iter().enumerate().map(|(row, value)| json!({"id": format!("c{row}"), "messages": value})).collect();
    table(&schema(messages, "score"), &rows)
}

/// As Parquet, with 30 rows in a row group.
fn parquet(rows: &RecordBatch) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(30)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).expect("a writer");
    writer.write(rows).expect("memory takes all");
    writer.into_inner().expect("memory takes all")
}

fn batches(rows: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    (0..rows.num_rows()).step_by(30).map(|at| rows.slice(at, 30.min(rows.num_rows() - at)))
}

fn arrow_file(rows: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new(&mut bytes, &rows.schema()).expect("a writer");
    batches(rows).for_each(|rows| writer.write(&rows).expect("memory takes all"));
    writer.finish().expect("memory takes all");
    drop(writer);
    bytes
}

fn arrow_stream(rows: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &rows.schema()).expect("a writer");
    batches(rows).for_each(|rows| writer.write(&rows).expect("memory takes all"));
    writer.finish().expect("memory takes all");
    drop(writer);
    bytes
}

fn read(bytes: &[u8]) -> RecordBatch {
    read_table(bytes.to_vec())
}

// ---- checks ----

/// The table is read, with these rejects, and comes back as `expected` under the name `back`.
fn reads(code: i32, bytes: &[u8], names: [&str; 2], expected: &RecordBatch, n: u64, refused: (&[&str], &str)) {
    let dir = TestDir::new();
    let [name, back] = names;
    dir.write(name, bytes);
    for format in ["parquet", "arrow"] {
        let mut args = vec!["compress", name, "-o", format, "--format", format, "--quiet"];
        if name.starts_with("long") {
            args.extend(["--max-record-bytes", "4k"]);
        }
        call(&dir, &args, code, &[]);
        let (reasons, first) = rejects(&dir, format);
        assert_eq!(reasons, refused.0);
        assert!(first.contains(refused.1), "`{}` is not said: {first}", refused.1);
        assert_eq!(n_conversations(&dir, format), n);
        call(&dir, &["verify", format, "--against", name, "--quiet"], 0, &[]);
        call(&dir, &["restore", format, "-o", &format!("back-{format}")], 0, &[]);
        let found = read(&dir.read(&format!("back-{format}/{back}")));
        assert_eq!(found.schema(), expected.schema());
        assert!(found == *expected, "the table differs");
        // Nobody is told that nothing is lost where something is.
        let told = String::from_utf8(condenser(dir.root(), &["report", format]).ok().stdout).expect("UTF-8");
        let is_damaged = reasons.iter().any(|reason| reason == "damaged_rows");
        assert_eq!(told.contains("Inputs were damaged: "), is_damaged, "{told}");
        assert_eq!(told.contains("Nothing is lost. Every table comes back row for row"), !is_damaged, "{told}");
    }
}

/// The file is refused with these words; what stands before and behind it is committed.
fn is_refused(code: i32, name: &str, bytes: &[u8], says: &[&str]) {
    let dir = TestDir::new();
    dir.write(name, bytes);
    dir.write("good.jsonl", chats(0..3));
    dir.write("good.parquet", parquet(&talks(3)));
    let told = call(&dir, &["compress", "good.jsonl", name, "good.parquet", "-o", "run"], code, says);
    assert!(told.stderr.contains(name) && told.stderr.contains("everything else is committed"), "{}", told.stderr);
    assert!(told.stderr.contains("hint: "), "{}", told.stderr);
    for (part, is_there) in [(0, true), (1, false), (2, true)] {
        assert_eq!(dir.path(&format!("run/commits/part-0000{part}.json.zst")).exists(), is_there, "part {part}");
    }
    // Without it, in a run of its own, all is well.
    call(&dir, &["compress", "good.jsonl", "good.parquet", "-o", "run", "--fresh"], 0, &[]);
    call(&dir, &["verify", "run-2", "--against", "good.jsonl", "good.parquet"], 0, &[]);
}

fn named_otherwise(code: i32) {
    reads(code, &parquet(&talks(40)), ["a.jsonl", "a.jsonl.parquet"], &talks(40), 40, (&[], ""));
}

fn lines_as_table(code: i32) {
    is_refused(code, "a.parquet", chats(0..3).as_bytes(), &["begins neither as Parquet", "name it as what it is"]);
}

fn nothing_as_table(code: i32) {
    is_refused(code, "a.parquet", b"", &["empty or something else"]);
}

fn cut_parquet(code: i32) {
    let bytes = parquet(&talks(90));
    is_refused(code, "a.parquet", &bytes[..bytes.len() / 2], &["the Parquet footer cannot be read", "fetch or write"]);
}

fn footer(code: i32) {
    let mut bytes = parquet(&talks(90));
    let end = bytes.len() - 8;
    bytes[end - 200..end].fill(0xA5);
    is_refused(code, "a.parquet", &bytes, &["the Parquet footer cannot be read", "fetch or write"]);
}

fn glued(code: i32) {
    let bytes = [parquet(&talks(90)), chats(0..3).into_bytes()].concat();
    is_refused(code, "a.parquet", &bytes, &["the Parquet footer cannot be read", "fetch or write"]);
}

fn row_group(code: i32) {
    let mut bytes = parquet(&talks(90));
    let metadata = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes.clone()))
        .expect("a table")
        .metadata()
        .clone();
    let (start, _) = metadata.row_group(1).column(2).byte_range();
    bytes[start as usize..start as usize + 40].fill(0xFF);
    let rows = talks(90);
    let expected = concat_batches(&rows.schema(), &[rows.slice(0, 30), rows.slice(60, 30)]).expect("one schema");
    let says = "row group 1, rows 30 to 59";
    reads(code, &bytes, ["a.parquet", "a.parquet"], &expected, 60, (&["damaged_rows"], says));
    // Each row counts that is lost.
    let dir = TestDir::new();
    dir.write("a.parquet", bytes);
    condenser(dir.root(), &["compress", "a.parquet", "-o", "run", "-q"]).exits(code);
    call(&dir, &["verify", "run"], 0, &["30 rows of damaged tables could not be read"]);
    let says = "33.3 % of the records are rejected, more than 30.0 %";
    call(&dir, &["report", "run", "--max-reject-rate", "0.3"], 5, &[says]);
    call(&dir, &["report", "run", "--max-reject-rate", "0.34"], 0, &[]);
}

/// The library would make room for as many and end the process; that of prefixes is tried and that of what is behind them.
fn lengths(code: i32) {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(30))
        .set_dictionary_enabled(false)
        .set_column_encoding("id".into(), Encoding::DELTA_BYTE_ARRAY);
    let rows = talks(90);
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build())).expect("a writer");
    writer.write(&rows).expect("memory takes all");
    let whole = writer.into_inner().expect("memory takes all");
    // Blocks of 128 in four packs, 30 numbers.
    let heads: Vec<usize> =
        whole.windows(4).enumerate().filter(|(_, bytes)| *bytes == [0x80, 1, 4, 30]).map(|(at, _)| at).collect();
    assert_eq!(heads.len(), 6, "two lists in each of three row groups");
    let expected = concat_batches(&rows.schema(), &[rows.slice(0, 30), rows.slice(60, 30)]).expect("one schema");
    reads(0, &whole, ["a.parquet", "a.parquet"], &rows, 90, (&[], ""));
    for head in &heads[2..4] {
        let mut bytes = whole.clone();
        bytes[head + 3..head + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        let says = "a page of the column \"id\" states more lengths than values";
        reads(code, &bytes, ["a.parquet", "a.parquet"], &expected, 60, (&["damaged_rows"], says));
    }
}

fn no_column(code: i32) {
    let schema =
        Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true), Field::new("when", DataType::Utf8, true)]));
    let bytes = parquet(&table(&schema, &[json!({"id": 1, "when": "today"})]));
    is_refused(code, "a.parquet", &bytes, &["--messages-column", "the columns are id, when"]);
}

fn wrong_type(code: i32) {
    let bytes = parquet(&others(DataType::Int64, &[json!(1), json!(2)]));
    is_refused(code, "a.parquet", &bytes, &["no column holds conversations", "the columns are id, messages, score"]);
}

fn no_such_column(code: i32) {
    let dir = TestDir::new();
    dir.write("a.parquet", parquet(&talks(3)));
    let args = ["compress", "a.parquet", "-o", "run", "--messages-column", "chats"];
    call(&dir, &args, code, &["a.parquet", "`chats`", "the columns are id, messages, score"]);
}

fn null_messages(code: i32) {
    let rows = others(messages_type(), &[Value::Null, talk(1), Value::Null]);
    reads(code, &parquet(&rows), ["a.parquet", "a.parquet"], &rows, 1, (&["no_messages"; 2], "null"));
}

fn broken_texts(code: i32) {
    let good = json!(format!("{}", json!({"messages": talk(1)})));
    let rows = others(DataType::Utf8, &[good, json!("{\"messages\": [{\"ro")]);
    reads(code, &parquet(&rows), ["a.parquet", "a.parquet"], &rows, 1, (&["invalid_json"], "is it cut off?"));
}

fn empty_table(code: i32) {
    let rows = talks(1).slice(0, 0);
    reads(code, &parquet(&rows), ["a.parquet", "a.parquet"], &rows, 0, (&[], ""));
    reads(code, &arrow_file(&rows), ["a.arrow", "a.arrow"], &rows, 0, (&[], ""));
}

fn long_row(code: i32) {
    let long = json!([{"role": "user", "content": "long ".repeat(2000)}]);
    let rows = others(messages_type(), &[talk(0), long, talk(2)]);
    reads(code, &parquet(&rows), ["long.parquet", "long.parquet"], &rows, 2, (&["too_long"], "raise the limit"));
}

fn drift(code: i32) {
    let dir = TestDir::new();
    let other = {
        let row = json!({"id": "x", "messages": format!("{}", json!({"messages": talk(1)})), "when": 7});
        table(&schema(DataType::LargeUtf8, "when"), &[row])
    };
    dir.write("in/a.parquet", parquet(&talks(3)));
    dir.write("in/b.parquet", parquet(&other));
    dir.write("in/c.jsonl", chats(0..3));
    call(&dir, &["compress", "in", "-o", "run"], code, &[]);
    call(&dir, &["verify", "run", "--against", "in"], 0, &[]);
    call(&dir, &["restore", "run", "-o", "back"], 0, &[]);
    assert_eq!(read(&dir.read("back/a.parquet")), talks(3));
    assert_eq!(read(&dir.read("back/b.parquet")), other);
    assert_eq!(dir.read("back/c.jsonl"), chats(0..3).as_bytes());
}

fn cut_file(code: i32) {
    let bytes = arrow_file(&talks(90));
    let says = "record batch 1 and all after it";
    reads(code, &bytes[..bytes.len() / 2], ["a.arrow", "a.arrow"], &talks(30), 30, (&["damaged_rows"], says));
}

fn cut_stream(code: i32) {
    let bytes = arrow_stream(&talks(90));
    let says = "record batch 1 and all after it";
    // The schema of rows is that of the whole table, whose first rows are left.
    let expected = talks(90).slice(0, 30);
    reads(code, &bytes[..bytes.len() / 2], ["a.arrows", "a.arrows"], &expected, 30, (&["damaged_rows"], says));
}

fn cut_schema(code: i32) {
    let bytes = arrow_stream(&talks(3));
    is_refused(code, "a.arrows", &bytes[..100], &["the schema at the beginning cannot be read", "fetch or write"]);
}

fn on_stdin(code: i32) {
    let dir = TestDir::new();
    let told = condenser(dir.root(), &["compress", "-", "-o", "run"]).input(parquet(&talks(3))).exits(code);
    tells(told, &["-: ", "name the file"]);
}

fn as_lines(code: i32) {
    let dir = TestDir::new();
    dir.write("a.parquet", parquet(&talks(3)));
    let args = ["compress", "a.parquet", "-o", "run", "--format", "jsonl"];
    call(&dir, &args, code, &["a.parquet", "--format arrow"]);
}
