//! Plain, gzip and zstd streams behind one reader; the format is taken from the first bytes. A damaged stream
//! gives everything before the damage first. Knows nothing of lines.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

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

/// Decoders give at most this much at a time, so that little is lost when an error comes with it.
const MAX_STEP: usize = 32 << 10;
/// Window of `zstd --long=31`, the widest that the tool writes.
const MAX_WINDOW_LOG: u32 = 31;
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

impl Codec {
    /// The codec that `first`, the first bytes of a stream, announce.
    #[must_use]
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

/// The uncompressed stream of `reader` and how it was stored.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn open_codec<R: BufRead + Send + 'static>(mut reader: R) -> io::Result<(Codec, Box<dyn Read + Send>)> {
    let codec = Codec::sniff(reader.fill_buf()?);
    Ok(match codec {
        Codec::Plain => (codec, Box::new(reader)),
        Codec::Gzip => (codec, Box::new(Stepped(MultiGzDecoder::new(reader)))),
        Codec::Zstd => (codec, Box::new(ZstdReader::new(reader)?)),
    })
}

/// Reads in small steps.
struct Stepped<R>(R);

impl<R: Read> Read for Stepped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let step = buffer.len().min(MAX_STEP);
        self.0.read(&mut buffer[..step])
    }
}

/// Decodes frame after frame. The reader of the zstd crate drops what it decoded in the step that fails; this one
/// gives it first.
struct ZstdReader<R> {
    reader: R,
    decoder: Decoder<'static>,
    between_frames: bool,
    failure: Option<io::Error>,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(reader: R) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(Self { reader, decoder, between_frames: true, failure: None })
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.reader.fill_buf()?;
            if input.is_empty() {
                let torn = || io::Error::new(io::ErrorKind::UnexpectedEof, "the last zstd frame ends early");
                return if self.between_frames { Ok(0) } else { Err(torn()) };
            }
            let mut source = InBuffer::around(input);
            let mut target = OutBuffer::around(&mut *buffer);
            let result = self.decoder.run(&mut source, &mut target);
            let (consumed, produced) = (source.pos(), target.pos());
            self.reader.consume(consumed);
            match result {
                Ok(hint) => self.between_frames = hint == 0,
                Err(error) if produced == 0 => return Err(error),
                Err(error) => self.failure = Some(error),
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
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        let twice = [text.clone(), text.clone()].concat();
        assert_eq!(read_all([gzip(&text), gzip(&text)].concat()), (Codec::Gzip, twice.clone(), false));
        let frame = zstd::encode_all(&*text, 1).expect("memory takes all");
        let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3].to_vec();
        assert_eq!(read_all([skippable, frame.clone(), frame].concat()), (Codec::Zstd, twice.clone(), false));
        assert_eq!(read_all(twice.clone()), (Codec::Plain, twice, false));
        assert_eq!(read_all(Vec::new()), (Codec::Plain, Vec::new(), false));
    }

    #[test]
    fn a_torn_stream_gives_what_stands_before_the_damage() {
        let text: Vec<u8> = (0..1_000_000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for stored in [gzip(&text), zstd_with_checksum(&text)] {
            let (_, out, torn) = read_all(stored[..stored.len() / 2].to_vec());
            assert!(torn && out.len() > text.len() / 4 && text.starts_with(&out));
            let mut damaged = stored.clone();
            damaged[stored.len() / 2] ^= 0x55;
            let (_, _, torn) = read_all(damaged);
            assert!(torn);
        }
    }
}
