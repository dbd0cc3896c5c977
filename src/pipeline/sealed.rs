//! JSON documents that carry the hash of their own bytes, so that no byte of a commit or a manifest can change
//! unseen. Those that are many or long are compressed. Knows nothing of what the documents say.

use std::io::Read as _;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

const SEAL: &str = "  \"seal\": \"";
const END: &str = "\"\n}\n";
/// The level at which documents are compressed: the same for every job, so that each has the same bytes wherever it is made.
const LEVEL: i32 = 9;
/// What a compressed document begins with.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// No compressed document is longer than this, in bytes: whoever says so may have made it to fill the memory.
const MAX_BYTES: u64 = 256 << 20;

/// `value` as indented JSON with a last key `seal`: the BLAKE3 hash of all bytes before that line.
pub fn seal<T: Serialize>(value: &T) -> Result<String> {
    let internal = || Error::internal("", "a document could not be written as a JSON object");
    let text = serde_json::to_string_pretty(value).map_err(|error| internal().because(error))?;
    let body = text.strip_suffix("\n}").ok_or_else(internal)?;
    let mut out = format!("{body},\n");
    let hash = blake3::hash(out.as_bytes()).to_hex();
    out.push_str(SEAL);
    out.push_str(&hash);
    out.push_str(END);
    Ok(out)
}

/// The same, compressed: what `zstdcat` shows is the sealed document.
pub fn seal_packed<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let failed = |error| Error::internal("", "a document could not be compressed").because(error);
    zstd::bulk::compress(seal(value)?.as_bytes(), LEVEL).map_err(failed)
}

/// Reads a sealed document, compressed or not. `place` names it in errors.
pub fn open_sealed<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T> {
    let broken = || Error::verification(place, "the file differs from what was written: its seal is broken");
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&ZSTD_MAGIC) {
        let decoder = zstd::Decoder::with_buffer(bytes).map_err(|error| broken().because(error))?;
        let read = decoder.take(MAX_BYTES).read_to_end(&mut unpacked);
        read.map_err(|error| broken().because(error))?;
        &unpacked
    } else {
        bytes
    };
    let text = std::str::from_utf8(bytes).map_err(|error| broken().because(error))?;
    let rest = text.strip_suffix(END).ok_or_else(broken)?;
    let (body, hash) = rest.rsplit_once(SEAL).ok_or_else(broken)?;
    if blake3::hash(body.as_bytes()).to_hex().as_str() != hash {
        return Err(broken());
    }
    serde_json::from_str(text).map_err(|error| {
        Error::verification(place, "the file is not what this version of condenser reads").because(error)
    })
}
