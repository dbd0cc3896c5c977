//! Tables with every type that Arrow and Parquet know, beside the messages and inside them, with odd names and odd shapes, as other
//! programs write them: each is compressed and comes back equal, or is refused with words.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, FixedSizeBinaryArray, Int32Array, Int64Array, ListArray, NullArray, RunArray, StringArray,
    StructArray, new_null_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Int32Type, IntervalUnit, Schema, TimeUnit, UnionFields, UnionMode,
};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use parquet::arrow::ArrowWriter;
use parquet::data_type::{ByteArray, ByteArrayType, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{call, count};
use crate::support::dir::TestDir;
use crate::support::tables::read_table;

const N_ROWS: usize = 12;

fn field(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, true))
}

/// Every type, some of them inside others.
fn all_types() -> Vec<DataType> {
    use DataType::{
        Binary, BinaryView, Boolean, Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Dictionary,
        Duration, FixedSizeBinary, FixedSizeList, Float16, Float32, Float64, Int8, Int16, Int32, Int64, Interval,
        LargeBinary, LargeList, LargeListView, LargeUtf8, List, ListView, Map, Null, RunEndEncoded, Struct, Time32,
        Time64, Timestamp, UInt8, UInt16, UInt32, UInt64, Union, Utf8, Utf8View,
    };
    let mut types = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Date32,
        Date64,
        Binary,
        LargeBinary,
        BinaryView,
        Utf8,
        LargeUtf8,
        Utf8View,
        FixedSizeBinary(3),
        Decimal32(9, 2),
        Decimal64(18, 3),
        Decimal128(38, 10),
        Decimal128(5, -2),
        Decimal256(76, 20),
        Time32(TimeUnit::Second),
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Nanosecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        Struct(Fields::empty()),
    ];
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        types.extend([Duration(unit), Timestamp(unit, None), Timestamp(unit, Some("Europe/Berlin".into()))]);
    }
    let entries =
        Struct(Fields::from(vec![Field::new("key", Utf8, false), Field::new("value", Decimal128(38, 10), true)]));
    let large =
        Struct((0..200).map(|at| Field::new(format!("f{at}"), if at % 2 == 0 { Utf8 } else { Int64 }, true)).collect());
    let deep = (0..30).fold(Int64, |inner, _| List(field("item", inner)));
    types.extend([
        Map(Arc::new(Field::new("entries", entries, false)), false),
        List(field("item", large)),
        deep,
        LargeList(field("x", Utf8View)),
        FixedSizeList(field("item", Float32), 4),
        ListView(field("item", Utf8)),
        LargeListView(field("item", Int8)),
        Dictionary(Box::new(UInt8), Box::new(Decimal128(9, 1))),
        Dictionary(Box::new(Int64), Box::new(LargeUtf8)),
        List(field("item", Dictionary(Box::new(Int8), Box::new(Utf8)))),
        RunEndEncoded(Arc::new(Field::new("run_ends", Int32, false)), field("values", Utf8)),
        Union([(0, field("a", Int64)), (3, field("b", Utf8))].into_iter().collect::<UnionFields>(), UnionMode::Sparse),
        Union([(0, field("a", Int64)), (3, field("b", Utf8))].into_iter().collect::<UnionFields>(), UnionMode::Dense),
    ]);
    types
}

/// Values of the type where they are easily had, nulls where not.
fn column(data_type: &DataType, n: usize) -> ArrayRef {
    match data_type {
        DataType::Null => return Arc::new(NullArray::new(n)),
        DataType::FixedSizeBinary(3) => {
            let values = (0..n).map(|at| Some([at as u8, 0, 255]));
            return Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 3).expect("three bytes each"),
            );
        }
        DataType::RunEndEncoded(_, _) => {
            let ends = Int32Array::from_iter_values([1, i32::try_from(n).expect("few rows")]);
            let values = StringArray::from(vec![Some("first"), None]);
            return Arc::new(RunArray::<Int32Type>::try_new(&ends, &values).expect("two runs"));
        }
        DataType::Struct(fields) if fields.is_empty() => return Arc::new(StructArray::new_empty_fields(n, None)),
        DataType::List(item) => {
            // Lists in lists in lists would not end.
            let each = if n > 100 { 1 } else { 2 };
            let values = column(item.data_type(), n * each);
            let list = ListArray::new(item.clone(), OffsetBuffer::from_lengths(vec![each; n]), values, None);
            return Arc::new(list);
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|field| column(field.data_type(), n)).collect();
            return Arc::new(StructArray::new(fields.clone(), columns, None));
        }
        _ => {}
    }
    let numbers: ArrayRef =
        Arc::new((0_i64..).take(n).map(|at| (at % 5 > 0).then_some(at * 7 - 3)).collect::<Int64Array>());
    let texts: ArrayRef =
        Arc::new((0..n).map(|at| (at % 5 > 0).then(|| format!("v{at} größer"))).collect::<StringArray>());
    let from = |values: &ArrayRef| cast(values, data_type).ok().filter(|values| values.null_count() < n);
    from(&numbers).or_else(|| from(&texts)).unwrap_or_else(|| new_null_array(data_type, n))
}

fn contents(n: usize) -> ArrayRef {
    let long = |at: usize| {
        format!("Answer {at}: the deploy failed because the cache was full, and nobody looked at it. ").repeat(4)
    };
    Arc::new(StringArray::from_iter_values((0..n).map(long)))
}

/// Conversations of four messages, each with `more` fields beside role and content.
fn messages(more: &[(&str, DataType)]) -> ArrayRef {
    let n = N_ROWS * 4;
    let roles: ArrayRef = Arc::new(StringArray::from_iter_values((0..n).map(|at| ["user", "assistant"][at % 2])));
    let mut columns = vec![roles, contents(n)];
    columns.extend(more.iter().map(|(_, data_type)| column(data_type, n)));
    let names = ["role", "content"].into_iter().chain(more.iter().map(|(name, _)| *name));
    let fields: Fields = names.zip(&columns).map(|(name, values)| field(name, values.data_type().clone())).collect();
    let structs = StructArray::new(fields, columns, None);
    let item = field("item", structs.data_type().clone());
    Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(vec![4; N_ROWS]), Arc::new(structs), None))
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields: Vec<Field> =
        columns.iter().map(|(name, values)| Field::new(*name, values.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, values)| values).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(N_ROWS));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options).expect("columns of one length")
}

fn ids() -> ArrayRef {
    Arc::new(StringArray::from_iter_values((0..N_ROWS).map(|row| format!("c{row}"))))
}

fn all_tables() -> Vec<(String, RecordBatch)> {
    let mut tables = Vec::new();
    for data_type in all_types() {
        let beside = vec![("id", ids()), ("messages", messages(&[])), ("x", column(&data_type, N_ROWS))];
        tables.push((format!("{data_type} beside the messages"), table(beside)));
        let inside = vec![("id", ids()), ("messages", messages(&[("x", data_type.clone())]))];
        tables.push((format!("{data_type} in the messages"), table(inside)));
        tables.push((format!("messages as {data_type}"), table(vec![("messages", column(&data_type, N_ROWS))])));
        let content =
            DataType::Struct(Fields::from(vec![field("role", DataType::Utf8), field("content", data_type.clone())]));
        let list = column(&DataType::List(field("item", content)), N_ROWS);
        tables.push((format!("content as {data_type}"), table(vec![("messages", list)])));
        if let Ok(list) = cast(&messages(&[]), &data_type) {
            tables.push((format!("whole messages as {data_type}"), table(vec![("messages", list)])));
        }
    }
    for name in ["", ".", "a.b", "messages.role", "a\0b", "\u{1b}[31m", "größer", &"n".repeat(10_000)] {
        tables.push((format!("a column called {name:?}"), table(vec![("messages", messages(&[])), (name, ids())])));
        tables
            .push((format!("a field called {name:?}"), table(vec![("messages", messages(&[(name, DataType::Utf8)]))])));
        tables.push((format!("messages called {name:?}"), table(vec![(name, messages(&[]))])));
    }
    tables.push(("messages twice".to_owned(), table(vec![("messages", messages(&[])), ("messages", messages(&[]))])));
    tables.push(("content twice".to_owned(), table(vec![("messages", messages(&[("content", DataType::Utf8)]))])));
    tables.push(("no columns".to_owned(), table(Vec::new())));
    tables.push(("no rows".to_owned(), table(vec![("messages", messages(&[]))]).slice(0, 0)));
    let many = (0..3000).map(|at| format!("c{at}")).collect::<Vec<_>>();
    let many = many.iter().map(|name| (name.as_str(), ids())).chain([("messages", messages(&[]))]).collect();
    tables.push(("3000 columns".to_owned(), table(many)));
    tables
}

/// The bytes of a file of this kind; `None` when its writer does not know the types.
fn written(rows: &RecordBatch, kind: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match kind {
        "parquet" => {
            let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).ok()?;
            writer.write(rows).and_then(|()| writer.close()).ok()?;
        }
        "arrow" => {
            let mut writer = FileWriter::try_new(&mut bytes, &rows.schema()).ok()?;
            writer.write(rows).and_then(|()| writer.finish()).ok()?;
        }
        _ => {
            let mut writer = StreamWriter::try_new(&mut bytes, &rows.schema()).ok()?;
            writer.write(rows).and_then(|()| writer.finish()).ok()?;
        }
    }
    Some(bytes)
}

/// Compresses the file and restores it: true when it came back equal, false when it was refused.
fn comes_back(bytes: &[u8], format: &str, what: &str) -> bool {
    let dir = TestDir::new();
    let name = if bytes.starts_with(b"PAR1") { "in.parquet" } else { "in.arrow" };
    dir.write(name, bytes);
    let args = ["compress", name, "-o", "run", "--format", format, "--recency-window", "0", "--quiet"];
    let ended = call(dir.root(), &args);
    let told = || format!("{what} ({name} to {format})\n{}", ended.stderr);
    if ended.code == 1 || ended.code == 2 {
        assert!(
            ended.stderr.contains("error: ") && !ended.stderr.contains("defect"),
            "refused without words: {}",
            told()
        );
        assert!(!dir.path("run/manifest.json").exists(), "{}", told());
        return false;
    }
    // 3: some rows hold no conversation. They come back all the same.
    assert!(ended.code == 0 || ended.code == 3, "{}", told());
    for args in [&["verify", "run", "--against", name][..], &["restore", "run", "-o", "back"]] {
        let again = call(dir.root(), args);
        assert_eq!(again.code, 0, "{args:?}: {}\n{}", told(), again.stderr);
    }
    let (restored, original) =
        (read_table(dir.read(&Path::new("back").join(name).to_string_lossy())), read_table(bytes.to_vec()));
    assert_eq!(restored.schema(), original.schema(), "{}", told());
    assert!(restored == original, "{}", told());
    true
}

#[test]
fn a_table_of_any_type_comes_back_or_is_refused_with_words() {
    let ways = [
        ("parquet", "parquet"),
        ("arrow", "arrow"),
        ("stream", "parquet"),
        ("parquet", "arrow"),
        ("arrow", "parquet"),
        ("stream", "arrow"),
    ];
    // In every run of the tests each table goes one way, and only a part of them.
    let (n_ways, step) = (count(1, ways.len()), count(7, 1));
    let (mut n_back, mut n_refused, mut n_unwritten, mut failed) = (0, 0, 0, Vec::new());
    for (number, (what, rows)) in all_tables().iter().enumerate().step_by(step) {
        for way in 0..n_ways {
            let (kind, format) = ways[(number / step + way) % ways.len()];
            // Some writers panic where others refuse.
            let Ok(Some(bytes)) = catch_unwind(AssertUnwindSafe(|| written(rows, kind))) else {
                n_unwritten += 1;
                continue;
            };
            match catch_unwind(|| comes_back(&bytes, format, what)) {
                Ok(true) => n_back += 1,
                Ok(false) => n_refused += 1,
                Err(_) => failed.push(format!("{what}, {kind} to {format}")),
            }
        }
    }
    assert!(failed.is_empty(), "these tables fail:\n{}", failed.join("\n"));
    for bytes in [int96(), two_levels()] {
        assert!(comes_back(&bytes, "parquet", "an old file") && comes_back(&bytes, "arrow", "an old file"));
        n_back += 2;
    }
    assert!(n_back > n_refused && n_back > n_unwritten, "{n_back} {n_refused} {n_unwritten}");
    println!(
        "attack: {} tables of wild types: {n_back} came back equal, {n_refused} were refused with words ({n_unwritten} have no writer)",
        n_back + n_refused
    );
}

/// Times as old programs wrote them, with messages as JSON text.
fn int96() -> Vec<u8> {
    let schema =
        parse_message_type("message m { optional binary messages (UTF8); optional int96 at; }").expect("a schema");
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(WriterProperties::default()))
        .expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    let text = |at: usize| {
        let long = "The deploy failed because the cache was full, and nobody looked at it. ".repeat(9);
        ByteArray::from(
            format!(r#"[{{"role":"user","content":"{at} {long}"}},{{"role":"assistant","content":"{long} {at}"}}]"#)
                .as_str(),
        )
    };
    let texts: Vec<ByteArray> = (0..N_ROWS).map(text).collect();
    let levels = vec![1; N_ROWS];
    let mut column = group.next_column().expect("a writer").expect("a column");
    column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None).expect("written");
    column.close().expect("closed");
    let times: Vec<Int96> = (0..N_ROWS as u32).map(|at| Int96::from(vec![at * 1000, 0, 2_440_588 + at])).collect();
    let mut column = group.next_column().expect("a writer").expect("a column");
    column.typed::<Int96Type>().write_batch(&times, Some(&levels), None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.into_inner().expect("closed")
}

/// A list without the annotation of one: the group itself repeats.
fn two_levels() -> Vec<u8> {
    let schema =
        "message m { repeated group messages { required binary role (UTF8); required binary content (UTF8); } }";
    let schema = parse_message_type(schema).expect("a schema");
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(WriterProperties::default()))
        .expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    let n = N_ROWS * 4;
    let (definition, repetition) = (vec![1; n], (0..n).map(|at| i16::from(at % 4 > 0)).collect::<Vec<_>>());
    let long = "The deploy failed because the cache was full, and nobody looked at it. ".repeat(9);
    for values in [
        (0..n).map(|at| ByteArray::from(["user", "assistant"][at % 2])).collect::<Vec<_>>(),
        (0..n).map(|at| ByteArray::from(format!("{at} {long}").as_str())).collect(),
    ] {
        let mut column = group.next_column().expect("a writer").expect("a column");
        column.typed::<ByteArrayType>().write_batch(&values, Some(&definition), Some(&repetition)).expect("written");
        column.close().expect("closed");
    }
    group.close().expect("closed");
    writer.into_inner().expect("closed")
}
