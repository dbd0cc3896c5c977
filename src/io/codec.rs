//! Plain, gzip and zstd streams behind one reader; the format is taken from the first bytes. A damaged stream
//! gives everything before the damage, an error, and what stands behind it in whole members or frames. Knows nothing
//! of lines.

use std::io::{self, BufRead, Cursor, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::steady::steady;
use super::step_back::StepBack;

/// How a stream is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// As it is.
    Plain,
    /// Gzip, one or more members.
    Gzip,
    /// Zstandard, one or more frames.
    Zstd,
}

/// Window of `zstd --long=31`, the widest that the tool writes.
const MAX_WINDOW_LOG: u32 = 31;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

impl Codec {
    /// The codec that `first`, the first bytes of a stream, announce.
    pub fn sniff(first: &[u8]) -> Self {
        match first {
            [0x1F, 0x8B, ..] => Self::Gzip,
            _ if first.starts_with(&ZSTD_MAGIC) => Self::Zstd,
            // A skippable frame: 0x184D2A50 to 0x184D2A5F, little endian.
            [low, 0x2A, 0x4D, 0x18, ..] if low & 0xF0 == 0x50 => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// A stream whose first bytes were looked at, from its beginning.
type Begun<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The first `n_bytes` of `reader`, fewer where there are no more, and the same stream. What comes through a pipe may come byte by byte.
pub(super) fn beginning<R: Read>(mut reader: R, n_bytes: usize) -> io::Result<(Vec<u8>, Begun<R>)> {
    let mut first = Vec::with_capacity(n_bytes);
    reader.by_ref().take(n_bytes as u64).read_to_end(&mut first)?;
    Ok((first.clone(), Cursor::new(first).chain(reader)))
}

/// The uncompressed stream of `reader` and how it was stored. After an error of a damaged member or frame the stream
/// goes on with the next one that is whole.
pub fn open_codec<R: BufRead + Send + 'static>(reader: R) -> io::Result<(Codec, Box<dyn Read + Send>)> {
    let (first, reader) = beginning(reader, ZSTD_MAGIC.len())?;
    let codec = Codec::sniff(&first);
    Ok(match codec {
        Codec::Plain => (codec, Box::new(reader)),
        Codec::Gzip => (codec, Box::new(Steps::of(GzipReader::new(steady(reader)), GZIP_STEP))),
        Codec::Zstd => (codec, Box::new(Steps::of(ZstdReader::new(steady(reader))?, ZSTD_STEP))),
    })
}

/// Decodes a stream in steps; after an error it goes on behind the damage.
trait Decode {
    /// One step; nothing at the end.
    fn decode(&mut self, step: &mut [u8]) -> io::Result<usize>;
}

/// What a decoder gives in steps of one size. What it decodes in a step that fails is lost, so that steps are small and do not depend on
/// who reads: every reader gets the same of a damaged stream.
struct Steps<D> {
    decoder: D,
    n_bytes: usize,
    /// What the last step decoded, and how much of it was given out.
    step: Vec<u8>,
    at: usize,
}

impl<D> Steps<D> {
    fn of(decoder: D, n_bytes: usize) -> Self {
        Self { decoder, n_bytes, step: Vec::new(), at: 0 }
    }
}

impl<D: Decode> Read for Steps<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.at == self.step.len() {
            let mut step = std::mem::take(&mut self.step);
            step.resize(self.n_bytes, 0);
            let decoded = self.decoder.decode(&mut step);
            step.truncate(*decoded.as_ref().unwrap_or(&0));
            (self.step, self.at) = (step, 0);
            decoded?;
        }
        let n = buffer.len().min(self.step.len() - self.at);
        buffer[..n].copy_from_slice(&self.step[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Reads member after member; after a damaged one it goes on with the next.
struct GzipReader<R> {
    state: Gzip<R>,
}

enum Gzip<R> {
    Member(Box<GzDecoder<StepBack<R>>>),
    Damaged(StepBack<R>),
    Ended,
}

/// The fixed part of a member's header (RFC 1952).
const GZIP_HEADER_BYTES: usize = 10;
/// Small, since a step that fails may have decoded much.
const GZIP_STEP: usize = 32 << 10;
/// A block: none is lost that was whole.
const ZSTD_STEP: usize = 128 << 10;

impl<R: BufRead> GzipReader<R> {
    fn new(reader: R) -> Self {
        Self { state: Gzip::Member(Box::new(GzDecoder::new(StepBack::new(reader)))) }
    }
}

/// Deflate, no reserved flag, a compression level and a system that the format knows.
fn begins_member(bytes: &[u8]) -> bool {
    matches!(bytes, [0x1F, 0x8B, 8, flags, _, _, _, _, level, system, ..]
        if flags & 0xE0 == 0 && matches!(level, 0 | 2 | 4) && (*system <= 13 || *system == 255))
}

impl<R: BufRead> Decode for GzipReader<R> {
    fn decode(&mut self, step: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, Gzip::Ended) {
                Gzip::Ended => return Ok(0),
                Gzip::Damaged(mut reader) => {
                    if reader.skip_to(0x1F, GZIP_HEADER_BYTES, begins_member)? {
                        reader.mark();
                        self.state = Gzip::Member(Box::new(GzDecoder::new(reader)));
                    }
                }
                Gzip::Member(mut decoder) => match decoder.read(step) {
                    Ok(0) => {
                        let mut reader = decoder.into_inner();
                        reader.mark();
                        if !reader.fill_buf()?.is_empty() {
                            self.state = Gzip::Member(Box::new(GzDecoder::new(reader)));
                        }
                    }
                    Ok(n) => {
                        self.state = Gzip::Member(decoder);
                        return Ok(n);
                    }
                    Err(error) => {
                        let mut reader = decoder.into_inner();
                        reader.step_back();
                        self.state = Gzip::Damaged(reader);
                        return Err(error);
                    }
                },
            }
        }
    }
}

/// Decodes frame after frame; after a damaged one it goes on with the next. What a call of the decoder decoded before it
/// fails is lost, so that each call makes one step, and none before everything that was decoded is given out.
struct ZstdReader<R> {
    reader: StepBack<R>,
    decoder: Decoder<'static>,
    between_frames: bool,
    /// So many bytes bring the decoder to its next step.
    n_wanted: usize,
    /// Everything that was decoded was given out.
    is_drained: bool,
    damaged: bool,
}

/// The first bytes of a frame that its decoder asks for.
const FRAME_START_BYTES: usize = 5;

impl<R: BufRead> ZstdReader<R> {
    fn new(reader: R) -> io::Result<Self> {
        Ok(Self {
            reader: StepBack::new(reader),
            decoder: decoder()?,
            between_frames: true,
            n_wanted: FRAME_START_BYTES,
            is_drained: true,
            damaged: false,
        })
    }

    /// Goes on behind a damaged frame; false when nothing comes any more.
    fn resume(&mut self) -> io::Result<bool> {
        self.decoder = decoder()?;
        self.between_frames = true;
        (self.n_wanted, self.is_drained) = (FRAME_START_BYTES, true);
        self.reader.step_back();
        let found = self.reader.skip_to(ZSTD_MAGIC[0], ZSTD_MAGIC.len(), |bytes| bytes.starts_with(&ZSTD_MAGIC))?;
        self.reader.mark();
        Ok(found)
    }
}

fn decoder() -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
    Ok(decoder)
}

impl<R: BufRead> Decode for ZstdReader<R> {
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.damaged) && !self.resume()? {
            return Ok(0);
        }
        loop {
            let input = self.reader.fill_buf()?;
            if input.is_empty() && self.is_drained {
                if std::mem::replace(&mut self.between_frames, true) {
                    return Ok(0);
                }
                // A frame that lost its end may have swallowed the beginning of the next one.
                self.damaged = true;
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a zstd frame ends early"));
            }
            let n_fed = if self.is_drained { input.len().min(self.n_wanted) } else { 0 };
            let mut source = InBuffer::around(&input[..n_fed]);
            let mut target = OutBuffer::around(&mut *buffer);
            let result = self.decoder.run(&mut source, &mut target);
            let (consumed, produced) = (source.pos(), target.pos());
            self.reader.consume(consumed);
            match result {
                Ok(0) => {
                    self.reader.mark();
                    self.between_frames = true;
                    (self.n_wanted, self.is_drained) = (FRAME_START_BYTES, true);
                }
                Ok(n_wanted) => {
                    self.between_frames = false;
                    (self.n_wanted, self.is_drained) = (n_wanted, produced < buffer.len());
                }
                Err(error) => {
                    self.damaged = true;
                    return Err(error);
                }
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read, Write};

    use super::{Codec, open_codec};

    fn read_all(bytes: Vec<u8>) -> (Codec, Vec<u8>, bool) {
        let (codec, mut reader) = open_codec(BufReader::with_capacity(7, Cursor::new(bytes))).expect("a cursor opens");
        let mut out = Vec::new();
        let torn = reader.read_to_end(&mut out).is_err();
        (codec, out, torn)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("memory takes all");
        encoder.finish().expect("memory takes all")
    }

    /// Without a checksum a changed literal cannot be noticed.
    fn zstd_with_checksum(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder starts");
        encoder.include_checksum(true).expect("frames may have one");
        encoder.write_all(bytes).expect("memory takes all");
        encoder.finish().expect("memory takes all")
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let text: Vec<u8> = (0..60_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        let twice = [text.clone(), text.clone()].concat();
        assert_eq!(read_all([gzip(&text), gzip(&text)].concat()), (Codec::Gzip, twice.clone(), false));
        let frame = zstd::encode_all(&*text, 1).expect("memory takes all");
        let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3].to_vec();
        assert_eq!(read_all([skippable, frame.clone(), frame].concat()), (Codec::Zstd, twice.clone(), false));
        assert_eq!(read_all(twice.clone()), (Codec::Plain, twice, false));
        assert_eq!(read_all(Vec::new()), (Codec::Plain, Vec::new(), false));
    }

    #[test]
    fn a_stream_is_known_however_few_bytes_come_at_a_time() {
        let text = b"{}\n".repeat(99);
        let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3].to_vec();
        let frame = zstd::encode_all(&*text, 1).expect("memory takes all");
        for (stored, kind) in [
            (text.clone(), Codec::Plain),
            (gzip(&text), Codec::Gzip),
            (frame.clone(), Codec::Zstd),
            ([skippable, frame].concat(), Codec::Zstd),
        ] {
            let slow = BufReader::with_capacity(1, Cursor::new(stored));
            let (codec, mut reader) = open_codec(slow).expect("a cursor opens");
            let mut out = Vec::new();
            reader.read_to_end(&mut out).expect("it is whole");
            assert_eq!((codec, out), (kind, text.clone()));
        }
    }

    #[test]
    fn a_torn_stream_gives_what_stands_before_the_damage() {
        let text: Vec<u8> = (0..60_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for stored in [gzip(&text), zstd_with_checksum(&text)] {
            let (_, out, torn) = read_all(stored[..stored.len() / 2].to_vec());
            assert!(torn && out.len() > text.len() / 4 && text.starts_with(&out));
            let mut damaged = stored.clone();
            damaged[stored.len() / 2] ^= 0x55;
            let (_, _, torn) = read_all(damaged);
            assert!(torn);
        }
    }

    #[test]
    fn what_is_saved_does_not_depend_on_how_many_bytes_come_at_a_time() {
        let texts = [gzip(b"[[[\t\t\t"), zstd_with_checksum(b"[[[\t\t\t")];
        for stored in texts.iter().flat_map(|stored| (0..=stored.len()).map(|end| stored[..end].repeat(2))) {
            let read = |n_bytes: usize| {
                let (_, reader) =
                    open_codec(BufReader::with_capacity(n_bytes, Cursor::new(stored.clone()))).expect("a cursor");
                let (mut reader, mut out, mut breaks) = (reader, Vec::new(), Vec::new());
                while reader.read_to_end(&mut out).is_err() {
                    breaks.push(out.len());
                }
                (out, breaks)
            };
            assert_eq!(read(1), read(1 << 16), "{stored:?}");
        }
    }

    #[test]
    fn what_is_saved_does_not_depend_on_who_reads() {
        let text: Vec<u8> = (0..9_000_u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for stored in [gzip(&text), zstd_with_checksum(&text)] {
            for at in (0..stored.len()).step_by(stored.len() / 40) {
                let mut damaged = [&*stored, &*stored].concat();
                damaged[at] ^= 0x55;
                let saved = |n_bytes: usize| {
                    let (_, mut reader) = open_codec(Cursor::new(damaged.clone())).expect("a cursor opens");
                    let (mut out, mut breaks, mut room) = (Vec::new(), Vec::new(), vec![0; n_bytes]);
                    while breaks.len() < 100 {
                        match reader.read(&mut room) {
                            Ok(0) => break,
                            Ok(n) => out.extend_from_slice(&room[..n]),
                            Err(_) => breaks.push(out.len()),
                        }
                    }
                    (out, breaks)
                };
                let whole = saved(1 << 20);
                assert!([1, 7, 100, 5_000].into_iter().all(|n_bytes| saved(n_bytes) == whole), "byte {at}");
            }
        }
    }

    #[test]
    fn what_stands_behind_the_damage_comes_after_the_error() {
        let texts: Vec<Vec<u8>> = (0..4_u32)
            .map(|part| (part * 2_000..(part + 1) * 2_000).flat_map(|n| n.to_string().into_bytes()).collect())
            .collect();
        for store in [gzip, zstd_with_checksum] {
            let stored: Vec<Vec<u8>> = texts.iter().map(|text| store(text)).collect();
            for (at, bit) in [(stored[1].len() / 2, 0x55), (0, 0xFF), (2, 0xFF), (stored[1].len() - 2, 0x10)] {
                let mut damaged = stored.clone();
                damaged[1][at] ^= bit;
                let reader = BufReader::with_capacity(13, Cursor::new(damaged.concat()));
                let (_, mut reader) = open_codec(reader).expect("a cursor opens");
                let mut parts = vec![Vec::new()];
                let mut n_errors = 0;
                while n_errors < 10 {
                    match reader.read_to_end(parts.last_mut().expect("there is one")) {
                        Ok(_) => break,
                        Err(_) => parts.push(Vec::new()),
                    }
                    n_errors += 1;
                }
                assert!((1..10).contains(&n_errors), "{n_errors}");
                assert!(parts[0].starts_with(&texts[0]));
                assert!(
                    parts.last().is_some_and(|last| *last == [&*texts[2], &*texts[3]].concat()),
                    "byte {at} of {:?}",
                    store(b"x").first()
                );
            }
        }
    }
}
