//! Replies that are kept: found again by their keys, by every process, whatever else lies in the directory.

use std::io::Write;

use condenser::llm::{Completion, Kept, LlmProvider, ReplyKey, ReplyOutcome, ReplyStore, Usage, reply_key};

use crate::support::dir::{TestDir, files};

fn key(n: usize) -> ReplyKey {
    reply_key(LlmProvider::Openai, &format!("body {n}"))
}

fn kept(text: &str) -> Kept {
    let usage = Usage { input: 7, cached: 5, cache_written: 3, output: 2 };
    let reply = Completion { text: text.into(), has_calls: true, is_cut: true, usage };
    Kept { model: "small".into(), is_batch: false, cost: Some(0.25), outcome: ReplyOutcome::Reply(reply) }
}

/// The one segment of the store in `dir`.
fn segment(dir: &TestDir) -> std::path::PathBuf {
    let names: Vec<String> = files(&dir.path("replies")).into_keys().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    dir.path("replies").join(&names[0])
}

#[test]
fn what_was_kept_is_found_again() {
    let dir = TestDir::new();
    let store = ReplyStore::open(dir.root(), None).unwrap();
    assert!(store.is_empty() && !dir.path("replies").exists(), "nothing is written before something is kept");
    let odd = "line\nfeed, \"quotes\", \0 and 🦀";
    store.put(&key(1), &kept(odd)).unwrap();
    let failed = ReplyOutcome::Failed { is_too_long: true, message: "too long".into() };
    let failed = Kept { is_batch: true, cost: None, outcome: failed, ..kept("") };
    store.put(&key(2), &failed).unwrap();
    for store in [store, ReplyStore::open(dir.root(), None).unwrap()] {
        assert_eq!(store.get(&key(1)).unwrap(), Some(kept(odd)));
        assert_eq!(store.get(&key(2)).unwrap(), Some(failed.clone()));
        assert_eq!((store.get(&key(3)).unwrap(), store.len(), store.n_skipped()), (None, 2, 0));
    }
    assert_ne!(reply_key(LlmProvider::Openai, "body"), reply_key(LlmProvider::Anthropic, "body"));
}

#[test]
fn several_writers_share_a_directory() {
    let (own, shared) = (TestDir::new(), TestDir::new());
    let open = || ReplyStore::open(own.root(), Some(shared.root())).unwrap();
    let (one, other) = (open(), open());
    std::thread::scope(|scope| {
        for (store, half) in [(&one, 0), (&other, 1)] {
            scope.spawn(move || {
                (0..200).for_each(|n| store.put(&key(2 * n + half), &kept(&format!("reply {n}"))).unwrap());
            });
        }
    });
    assert_eq!(files(&own.path("replies")).len(), 2, "a segment for each");
    let of_another_job = ReplyStore::open(TestDir::new().root(), Some(shared.root())).unwrap();
    for store in [open(), of_another_job] {
        assert_eq!((store.len(), store.n_skipped()), (400, 0));
        (0..400).for_each(|n| assert_eq!(store.get(&key(n)).unwrap(), Some(kept(&format!("reply {}", n / 2)))));
    }
    let alone = ReplyStore::open(own.root(), Some(&own.root().join("."))).unwrap();
    alone.put(&key(900), &kept("once")).unwrap();
    let n_lines: usize = files(&own.path("replies")).values().map(|text| text.split(|b| *b == b'\n').count() - 1).sum();
    assert_eq!(n_lines, 401, "one directory under two names is one");
}

#[test]
fn torn_and_foreign_lines_are_passed_over() {
    let dir = TestDir::new();
    let store = ReplyStore::open(dir.root(), None).unwrap();
    (0..3).for_each(|n| store.put(&key(n), &kept("whole")).unwrap());
    let path = segment(&dir);
    let whole = std::fs::read(&path).unwrap();
    let hex = blake3::Hash::from_bytes(key(9)).to_hex();
    dir.write(
        "replies/aaa.jsonl",
        format!("no JSON\n\n{{\"key\":\"{hex}\"}}\n{{\"key\":\"12\",\"reply\":{{}}}}\n\u{fffd}\n"),
    );
    dir.write("replies/notes.txt", "not looked at");
    let torn = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    (&torn).write_all(&whole[..whole.len() / 2]).unwrap();
    let opened = ReplyStore::open(dir.root(), None).unwrap();
    assert_eq!((opened.len(), opened.n_skipped()), (3, 6));
    assert_eq!(opened.get(&key(9)).unwrap(), None);
    // At every length, the lines that are whole are there.
    for n in 0..whole.len() {
        std::fs::write(&path, &whole[..n]).unwrap();
        let n_whole = whole[..n].split(|byte| *byte == b'\n').count() - 1;
        assert_eq!(ReplyStore::open(dir.root(), None).unwrap().len(), n_whole, "cut at {n}");
    }
}

#[test]
fn a_line_is_never_taken_for_another_key() {
    let dir = TestDir::new();
    let store = ReplyStore::open(dir.root(), None).unwrap();
    store.put(&key(1), &kept("one")).unwrap();
    store.put(&key(2), &kept("two")).unwrap();
    let path = segment(&dir);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0].len(), lines[1].len());
    // The file is swapped under the store that knows where its lines stood.
    std::fs::write(&path, format!("{}\n{}\n", lines[1], lines[0])).unwrap();
    assert_eq!((store.get(&key(1)).unwrap(), store.get(&key(2)).unwrap()), (None, None));
    std::fs::write(&path, "").unwrap();
    assert_eq!(store.get(&key(1)).unwrap(), None, "a file that was cut is no error");
}

#[test]
fn a_hundred_thousand_replies_are_an_index_only() {
    const N: usize = 100_000;
    let dir = TestDir::new();
    let mut text = Vec::new();
    let filler = "a reply that is not held in memory, ".repeat(8);
    for n in 0..N {
        let hex = blake3::Hash::from_bytes(key(n)).to_hex();
        let line = format!(
            "{{\"key\":\"{hex}\",\"model\":\"small\",\"reply\":{{\"text\":\"{filler}{n}\",\"input\":1,\"output\":1}}}}\n"
        );
        text.extend_from_slice(line.as_bytes());
    }
    dir.write("replies/old.jsonl", &text);
    let store = ReplyStore::open(dir.root(), None).unwrap();
    assert_eq!(store.len(), N);
    assert!(store.index_bytes() < 20 << 20 && store.index_bytes() * 2 < text.len(), "{}", store.index_bytes());
    for n in [0, 1, N / 2, N - 1] {
        let Some(Kept { outcome: ReplyOutcome::Reply(reply), .. }) = store.get(&key(n)).unwrap() else { panic!("{n}") };
        assert!(reply.text.ends_with(&format!(", {n}")), "{}", reply.text);
    }
}
