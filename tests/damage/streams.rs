//! Damage of what is read as a stream: codecs, encodings, lines, documents and event logs. Everything that could be
//! decoded comes back byte for byte.

use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;

use condenser::io::open_codec;

use super::{Case, call, chat, chats, n_conversations, rejects};
use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// Where the bytes come from.
#[derive(Clone, Copy)]
enum Bytes {
    /// A file of `tests/data/bad`.
    File(&'static str),
    /// Made here; the name that it gets.
    Made(&'static str, fn() -> Vec<u8>),
}

use Bytes::{File, Made};

/// The damage, the bytes, how many conversations are read, the reasons of the rejects, and what the first one says.
type Stream = (&'static str, Bytes, u64, &'static [&'static str], &'static str);

const TORN: &[&str] = &["torn_stream"];
const AGAIN: &str = "fetch or write the file again";

const STREAMS: &[Stream] = &[
    ("Blank lines between records", File("blank_lines.jsonl"), 2, &[], ""),
    ("A byte order mark", File("bom.jsonl"), 2, &[], ""),
    ("Nothing but a byte order mark", File("bom_alone.jsonl"), 0, &[], ""),
    ("Broken JSON on some lines", File("broken_json.jsonl"), 2, &["invalid_json"; 3], "not JSON"),
    ("Windows line ends", File("crlf.jsonl"), 4, &[], ""),
    ("A flipped byte in the middle of a gzip stream", File("damaged.jsonl.gz"), 100, TORN, AGAIN),
    ("Deep nesting, and a nested value without its end", File("deep.jsonl"), 3, &["invalid_json"], "is it cut off?"),
    ("Duplicate keys", File("duplicate_keys.jsonl"), 1, &[], ""),
    ("An empty file", File("empty.jsonl"), 0, &[], ""),
    ("A gzip stream with garbage behind it", File("gzip_with_garbage.jsonl.gz"), 1, TORN, AGAIN),
    ("Hostile ids (`__proto__`, empty, paths)", File("hostile_ids.jsonl"), 3, &[], ""),
    ("Ids of many kilobytes", File("huge_ids.jsonl"), 3, &[], ""),
    ("Bytes that are not UTF-8", File("invalid_utf8.jsonl"), 2, &["invalid_utf8"], "convert the file to UTF-8"),
    ("Lone surrogates in escapes", File("lone_surrogates.jsonl"), 1, &[], ""),
    ("A gzip file of several members", File("members.jsonl.gz"), 2, &[], ""),
    ("Line ends of both kinds", File("mixed_line_ends.jsonl"), 4, &[], ""),
    ("No line end at the end", File("no_last_newline.jsonl"), 4, &[], ""),
    (
        "Lines that are JSON but no conversations",
        File("no_objects.jsonl"),
        1,
        &[
            "unknown_shape",
            "unknown_shape",
            "unknown_shape",
            "unknown_shape",
            "unknown_shape",
            "no_messages",
            "no_messages",
            "message_not_object",
        ],
        "not an object",
    ),
    ("NUL bytes", File("nuls.jsonl"), 2, &["invalid_json"; 2], "not JSON"),
    ("Numbers in odd forms", File("number_forms.jsonl"), 1, &[], ""),
    ("Nothing but blank lines", File("only_blank_lines.jsonl"), 0, &[], ""),
    ("A zstd file with skippable frames", File("skippable_frames.jsonl.zst"), 2, &[], ""),
    ("A gzip stream that is cut off", File("torn.jsonl.gz"), 90, TORN, AGAIN),
    ("A zstd stream that is cut off", File("torn.jsonl.zst"), 100, TORN, AGAIN),
    ("A gzip stream cut inside its header", Made("a.jsonl.gz", || gzip(&chats(0..3))[..5].to_vec()), 0, TORN, AGAIN),
    ("A gzip stream cut inside its checksum", Made("a.jsonl.gz", || cut(gzip(&chats(0..3)), 3)), 3, TORN, AGAIN),
    ("A gzip stream with a wrong checksum", Made("a.jsonl.gz", || flip(gzip(&chats(0..3)), 8)), 3, TORN, AGAIN),
    ("A zstd stream cut inside its header", Made("a.jsonl.zst", || zstd(&chats(0..3))[..5].to_vec()), 0, TORN, AGAIN),
    ("A zstd stream cut inside its checksum", Made("a.jsonl.zst", || cut(zstd(&chats(0..3)), 2)), 3, TORN, AGAIN),
    ("A zstd stream with a wrong checksum", Made("a.jsonl.zst", || flip(zstd(&chats(0..3)), 1)), 3, TORN, AGAIN),
    (
        "Damage in one of three gzip members",
        Made("a.jsonl.gz", || [gzip(&chats(0..40)), flip(gzip(&chats(40..80)), 8), gzip(&chats(80..120))].concat()),
        120,
        TORN,
        AGAIN,
    ),
    (
        "A gzip member without its second half between whole ones",
        Made("a.jsonl.gz", || [gzip(&chats(0..40)), half(gzip(&jsonl(40, 7))), gzip(&chats(80..120))].concat()),
        80,
        TORN,
        AGAIN,
    ),
    (
        "Damage in one of three zstd frames",
        Made("a.jsonl.zst", || [zstd(&chats(0..40)), flip(zstd(&chats(40..80)), 1), zstd(&chats(80..120))].concat()),
        120,
        TORN,
        AGAIN,
    ),
    (
        "A zstd frame without its second half between whole ones",
        Made("a.jsonl.zst", || [zstd(&chats(0..40)), half(zstd(&jsonl(40, 7))), zstd(&chats(80..120))].concat()),
        80,
        TORN,
        AGAIN,
    ),
    (
        "A long gzip member without its second half between long ones",
        Made("a.jsonl.gz", || [gzip(&jsonl(300, 1)), half(gzip(&jsonl(300, 2))), gzip(&jsonl(300, 3))].concat()),
        600,
        TORN,
        AGAIN,
    ),
    (
        "A long zstd frame without its second half between long ones",
        Made("a.jsonl.zst", || [zstd(&jsonl(300, 1)), half(zstd(&jsonl(300, 2))), zstd(&jsonl(300, 3))].concat()),
        600,
        TORN,
        AGAIN,
    ),
    ("A gzip file named `.jsonl`", Made("a.jsonl", || gzip(&chats(0..3))), 3, &[], ""),
    ("A zstd file named `.gz`", Made("a.jsonl.gz", || zstd(&chats(0..3))), 3, &[], ""),
    ("JSON lines named `.gz`", Made("a.jsonl.gz", || chats(0..3).into_bytes()), 3, &[], ""),
    (
        "JSON lines with a gzip stream glued behind them",
        Made("a.jsonl", || [chats(0..3).into_bytes(), b"\x1f\x8b\x08\0\xff\xff\xff\xff\xff".to_vec()].concat()),
        3,
        &["invalid_utf8"],
        "compressed data begins here",
    ),
    (
        "A gzip stream with a zstd stream glued behind it",
        Made("a.jsonl.gz", || [gzip(&chats(0..3)), zstd(&chats(3..6))].concat()),
        3,
        TORN,
        AGAIN,
    ),
    (
        "A UTF-16 file with its mark",
        Made("a.jsonl", || [b"\xff\xfe".to_vec(), utf16(&chats(0..2))].concat()),
        0,
        &["invalid_utf8", "invalid_json", "invalid_json"],
        "iconv",
    ),
    (
        "A UTF-16 file without a mark",
        Made("a.jsonl", || utf16(&chats(0..2))),
        0,
        &["invalid_json"; 3],
        "looks like UTF-16",
    ),
    (
        "A file that is not JSON at all",
        Made("a.jsonl", || b"id,text\n1,a\n".to_vec()),
        0,
        &["invalid_json"; 2],
        "not JSON",
    ),
    (
        "Two records on one line",
        Made("a.jsonl", || (chat(0).trim_end().to_owned() + &chats(1..3)).into_bytes()),
        1,
        &["invalid_json"],
        "expected the end of the record",
    ),
    (
        "A record cut in two by a line end",
        Made("a.jsonl", || {
            (chat(0) + &chat(1).replace("\"role\":\"assistant\"", "\"role\":\n\"assistant\"")).into_bytes()
        }),
        1,
        &["invalid_json"; 2],
        "is it cut off?",
    ),
    (
        "A JSON document with garbage behind it",
        Made("a.json", || (document(0) + "\ngarbage").into_bytes()),
        1,
        &["invalid_json"],
        "not JSON",
    ),
    (
        "A list of records with a broken element",
        Made("a.json", || format!("[\n{},\n{{\"messages\":[{{\"role\":}}]}},\n{}]\n", chat(0), chat(1)).into_bytes()),
        2,
        &["invalid_json"],
        "correct the record",
    ),
    (
        "A list of records with a bracket missing in one: all from there on is refused",
        Made("a.json", || format!("[\n{},\n{{\"messages\":[{{]}},\n{}]\n", chat(0), chat(1)).into_bytes()),
        1,
        &["invalid_json", "torn_stream"],
        "not JSON",
    ),
    (
        "A list of records that is cut off",
        Made("a.json", || format!("[\n{},\n{{\"messages\":[{{\"ro", chat(0)).into_bytes()),
        1,
        &["invalid_json"],
        "is it cut off?",
    ),
    (
        "An event log with lines that are no JSON: they pass through with their session",
        Made("a.jsonl", || events(8, "broken {\n").into_bytes()),
        2,
        &[],
        "",
    ),
    (
        "An event log with a line that is not UTF-8",
        Made("a.jsonl", || {
            [events(8, "").into_bytes(), b"{\"x\":\"\xff\"}\n".to_vec(), events(8, "").into_bytes()].concat()
        }),
        2,
        &["invalid_utf8"],
        "convert",
    ),
    ("An event log whose sessions interleave", Made("a.jsonl", || events(8, "").into_bytes()), 2, &[], ""),
    (
        "An event log in a gzip stream that is cut off",
        Made("a.jsonl.gz", || cut(gzip(&events(8, "")), 3)),
        2,
        TORN,
        AGAIN,
    ),
    (
        "Records of another shape among the lines of a file",
        Made("a.jsonl", || {
            let other =
                "{\"conversations\":[{\"from\":\"human\",\"value\":\"Hi\"},{\"from\":\"gpt\",\"value\":\"Ho\"}]}\n";
            (chats(0..2) + other + &chats(2..3)).into_bytes()
        }),
        4,
        &[],
        "",
    ),
    (
        "A line longer than `--max-record-bytes`",
        Made("long.jsonl", || {
            (chats(0..2) + &line("\"x\"").replace('x', &"x".repeat(9000)) + &chats(2..3)).into_bytes()
        }),
        3,
        &["too_long"],
        "raise the limit",
    ),
    (
        "Nesting 10 000 deep inside a record",
        Made("a.jsonl", || {
            let deep = "[".repeat(10_000) + &"]".repeat(10_000);
            (line(&format!("[{{\"role\":\"user\",\"content\":{deep}}}]")) + &chat(0)).into_bytes()
        }),
        2,
        &[],
        "",
    ),
    (
        "Numbers as ids",
        Made("a.jsonl", || chats(0..2).replace("\"c0\"", "7").replace("\"c1\"", "1e3").into_bytes()),
        2,
        &[],
        "",
    ),
    ("The same id several times", Made("a.jsonl", || chat(0).repeat(3).into_bytes()), 3, &[], ""),
    ("No id", Made("a.jsonl", || chats(0..2).replace("\"id\":", "\"x\":").into_bytes()), 2, &[], ""),
    ("`messages` is null", Made("a.jsonl", || with(&line("null"))), 1, &["no_messages"], "could be its messages"),
    (
        "`messages` is a text",
        Made("a.jsonl", || with(&line("\"hello\""))),
        1,
        &["no_messages"],
        "could be its messages",
    ),
    (
        "`messages` is an object",
        Made("a.jsonl", || with(&line("{\"role\":\"user\"}"))),
        1,
        &["no_messages"],
        "could be its messages",
    ),
    (
        "`messages` is a list of texts",
        Made("a.jsonl", || with(&line("[\"a\",\"b\"]"))),
        1,
        &["message_not_object"],
        "message 1",
    ),
    ("`messages` is empty", Made("a.jsonl", || with(&line("[]"))), 2, &[], ""),
    (
        "`messages` is missing",
        Made("a.jsonl", || with("{\"id\":\"m\",\"text\":\"x\"}\n")),
        1,
        &["no_messages"],
        "could be its messages",
    ),
    ("A message without content", Made("a.jsonl", || with(&line("[{\"role\":\"user\"}]"))), 2, &[], ""),
    (
        "Content that is null, a number or an object",
        Made("a.jsonl", || {
            with(
                &["null", "7", "{\"a\":1}"]
                    .map(|value| line(&format!("[{{\"role\":\"user\",\"content\":{value}}}]")))
                    .concat(),
            )
        }),
        4,
        &[],
        "",
    ),
    (
        "A message without a role, or with a number as role",
        Made("a.jsonl", || with(&(line("[{\"content\":\"x\"}]") + &line("[{\"role\":7,\"content\":\"x\"}]")))),
        3,
        &[],
        "",
    ),
];

/// A record `m` with this list.
fn line(messages: &str) -> String {
    format!("{{\"id\":\"m\",\"messages\":{messages}}}\n")
}

/// `line` behind a good record.
fn with(line: &str) -> Vec<u8> {
    (chat(0) + line).into_bytes()
}

fn document(number: usize) -> String {
    let value: serde_json::Value = serde_json::from_str(&chat(number)).expect("it is JSON");
    serde_json::to_string_pretty(&value).expect("it is JSON")
}

/// A log of two sessions that take turns, `between` after some lines.
fn events(n: usize, between: &str) -> String {
    let event = |at: usize| {
        format!(
            "{{\"type\":\"user\",\"sessionId\":\"s{}\",\"message\":{{\"role\":\"user\",\"content\":\"hello {at}\"}},\
             \"uuid\":\"u{at}\"}}\n{}",
            at % 2,
            if at % 3 == 2 { between } else { "" }
        )
    };
    (0..n).map(event).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// With a checksum, without which a changed literal cannot be noticed.
fn zstd(text: &str) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder starts");
    encoder.include_checksum(true).expect("frames may have one");
    encoder.write_all(text.as_bytes()).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Without the last `n` bytes.
fn cut(mut bytes: Vec<u8>, n: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - n);
    bytes
}

fn half(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() / 2);
    bytes
}

/// With another bit in the `n`-th byte from the end.
fn flip(mut bytes: Vec<u8>, n: usize) -> Vec<u8> {
    let at = bytes.len() - n;
    bytes[at] ^= 0x10;
    bytes
}

pub(super) fn files_with_a_case() -> Vec<&'static str> {
    let file = |stream: &Stream| match stream.1 {
        File(name) => Some(name),
        Made(..) => None,
    };
    STREAMS.iter().filter_map(file).collect()
}

pub(super) fn cases() -> Vec<Case> {
    STREAMS
        .iter()
        .map(|stream| {
            let (damage, _, n, reasons, _) = *stream;
            let mut kinds = reasons.to_vec();
            kinds.dedup();
            // How much of a damaged block can be decoded is up to the codec.
            let least = if is_least(stream) { "at least " } else { "" };
            let noun = if n == 1 { "conversation" } else { "conversations" };
            let refused = match reasons.len() {
                0 => String::new(),
                n => format!("; {n} rejected (`{}`)", kinds.join("`, `")),
            };
            Case {
                damage,
                outcome: format!("{least}{n} {noun}{refused}"),
                // A run of nothing is no success either.
                code: if reasons.is_empty() && n > 0 { 0 } else { 3 },
                saved: if reasons == TORN { "every byte that can be decoded" } else { "every byte" },
                check: Box::new(move |code| check(stream, code)),
            }
        })
        .collect()
}

/// True when the codec decides how much of a damaged block is read.
fn is_least(&(damage, bytes, _, reasons, _): &Stream) -> bool {
    reasons == TORN && (matches!(bytes, File(_)) || damage.contains("second half"))
}

/// What a stream holds before and behind its damage.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let (_, mut stream) = open_codec(BufReader::with_capacity(256 << 10, Cursor::new(bytes.to_vec())))
        .expect("its first bytes can be read");
    let mut out = Vec::new();
    for _ in 0..10 {
        if stream.read_to_end(&mut out).is_ok() {
            break;
        }
    }
    out
}

fn check(stream: &Stream, code: i32) {
    let (_, bytes, n, reasons, says) = *stream;
    let (name, bytes) = match bytes {
        File(name) => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bad").join(name);
            (name, std::fs::read(path).expect("the file is there"))
        }
        Made(name, make) => (name, make()),
    };
    let dir = TestDir::new();
    dir.write(name, &bytes);
    for format in ["parquet", "jsonl"] {
        let mut args = vec!["compress", name, "-o", format, "--format", format, "--quiet"];
        if name == "long.jsonl" {
            args.extend(["--max-record-bytes", "4k"]);
        }
        call(&dir, &args, code, &[]);
        let (found, first) = rejects(&dir, format);
        assert_eq!(found, reasons);
        assert!(first.contains(says), "`{says}` is not said: {first}");
        let found = n_conversations(&dir, format);
        assert!(found == n || found > n && is_least(stream), "{found} conversations, not {n}");
        let restored = call(&dir, &["restore", format, "-o", "-"], 0, &[]).stdout;
        assert!(restored == decoded(&bytes), "it does not come back");
        call(&dir, &["verify", format, "--against", name, "--quiet"], 0, &[]);
    }
}

/// Calls the program, and wants that it says so many times that the archive does not have all of `torn.jsonl.gz`.
#[track_caller]
fn told_torn(dir: &TestDir, args: &[&str], n: usize) {
    let told = condenser(dir.root(), args).ok();
    let says = "1 input was damaged or cut off when the archive was written, and is in it as far as could be read: ";
    assert_eq!(told.stderr.matches(says).count(), n, "{args:?}: {}", told.stderr);
    assert_eq!(told.stderr.matches("torn.jsonl.gz").count(), n, "{args:?}: {}", told.stderr);
}

#[test]
fn whoever_restores_a_torn_stream_is_told() {
    let dir = TestDir::new();
    let whole = gzip(&jsonl(60, 3));
    dir.write("torn.jsonl.gz", &whole[..whole.len() / 2]);
    dir.write("whole.jsonl", jsonl(20, 4));
    condenser(dir.root(), &["compress", "torn.jsonl.gz", "whole.jsonl", "-o", "run", "-q"]).exits(3);
    told_torn(&dir, &["verify", "run", "-q"], 1);
    told_torn(&dir, &["restore", "run", "-o", "back", "-q"], 1);
    condenser(dir.root(), &["compress", "whole.jsonl", "-o", "sound", "-q"]).ok();
    told_torn(&dir, &["restore", "sound", "-o", "-"], 0);
    let report = ["run", "job.toml", "-q"];
    dir.write("job.toml", "kind = \"report\"\ninputs = [\"torn.jsonl.gz\"]\noutput = \"figures\"\n");
    condenser(dir.root(), &report).exits(3);
    told_torn(&dir, &["verify", "figures"], 1);

    // As a filter, which has its sidecar only.
    let filter = ["compress", "torn.jsonl.gz", "-o", "-", "--sidecar", "side", "-q"];
    dir.write("short.jsonl", condenser(dir.root(), &filter).exits(3).stdout);
    told_torn(&dir, &["restore", "short.jsonl", "--sidecar", "side", "-o", "one.jsonl"], 1);

    // That rejects are missing is found before they are read.
    std::fs::remove_dir_all(dir.path("run/rejects")).expect("it is there");
    let told = condenser(dir.root(), &["restore", "run", "-o", "none"]).exits(4);
    assert!(told.stderr.contains("the file is missing"), "{}", told.stderr);
}

#[test]
fn a_night_tells_of_the_torn_streams_that_it_has() {
    let dir = TestDir::new();
    let night = |number: u32, code: i32| {
        let as_of = format!("compaction.as_of=\"2031-05-{number:02}T12:00:00Z\"");
        condenser(dir.root(), &["run", "job.toml", "-q", "--set", &as_of]).exits(code);
    };
    dir.write("job.toml", "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\n");
    let (stored, grown) = (gzip(&jsonl(60, 3)), gzip(&jsonl(61, 3)));
    dir.write("logs/torn.jsonl.gz", &stored[..stored.len() / 2]);
    dir.write("logs/whole.jsonl", jsonl(20, 4));
    night(6, 3);
    told_torn(&dir, &["verify", "store"], 1);
    told_torn(&dir, &["restore", "store", "-o", "back"], 1);
    // What the first night lacked is history when the log is whole.
    dir.write("logs/torn.jsonl.gz", grown);
    night(7, 0);
    told_torn(&dir, &["restore", "store", "-o", "now"], 0);
    told_torn(&dir, &["restore", "store", "-o", "then", "--night", "1"], 1);
}
