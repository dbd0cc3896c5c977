//! Corpora of any size for measuring memory and speed, written to stdout. Conversations are put together from
//! `jobs/sample` with other digits each time, so that no two are the same; the same seed gives the same bytes.
//! `cargo run --release -p condenser-benches --bin generate -- KIND BYTES [SEED] > FILE`
//!
//! | kind | what |
//! |---|---|
//! | `lines` | JSON lines, some of them of several MB |
//! | `short` | JSON lines of one question and one long answer, about 1 KB each |
//! | `giant` | the same, in their middle one conversation of BYTES in many messages |
//! | `monolith` | the same, in their middle one conversation with one message of BYTES |
//! | `table` | Parquet with messages as a list of structs; eight row groups of 32 MB, again and again |
//! | `texts` | Parquet with messages as JSON text, in the same way |
//! | `giant-table` | Parquet with one conversation of BYTES in many messages among small ones |

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, ListArray, StringArray, StringBuilder, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Small conversations before and after a giant one.
const AROUND_BYTES: usize = 200 << 20;
const ROW_GROUP_BYTES: usize = 32 << 20;
const N_ROW_GROUPS: usize = 8;
/// Fields of a message in a table; calls and metadata stand there as JSON text.
const FIELDS: [&str; 5] = ["role", "content", "name", "tool_call_id", "tool_calls"];

#[derive(Deserialize)]
struct Record<'r> {
    #[serde(borrow, default)]
    messages: Vec<&'r RawValue>,
}

/// Gives conversations.
struct Generator {
    /// The messages of each sample, as JSON.
    samples: Vec<Vec<String>>,
    /// Long texts of the samples, as inner JSON strings.
    prose: Vec<String>,
    state: u64,
    n: usize,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jobs/sample");
        let mut files: Vec<_> =
            std::fs::read_dir(folder).expect("the samples").map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        let (mut samples, mut prose) = (Vec::new(), Vec::new());
        for file in files {
            for line in std::fs::read_to_string(file).expect("a sample").lines() {
                let record: Record<'_> = serde_json::from_str(line).expect("a record");
                let messages: Vec<String> = record.messages.iter().map(|message| message.get().to_owned()).collect();
                for message in &messages {
                    let parsed: serde_json::Value = serde_json::from_str(message).expect("a message");
                    let text = parsed["content"].as_str().unwrap_or_default();
                    if text.len() > 400 && !text.contains("```") {
                        let quoted = serde_json::to_string(text).expect("a string");
                        prose.push(quoted.trim_matches('"').trim_end_matches('\\').to_owned());
                    }
                }
                if !messages.is_empty() {
                    samples.push(messages);
                }
            }
        }
        Self { samples, prose, state: seed, n: 0 }
    }

    fn next(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % below
    }

    /// Appends JSON with other digits; escapes and the number of digits stay.
    fn vary(&mut self, json: &str, out: &mut String) {
        let mut escaped = 0;
        let mut before = '\0';
        for char in json.chars() {
            if before == '\\' && char == 'u' {
                escaped = 5;
            }
            before = if before == '\\' { '\0' } else { char };
            escaped = usize::saturating_sub(escaped, 1);
            if escaped == 0 && matches!(char, '1'..='9') {
                let digit = 1 + self.next(9) as u32;
                out.push(char::from_digit(digit, 10).unwrap_or('1'));
            } else {
                out.push(char);
            }
        }
    }

    /// A list of messages of at least `n_bytes`, which may be 0: then one conversation of the samples.
    fn messages(&mut self, n_bytes: usize, mut each: impl FnMut(&str)) {
        let mut message = String::new();
        let mut given = 0;
        loop {
            let at = self.next(self.samples.len());
            for nth in 0..self.samples[at].len() {
                let json = self.samples[at][nth].clone();
                message.clear();
                self.vary(&json, &mut message);
                given += message.len();
                each(&message);
            }
            if given >= n_bytes {
                return;
            }
        }
    }

    /// How long the next conversation is: mostly as a sample is, one in a hundred long, one in two thousand huge.
    fn length(&mut self) -> usize {
        match self.next(2000) {
            0 => 4 << 20,
            1..=20 => 200 << 10,
            _ => 0,
        }
    }

    fn begin(&mut self, out: &mut String) {
        self.n += 1;
        write!(out, "{{\"id\":\"generated-{:08}\",\"messages\":[", self.n).expect("a string takes all");
    }

    fn line(&mut self, n_bytes: usize, out: &mut String) {
        self.begin(out);
        let mut separator = "";
        self.messages(n_bytes, |message| out.extend([std::mem::replace(&mut separator, ","), message]));
        out.push_str("]}\n");
    }

    /// A conversation with one message of `n_bytes` of prose and a usual conversation behind it.
    fn monolith(&mut self, n_bytes: usize, out: &mut String) {
        self.begin(out);
        out.push_str("{\"role\":\"assistant\",\"content\":\"");
        let end = out.len() + n_bytes;
        while out.len() < end {
            let at = self.next(self.prose.len());
            let text = self.prose[at].clone();
            self.vary(&text, out);
            out.push_str("\\n\\n");
        }
        out.push_str("\"}");
        self.messages(0, |message| out.extend([",", message]));
        out.push_str("]}\n");
    }

    fn lines(&mut self, n_bytes: usize, write: &mut impl FnMut(&str)) {
        let (mut line, mut given) = (String::new(), 0);
        while given < n_bytes {
            line.clear();
            let length = self.length();
            self.line(length, &mut line);
            given += line.len();
            write(&line);
        }
    }

    /// A question and a long answer, and thanks.
    fn short(&mut self, out: &mut String) {
        self.begin(out);
        let at = self.next(self.prose.len());
        let text = self.prose[at].clone();
        out.push_str("{\"role\":\"user\",\"content\":\"What happened?\"},{\"role\":\"assistant\",\"content\":\"");
        self.vary(&text, out);
        out.push_str("\"},{\"role\":\"user\",\"content\":\"Thank you.\"}]}\n");
    }

    fn shorts(&mut self, n_bytes: usize, write: &mut impl FnMut(&str)) {
        let (mut line, mut given) = (String::new(), 0);
        while given < n_bytes {
            line.clear();
            self.short(&mut line);
            given += line.len();
            write(&line);
        }
    }

    /// About `n_bytes` of rows; `first` is the length of the first one.
    fn rows(&mut self, n_bytes: usize, first: usize, as_text: bool) -> RecordBatch {
        let mut ids = StringBuilder::new();
        let (mut fields, mut lengths) = (FIELDS.map(|_| StringBuilder::new()), Vec::new());
        let mut texts = StringBuilder::new();
        let (mut given, mut length) = (0, first);
        while given < n_bytes.max(first) {
            self.n += 1;
            ids.append_value(format!("generated-{:08}", self.n));
            let (mut n_messages, mut text) = (0, String::from("["));
            self.messages(length, |message| {
                given += message.len();
                n_messages += 1;
                if as_text {
                    text.push_str(if text.len() > 1 { "," } else { "" });
                    text.push_str(message);
                    return;
                }
                let message: serde_json::Value = serde_json::from_str(message).expect("a message");
                for (name, field) in FIELDS.iter().zip(&mut fields) {
                    match message.get(name) {
                        None | Some(serde_json::Value::Null) => field.append_null(),
                        Some(serde_json::Value::String(text)) => field.append_value(text),
                        Some(other) => field.append_value(other.to_string()),
                    }
                }
            });
            texts.append_value(text + "]");
            lengths.push(n_messages);
            length = self.length();
        }
        let messages: ArrayRef = if as_text {
            Arc::new(texts.finish())
        } else {
            let columns: Vec<ArrayRef> = fields.iter_mut().map(|field| Arc::new(field.finish()) as ArrayRef).collect();
            let fields: Fields = FIELDS.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
            let structs = StructArray::new(fields.clone(), columns, None);
            let item = Arc::new(Field::new("item", DataType::Struct(fields), true));
            Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths), Arc::new(structs), None))
        };
        let ids: StringArray = ids.finish();
        RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef), ("messages", messages)]).expect("columns")
    }
}

/// One row group per batch, in memory.
fn encoded(batches: impl Iterator<Item = RecordBatch>) -> bytes::Bytes {
    let mut writer: Option<ArrowWriter<Vec<u8>>> = None;
    for batch in batches {
        let level = ZstdLevel::try_new(1).expect("a level");
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        let writer = writer.get_or_insert_with(|| {
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer")
        });
        writer.write(&batch).expect("rows");
        writer.flush().expect("a row group");
    }
    writer.expect("a batch").into_inner().expect("a file").into()
}

/// Writes the row groups of `file` again and again until their data has `n_bytes`.
fn repeat(file: &bytes::Bytes, n_bytes: usize, out: impl Write + Send) {
    let reader = SerializedFileReader::new(file.clone()).expect("a file");
    let metadata: &ParquetMetaData = reader.metadata();
    let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
    let key_values = metadata.file_metadata().key_value_metadata().cloned();
    let properties = WriterProperties::builder().set_key_value_metadata(key_values).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).expect("a writer");
    let mut given = 0;
    for group in metadata.row_groups().iter().cycle() {
        if given >= n_bytes {
            break;
        }
        given += group.total_byte_size() as usize;
        let mut copy = writer.next_row_group().expect("a row group");
        for column in group.columns() {
            let result = ColumnCloseResult {
                bytes_written: column.compressed_size() as u64,
                rows_written: group.num_rows() as u64,
                metadata: column.clone(),
                bloom_filter: None,
                column_index: None,
                offset_index: None,
            };
            copy.append_column(file, result).expect("a column");
        }
        copy.close().expect("a row group");
    }
    writer.close().expect("a file");
}

fn main() {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let n_bytes = args.next().and_then(|bytes| bytes.parse().ok()).unwrap_or(100 << 20);
    let mut generator = Generator::new(args.next().and_then(|seed| seed.parse().ok()).unwrap_or(1));
    let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout());
    match &*kind {
        "lines" => generator.lines(n_bytes, &mut |line| out.write_all(line.as_bytes()).expect("a reader")),
        "short" => generator.shorts(n_bytes, &mut |line| out.write_all(line.as_bytes()).expect("a reader")),
        "giant" | "monolith" => {
            let mut write = |line: &str| out.write_all(line.as_bytes()).expect("a reader");
            generator.lines(AROUND_BYTES, &mut write);
            let mut line = String::new();
            if kind == "giant" {
                generator.line(n_bytes, &mut line);
            } else {
                generator.monolith(n_bytes, &mut line);
            }
            write(&line);
            generator.lines(AROUND_BYTES, &mut write);
        }
        "table" | "texts" => {
            let groups = (0..N_ROW_GROUPS).map(|_| generator.rows(ROW_GROUP_BYTES, 0, kind == "texts"));
            repeat(&encoded(groups), n_bytes, &mut out);
        }
        "giant-table" => {
            let groups = [(AROUND_BYTES, 0), (0, n_bytes), (AROUND_BYTES, 0)];
            let file = encoded(groups.into_iter().map(|(bytes, first)| generator.rows(bytes, first, false)));
            out.write_all(&file).expect("a reader");
        }
        _ => {
            let usage = "usage: generate lines|short|giant|monolith|table|texts|giant-table BYTES [SEED]\n";
            std::io::stderr().write_all(usage.as_bytes()).expect("a reader");
            std::process::exit(2);
        }
    }
    out.flush().expect("a reader");
}
