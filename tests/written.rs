//! How what is written is compressed: names, what other readers make of it, and that everything reads it again.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

/// Everything that reads a run finds what was written.
#[track_caller]
fn is_read(dir: &TestDir, run: &str, input: &str) {
    let ok = |args: &[&str]| condenser(dir.root(), args).ok().stdout;
    ok(&["verify", run, "--against", input]);
    assert!(ok(&["restore", run]) == dir.read(input), "{run}");
    let first = String::from_utf8_lossy(&dir.read(input)).lines().next().expect("a line").to_owned();
    let id = serde_json::from_str::<Value>(&first).expect("JSON")["id"].as_str().expect("an id").to_owned();
    assert_eq!(String::from_utf8_lossy(&ok(&["get", run, &id])).trim_end(), first, "{run}");
    assert!(!ok(&["get", run, &id, "--compressed"]).is_empty(), "{run}");
    let shown: Value = serde_json::from_slice(&ok(&["show", run, &id, "--json"])).expect("JSON");
    assert_eq!(shown["id"].as_str(), Some(&*id), "{run}");
    ok(&["report", run, "--exact"]);
}

#[test]
fn lines_are_written_plain_or_as_gzip_or_zstd_and_everything_reads_them() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(40, 91));
    dir.write("empty.jsonl", "");
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for (compression, ending) in [("none", "jsonl"), ("gzip", "jsonl.gz"), ("zstd", "jsonl.zst")] {
        let args = ["compress", "in.jsonl", "empty.jsonl", "-o", compression, "--format", "jsonl", "--trace"];
        condenser(dir.root(), &[&args[..], &["--compression", compression]].concat()).ok();
        for table in ["conversations", "verbatim", "metrics", "decisions"] {
            let path = dir.path(&format!("{compression}/{table}/part-00000.{ending}"));
            assert!(path.exists(), "{}", path.display());
        }
        let stored = dir.read(&format!("{compression}/conversations/part-00000.{ending}"));
        lines.push(match compression {
            "none" => stored,
            "gzip" => {
                let mut text = Vec::new();
                MultiGzDecoder::new(&*stored).read_to_end(&mut text).expect("gzip");
                text
            }
            _ => zstd::decode_all(&*stored).expect("zstd"),
        });
        // The empty input is a file of its kind too.
        condenser(dir.root(), &["verify", compression, "--against", "in.jsonl", "empty.jsonl"]).ok();
        let alone = format!("{compression}-alone");
        let args = ["compress", "in.jsonl", "-o", &alone, "--format", "jsonl", "--compression", compression];
        condenser(dir.root(), &args).ok();
        is_read(&dir, &alone, "in.jsonl");
        // A run is an input like any other, and several rounds find back through it.
        let second = format!("{compression}-2");
        condenser(dir.root(), &["compress", &alone, "-o", &second, "--recency-window", "0"]).ok();
        let back = condenser(dir.root(), &["restore", &second, "--through", &alone]).ok().stdout;
        assert!(back == dir.read("in.jsonl"), "{compression}");
        let manifest = String::from_utf8_lossy(&dir.read(&format!("{compression}/manifest.json"))).into_owned();
        assert_eq!(manifest.contains("\"compression\""), compression != "zstd", "the default needs no word");
    }
    assert!(lines[0] == lines[1] && lines[0] == lines[2] && !lines[0].is_empty());
    let told = condenser(dir.root(), &["compress", "in.jsonl", "empty.jsonl", "-o", "none"]).exits(2).stderr;
    assert!(told.contains("option compression: \"none\" → unset"), "{told}");
}

/// The codecs of the columns of a Parquet file.
fn codecs(path: &Path) -> Vec<String> {
    let file = std::fs::File::open(path).expect("it is there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let groups = reader.metadata().row_groups().iter().flat_map(|group| group.columns().to_vec());
    let mut codecs: Vec<String> = groups.map(|column| format!("{:?}", column.compression())).collect();
    codecs.sort();
    codecs.dedup();
    codecs
}

#[test]
fn pages_of_tables_take_the_same_option() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(40, 92));
    for (compression, codec) in [("none", "UNCOMPRESSED"), ("gzip", "GZIP"), ("zstd", "ZSTD")] {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", compression, "--compression", compression]).ok();
        for table in ["conversations", "verbatim", "metrics"] {
            let found = codecs(&dir.path(&format!("{compression}/{table}/part-00000.parquet")));
            assert!(matches!(&*found, [only] if only.starts_with(codec)), "{compression}: {found:?}");
        }
        is_read(&dir, compression, "in.jsonl");
        // So do tables that were read.
        let table = format!("{compression}/conversations/part-00000.parquet");
        let again = format!("{compression}-again");
        condenser(dir.root(), &["compress", &table, "-o", &again, "--compression", compression]).ok();
        condenser(dir.root(), &["verify", &again, "--against", &table]).ok();
        let found = codecs(&dir.path(&format!("{again}/conversations/part-00000.parquet")));
        assert!(matches!(&*found, [only] if only.starts_with(codec)), "{compression}: {found:?}");
    }
    for compression in ["none", "zstd"] {
        let run = format!("arrow-{compression}");
        let args = ["compress", "in.jsonl", "-o", &run, "--format", "arrow", "--compression", compression];
        condenser(dir.root(), &args).ok();
        is_read(&dir, &run, "in.jsonl");
    }
    let size = |run: &str| files(&dir.path(run)).values().map(Vec::len).sum::<usize>();
    assert!(size("none") > size("zstd") && size("arrow-none") > size("arrow-zstd"));
    for format in ["parquet", "jsonl"] {
        for level in ["zstd:1", "zstd:3", "zstd:19"] {
            let run = format!("{format}-{level}");
            condenser(dir.root(), &["compress", "in.jsonl", "-o", &run, "--format", format, "--compression", level])
                .ok();
            is_read(&dir, &run, "in.jsonl");
        }
        let sizes = ["zstd:1", "zstd:3", "zstd:19"].map(|level| size(&format!("{format}-{level}")));
        assert!(sizes.is_sorted_by(|a, b| a > b), "{format}: {sizes:?}");
    }
    let arrow = ["compress", "in.jsonl", "-o", "x", "--format", "arrow", "--compression", "zstd:9"];
    let told = condenser(dir.root(), &arrow).exits(2).stderr;
    assert_eq!(
        told,
        "error: compression: Arrow IPC has one level of zstd: leave the level out, or take another format\n"
    );
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "x", "--compression", "zstd:20"]).exits(2).stderr;
    assert!(told.contains("\"zstd:LEVEL\" with a level from 1 to 19"), "{told}");
    let arrow = ["compress", "in.jsonl", "-o", "x", "--format", "arrow", "--compression", "gzip"];
    let told = condenser(dir.root(), &arrow).exits(2).stderr;
    assert_eq!(told, "error: compression: Arrow IPC knows no gzip: take zstd or none, or another format\n");
    let told = condenser(dir.root(), &["compress", "in.jsonl", "-o", "-", "--compression", "gzip"]).exits(2).stderr;
    assert_eq!(told, "error: compression: the filter writes plain lines: pipe them through gzip or zstd\n");
}
