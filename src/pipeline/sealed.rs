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
/// Behind the compressed document stands a frame that decoders skip: this, and the BLAKE3 hash of all bytes before the frame. The seal is
/// that of the text alone, and some bits of a frame can be changed without another text coming out.
const TAIL: [u8; 8] = [0x50, 0x2A, 0x4D, 0x18, blake3::OUT_LEN as u8, 0, 0, 0];
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
    let mut bytes = zstd::bulk::compress(seal(value)?.as_bytes(), LEVEL).map_err(failed)?;
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(&TAIL);
    bytes.extend_from_slice(hash.as_bytes());
    Ok(bytes)
}

/// True unless the frame behind a compressed document says that a bit was changed. Documents of earlier versions have none.
fn is_as_packed(bytes: &[u8]) -> bool {
    let tail = bytes.len().checked_sub(TAIL.len() + blake3::OUT_LEN).map(|at| bytes.split_at(at));
    let Some((before, [kind, tail @ ..])) = tail else { return true };
    let Some(hash) = tail.strip_prefix(&TAIL[1..]) else { return true };
    match *kind {
        kind if kind == TAIL[0] => blake3::hash(before).as_bytes() == hash,
        // Decoders skip frames of these kinds too.
        0x51..=0x5F => false,
        _ => true,
    }
}

/// Reads a sealed document, compressed or not. `place` names it in errors.
pub fn open_sealed<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T> {
    let broken = || Error::verification(place, "the file differs from what was written: its seal is broken");
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&ZSTD_MAGIC) {
        if !is_as_packed(bytes) {
            return Err(broken());
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{TAIL, open_sealed, seal, seal_packed};

    #[test]
    fn no_bit_of_a_document_changes_unseen() {
        let long: Vec<String> = (0..40).map(|at| format!("logs/{at}.jsonl")).collect();
        for value in [json!({"a": 1}), json!({"run": "00001", "logs": long})] {
            let packed = seal_packed(&value).expect("an object");
            let text = seal(&value).expect("an object");
            for document in [packed.clone(), text.into_bytes()] {
                let mut read: Value = open_sealed(&document, "a").expect("it is as it was written");
                assert_eq!(
                    read.as_object_mut().and_then(|read| read.remove("seal")).map(|seal| seal.is_string()),
                    Some(true)
                );
                assert_eq!(read, value);
                for bit in 0..document.len() * 8 {
                    let mut changed = document.clone();
                    changed[bit / 8] ^= 1 << (bit % 8);
                    assert!(open_sealed::<Value>(&changed, "a").is_err(), "bit {bit} of {}", document.len());
                }
            }
            // As earlier versions wrote it, and as other tools show it.
            let bare = &packed[..packed.len() - TAIL.len() - blake3::OUT_LEN];
            open_sealed::<Value>(bare, "a").expect("it is read");
            assert_eq!(zstd::decode_all(&*packed).expect("zstd"), zstd::decode_all(bare).expect("zstd"));
            // Frames of the other kinds that are skipped are no better.
            for kind in 0x51..=0x5F {
                let mut changed = packed.clone();
                changed[bare.len()] = kind;
                assert!(open_sealed::<Value>(&changed, "a").is_err());
            }
        }
    }
}
