//! Rows that others hold: as many come out as go in, each comes back by itself, and texts are those that a job writes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeStringArray, StringArray, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use condenser::app::{row_compressor, settle};
use condenser::error::ErrorKind;
use condenser::model::{EngineOptions, ProvenancePlace};
use condenser::pipeline::{
    BatchOptions, ConversationFormat, METRICS_COLUMN, REJECTED_COLUMN, RowCompressor, SIDECAR_COLUMN, read_options,
    restore_rows,
};
use parquet::arrow::ArrowWriter;

use crate::rows::random_table;
use crate::support::chats::{Blunt, Seeded};
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::tables::read_table;
use crate::support::{corpora, job};

const BESIDE: [&str; 3] = ["kind", "target_ratio", "trace"];

fn compressor(options: &str, threads: usize) -> condenser::error::Result<RowCompressor> {
    let mut job = read_options(options.parse().unwrap(), &BESIDE)?;
    job.inputs = vec!["-".to_owned()];
    job.output = Some("rows".to_owned());
    row_compressor(&settle(job, &|_| None)?, threads)
}

fn text_of<'r>(rows: &'r RecordBatch, column: &str, row: usize) -> Option<&'r str> {
    let texts = rows.column_by_name(column).unwrap().as_string::<i64>();
    texts.is_valid(row).then(|| texts.value(row))
}

#[test]
fn any_rows_come_back_equal_in_any_order_and_for_any_number_of_threads() {
    let (mut n_rejected, mut n_replaced) = (0, 0);
    for seed in 0..60 {
        let mut seeded = Seeded::new(seed);
        let table = random_table(&mut seeded);
        let provenance = [ProvenancePlace::Metadata, ProvenancePlace::Sidecar][seeded.below(2)];
        let engine = Arc::new(Blunt {
            options: EngineOptions { provenance, ..EngineOptions::default() },
            fails_on: Some("chat/7"),
        });
        let options = job::context(engine.clone(), ConversationFormat::Parquet, BatchOptions::default()).options;
        let made = |threads| RowCompressor::new(engine.clone(), options.clone(), threads).unwrap();
        let alone = made(1).compress(&table).unwrap();
        assert_eq!(alone, made(3).compress(&table).unwrap(), "seed {seed}");
        assert_eq!(alone.num_rows(), table.num_rows());
        assert_eq!(restore_rows(&alone, Some("messages")).unwrap(), table, "seed {seed}");
        for row in 0..alone.num_rows() {
            let rejected = text_of(&alone, REJECTED_COLUMN, row);
            assert_eq!(rejected.is_some(), text_of(&alone, SIDECAR_COLUMN, row).is_none());
            assert_eq!(rejected.is_some(), alone.column_by_name(METRICS_COLUMN).unwrap().is_null(row));
            n_rejected += usize::from(rejected.is_some());
            n_replaced +=
                usize::from(text_of(&alone, SIDECAR_COLUMN, row).is_some_and(|text| text.contains("\"message\"")));
        }
        // Each row stands for itself.
        let mut order: Vec<u32> = (0..alone.num_rows() as u32).collect();
        order.reverse();
        order.truncate(1 + order.len() / 2);
        let order = UInt32Array::from(order);
        let picked = take_record_batch(&alone, &order).unwrap();
        assert_eq!(restore_rows(&picked, None).unwrap(), take_record_batch(&table, &order).unwrap(), "seed {seed}");
    }
    assert!(n_rejected > 100 && n_replaced > 300, "{n_rejected} rejected, {n_replaced} replaced");
}

fn texts(records: &[&str]) -> RecordBatch {
    let column: ArrayRef = Arc::new(StringArray::from(records.to_vec()));
    RecordBatch::try_from_iter([("messages", column)]).unwrap()
}

fn a_chat() -> String {
    let log: String = (0..300).map(|n| format!("test keeps_row_{n} ... ok\\n")).collect();
    format!(
        r#"{{"messages": [{{"role": "user", "content": "Why does it fail?"}}, {{"role": "tool", "content": "{log}1 failed\n"}}, {{"role": "assistant", "content": "The disk is full."}}]}}"#
    )
}

#[test]
fn what_was_changed_or_left_out_is_told() {
    let table = texts(&[&a_chat(), "no conversation"]);
    let rows = compressor("recency_window = 1", 1).unwrap().compress(&table).unwrap();
    assert!(text_of(&rows, REJECTED_COLUMN, 1).unwrap().starts_with("invalid_json: "));
    assert!(text_of(&rows, SIDECAR_COLUMN, 0).unwrap().len() > 3000);
    let shown = rows.column(0).as_string::<i32>();
    assert!(shown.value(0).len() < 1000 && shown.value(1) == "no conversation");
    assert_eq!(restore_rows(&rows, None).unwrap(), table);

    let with = |name: &str, column: ArrayRef| {
        let mut columns = rows.columns().to_vec();
        columns[rows.schema().index_of(name).unwrap()] = column;
        RecordBatch::try_new(rows.schema(), columns).unwrap()
    };
    let changed: ArrayRef = Arc::new(StringArray::from(vec![shown.value(0).replace("disk", "wall"), "x".to_owned()]));
    let error = restore_rows(&with("messages", changed), None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Verification, "{error}");
    for sidecar in [None, Some("{}"), Some("")] {
        let column: ArrayRef = Arc::new(LargeStringArray::from(vec![sidecar, None]));
        let error = restore_rows(&with(SIDECAR_COLUMN, column), None).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Verification, "{error}");
    }
    let error = restore_rows(&rows.project(&[0]).unwrap(), None).unwrap_err();
    assert_eq!((error.kind, &*error.place), (ErrorKind::Input, SIDECAR_COLUMN));
    let error = compressor("", 1).unwrap().compress(&rows).unwrap_err();
    assert_eq!((error.kind, &*error.place), (ErrorKind::Usage, SIDECAR_COLUMN));
    let numbers = RecordBatch::new_empty(Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)])));
    assert_eq!(compressor("", 1).unwrap().compress(&numbers).unwrap_err().kind, ErrorKind::Input);
    let empty = compressor("", 2).unwrap().compress(&table.slice(0, 0)).unwrap();
    assert_eq!((empty.num_rows(), empty.schema()), (0, rows.schema()));
}

#[test]
fn every_batch_has_its_conversations_in_the_same_column() {
    let compressor = compressor("recency_window = 1", 1).unwrap();
    let column = |texts: [&str; 4]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let (chat, plain) = (a_chat(), "no conversation");
    let rows = [("history", column([&chat, &chat, plain, &chat])), ("messages", column([plain, plain, &chat, &chat]))];
    let table = RecordBatch::try_from_iter(rows).unwrap();
    let apart: Vec<RecordBatch> = (0..4).map(|row| compressor.compress(&table.slice(row, 1)).unwrap()).collect();
    let all = concat_batches(&apart[0].schema(), &apart).unwrap();
    let together = compressor.compress(&table).unwrap();
    // Why a row is rejected is said in other words where another row shows what it should be.
    for (at, column) in together.columns().iter().enumerate().take(4) {
        assert_eq!(all.column(at), column, "column {at}");
    }
    assert_eq!(all.column(0), table.column(0));
    for at in 0..4 {
        for n in 0..=4 - at {
            assert_eq!(restore_rows(&all.slice(at, n), None).unwrap(), table.slice(at, n));
        }
    }
    // Names that say nothing: what stands there decides, and the sidecar of each row says what it was.
    let names = [("a", column([&chat, plain, &chat, &chat])), ("b", column([plain, &chat, plain, plain]))];
    let table = RecordBatch::try_from_iter(names).unwrap();
    let apart: Vec<RecordBatch> = (0..4).map(|row| compressor.compress(&table.slice(row, 1)).unwrap()).collect();
    let all = concat_batches(&apart[0].schema(), &apart).unwrap();
    assert_eq!(restore_rows(&all, None).unwrap(), table);
}

#[test]
fn options_that_take_a_job_or_are_none_are_refused() {
    for (options, said) in [
        ("target_ratio = 2.0", "target_ratio: rows that stand for themselves"),
        ("prompts = 'once'", "prompts: rows that stand for themselves"),
        ("trace = true", "trace: rows that stand for themselves"),
        ("output = 'x'", "output: this cannot be followed here"),
        ("kind = 'compaction'", "kind: compaction goes by the ages"),
        ("recency_windw = 2", "recency_windw: unknown option `recency_windw`; did you mean `recency_window`?"),
        ("recency_window = 'x'", "recency_window: wrong type: expected a whole number"),
        ("hide_by = 'x'", "hide_by: unknown value: expected "),
    ] {
        let error = compressor(options, 1).unwrap_err();
        assert!(error.kind == ErrorKind::Usage && error.to_string().starts_with(said), "{options}: {error}");
    }
}

/// The records of a corpus as a table with a text column, and the same compressed by a job.
#[test]
fn texts_of_corpora_are_those_of_a_job_and_come_back() {
    let compressor = compressor("", 0).unwrap();
    for (name, mut records) in corpora::lines() {
        records.truncate(400);
        let table = texts(&records.iter().map(String::as_str).collect::<Vec<_>>());
        let dir = TestDir::new();
        let mut writer = ArrowWriter::try_new(Vec::new(), table.schema(), None).unwrap();
        writer.write(&table).unwrap();
        dir.write("in.parquet", writer.into_inner().unwrap());
        condenser(dir.root(), &["compress", "in.parquet", "-o", "run", "-q"]).ends();
        let files = std::fs::read_dir(dir.path("run/conversations")).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        let of_job: Vec<RecordBatch> = files.iter().map(|file| read_table(std::fs::read(file).unwrap())).collect();
        let of_job = concat_batches(&of_job[0].schema(), &of_job).unwrap();
        let rows = compressor.compress(&table).unwrap();
        let compressed = (0..rows.num_rows()).filter(|&row| text_of(&rows, REJECTED_COLUMN, row).is_none());
        let shown = rows.column(0).as_string::<i32>();
        let compressed: Vec<&str> = compressed.map(|row| shown.value(row)).collect();
        let expected: Vec<&str> = of_job.column(0).as_string::<i32>().iter().flatten().collect();
        assert_eq!(compressed, expected, "{name}");
        assert_eq!(restore_rows(&rows, None).unwrap(), table, "{name}");
    }
}
