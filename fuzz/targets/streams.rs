//! Compressed streams, and what cuts them: lines, documents, event logs, sessions in Markdown. However a stream is read, the same
//! batches come out of it; they tile it, so that no byte is lost and none told twice; damage is told. The first byte says how it is cut.
#![no_main]

use std::io::{BufReader, Cursor, Read};

use condenser::io::{Codec, DocumentSource, EventSource, LineSource, is_document, open_codec, sniff_events};
use condenser::model::ShapeName;
use condenser::pipeline::{Batch, BatchOptions, LineBatch, LineRole, Source};
use libfuzzer_sys::fuzz_target;

/// What is unpacked of an input at most.
const MAX_BYTES: u64 = 1 << 20;

/// Gives a few bytes at a time.
struct Slow<R>(R, usize);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.1);
        self.0.read(&mut buffer[..n])
    }
}

fn open(data: &[u8], step: usize) -> (Codec, Box<dyn Read + Send>) {
    let stored = Slow(Cursor::new(data.to_vec()), step);
    let (codec, stream) = open_codec(BufReader::with_capacity(step.clamp(1, 1 << 16), stored)).expect("memory is read");
    (codec, Box::new(stream.take(MAX_BYTES)))
}

/// All that can be read, with how often it broke off.
fn read(data: &[u8], step: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut text, mut breaks) = (Vec::new(), Vec::new());
    let (_, mut stream) = open(data, step);
    loop {
        match stream.read_to_end(&mut text) {
            Ok(_) => return (text, breaks),
            Err(_) => breaks.push(text.len()),
        }
        assert!(breaks.len() <= data.len(), "every break passes a byte");
    }
}

fn batches(source: &mut dyn Source) -> Vec<LineBatch> {
    let mut all = Vec::new();
    while let Some(batch) = source.next_batch().expect("memory is read") {
        let Batch::Lines(batch) = batch else { panic!("lines give lines") };
        all.push(batch);
    }
    all
}

/// The stream that `batches` tile.
fn tiled(batches: &[LineBatch]) -> Vec<u8> {
    let mut text: Vec<Option<u8>> = Vec::new();
    let mut put = |at: usize, bytes: &[u8]| {
        if text.len() < at + bytes.len() {
            text.resize(at + bytes.len(), None);
        }
        for (place, byte) in text[at..].iter_mut().zip(bytes) {
            assert!(place.replace(*byte).is_none(), "a byte is told twice");
        }
    };
    for batch in batches {
        let mut end = 0;
        for line in &batch.lines {
            assert_eq!(line.span.start, end, "spans follow each other");
            end = line.span.end;
            assert!(line.record.start <= line.record.end && line.record.end <= end && line.record.start >= line.span.start);
            let bytes = &batch.bytes[line.span.clone()];
            match &line.kind {
                LineRole::Scattered(places) => {
                    let mut from = 0;
                    for &(at, n) in places {
                        put(at as usize, &bytes[from..from + n as usize]);
                        from += n as usize;
                    }
                    assert_eq!(from, bytes.len());
                }
                _ => put(batch.offset as usize + line.span.start, bytes),
            }
        }
        assert_eq!(end, batch.bytes.len(), "and tile the batch");
    }
    text.into_iter().map(|byte| byte.expect("no byte is lost")).collect()
}

fuzz_target!(|data: &[u8]| {
    let [how, data @ ..] = data else { return };
    let (text, breaks) = read(data, usize::MAX >> 1);
    let options = BatchOptions {
        batch_bytes: [1, 7, 64, 1 << 16][usize::from(how & 3)],
        max_record_bytes: [16, 4 << 10, 1 << 20, 1 << 20][usize::from(how >> 2 & 3)],
    };
    assert_eq!(read(data, 1), (text.clone(), breaks.clone()), "who reads makes no difference");
    let head = &text[..text.len().min(64 << 10)];
    let forced = [None, Some(ShapeName::ClaudeCode), Some(ShapeName::Codex), Some(ShapeName::Specstory)];
    let events = sniff_events(head, forced[usize::from(how >> 4 & 3)]);
    let cut = |step: usize| -> Box<dyn Source> {
        let (_, stream) = open(data, step);
        match events {
            Some(shape) => Box::new(EventSource::new("in", stream, shape, options)),
            None if is_document(head) || how & 64 != 0 => Box::new(DocumentSource::new("in", stream, options)),
            None => Box::new(LineSource::new("in", stream, options)),
        }
    };
    let mut source = cut(usize::MAX >> 1);
    let found = batches(&mut *source);
    assert_eq!(found, batches(&mut *cut(3)), "who reads makes no difference");
    let told = tiled(&found);
    assert!(text.starts_with(&told), "what is told is what was read");
    let n_torn = found.iter().flat_map(|batch| &batch.lines).filter(|line| matches!(line.kind, LineRole::Torn(_))).count();
    if breaks.is_empty() {
        assert!(told == text, "all of it is told");
    } else {
        assert!(n_torn > 0, "damage is told");
        assert!(told.len() >= breaks[0], "what stands before the damage is told");
    }
    let digest = source.digest().expect("it has ended");
    let _ = format!("{digest:?}");
});
