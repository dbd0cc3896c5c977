//! Files that are JSON values over many lines: how they are told from lines, how they are cut into records, and that
//! every byte comes back, whatever is broken.

use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;

use condenser::io::{DocumentSource, is_document};
use condenser::pipeline::{Batch, BatchOptions, ConversationFormat, LineRole, Source};

use crate::support::chats::{Blunt, Drip, Seeded, records};
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::job;
use crate::support::talk::prose;

const FORMATS: [ConversationFormat; 2] = [ConversationFormat::Parquet, ConversationFormat::Jsonl];

#[test]
fn documents_are_told_from_lines_by_their_beginning() {
    let check = |head: &str, expected: bool| assert_eq!(is_document(head.as_bytes()), expected, "{head}");
    check("{\n  \"messages\": []\n}\n", true);
    check("\u{feff}\n {\r\n \"a\": 1}", true);
    check("[\n{\"messages\": []},\n{\"messages\": []}\n]", true);
    check("[\n]", true);
    // The head may end anywhere, inside an escape too.
    check("{\n \"messages\": [{\"content\": \"\\ud8", true);
    check("{\n \"messages\": [{\"content\": tr", true);
    check("{\"messages\": []}\n{\"messages\": []}\n", false);
    check("{\"messages\": [", false);
    check("{\"messages\": []}", false);
    check("[{\"role\": \"user\", \"content\": \"a\"}]\n[{\"role\": \"user\", \"content\": \"a\"}]\n", false);
    check("[{\"role\": \"user\", \"content\": [{\"type\": \"text\"", false);
    check("[{\"messages\": [{\"role\": \"user\"}]}, {\"messages\": []}]", true);
    check("[{\"id\": 1, \"conversations\": [{\"from\": \"human\", \"value\": \"and so on", true);
    check("{\"version\": 2, \"samples\": [{\"id\": 1, \"messages\": []}], \"x\": 1}", true);
    check("{\"messages\": [{\"role\": \"user\"}], \"samples\": [{\"id\": 1}]}", false);
    check("{\"samples\": [1, 2]}", false);
    // A line that was cut in two among whole ones.
    check("{\"messages\": [{\"role\":\n{\"messages\": []}\n", false);
    check("{\"messages\": [{\"content\": \"a\nb\"}]}\n", false);
    // A document that breaks off inside is still one.
    check("[\n {\"messages\": []},\n {\"messages\": [}\n]\n", true);
    check("", false);
    check("plain text\n", false);
    check("17\n18\n", false);
    assert!(!is_document(b"\xFF\xFE{\n}"));
    assert!(is_document(b"{\n \"a\": \"\xC3"), "cut inside a character");
}

/// One line per span: what stands before the record, its kind, the record, what stands after it.
fn cut(text: &[u8], options: BatchOptions) -> Vec<String> {
    let mut source = DocumentSource::new("mem.json", Box::new(Cursor::new(text.to_vec())), options);
    let mut found = Vec::new();
    while let Some(Batch::Lines(batch)) = source.next_batch().expect("it reads") {
        let show = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&batch.bytes[range]).replace('\n', "/").replace(' ', "_")
        };
        for line in &batch.lines {
            let kind = match &line.kind {
                LineRole::Record | LineRole::Scattered(_) => "record",
                LineRole::Piece { first: true } => "first",
                LineRole::Piece { first: false } => "piece",
                LineRole::Torn(_) => "torn",
                LineRole::Tail => "tail",
            };
            found.push(format!(
                "{}:{} {kind} <{}> {} <{}>",
                line.row,
                line.number,
                show(line.span.start..line.record.start),
                show(line.record.clone()),
                show(line.record.end..line.span.end),
            ));
        }
    }
    found
}

#[test]
fn documents_are_cut_into_records() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(cut(text.as_bytes(), BatchOptions::default()), expected, "{text}");
    };
    check("{\n\"messages\": []\n}\n", &["0:1 record <> {/\"messages\":_[]/} </>"]);
    check("\u{feff} {\n}", &["0:1 record <\u{feff}_> {/} <>"]);
    check("{\n}\n\n{\n}\r\n", &["0:1 record <> {/} </>", "1:4 record </> {/} <>", "2:6 tail <\r/>  <>"]);
    check(
        "[\n {\"turns\":[]},\n\n {\"turns\": [\n]}\n]\n",
        &["0:2 record <[/_> {\"turns\":[]} <>", "1:4 record <,//_> {\"turns\":_[/]} <>", "2:7 tail </]/>  <>"],
    );
    // Any record of a list is one, whatever it is; the first one decides what the list is.
    check(
        "[{\"turns\":[]}, 5, \"]\" ,[1,[2]],null]",
        &[
            "0:1 record <[> {\"turns\":[]} <>",
            "1:1 record <,_> 5 <>",
            "2:1 record <,_> \"]\" <>",
            "3:1 record <_,> [1,[2]] <>",
            "4:1 record <,> null <>",
            "5:1 tail <]>  <>",
        ],
    );
    check("[\n{\"role\":\"user\"},\n{}]", &["0:1 record <> [/{\"role\":\"user\"},/{}] <>"]);
    check("[\n]", &["0:1 record <> [/] <>"]);
    check(
        "{\"v\": [\"}\"],\n\"samples\": [{\"messages\": []}, {\"messages\": []}],\n\"x\": {\"samples\": [1]}}\n",
        &[
            "0:2 record <{\"v\":_[\"}\"],/\"samples\":_[> {\"messages\":_[]} <>",
            "1:2 record <,_> {\"messages\":_[]} <>",
            "2:4 tail <],/\"x\":_{\"samples\":_[1]}}/>  <>",
        ],
    );
    // A list of messages before it makes the object the record.
    check(
        "{\"messages\": [],\n\"samples\": [{\"messages\": []}]}",
        &["0:1 record <> {\"messages\":_[],/\"samples\":_[{\"messages\":_[]}]} <>"],
    );
    check("{\"samples\": [],\n\"x\": 1}", &["0:1 record <> {\"samples\":_[],/\"x\":_1} <>"]);
    // Records under names of their own.
    check(
        "{\n\"é\": {\"messages\": []}, \"n\": 1,\n\"c\": {\"messages\": []}, \"d\": {\"x\": 1}}\n",
        &[
            "0:2 record <{/\"é\":_> {\"messages\":_[]} <>",
            "1:3 record <,_\"n\":_1,/\"c\":_> {\"messages\":_[]} <>",
            "2:4 tail <,_\"d\":_{\"x\":_1}}/>  <>",
        ],
    );
}

#[test]
fn what_is_broken_leaves_what_stands_before_it() {
    let check = |text: &str, expected: &[&str]| {
        assert_eq!(cut(text.as_bytes(), BatchOptions::default()), expected, "{text}");
    };
    let first = "0:2 record <[/> {\"turns\":[]} <>";
    check("[\n{\"turns\":[]} {\"turns\":[]}]\n", &[first, "1:2 record <_> {\"turns\":[]}]/ <>"]);
    check("[\n{\"turns\":[]},\n{\"turns\":[", &[first, "1:3 record <,/> {\"turns\":[ <>"]);
    check("[\n{\"turns\":[]},\n", &[first, "1:2 torn <> ,/ <>"]);
    check("[\n{\"turns\":[]}", &[first, "1:2 torn <>  <>"]);
    check("[\n{\"turns\":[]},}, 1]", &[first, "1:2 record <,> },_1] <>"]);
    // Broken inside, whole outside: this record only.
    check(
        "[\n{\"turns\":[]}, {\"turns\":[tru]}, {}]",
        &[first, "1:2 record <,_> {\"turns\":[tru]} <>", "2:2 record <,_> {} <>", "3:2 tail <]>  <>"],
    );
}

/// Fails at the end.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("torn")),
            n => Ok(n),
        }
    }
}

/// Records as documents: lists, objects with samples, one after the other, with odd space and sometimes broken.
fn document(seed: u64) -> Vec<u8> {
    let mut seeded = Seeded::new(seed);
    let chats = records(12, seed);
    let mut out = [b"" as &[u8], b"\xEF\xBB\xBF", b"\n\n "][seeded.below(3)].to_vec();
    let list = |seeded: &mut Seeded, out: &mut Vec<u8>| {
        for (n, chat) in chats.iter().enumerate() {
            if n > 0 {
                out.extend_from_slice([b"," as &[u8], b",\n", b" ,\r\n\t", b",7,"][seeded.below(4)]);
            }
            let chat = chat.replacen("\"messages\":", ["\"messages\":", "\"messages\"\n:\n "][seeded.below(2)], 1);
            out.extend_from_slice(chat.as_bytes());
            if seeded.below(9) == 0 {
                out.extend_from_slice([b"\xFF" as &[u8], b"", b",{\"a\":\xFE}", b", [tru]"][seeded.below(4)]);
            }
        }
    };
    match seeded.below(4) {
        0 => {
            out.extend_from_slice(b"[\n");
            list(&mut seeded, &mut out);
            out.extend_from_slice([b"\n]\n" as &[u8], b"]", b"", b"] x"][seeded.below(4)]);
        }
        1 => {
            out.extend_from_slice("{\n\"v\": \"é\", \"samples\": [".as_bytes());
            list(&mut seeded, &mut out);
            out.extend_from_slice(["],\n\"é\": [1]}\n", "]}", "]", "],"][seeded.below(4)].as_bytes());
            out.extend_from_slice([b"" as &[u8], b"\xC3"][seeded.below(2)]);
        }
        2 => {
            out.extend_from_slice(b"{\n");
            for (n, chat) in chats.iter().enumerate() {
                out.extend_from_slice(format!("{}\"k{n}\": {chat}", if n > 0 { ",\n" } else { "" }).as_bytes());
            }
            out.extend_from_slice([b"}\n" as &[u8], b"", b"\xFF}"][seeded.below(3)]);
        }
        _ => {
            for chat in &chats {
                out.extend_from_slice(chat.replacen('{', "{\n", 1).as_bytes());
                out.extend_from_slice([b"" as &[u8], b"\n", b"\r\n", b"\n\n\n", b" "][seeded.below(5)]);
            }
        }
    }
    out
}

#[test]
fn documents_come_back_byte_for_byte_whatever_the_batches() {
    for seed in 0..16 {
        let text = document(seed);
        for batch_bytes in [60, 700, 1 << 20] {
            let max_record_bytes = if seed % 3 == 0 { 300 } else { 1 << 20 };
            let options = BatchOptions { batch_bytes, max_record_bytes };
            for format in FORMATS {
                for torn in [false, true] {
                    let stream: Box<dyn Read + Send> = if torn {
                        Box::new(Failing(Cursor::new(text.clone())))
                    } else {
                        Box::new(Cursor::new(text.clone()))
                    };
                    let source = Box::new(DocumentSource::new("mem.json", stream, options));
                    let done = job::run(Arc::new(Blunt::default()), format, options, source);
                    let name = format!("seed {seed}, batches of {batch_bytes}, {format:?}, {torn}");
                    assert!(done.restored == text, "{name}: {}", String::from_utf8_lossy(&text));
                    assert!(done.records.iter().all(|record| !record.contains('\n')), "{name}");
                    let n_torn = done.rejects.iter().filter(|reject| reject.reason == "torn_stream").count();
                    assert!(!torn || n_torn == 1, "{name}: {n_torn}");
                }
            }
        }
    }
}

#[test]
fn the_cuts_depend_on_the_bytes_alone() {
    for seed in 0..16 {
        // Larger than one read, with a gap larger than a batch.
        let mut text = document(seed);
        text.extend(std::iter::repeat_n(b' ', 9000));
        text.extend(document(seed + 100));
        let times = if seed < 2 { 20 } else { 1 };
        for (batch_bytes, max_record_bytes) in [(1, 1 << 20), (300, 1 << 20), (300, 200), (5000, 1 << 20)] {
            let text = text.repeat(if batch_bytes > 1 { times } else { 1 });
            let options = BatchOptions { batch_bytes, max_record_bytes };
            let all = |stream: Box<dyn Read + Send>| {
                let mut source = DocumentSource::new("drip", stream, options);
                let mut batches = Vec::new();
                while let Some(Batch::Lines(batch)) = source.next_batch().expect("it reads") {
                    batches.push(batch);
                }
                (batches, source.digest().expect("it ended"))
            };
            let whole = all(Box::new(Cursor::new(text.clone())));
            let drip = all(Box::new(Drip(Cursor::new(text.clone()), Seeded::new(1))));
            assert!(whole == drip, "seed {seed}, batches of {batch_bytes}");
            assert!(whole.0.iter().flat_map(|batch| batch.bytes.clone()).eq(text.iter().copied()));
            for batch in &whole.0 {
                let alone = batch.lines.len() == 1;
                assert!(batch.bytes.len() <= batch_bytes || alone, "a batch of {} bytes", batch.bytes.len());
            }
        }
    }
}

#[test]
fn the_records_of_a_document_are_read_and_numbered() {
    let text = "[\n  {\"id\": \"a\",\n   \"messages\": [{\"role\": \"user\",\n \"content\": \"x\"}]},\n  {\"messages\": 1},\n  3\n]\n";
    for format in FORMATS {
        let options = BatchOptions::default();
        let done = job::run(Arc::new(Blunt::default()), format, options, job::source(text.as_bytes(), options));
        assert_eq!((done.totals.conversations, done.totals.rejects), (1, 2));
        let places: Vec<_> =
            done.rejects.iter().map(|row| (row.source_row, row.line, row.offset, row.reason.as_str())).collect();
        assert_eq!(places, [(1, 5, 71, "no_messages"), (2, 6, 90, "unknown_shape")]);
        assert_eq!(done.restored, text.as_bytes());
        if format == ConversationFormat::Jsonl {
            let line = "{\"id\": \"a\",    \"messages\": [{\"role\": \"user\",  \"content\": \"x\"}]}";
            assert_eq!(done.records, [line]);
        }
    }
}

#[test]
fn the_program_reads_documents_in_any_codec() {
    let dir = TestDir::new();
    let text = prose(1_600);
    let turn = |role: &str| format!("{{\n   \"role\": \"{role}\",\n   \"content\": \"{text}\"\n  }}");
    let turns = ["user", "assistant"].repeat(4).into_iter().map(turn).collect::<Vec<_>>().join(",\n  ");
    let document = format!("{{\n \"sessionId\": \"s1\",\n \"messages\": [\n  {turns}\n ]\n}}\n");
    let list = format!("[\n{document},\n{document}]");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(list.as_bytes()).expect("memory can be written");
    let packed = packed.finish().expect("memory can be written");
    dir.write("in/one.json", &document);
    dir.write("in/two.json.gz", &packed);
    dir.write("torn.json.gz", &packed[..packed.len() - 9]);
    for format in ["parquet", "jsonl"] {
        let args = ["compress", "in", "torn.json.gz", "-o", format, "--format", format, "--recency-window", "0"];
        condenser(dir.root(), &args).exits(3);
        condenser(dir.root(), &["verify", format]).ok();
        let back = format!("back-{format}");
        condenser(dir.root(), &["restore", format, "-o", &back]).ok();
        assert_eq!(dir.read(&format!("{back}/in/one.json")), document.as_bytes());
        assert_eq!(dir.read(&format!("{back}/in/two.json")), list.as_bytes());
        let torn = dir.read(&format!("{back}/torn.json"));
        assert!(list.as_bytes().starts_with(&torn), "what was there before the damage");
        let rejects = String::from_utf8(dir.read(&format!("{format}/rejects/part-00000.jsonl"))).expect("UTF-8");
        assert!(rejects.contains("torn_stream"), "{rejects}");
    }
    let told = condenser(dir.root(), &["explain", "in/two.json.gz"]).ok();
    assert_eq!(
        String::from_utf8_lossy(&told.stdout).matches("exact_duplicate").count(),
        6,
        "all but the first and the last four turns"
    );
}
