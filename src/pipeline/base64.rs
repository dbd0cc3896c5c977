//! Base64 (RFC 4648, with padding) for bytes that are not UTF-8 and must stand in JSON.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `bytes` in Base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let value = (0..3).fold(0u32, |value, i| value << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = ALPHABET[(value >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// The bytes that `text` stands for; `None` when it is no Base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 3);
    for chunk in digits.chunks(4) {
        let mut value = 0u32;
        for i in 0..4 {
            let digit = match chunk.get(i) {
                Some(byte) => ALPHABET.iter().position(|letter| letter == byte)?,
                None => 0,
            };
            value = value << 6 | digit as u32;
        }
        let n_bytes = (chunk.len() * 6) / 8;
        out.extend(value.to_be_bytes().iter().skip(1).take(n_bytes));
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn base64_has_the_check_values_of_the_standard_and_comes_back() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(decode("a*"), None);
    }
}
