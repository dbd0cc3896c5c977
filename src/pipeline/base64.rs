//! Base64 (RFC 4648, with padding) for bytes that are not UTF-8 and must stand in JSON.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The value of every byte that is a digit; [`NO_DIGIT`] for all others.
const VALUES: [u8; 256] = values();
const NO_DIGIT: u8 = 0xFF;

const fn values() -> [u8; 256] {
    let (mut values, mut at) = ([NO_DIGIT; 256], 0);
    while at < ALPHABET.len() {
        values[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    values
}

/// `bytes` in Base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let digit = |value: u32, shift: u32| char::from(ALPHABET[(value >> shift & 63) as usize]);
    let (whole, rest) = bytes.as_chunks::<3>();
    for &[a, b, c] in whole {
        let value = u32::from_be_bytes([0, a, b, c]);
        out.extend([18, 12, 6, 0].map(|shift| digit(value, shift)));
    }
    if let Some(&a) = rest.first() {
        let value = u32::from_be_bytes([0, a, rest.get(1).copied().unwrap_or(0), 0]);
        let third = if rest.len() > 1 { digit(value, 6) } else { '=' };
        out.extend([digit(value, 18), digit(value, 12), third, '=']);
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
            let digit = chunk.get(i).map_or(0, |&byte| VALUES[byte as usize]);
            if digit == NO_DIGIT {
                return None;
            }
            value = value << 6 | u32::from(digit);
        }
        let [_, bytes @ ..] = value.to_be_bytes();
        out.extend_from_slice(bytes.get(..chunk.len() * 6 / 8).unwrap_or_default());
    }
    Some(out)
}

/// How many bytes [`decode`] gives.
pub(crate) fn decoded_len(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches('=').as_bytes();
    digits
        .iter()
        .all(|&byte| VALUES[byte as usize] != NO_DIGIT)
        .then(|| digits.len() / 4 * 3 + digits.len() % 4 * 6 / 8)
}

#[cfg(test)]
mod tests {
    use super::{decode, decoded_len, encode};

    #[test]
    fn base64_has_the_check_values_of_the_standard_and_comes_back() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(decoded_len(text), Some(bytes.len()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(decode("a*"), None);
    }
}
