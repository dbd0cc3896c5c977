//! What is no record costs no memory, however little it is as stored: blank lines, lines longer than the limit, lines
//! that are rejected. Measured with the real program, under a small budget.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::dir::TestDir;

const RECORD: &[u8] = b"{\"messages\":[{\"role\":\"user\",\"content\":\"Hello?\"}]}\n";
const MB: u64 = 1_000_000;

/// Runs the program and gives the most memory that it held, in bytes, and what it told.
#[track_caller]
fn peak(dir: &TestDir, args: &[&str], code: i32) -> (u64, String) {
    let told = dir.path("stderr");
    let mut child = Command::new(env!("CARGO_BIN_EXE_condenser"))
        .args(args)
        .current_dir(dir.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&told).expect("a file"))
        .spawn()
        .expect("the program starts");
    let mut peak = 0;
    let status = loop {
        // The system knows the highest mark of a process as long as it lives; it never falls.
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = mark.and_then(|kb| kb.parse::<u64>().ok()).map_or(peak, |kb| peak.max(kb * 1024));
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        // A loop without a pause would take a core from what is measured.
        std::thread::sleep(Duration::from_millis(1));
    };
    let told = std::fs::read_to_string(told).expect("text");
    assert_eq!(status.code(), Some(code), "{args:?}\n{told}");
    println!("{args:?}: {} MB", peak / MB);
    (peak, told)
}

/// A compressed file: a record, `middle` so many times, a record.
fn pack(dir: &TestDir, name: &str, middle: &[(&[u8], usize)]) {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    let mut write = |bytes: &[u8]| packed.write_all(bytes).expect("memory takes all");
    write(RECORD);
    for &(bytes, n) in middle {
        (0..n).for_each(|_| write(bytes));
    }
    write(b"\n");
    write(RECORD);
    dir.write(name, packed.finish().expect("memory takes all"));
}

/// True when the file `restored` is what `packed` unpacks to.
fn is_same(dir: &TestDir, packed: &str, restored: &str) -> bool {
    let open = |name: &str| BufReader::new(File::open(dir.path(name)).expect(name));
    let mut before = flate2::read::MultiGzDecoder::new(open(packed));
    let mut after = open(restored);
    let (mut expected, mut found) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let n = before.read(&mut expected).expect("it unpacks");
        if n == 0 {
            return after.read(&mut found).expect("it reads") == 0;
        }
        if after.read_exact(&mut found[..n]).is_err() || found[..n] != expected[..n] {
            return false;
        }
    }
}

/// Compresses, restores and verifies; each may take `limit` bytes.
#[track_caller]
fn bounded(dir: &TestDir, flags: &[&str], code: i32, limit: u64) -> String {
    let compress = ["compress", "bomb.jsonl.gz", "-o", "run", "--memory", "64MiB", "--threads", "2"];
    let (taken, told) = peak(dir, &[&compress, flags].concat(), code);
    assert!(taken < limit, "compress took {} MB", taken / MB);
    let (taken, _) = peak(dir, &["restore", "run", "-o", "out"], 0);
    assert!(taken < limit, "restore took {} MB", taken / MB);
    assert!(is_same(dir, "bomb.jsonl.gz", "out/bomb.jsonl"), "every byte comes back");
    let (taken, _) = peak(dir, &["verify", "run", "--against", "bomb.jsonl.gz"], 0);
    assert!(taken < limit, "verify took {} MB", taken / MB);
    told
}

#[cfg(target_os = "linux")]
#[test]
fn blank_lines_cost_no_memory_however_long_they_are() {
    let dir = TestDir::new();
    let line_feeds = vec![b'\n'; 1 << 20];
    pack(
        &dir,
        "bomb.jsonl.gz",
        &[(&[b' '; 1 << 10], 150_000), (b"\n", 1), (&line_feeds, 50), (&[b'\t'; 1 << 10], 10_000)],
    );
    let told = bounded(&dir, &[], 0, 300 * MB);
    assert!(told.contains("2 conversations"), "{told}");
    assert!(told.contains("bomb.jsonl.gz unpacks to ") && told.contains("is it a decompression bomb?"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn lines_longer_than_the_limit_cost_no_more_memory_than_the_limit() {
    let dir = TestDir::new();
    let begin: &[u8] = b"{\"messages\":[{\"role\":\"user\",\"content\":\"";
    pack(&dir, "bomb.jsonl.gz", &[(begin, 1), (&[b'x'; 1 << 10], 150_000)]);
    let told = bounded(&dir, &["--max-record-bytes", "64MiB"], 3, 250 * MB);
    assert!(told.contains("2 conversations") && told.contains("1 record rejected"), "{told}");
    let rejects = File::open(dir.path("run/rejects/part-00000.jsonl")).expect("rejects");
    let mut first = String::new();
    BufReader::new(rejects).take(1000).read_to_string(&mut first).expect("text");
    assert!(
        first.contains("\"reason\":\"too_long\"") && first.contains("times its size, as decompression bombs do"),
        "{first}"
    );
}

/// A record must be held to be read; what is rejected is held once more, and once as it is written.
#[cfg(target_os = "linux")]
#[test]
fn a_rejected_line_costs_three_times_its_size_whatever_it_holds() {
    const SIZE: usize = 20_000_000;
    let dir = TestDir::new();
    dir.write("small.jsonl", RECORD);
    let flags = ["-o", "small", "--memory", "64MiB", "--threads", "2"];
    let (least, _) = peak(&dir, &[&["compress", "small.jsonl"], &flags[..]].concat(), 0);
    for (run, unit) in [("nul", &b"\0"[..]), ("junk", b"\xff\xfe\0x"), ("text", b"what ")] {
        let line = unit.repeat(SIZE / unit.len());
        let text = [RECORD, &line, b"\n", RECORD].concat();
        dir.write("long.jsonl", &text);
        let flags = ["-o", run, "--memory", "64MiB", "--threads", "2"];
        let (taken, _) = peak(&dir, &[&["compress", "long.jsonl"], &flags[..]].concat(), 3);
        assert!(taken < least + 3 * SIZE as u64 + 15 * MB, "{run}: {} MB over {} MB", taken / MB, least / MB);
        peak(&dir, &["restore", run, "-o", &format!("{run}-out")], 0);
        assert!(dir.read(&format!("{run}-out/long.jsonl")) == text, "{run}");
    }
}
