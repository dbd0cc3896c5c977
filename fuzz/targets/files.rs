//! Any file as an input of a job: Parquet, Arrow, JSON lines, documents, event logs, compressed or not, whole or damaged. A job ends with
//! a reason, or with a run that verifies against the file and gives its bytes back; every record is told as read or rejected. The
//! first byte says what is written.
#![no_main]

use condenser::io::{open_codec, sniff_table};
use condenser_fuzz::place::{bench, told};
use libfuzzer_sys::fuzz_target;
use std::io::Read;

/// Larger than this nothing is unpacked that a table may hold: what makes memory full is a matter of limits, not of this target.
const MAX_BYTES: u64 = 4 << 20;

const FORMATS: [&str; 4] = ["parquet", "jsonl", "arrow", "parquet"];

fn text_of(data: &[u8]) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let (_, stream) = open_codec(std::io::Cursor::new(data.to_vec())).expect("memory is read");
    let is_whole = stream.take(MAX_BYTES).read_to_end(&mut text).is_ok();
    (text, is_whole)
}

fuzz_target!(|data: &[u8]| {
    let [how, data @ ..] = data else { return };
    let bench = bench();
    for name in ["run", "back"] {
        bench.clear(name);
    }
    let is_table = sniff_table(data).is_some();
    let (text, is_whole) = if is_table { (Vec::new(), true) } else { text_of(data) };
    if text.len() as u64 >= MAX_BYTES {
        return;
    }
    let name = if is_table { "in.bin" } else { "in.jsonl" };
    std::fs::write(bench.path(name), data).expect("a file of this process");
    let format = FORMATS[usize::from(how & 3)];
    let window = how >> 2 & 3;
    let engine = if how & 16 != 0 { "hide_by = 'look'\nmin_saving = 1\n" } else { "" };
    let small = if how & 32 != 0 { "max_record_bytes = '1KiB'\n" } else { "" };
    let more = format!(
        "format = '{format}'\ntrace = {}\n{small}[engine]\nrecency_window = {window}\n{engine}",
        how & 64 != 0
    );
    let settings = bench.job(name, "run", &more);
    let totals = match bench.compress(&settings) {
        Ok(totals) => totals,
        Err(error) => return told(&error),
    };
    let n_records = match bench.verify("run", Some(name)) {
        Ok(n_records) => n_records,
        // An input that breaks off cannot be compared behind its damage.
        Err(error) => {
            told(&error);
            assert!(is_table || !is_whole, "what was just written verifies: {error} {:?}", error.source);
            return;
        }
    };
    assert_eq!(totals.conversations + totals.rejects, n_records, "what was read was taken or rejected");
    match bench.restore("run") {
        Ok(files) if !is_table && is_whole => {
            let back: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).expect("it was restored")).collect();
            assert!(back == text, "the bytes of the stream come back");
        }
        Ok(_) => {}
        Err(error) => {
            told(&error);
            panic!("what verifies is restored: {error} {:?}", error.source);
        }
    }
});
