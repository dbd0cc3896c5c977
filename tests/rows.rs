//! Tables in and out: any table comes back equal, whatever its types, row groups and batches; damage is told and
//! costs no more than it must.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, DictionaryArray, Float64Array, Int8Array, Int64Array, ListArray,
    ListViewArray, StringArray, StructArray, TimestampMicrosecondArray, UnionArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int8Type, Schema, SchemaRef, TimeUnit, UnionFields};
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow::record_batch::RecordBatch;
use condenser::error::Result;
use condenser::io::{Input, Run, TableEncoder, open_input};
use condenser::model::{EngineOptions, ProvenancePlace};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    BatchOptions, Commit, Container, Context, ConversationFormat, ResourceLimits, RestoredSlice, Slice, Source,
    TableOptions, marks, open_sealed, verify_part,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value, json};

use crate::support::chats::{Blunt, Seeded, jsonl};
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};
use crate::support::tables::read_table;
use crate::support::{corpora, job};

const FORMATS: [ConversationFormat; 2] = [ConversationFormat::Parquet, ConversationFormat::Arrow];

fn context(format: ConversationFormat, provenance: ProvenancePlace, batch_bytes: usize, threads: usize) -> Context {
    let engine = EngineOptions { provenance, ..EngineOptions::default() };
    let batches = BatchOptions { batch_bytes, max_record_bytes: 1 << 30 };
    let mut context = job::context(Arc::new(Blunt { options: engine, fails_on: None }), format, batches);
    context.options.trace = true;
    context.bridge = Bridge::new(threads).unwrap();
    context.limits = ResourceLimits::new(1 << 24, threads);
    context
}

fn open(path: &Path, batch_bytes: usize) -> Result<Box<dyn Source>> {
    open_slice(path, &Slice::Whole, batch_bytes)
}

fn open_slice(path: &Path, slice: &Slice, batch_bytes: usize) -> Result<Box<dyn Source>> {
    let input = Input::new("in", Some(path.into()));
    let batches = BatchOptions { batch_bytes, max_record_bytes: 1 << 30 };
    open_input(&input, slice, batches, &TableOptions::default())
}

fn run(context: &Context, sources: Vec<Result<Box<dyn Source>>>, root: &Path) -> Run {
    let sources = sources.into_iter().map(|source| source.expect("the source opens")).collect();
    job::run_all_on_disk(sources, context, root);
    Run::open(root).unwrap()
}

/// The restored table of a part, through the bytes of a file.
fn restored(run: &Run, commit: &Commit, folder: &TestDir) -> RecordBatch {
    let table = commit.table.clone().unwrap();
    let mut restorer = run.restorer(commit, &Bridge::new(1).unwrap(), true).unwrap();
    let mut writer = TableEncoder::restored(table.container, run.schema_of_rows(commit).unwrap()).unwrap();
    let mut bytes = Vec::new();
    verify_part(&mut restorer, commit, None, &mut |restored| {
        let RestoredSlice::Rows { rows, .. } = &restored.slice else { panic!("a table comes back as rows") };
        bytes.extend(writer.append(rows)?);
        Ok(())
    })
    .unwrap();
    bytes.extend(writer.finish().unwrap().0);
    read(&folder.write("back", bytes))
}

fn read(path: &Path) -> RecordBatch {
    read_table(std::fs::read(path).unwrap())
}

fn write(path: &Path, container: Container, rows: &RecordBatch, group_rows: usize) {
    let file = File::create(path).unwrap();
    let slices =
        (0..rows.num_rows()).step_by(group_rows).map(|at| rows.slice(at, group_rows.min(rows.num_rows() - at)));
    match container {
        Container::Parquet => {
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(group_rows))
                .set_compression(Compression::SNAPPY)
                .build();
            let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties)).unwrap();
            slices.for_each(|slice| writer.write(&slice).unwrap());
            writer.close().unwrap();
        }
        Container::ArrowFile => {
            let options = IpcWriteOptions::default();
            let options = options.try_with_compression(Some(arrow::ipc::CompressionType::LZ4_FRAME)).unwrap();
            let mut writer = FileWriter::try_new_with_options(file, &rows.schema(), options).unwrap();
            slices.for_each(|slice| writer.write(&slice).unwrap());
            writer.finish().unwrap();
        }
        Container::ArrowStream => {
            let mut writer = StreamWriter::try_new(file, &rows.schema()).unwrap();
            slices.for_each(|slice| writer.write(&slice).unwrap());
            writer.finish().unwrap();
        }
    }
}

// ---- random tables ----

fn field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, true))
}

fn text(seeded: &mut Seeded) -> DataType {
    let dictionary = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    match seeded.below(6) {
        0 => DataType::LargeUtf8,
        1 => DataType::Utf8View,
        2 => dictionary(DataType::Int32),
        3 => dictionary(DataType::UInt16),
        _ => DataType::Utf8,
    }
}

fn any_type(seeded: &mut Seeded, depth: usize) -> DataType {
    match seeded.below(if depth > 1 { 11 } else { 15 }) {
        0 => DataType::Int64,
        1 => DataType::UInt8,
        2 => DataType::Boolean,
        3 => DataType::Float64,
        4 => DataType::Binary,
        5 => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
        6 => DataType::Decimal128(10, 2),
        7 => DataType::Date32,
        8 => DataType::LargeBinary,
        9 | 10 => text(seeded),
        11 => DataType::List(field("item", any_type(seeded, depth + 1))),
        12 => DataType::LargeList(field("element", any_type(seeded, depth + 1))),
        13 => DataType::Map(
            Arc::new(Field::new(
                "entries",
                DataType::Struct(Fields::from(vec![
                    Field::new("key", DataType::Utf8, false),
                    Field::new("value", DataType::Int64, true),
                ])),
                false,
            )),
            false,
        ),
        _ => DataType::Struct(Fields::from(vec![
            field("a", any_type(seeded, depth + 1)),
            field("b", any_type(seeded, depth + 1)),
        ])),
    }
}

fn message_type(seeded: &mut Seeded) -> DataType {
    let (role, content) = if seeded.below(3) == 0 { ("from", "value") } else { ("role", "content") };
    let parts = DataType::Struct(Fields::from(vec![
        field("type", text(seeded)),
        field("text", text(seeded)),
        field("data", any_type(seeded, 1)),
    ]));
    let mut fields = vec![field(role, text(seeded))];
    let content_type = if seeded.below(4) == 0 { DataType::List(field("item", parts)) } else { text(seeded) };
    fields.push(field(content, content_type));
    for name in ["name", "tool_call_id", "id", "metadata", "x"] {
        if seeded.below(3) == 0 {
            let data_type = if seeded.below(2) == 0 { text(seeded) } else { any_type(seeded, 1) };
            fields.push(field(name, data_type));
        }
    }
    DataType::Struct(Fields::from(fields))
}

fn value(data_type: &DataType, name: &str, seeded: &mut Seeded) -> Value {
    if seeded.below(6) == 0 && name != "messages" {
        return Value::Null;
    }
    match data_type {
        DataType::Int64 => json!(i64::try_from(seeded.below(1000)).unwrap() - 500),
        DataType::UInt8 => json!(seeded.below(256)),
        DataType::Boolean => json!(seeded.below(2) == 0),
        DataType::Float64 => json!(seeded.below(1000) as f64 / 7.0),
        DataType::Binary | DataType::LargeBinary => json!(format!("{:04x}", seeded.below(65536))),
        DataType::Timestamp(_, _) => json!(format!("2024-05-{:02}T01:02:03.000004Z", 1 + seeded.below(28))),
        DataType::Date32 => json!(format!("2024-05-{:02}", 1 + seeded.below(28))),
        DataType::Decimal128(_, _) => json!(format!("{}.{:02}", seeded.below(900), seeded.below(100))),
        DataType::List(item) | DataType::LargeList(item) => {
            let n = seeded.below(if name == "messages" { 7 } else { 4 });
            (0..n)
                .map(|_| {
                    if name == "messages" {
                        message(item.data_type(), seeded)
                    } else {
                        value(item.data_type(), "", seeded)
                    }
                })
                .collect()
        }
        DataType::Map(_, _) => (0..seeded.below(3)).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>().into(),
        DataType::Struct(_) => message(data_type, seeded),
        _ => match name {
            "role" => json!(seeded.pick(&["user", "assistant", "system", "tool"])),
            "from" => json!(seeded.pick(&["human", "gpt", "system"])),
            "type" => json!(seeded.pick(&["text", "image_url"])),
            _ => {
                let words = ["deploy", "größer", "日志", "a\nb", "\"quoted\"", "\u{1}", "😀", "{\"a\": 1}", "because"];
                let n = seeded.below(if matches!(name, "content" | "value" | "text") { 24 } else { 3 });
                json!((0..n).map(|_| seeded.pick(&words)).collect::<Vec<_>>().join(" "))
            }
        },
    }
}

fn message(data_type: &DataType, seeded: &mut Seeded) -> Value {
    let DataType::Struct(fields) = data_type else { unreachable!("a struct") };
    fields
        .iter()
        .map(|field| (field.name().clone(), value(field.data_type(), field.name(), seeded)))
        .collect::<Map<_, _>>()
        .into()
}

fn plain(data_type: &DataType) -> DataType {
    let item = |field: &FieldRef| Arc::new(Field::clone(field).with_data_type(plain(field.data_type())));
    match data_type {
        DataType::Dictionary(_, value) => plain(value),
        DataType::List(field) => DataType::List(item(field)),
        DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(item).collect()),
        other => other.clone(),
    }
}

fn array(field: &FieldRef, n: usize, seeded: &mut Seeded) -> ArrayRef {
    let narrow = Arc::new(Field::new(field.name(), plain(field.data_type()), true));
    let schema = Arc::new(Schema::new(vec![narrow]));
    let mut decoder = arrow::json::ReaderBuilder::new(schema).with_batch_size(n.max(1)).build_decoder().unwrap();
    let rows: Vec<Value> = (0..n)
        .map(|_| {
            let null = field.name() == "messages" && seeded.below(20) == 0;
            json!({ field.name(): if null { Value::Null } else { value(field.data_type(), field.name(), seeded) } })
        })
        .collect();
    decoder.serialize(&rows).unwrap();
    let column = decoder.flush().unwrap().unwrap().column(0).clone();
    cast(&column, field.data_type()).unwrap()
}

pub(crate) fn random_table(seeded: &mut Seeded) -> RecordBatch {
    let item = field(seeded.pick(&["item", "element"]), message_type(seeded));
    let list = if seeded.below(2) == 0 { DataType::List(item) } else { DataType::LargeList(item) };
    let n = 1 + seeded.below(60);
    let mut fields = vec![field("a", any_type(seeded, 0)), field("messages", list), field("z", any_type(seeded, 0))];
    let mut columns: Vec<ArrayRef> = fields.iter().map(|field| array(field, n, seeded)).collect();
    if seeded.below(2) == 0 {
        fields.push(field("id", DataType::Utf8));
        columns.push(Arc::new((0..n).map(|row| (row % 5 > 0).then(|| format!("chat/{row}"))).collect::<StringArray>()));
    } else {
        fields.push(field("conversation_id", DataType::Int64));
        columns.push(Arc::new((0..n).map(|row| i64::try_from(row).ok()).collect::<Int64Array>()));
    }
    if seeded.below(3) == 0 {
        // The same conversations as text.
        let texts: StringArray = (0..n)
            .map(|row| match seeded.below(12) {
                0 => None,
                1 => Some("{\"messages\": [".to_owned()),
                _ => Some(jsonl(1, row as u64).trim_end().replace(',', ",\n ")),
            })
            .collect();
        let data_type = text(seeded);
        columns[1] = cast(&texts, &data_type).unwrap();
        fields[1] = field("messages", data_type);
    }
    let metadata = std::collections::HashMap::from([("huggingface".to_owned(), "{\"info\": {}}".to_owned())]);
    let schema = Schema::new_with_metadata(fields, metadata);
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

#[test]
fn any_table_comes_back() {
    let mut n_replaced = 0;
    for seed in 0..48 {
        let mut seeded = Seeded::new(seed);
        let table = random_table(&mut seeded);
        let container =
            [Container::Parquet, Container::Parquet, Container::ArrowFile, Container::ArrowStream][seeded.below(4)];
        let has_dictionary = format!("{:?}", table.schema()).contains("Dictionary");
        let container =
            if has_dictionary && container == Container::ArrowFile { Container::ArrowStream } else { container };
        let folder = TestDir::new();
        let path = folder.path("in");
        write(&path, container, &table, 1 + seeded.below(70));
        let stored = read(&path);
        assert_eq!(stored, table, "seed {seed}: the test's own writer");
        let provenance = [ProvenancePlace::Metadata, ProvenancePlace::Sidecar][seeded.below(2)];
        let batch_bytes = [64, 1000, 1 << 20][seeded.below(3)];
        for format in FORMATS {
            let context = context(format, provenance, batch_bytes, 2);
            let run = run(&context, vec![open(&path, batch_bytes)], &folder.path(&format!("{format:?}")));
            let back = restored(&run, &run.commits[0], &folder);
            assert_eq!(back.schema(), table.schema(), "seed {seed} {format:?}");
            assert_eq!(back, table, "seed {seed} {format:?} {container:?} {provenance:?} {batch_bytes}");
            n_replaced += run.commits[0].proof.originals;
        }
    }
    assert!(n_replaced > 900, "much was replaced: {n_replaced}");
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads_and_splits_tile_a_table() {
    let folder = TestDir::new();
    let path = folder.path("in.parquet");
    let (columns, schema) = chat_columns(200);
    let table = RecordBatch::try_new(schema, columns).unwrap();
    write(&path, Container::Parquet, &table, 30);
    let sidecar = ProvenancePlace::Sidecar;
    let mut all = Vec::new();
    for threads in [1, 3] {
        let root = folder.path(&threads.to_string());
        run(&context(ConversationFormat::Parquet, sidecar, 2000, threads), vec![open(&path, 2000)], &root);
        all.push(files(&root));
    }
    assert_eq!(all[0], all[1]);
    let splits = [(0, 3, 0), (3, 4, 90), (4, 7, 120)]
        .map(|(start, end, first_row)| open_slice(&path, &Slice::RowGroups { start, end, first_row }, 2000));
    let context = context(ConversationFormat::Parquet, sidecar, 2000, 2);
    let run = run(&context, splits.into_iter().collect(), &folder.path("splits"));
    let parts: Vec<_> = run.commits.iter().map(|commit| restored(&run, commit, &folder)).collect();
    assert_eq!(concat_batches(&table.schema(), &parts).unwrap(), table);
    assert_eq!(run.commits[2].table.as_ref().unwrap().first_row, 120);
    let bridge = Bridge::new(1).unwrap();
    let mut found = run.find(&run.commits[2], "c150", &bridge).unwrap().expect("it is in the last part");
    assert_eq!(found.next_slice().unwrap().expect("a row").records, 1);
    assert!(found.next_slice().unwrap().is_none());
    assert!(run.find(&run.commits[1], "c150", &bridge).unwrap().is_none());
}

/// `n` chats with long answers, and other columns.
fn chat_columns(n: usize) -> (Vec<ArrayRef>, SchemaRef) {
    let fields = Fields::from(vec![field("role", DataType::Utf8), field("content", DataType::Utf8)]);
    let long = |at: usize| {
        format!("This is the long answer number {at}, which says the same thing more than once. ").repeat(3)
    };
    let roles: StringArray = (0..n * 4).map(|at| Some(["user", "assistant"][at % 2])).collect();
    let contents: StringArray =
        (0..n * 4).map(|at| Some(if at % 2 == 0 { format!("Question {at}?") } else { long(at) })).collect();
    let structs = StructArray::new(fields.clone(), vec![Arc::new(roles), Arc::new(contents)], None);
    let item = field("item", DataType::Struct(fields));
    let offsets = OffsetBuffer::from_lengths(vec![4; n]);
    let list = ListArray::new(item, offsets, Arc::new(structs), None);
    let ids: StringArray = (0..n).map(|row| Some(format!("c{row}"))).collect();
    let scores = Float64Array::from_iter_values((0..n).map(|row| row as f64));
    let schema = Schema::new(vec![
        Field::new("id", DataType::Utf8, true),
        Field::new("messages", list.data_type().clone(), true),
        Field::new("score", DataType::Float64, true),
    ]);
    (vec![Arc::new(ids), Arc::new(list), Arc::new(scores)], Arc::new(schema))
}

fn chats(n: usize) -> RecordBatch {
    let (columns, schema) = chat_columns(n);
    RecordBatch::try_new(schema, columns).unwrap()
}

/// A table with one more field per message.
fn chats_with(name: &str, values: ArrayRef) -> RecordBatch {
    let table = chats(values.len() / 4);
    let list = table.column(1).as_list::<i32>();
    let structs = list.values().as_struct();
    let mut fields: Vec<FieldRef> = structs.fields().iter().cloned().collect();
    fields.push(field(name, values.data_type().clone()));
    let mut columns = structs.columns().to_vec();
    columns.push(values);
    let structs = StructArray::new(Fields::from(fields), columns, None);
    let item = field("item", structs.data_type().clone());
    let list = ListArray::new(item, list.offsets().clone(), Arc::new(structs), None);
    let schema = Schema::new(vec![
        Field::new("id", DataType::Utf8, true),
        Field::new("messages", list.data_type().clone(), true),
    ]);
    RecordBatch::try_new(Arc::new(schema), vec![table.column(0).clone(), Arc::new(list)]).unwrap()
}

#[test]
fn what_json_cannot_hold_is_stored_whole() {
    let check = |table: &RecordBatch, raw: bool| {
        let folder = TestDir::new();
        let path = folder.path("in");
        write(&path, Container::ArrowStream, table, 100);
        let context = context(ConversationFormat::Arrow, ProvenancePlace::Sidecar, 1 << 20, 1);
        let run = run(&context, vec![open(&path, 1 << 20)], &folder.path("run"));
        assert_eq!(restored(&run, &run.commits[0], &folder), *table);
        let proof = &run.commits[0].proof;
        assert!(proof.originals > 0 && (proof.raw_records > 0) == raw, "{proof:?}");
    };
    check(&chats_with("score", Arc::new(Float64Array::from(vec![f64::NAN; 8]))), true);
    check(
        &chats_with("score", Arc::new(Float64Array::from(vec![-0.0, 0.1, 1e300, 1e-300, 5e-324, 1.0, 2.5, 1e21]))),
        false,
    );
    check(&chats_with("role", Arc::new(StringArray::from(vec!["x"; 8]))), true);
    for (zone, raw) in [("UTC", false), ("Europe/Berlin", false), ("Mars/Olympus", true)] {
        // The second half is an hour that Berlin has twice.
        let odd = (0..8).map(|at| 1_700_000_000_000_000 + at * 1_001);
        let twice = (0..8).map(|at| 1_729_987_200_000_000 + at * 900_000_000);
        let times = TimestampMicrosecondArray::from_iter_values(odd.chain(twice)).with_timezone(zone);
        check(&chats_with("at", Arc::new(times)), raw);
    }
    check(&chats_with("blob", Arc::new(BinaryArray::from_iter_values((0..8_u8).map(|n| vec![n; 3])))), false);
}

#[test]
fn a_column_that_cannot_take_new_texts_stays_as_it_is() {
    // 120 texts fill the keys of the dictionary; summaries do not fit beside them.
    let texts: Vec<String> =
        (0..120).map(|n| format!("A long enough text about matter number {n}, told twice and more.")).collect();
    let values = StringArray::from_iter_values(&texts);
    let contents = DictionaryArray::<Int8Type>::new(Int8Array::from_iter_values(0..120), Arc::new(values));
    let roles: StringArray = (0..120).map(|at| Some(["user", "assistant"][at % 2])).collect();
    let fields = Fields::from(vec![field("role", DataType::Utf8), field("content", contents.data_type().clone())]);
    let structs = StructArray::new(fields, vec![Arc::new(roles), Arc::new(contents)], None);
    let item = field("item", structs.data_type().clone());
    let list = ListArray::new(item, OffsetBuffer::from_lengths(vec![4; 30]), Arc::new(structs), None);
    let schema = Arc::new(Schema::new(vec![Field::new("messages", list.data_type().clone(), true)]));
    let table = RecordBatch::try_new(schema, vec![Arc::new(list)]).unwrap();
    let folder = TestDir::new();
    let path = folder.path("in");
    write(&path, Container::ArrowStream, &table, 100);
    let context = context(ConversationFormat::Arrow, ProvenancePlace::Sidecar, 1 << 20, 1);
    let run = run(&context, vec![open(&path, 1 << 20)], &folder.path("run"));
    assert_eq!(restored(&run, &run.commits[0], &folder), table);
}

#[test]
fn the_mark_of_a_row_does_not_depend_on_how_it_is_held() {
    let texts: ArrayRef =
        Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some("größer als zwölf Bytes"), Some("a")]));
    let batch = |column: &ArrayRef| RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).unwrap();
    let expected = marks(&batch(&texts));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::LargeUtf8));
    for data_type in [DataType::LargeUtf8, DataType::Utf8View, DataType::Binary, DataType::BinaryView, dictionary] {
        let other = cast(&texts, &data_type).unwrap();
        assert_eq!(marks(&batch(&other)), expected, "{data_type}");
        assert_eq!(marks(&batch(&other.slice(2, 3))), expected[2..], "{data_type}");
    }
    assert_eq!(expected[0], expected[4]);
    assert!((1..4).all(|row| expected[row] != expected[0]) && expected[1] != expected[2]);
    let table = chats(10);
    assert_eq!(marks(&table.slice(3, 4)), marks(&table)[3..7]);
}

#[test]
fn list_views_and_unions_go_through_arrow() {
    let table = chats(20);
    let list = table.column(1);
    let item = field("item", list.as_list::<i32>().values().data_type().clone());
    let view = ListViewArray::from(list.as_list::<i32>().clone());
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20));
    let fields = UnionFields::from_fields(vec![Field::new("n", DataType::Int64, true)]);
    let union = UnionArray::try_new(fields, vec![0; 20].into(), None, vec![numbers]).unwrap();
    let schema = Schema::new(vec![
        Field::new("messages", DataType::ListView(item), true),
        Field::new("u", union.data_type().clone(), true),
    ]);
    let table = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(view), Arc::new(union)]).unwrap();
    let folder = TestDir::new();
    write(&folder.path("in.arrow"), Container::ArrowFile, &table, 7);
    condenser(folder.root(), &["compress", "in.arrow", "-o", "run", "--format", "arrow", "--recency-window", "0"]).ok();
    condenser(folder.root(), &["restore", "run", "-o", "back"]).ok();
    assert_eq!(read(&folder.path("back/in.arrow")), table);
    let told = condenser(folder.root(), &["compress", "in.arrow", "-o", "refused"]).exits(1);
    assert!(told.stderr.contains("--format arrow"), "{}", told.stderr);
}

// ---- through the program ----

#[test]
fn tables_of_the_corpora_come_back_through_the_program() {
    let Some(folder) = corpora::folder() else { return };
    for path in corpora::files_in(&folder.join("parquet"), ".parquet") {
        let folder = TestDir::new();
        let input = path.to_string_lossy();
        let name = path.file_name().unwrap().to_string_lossy();
        for format in ["parquet", "arrow"] {
            let (run, back) = (format!("run-{format}"), format!("back-{format}"));
            // Of short talk as well something is compressed.
            let all = ["--format", format, "--preset", "classic", "--recency-window", "0"];
            condenser(folder.root(), &[&["compress", &input, "-o", &run], &all[..]].concat()).ok();
            condenser(folder.root(), &["verify", &run, "--against", &input]).ok();
            condenser(folder.root(), &["restore", &run, "-o", &back]).ok();
            let (original, restored) = (read(&path), read(&folder.path(&format!("{back}/{name}"))));
            assert_eq!(original.schema(), restored.schema(), "{input}");
            assert!(original == restored, "{input} differs after {format}");
            let ending = if format == "parquet" { "parquet" } else { "arrow" };
            let written = read(&folder.path(&format!("{run}/conversations/part-00000.{ending}")));
            assert_eq!(written.schema(), original.schema(), "{input}");
            assert!(written != original, "{input}: nothing was compressed");
        }
    }
}

#[test]
fn a_conversation_is_found_by_its_id() {
    let folder = TestDir::new();
    write(&folder.path("in.parquet"), Container::Parquet, &chats(100), 30);
    for format in ["parquet", "arrow"] {
        condenser(folder.root(), &["compress", "in.parquet", "-o", format, "--format", format]).ok();
        let told = condenser(folder.root(), &["restore", format, "--conversation", "c77"]).ok();
        let messages: Value = serde_json::from_slice(&told.stdout).unwrap();
        assert_eq!(messages.as_array().unwrap().len(), 4);
        assert_eq!(messages[0], json!({"role": "user", "content": "Question 308?"}));
        condenser(folder.root(), &["restore", format, "--conversation", "c100"]).exits(1);
    }
}

#[test]
fn tables_are_refused_where_they_do_not_fit() {
    let folder = TestDir::new();
    write(&folder.path("in.parquet"), Container::Parquet, &chats(3), 30);
    write(&folder.path("in.arrows"), Container::ArrowStream, &chats(3), 30);
    let told = condenser(folder.root(), &["compress", "in.parquet", "-o", "run", "--format", "jsonl"]).exits(2);
    assert!(told.stderr.contains("--format arrow"), "{}", told.stderr);
    let told = condenser(folder.root(), &["compress", "-", "-o", "run"]).input(folder.read("in.parquet")).exits(2);
    assert!(told.stderr.contains("name the file"), "{}", told.stderr);
    condenser(folder.root(), &["compress", "-", "-o", "run"]).input(folder.read("in.arrows")).ok();
    condenser(folder.root(), &["restore", "run", "-o", "back"]).ok();
    assert_eq!(read(&folder.path("back/stdin.arrows")), chats(3));
    let told = condenser(folder.root(), &["compress", "in.parquet", "-o", "x", "--messages-column", "score"]).exits(1);
    assert!(told.stderr.contains("`score` holds no conversations"), "{}", told.stderr);
    let told = condenser(folder.root(), &["compress", "in.parquet", "-o", "y", "--messages-column", "nope"]).exits(1);
    assert!(told.stderr.contains("id, messages, score"), "{}", told.stderr);
    folder.write("empty.parquet", "");
    condenser(folder.root(), &["compress", "empty.parquet", "-o", "z"]).exits(1);
}

#[test]
fn an_empty_table_keeps_its_schema() {
    let folder = TestDir::new();
    for (container, name) in [(Container::Parquet, "a.parquet"), (Container::ArrowFile, "a.arrow")] {
        write(&folder.path(name), container, &chats(1).slice(0, 0), 30);
        condenser(folder.root(), &["compress", name, "-o", &format!("run-{name}")]).exits(3);
        condenser(folder.root(), &["restore", &format!("run-{name}"), "-o", "back"]).ok();
        assert_eq!(read(&folder.path(&format!("back/{name}"))), chats(1).slice(0, 0));
    }
}

#[test]
fn a_damaged_row_group_costs_its_rows_only() {
    let folder = TestDir::new();
    let path = folder.path("in.parquet");
    write(&path, Container::Parquet, &chats(90), 30);
    let metadata = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap().metadata().clone();
    let (start, _) = metadata.row_group(1).column(2).byte_range();
    let mut bytes = folder.read("in.parquet");
    bytes[start as usize..start as usize + 40].fill(0xFF);
    folder.write("in.parquet", bytes);
    let told = condenser(folder.root(), &["compress", "in.parquet", "-o", "run"]).exits(3);
    assert!(told.stderr.contains("60 conversations"), "{}", told.stderr);
    let reject: Value = serde_json::from_slice(&folder.read("run/rejects/part-00000.jsonl")).unwrap();
    assert_eq!(
        (&reject["reason"], &reject["lost_rows"], &reject["source_row"]),
        (&json!("damaged_rows"), &json!(30), &json!(30))
    );
    assert!(reject["detail"].as_str().unwrap().contains("row group 1, rows 30 to 59"), "{reject}");
    let commit: Value = open_sealed(&folder.read("run/commits/part-00000.json.zst"), "").unwrap();
    assert_eq!(commit["input"]["lost_rows"], json!(30));
    condenser(folder.root(), &["verify", "run", "--against", "in.parquet"]).ok();
    let told = condenser(folder.root(), &["restore", "run", "-o", "back"]).ok();
    assert!(told.stderr.contains("30 rows were damaged"), "{}", told.stderr);
    let expected = concat_batches(&chats(1).schema(), &[chats(90).slice(0, 30), chats(90).slice(60, 30)]).unwrap();
    assert_eq!(read(&folder.path("back/in.parquet")), expected);
    let told = condenser(folder.root(), &["restore", "run", "--conversation", "c61"]).ok();
    assert!(String::from_utf8(told.stdout).unwrap().contains("Question 244?"));
}

#[test]
fn a_table_without_its_footer_is_refused_or_read_as_far_as_it_goes() {
    let folder = TestDir::new();
    for (container, name) in
        [(Container::Parquet, "a.parquet"), (Container::ArrowFile, "b.arrow"), (Container::ArrowStream, "c.arrows")]
    {
        write(&folder.path(name), container, &chats(90), 30);
        let bytes = folder.read(name);
        folder.write(name, &bytes[..bytes.len() / 2]);
    }
    let told = condenser(folder.root(), &["compress", "a.parquet", "-o", "a"]).exits(1);
    assert!(told.stderr.contains("the Parquet footer cannot be read"), "{}", told.stderr);
    for (run, name) in [("b", "b.arrow"), ("c", "c.arrows")] {
        let told = condenser(folder.root(), &["compress", name, "-o", run]).exits(3);
        assert!(told.stderr.contains("30 conversations"), "{}", told.stderr);
        condenser(folder.root(), &["verify", run, "--against", name]).ok();
        condenser(folder.root(), &["restore", run, "-o", "back"]).ok();
        assert_eq!(read(&folder.path(&format!("back/{name}"))), chats(90).slice(0, 30));
    }
}

#[test]
fn a_damaged_record_batch_of_a_file_costs_its_rows_only() {
    let folder = TestDir::new();
    write(&folder.path("in.arrow"), Container::ArrowFile, &chats(90), 30);
    let mut bytes = folder.read("in.arrow");
    // The frame of the first buffer of the second record batch.
    let magic: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == [0x04, 0x22, 0x4D, 0x18]).collect();
    let at = magic[magic.len() / 2];
    bytes[at..at + 4].fill(0);
    folder.write("in.arrow", bytes);
    let told = condenser(folder.root(), &["compress", "in.arrow", "-o", "run"]).exits(3);
    assert!(told.stderr.contains("60 conversations"), "{}", told.stderr);
    condenser(folder.root(), &["verify", "run", "--against", "in.arrow"]).ok();
    condenser(folder.root(), &["restore", "run", "-o", "back"]).ok();
    let expected = concat_batches(&chats(1).schema(), &[chats(90).slice(0, 30), chats(90).slice(60, 30)]).unwrap();
    assert_eq!(read(&folder.path("back/in.arrow")), expected);
}

#[test]
fn verify_tells_a_changed_table() {
    let folder = TestDir::new();
    write(&folder.path("in.parquet"), Container::Parquet, &chats(50), 30);
    write(&folder.path("shorter.parquet"), Container::Parquet, &chats(49), 30);
    write(&folder.path("longer.parquet"), Container::Parquet, &chats(51), 30);
    condenser(folder.root(), &["compress", "in.parquet", "-o", "run"]).ok();
    condenser(folder.root(), &["verify", "run", "--against", "in.parquet"]).ok();
    let told = condenser(folder.root(), &["verify", "run", "--against", "shorter.parquet"]).exits(4);
    assert!(told.stderr.contains("row 49"), "{}", told.stderr);
    let told = condenser(folder.root(), &["verify", "run", "--against", "longer.parquet"]).exits(4);
    assert!(told.stderr.contains("goes on after row 50"), "{}", told.stderr);
}

#[test]
fn json_lines_go_to_arrow_and_back() {
    let folder = TestDir::new();
    let text = jsonl(200, 7) + "broken\n";
    folder.write("in.jsonl", &text);
    condenser(folder.root(), &["compress", "in.jsonl", "-o", "run", "--format", "arrow", "--trace"]).exits(3);
    for table in ["conversations", "verbatim", "metrics", "decisions"] {
        assert!(read(&folder.path(&format!("run/{table}/part-00000.arrow"))).num_rows() > 0, "{table}");
    }
    condenser(folder.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    condenser(folder.root(), &["restore", "run", "-o", "back"]).ok();
    assert_eq!(folder.read("back/in.jsonl"), text.as_bytes());
    let told = condenser(folder.root(), &["restore", "run", "--conversation", "chat/17"]).ok();
    assert_eq!(told.stdout, format!("{}\n", text.lines().nth(17).unwrap()).as_bytes());
}

#[test]
fn a_map_reads_columns_of_other_names() {
    let dir = TestDir::new();
    let table = chats(8);
    let list = table.column(1).as_list::<i32>();
    let fields = Fields::from(vec![field("who", DataType::Utf8), field("says", DataType::Utf8)]);
    let structs = StructArray::new(fields.clone(), list.values().as_struct().columns().to_vec(), None);
    let item = field("item", DataType::Struct(fields));
    let list = ListArray::new(item, list.offsets().clone(), Arc::new(structs), None);
    let text = |row: usize| json!({ "log": { "turns": [{ "who": "user", "says": format!("{row}: {}", "So it is. ".repeat(90)) }] } });
    let texts: StringArray = (0..8).map(|row| Some(text(row).to_string())).collect();
    let schema = Schema::new(vec![
        Field::new("id", DataType::Utf8, true),
        Field::new("talk", list.data_type().clone(), true),
        Field::new("doc", DataType::Utf8, true),
    ]);
    let columns: Vec<ArrayRef> = vec![table.column(0).clone(), Arc::new(list), Arc::new(texts)];
    let rows = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let path = dir.path("in.parquet");
    write(&path, Container::Parquet, &rows, 5);
    condenser(dir.root(), &["compress", "in.parquet", "-o", "none"]).exits(1);
    for (run, flags) in [
        ("structs", &["--map", "messages=talk,role=who,content=says"][..]),
        ("texts", &["--map", "messages=log.turns,role=who,content=says", "--messages-column", "doc"]),
    ] {
        condenser(dir.root(), &[&["compress", "in.parquet", "-o", run], flags].concat()).ok();
        condenser(dir.root(), &["verify", run]).ok();
        let back = format!("{run}-back");
        condenser(dir.root(), &["restore", run, "-o", &back]).ok();
        assert_eq!(read(&dir.path(&format!("{back}/in.parquet"))), rows, "{run}");
        let told = condenser(dir.root(), &["show", run, "c3"]).ok();
        assert!(String::from_utf8_lossy(&told.stdout).contains("user"), "{run}");
    }
    let other =
        ["compress", "in.parquet", "-o", "no", "--map", "messages=talk.turns,role=who", "--messages-column", "talk"];
    let told = condenser(dir.root(), &other).exits(3);
    assert!(told.stderr.contains("the record has the keys `messages`"), "{}", told.stderr);
}
