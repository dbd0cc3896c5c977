//! What of an original stands in the text that was written for it, and the rest, so that each byte is stored once. Knows two texts;
//! refuses to know why they differ.

use std::borrow::Cow;
use std::ops::Range;

use super::escape::{Style, encode};
use super::layout::{RestoreError, damaged};
use super::row::MessageRow;

/// Bytes that two texts must have in common.
const SHARED: usize = 16;
/// Of bytes that are not ASCII one place in two to the power of so many is looked up.
const SPARSE: u32 = 3;
/// Places that are tried for each one that is looked up.
const MOST_TRIED: usize = 8;
/// What a piece and a delta cost, in bytes of the rest.
const PIECE: usize = 6;
const DELTA: usize = 16;
const NONE: u32 = u32::MAX;
/// In the place of a style: the text stands as it is.
pub(super) const COPIED: char = '0';

/// An original by what was written for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// Its pieces, in order; behind the last one stands what is left of the rest.
    pub pieces: Vec<DeltaPiece>,
    /// What is not written.
    pub rest: String,
}

/// Some characters of the rest, then a stretch of what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeltaPiece {
    /// Characters of the rest.
    pub rest: u32,
    /// Characters of what was written that are passed over.
    pub skipped: u32,
    /// Characters of it that are copied.
    pub copied: u32,
}

impl Delta {
    /// Of each of `originals` the stretches that `written` has in the same order, and the rest; `None` where that saves nothing. What
    /// one of them copies stands behind what the ones before it do. Takes time in proportion to all of them and `written`.
    #[must_use]
    pub fn of(originals: &[&str], written: &str) -> Vec<Option<Self>> {
        let joined = if let [original] = originals { Cow::Borrowed(*original) } else { Cow::Owned(originals.concat()) };
        if u32::try_from(joined.len().max(written.len())).is_err() {
            return originals.iter().map(|_| None).collect();
        }
        let copies = shared(joined.as_bytes(), written.as_bytes());
        let (mut copies, mut begin, mut shown) = (&copies[..], 0, 0);
        let mut delta = |original: &&str| {
            let end = begin + original.len();
            let n = copies.partition_point(|copy| copy.from < end);
            let own = copies[..n].iter().filter_map(|copy| copy.within(begin..end, original)).collect::<Vec<_>>();
            // The last one may reach into the next original.
            copies = &copies[n.saturating_sub(1)..];
            begin = end;
            Self::with(&own, original, written, &mut shown)
        };
        originals.iter().map(&mut delta).collect()
    }

    /// The delta with these copies; what is passed over is counted from the byte `shown` of what was written.
    fn with(copies: &[Copy], original: &str, written: &str, shown: &mut usize) -> Option<Self> {
        let n_shared: usize = copies.iter().map(|copy| copy.n).sum();
        if n_shared <= copies.len() * PIECE + DELTA {
            return None;
        }
        let mut delta = Self { pieces: Vec::with_capacity(copies.len()), rest: String::new() };
        let n_chars = |text: &str| text.chars().count() as u32;
        let mut end = 0;
        for copy in copies {
            let rest = original.get(end..copy.from)?;
            delta.rest.push_str(rest);
            end = copy.from + copy.n;
            delta.pieces.push(DeltaPiece {
                rest: n_chars(rest),
                skipped: n_chars(written.get(*shown..copy.written)?),
                copied: n_chars(original.get(copy.from..end)?),
            });
            *shown = copy.written + copy.n;
        }
        delta.rest.push_str(original.get(end..)?);
        Some(delta)
    }
}

/// What was written, from which originals are put together in the order of their deltas.
#[derive(Debug)]
pub struct Wholes<'w>(&'w str);

impl<'w> Wholes<'w> {
    /// Those by `written`.
    #[must_use]
    pub fn by(written: &'w str) -> Self {
        Self(written)
    }

    /// The next original.
    ///
    /// # Errors
    /// Says that it is not of what was written.
    pub fn next(&mut self, pieces: &[DeltaPiece], mut rest: &str) -> Result<String, RestoreError> {
        let mut original = String::with_capacity(rest.len() + pieces.len() * 64);
        for piece in pieces {
            let told = take(&mut rest, piece.rest);
            let skipped = take(&mut self.0, piece.skipped);
            let parts = told.zip(skipped.and_then(|_| take(&mut self.0, piece.copied)));
            let (told, copied) = parts.ok_or_else(|| damaged("an original is not of what was written"))?;
            original.push_str(told);
            original.push_str(copied);
        }
        original.push_str(rest);
        Ok(original)
    }
}

/// So many characters, which are taken from a text.
fn take<'t>(text: &mut &'t str, n: u32) -> Option<&'t str> {
    let (taken, left) = text.split_at_checked(end_of(text, n)?)?;
    *text = left;
    Some(taken)
}

/// Where so many characters of a text end.
fn end_of(text: &str, n: u32) -> Option<usize> {
    // Most texts have one byte for each character.
    let n = n as usize;
    if text.as_bytes().get(..n)?.is_ascii() {
        return Some(n);
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(n)
}

/// The message of a row as one text, of which originals are deltas: the id of the call that it answers, its content, as it is or as a
/// JSON string in the style with this code, its calls, its other members, and the id again, since it may stand on either side in an original.
/// `None` for an unknown style.
#[must_use]
pub fn row_text(message: &MessageRow<'_>, style: char) -> Option<String> {
    let id = message.tool_call_id.as_deref().unwrap_or_default();
    let mut text = id.to_owned();
    let content = message.content.as_deref().unwrap_or_default();
    match style {
        COPIED => text.push_str(content),
        _ => encode(content, Style::from_code(style)?, &mut text),
    }
    text.extend([&message.tool_calls, &message.extra].into_iter().flatten().map(|text| &**text).chain([id]));
    Some(text)
}

/// A stretch that two texts have in common.
#[derive(Debug, Clone, Copy)]
struct Copy {
    from: usize,
    written: usize,
    n: usize,
}

impl Copy {
    /// What of it stands in `original`, which is at these bytes, without bytes of characters that are not shared as a whole.
    fn within(self, bytes: Range<usize>, original: &str) -> Option<Self> {
        let (from, end) = (self.from.max(bytes.start), (self.from + self.n).min(bytes.end));
        let is_border = |at: &usize| original.is_char_boundary(at - bytes.start);
        let from = (from..end).find(is_border)?;
        let end = (from..=end).rev().find(is_border)?;
        let copy = Self { from: from - bytes.start, written: self.written + from - self.from, n: end - from };
        (copy.n > 0).then_some(copy)
    }
}

/// Stretches that stand in both texts in the same order: each time the longest of those that come next.
fn shared(original: &[u8], written: &[u8]) -> Vec<Copy> {
    let mut places = Places::of(original);
    let (mut copies, mut from, mut shown, mut at) = (Vec::new(), 0, 0, 0);
    while let Some(key) = key_at(written, at) {
        places.pass(key, from);
        let copy_at = |place: usize| {
            let n = equal(&original[place..], &written[at..]);
            if n < SHARED {
                return None;
            }
            let before = original[from..place].iter().rev().zip(written[shown..at].iter().rev());
            let n_before = before.take_while(|(a, b)| a == b).count();
            Some(Copy { from: place - n_before, written: at - n_before, n: n_before + n })
        };
        // Of equal ones the first.
        let longer = |best: Copy, copy: Copy| if copy.n > best.n { copy } else { best };
        let found = places.next(key).take(MOST_TRIED).filter_map(copy_at).reduce(longer);
        at += 1;
        if let Some(copy) = found {
            (from, shown) = (copy.from + copy.n, copy.written + copy.n);
            at = shown;
            copies.push(copy);
        }
    }
    copies
}

/// How many bytes two texts begin with alike.
fn equal(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let n = a_words.iter().zip(b_words).take_while(|(a, b)| a == b).count() * 8;
    n + a[n..].iter().zip(&b[n..]).take_while(|(a, b)| a == b).count()
}

/// What stands at a place: 0 where it is none that is looked up, nothing behind the last place. Looked up are beginnings of words, and
/// of what has none some places, whatever stands around them.
fn key_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = |at: usize| bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word));
    let (first, second) = (word(at)?, word(at + 8)?);
    let byte = bytes[at];
    if byte.is_ascii() && (!is_of_word(byte) || at > 0 && is_of_word(bytes[at - 1])) {
        return Some(0);
    }
    let mixed = first.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let is_looked_up = byte.is_ascii() || mixed >> (u64::BITS - SPARSE) == 0;
    Some(if is_looked_up { (mixed ^ second.rotate_left(29)).wrapping_mul(0xD1B5_4A32_D192_ED03) } else { 0 })
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Places of a text by what stands there.
struct Places {
    /// Number of the first place of each slot that is not passed yet.
    first: Vec<u32>,
    /// Places, and the number of the next one of their slot.
    all: Vec<(u32, u32)>,
}

impl Places {
    fn of(text: &[u8]) -> Self {
        let keys = (0..text.len()).map_while(|at| Some((at, key_at(text, at)?)));
        let keys: Vec<(usize, u64)> = keys.filter(|&(_, key)| key != 0).collect();
        let first = vec![NONE; (keys.len() * 2).next_power_of_two()];
        let mut places = Self { first, all: Vec::with_capacity(keys.len()) };
        for (at, key) in keys.into_iter().rev() {
            let slot = places.slot(key);
            let number = places.all.len() as u32;
            places.all.push((at as u32, std::mem::replace(&mut places.first[slot], number)));
        }
        places
    }

    fn slot(&self, key: u64) -> usize {
        (key >> 32) as usize & (self.first.len() - 1)
    }

    /// From now on places with this key begin at `from` or behind it.
    fn pass(&mut self, key: u64, from: usize) {
        let slot = self.slot(key);
        while let Some(&(_, next)) = self.all.get(self.first[slot] as usize).filter(|(at, _)| (*at as usize) < from) {
            self.first[slot] = next;
        }
    }

    /// Places with this key, and a few others, in order.
    fn next(&self, key: u64) -> impl Iterator<Item = usize> {
        let first = if key == 0 { NONE } else { self.first[self.slot(key)] };
        let place = |number: u32| self.all.get(number as usize).copied();
        std::iter::successors(place(first), move |&(_, next)| place(next)).map(|(at, _)| at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{Delta, DeltaPiece, Wholes};

    /// What is left of `original` beside `written`, after a look at whether it comes back.
    fn rest(original: &str, written: &str) -> Option<String> {
        rests(&[original], written).pop()?
    }

    /// The same of several.
    fn rests(originals: &[&str], written: &str) -> Vec<Option<String>> {
        let mut wholes = Wholes::by(written);
        let rest = |(delta, original): (Option<Delta>, &&str)| {
            let delta = delta?;
            assert_eq!(wholes.next(&delta.pieces, &delta.rest).as_deref(), Ok(*original));
            Some(delta.rest)
        };
        Delta::of(originals, written).into_iter().zip(originals).map(rest).collect()
    }

    /// Lines of a file that does not exist.
    fn lines(from: usize, to: usize) -> String {
        (from..to).map(|at| format!("    let valve_{at} = open(\"gate {}\", {});\n", at * 7 % 13, at * at)).collect()
    }

    #[test]
    fn what_is_shown_is_not_stored_again() {
        let original = lines(0, 90);
        let written = lines(0, 10) + "⋯ 30 lines #1\n" + &lines(40, 60) + "⋯ 30 lines #2";
        let rest = rest(&original, &written).expect("most is shown");
        // A line feed may stand on either side of a mark.
        let n_hidden = lines(10, 40).len() + lines(60, 90).len();
        assert!(rest.len().abs_diff(n_hidden) < 4, "{rest}");
    }

    #[test]
    fn quoted_sentences_are_found_whatever_stands_between_them() {
        let first = "The valve KMS-7781 must not be opened before the crew of the night has come.";
        let last = "Große Tore öffnen sich nur für Gäste, die einen Schlüssel haben: 鍵を持つ客だけが入れます。";
        let original = format!("{first}  It was a quiet evening in the garden. {last} The rain was loud.");
        let written = format!("[summary: {first} … {last}]");
        let rest = rest(&original, &written).expect("most is shown");
        assert!(rest.chars().count() < 62 && rest.contains("It was a quiet evening"), "{rest}");
    }

    #[test]
    fn characters_are_never_cut() {
        // The same last byte, in other characters.
        let original = "日本語のとても長い文章がここにあります、終わり。".repeat(3) + "ä";
        let written = "日本語のとても長い文章がここにあります、終わり。".repeat(3) + "Ĥ";
        assert_eq!(rest(&original, &written).as_deref(), Some("ä"));
    }

    #[test]
    fn what_has_little_in_common_has_no_delta() {
        for (original, written) in
            [("", ""), ("short", "short"), (lines(0, 4).as_str(), "[⋯]"), ("", lines(0, 9).as_str())]
        {
            assert_eq!(Delta::of(&[original], written), [None]);
        }
    }

    #[test]
    fn every_original_comes_back() {
        let words = ["é", "valve ", "\n", "the ", "ünder", "0123456789abcdef", "🙂", "    ", "\\\"", "return "];
        let mut state = 7_u64;
        let mut next = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        for _ in 0..400 {
            let text: Vec<&str> = (0..next(300)).map(|_| words[next(words.len())]).collect();
            let mut written: Vec<&str> = text.clone();
            for _ in 0..next(8) {
                let from = next(written.len() + 1);
                let to = from + next(written.len() - from + 1);
                written.splice(from..to, ["⋯ #1 "]);
            }
            let (first, second) = text.split_at(next(text.len() + 1));
            rest(&text.concat(), &written.concat());
            rests(&[&first.concat(), "", &second.concat()], &written.concat());
        }
    }

    #[test]
    fn originals_that_became_one_text_are_found_in_it_one_after_the_other() {
        let turn =
            |name: &str, at: usize| format!(r#"{{"name": "{name}", "content": "I oil the hinges of gate {at}."}}"#);
        let turns: Vec<String> = (0..2_000).map(|at| turn(["Ada", "Bo"][at % 2], at)).collect();
        let written: String = (0..2_000).map(|at| format!("Ada: I oil the hinges of gate {at}.\n")).collect();
        let rests = rests(&turns.iter().map(String::as_str).collect::<Vec<_>>(), &written);
        let n_left: usize = rests.iter().map(|rest| rest.as_ref().map_or(99, String::len)).sum();
        assert!(n_left < 40 * rests.len(), "{n_left}");
    }

    #[test]
    fn what_does_not_belong_together_is_told() {
        let piece = |rest, skipped, copied| DeltaPiece { rest, skipped, copied };
        let whole = |pieces: &[DeltaPiece], rest, written| Wholes::by(written).next(pieces, rest);
        for pieces in [[piece(9, 0, 1)], [piece(0, 0, 99)], [piece(1, 3, u32::MAX)]] {
            assert!(whole(&pieces, "rest", "written").is_err(), "{pieces:?}");
        }
        assert!(whole(&[piece(2, 0, 4), piece(1, 1, 4)], "rest", "written").is_err());
        assert_eq!(whole(&[piece(1, 0, 2)], "xé", "né").as_deref(), Ok("xnéé"));
    }

    #[test]
    fn equal_lines_take_no_longer() {
        let text = "                    \n".repeat(20_000);
        let shown = "                    \n".repeat(9_000) + "⋯ #1\n" + &"                    \n".repeat(9_000);
        let started = std::time::Instant::now();
        rest(&text, &shown);
        assert!(started.elapsed().as_secs() < 5);
    }
}
