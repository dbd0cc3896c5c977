//! Many small numbers in one value: each as seven bits per byte, the lowest first, and the highest bit where a byte follows (LEB128).
//! As JSON they are a list. Refuses to know what they say.

/// The bit that says that a further byte follows.
const GOES_ON: u8 = 0x80;

/// These numbers as bytes.
pub(crate) fn packed(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let numbers = numbers.into_iter();
    let mut bytes = Vec::with_capacity(numbers.size_hint().0);
    for mut number in numbers {
        while number >= GOES_ON.into() {
            bytes.push(number as u8 | GOES_ON);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    bytes
}

/// The numbers that `bytes` are; `None` where one is torn or longer than 64 bits.
pub(crate) fn unpacked(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let mut numbers = Vec::with_capacity(bytes.len());
    while !bytes.is_empty() {
        numbers.push(first(&mut bytes)?);
    }
    Some(numbers)
}

/// The number that `bytes` begin with, which goes off them; `None` where it is torn or longer than 64 bits.
pub(crate) fn first(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & !GOES_ON);
        number |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
        if byte & GOES_ON == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::{packed, unpacked};

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX, 0];
        let bytes = packed(numbers);
        assert_eq!(unpacked(&bytes).as_deref(), Some(&numbers[..]));
        assert_eq!(bytes[..4], [0, 1, 127, 128]);
        assert_eq!(unpacked(&[]), Some(Vec::new()));
    }

    #[test]
    fn what_is_torn_or_too_long_is_none() {
        for bytes in [&[0x80][..], &[1, 0xff], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }
}
