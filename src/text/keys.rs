//! Keys of facts, lines and cues: hashes that are the same on every machine. Knows bytes only.

/// A 64-bit hash of `text` with ASCII case folded; the same on every machine.
#[must_use]
pub fn fold_key(text: &str) -> u64 {
    text.bytes().fold(KEY_START, key_of)
}

/// The key before any byte.
pub(super) const KEY_START: u64 = 0xcbf2_9ce4_8422_2325;

/// The key after one more byte.
pub(super) fn key_of(key: u64, byte: u8) -> u64 {
    (key ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
}

/// [`fold_key`] of bytes.
pub(super) fn fold_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(KEY_START, |key, &byte| key_of(key, byte))
}
