//! Runs whose tables were written again by somebody who knows how, with pages that state more than they hold.

use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::file::properties::WriterProperties;

use super::documents::promise;
use super::{Ended, call, exits};
use crate::support::chats::jsonl;
use crate::support::dir::{TestDir, files};
use crate::support::tables::read_table;

/// How often lists of lengths begin in the table, each of which states one for each row.
const LISTS: usize = 2;

/// The table with texts behind their lengths, and where the lists of these begin.
fn with_lengths(table: Vec<u8>) -> (Vec<u8>, Vec<usize>) {
    let rows = read_table(table);
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
    let properties = rows
        .schema()
        .fields()
        .iter()
        .filter(|field| !field.data_type().is_string())
        .fold(properties, |properties, field| {
            properties.set_column_encoding(field.name().as_str().into(), Encoding::PLAIN)
        });
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties.build())).expect("a writer");
    writer.write(&rows).expect("memory takes all");
    let bytes = writer.into_inner().expect("memory takes all");
    let n_rows = u8::try_from(rows.num_rows()).ok().filter(|n| *n < 0x80).expect("few rows");
    // Blocks of 128 in four packs, a number for each row.
    let is_head = |window: &[u8]| *window == [0x80, 1, 4, n_rows];
    let heads = bytes.windows(4).enumerate().filter(|(_, window)| is_head(window)).map(|(at, _)| at).take(LISTS);
    let heads = heads.collect();
    (bytes, heads)
}

#[test]
fn a_table_that_states_more_lengths_than_there_is_memory_for_ends_no_reader() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(9, 91));
    exits(dir.root(), &["compress", "in.jsonl", "-o", "run", "--quiet", "--recency-window", "1", "--trace"], 0);
    let commands: [&[&str]; 5] = [
        &["verify", "run"],
        &["get", "run", "chat/4"],
        &["report", "run", "--json"],
        &["show", "run", "chat/4"],
        &["restore", "run", "-o", "back", "--quiet"],
    ];
    let whole = files(&dir.path("run"));
    let tables: Vec<_> = whole.iter().filter(|(name, _)| name.ends_with(".parquet")).collect();
    assert!(tables.len() > 3, "a run has tables");
    for (name, stored) in tables {
        let (bytes, heads) = with_lengths(stored.clone());
        assert!(!heads.is_empty(), "{name} has texts");
        for head in heads {
            let mut forged = bytes.clone();
            forged[head + 3..head + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
            dir.write(&format!("run/{name}"), forged);
            promise(&dir, "run", 0, name);
            // Not every command reads every table.
            let ended = commands.map(|args| call(dir.root(), args));
            let is_told = |ended: &Ended| ended.code == 4 && ended.stderr.contains("states more lengths than values");
            assert!(ended.iter().any(is_told), "{name}, {head}: {ended:?}");
            assert!(ended.iter().all(|ended| ended.code == 0 || is_told(ended)), "{name}, {head}: {ended:?}");
            std::fs::remove_dir_all(dir.path("back")).unwrap_or_default();
        }
        dir.write(&format!("run/{name}"), stored);
        promise(&dir, "run", 0, name);
    }
    exits(dir.root(), &["verify", "run", "--against", "in.jsonl"], 0);
}
