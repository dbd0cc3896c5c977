//! What of an original stands in the conversation that was written, and the rest, so that each byte is stored once. Knows texts; refuses
//! to know why they differ.

use super::escape::{Style, encode};
use super::keys::Keys;
use super::layout::{RestoreError, damaged};
use super::out::{Expected, Out};
use super::row::MessageRow;

/// Bytes that a stretch has at least: one that stands near behind the last one, and any other.
const NEAR: usize = 24;
const FAR: usize = 48;
/// Bytes behind the last stretch that are near.
const NEAR_BYTES: usize = 64;
/// Of the places of what was written one in so many is known.
const STEP: usize = 2;
/// Places that are tried for each one that is looked up, on either side of the last stretch.
const MOST_TRIED: usize = 4;
/// What a piece and a delta cost, in bytes of the rest.
const PIECE: usize = 6;
const DELTA: usize = 16;

/// An original by what was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    /// Its pieces, in order; behind the last one stands what is left of the rest.
    pub pieces: Vec<DeltaPiece>,
    /// What is not written.
    pub rest: String,
}

/// Some bytes of the rest, then a stretch of what was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeltaPiece {
    /// Bytes of the rest.
    pub rest: u32,
    /// From the end of what was copied last to what is copied now: twice the bytes that are passed over, or twice those that are
    /// gone back, less one.
    pub moved: u32,
    /// Bytes that are copied.
    pub copied: u32,
}

/// The messages of a conversation as they were written, one text behind the other.
#[derive(Debug, Default)]
pub struct WrittenText {
    text: String,
    /// Where each message begins.
    begins: Vec<usize>,
}

impl WrittenText {
    /// The messages of rows, their contents escaped in the style with this code; `None` for an unknown style.
    #[must_use]
    pub fn of_rows(messages: &[MessageRow<'_>], style: char) -> Option<Self> {
        let style = Style::from_code(style)?;
        // With some room for what is escaped.
        let n: usize = messages.iter().map(|message| message.content.as_deref().map_or(0, str::len)).sum();
        let mut written = Self { text: String::with_capacity(n + n / 8), begins: Vec::with_capacity(messages.len()) };
        for message in messages {
            written.begins.push(written.text.len());
            push_row(message, style, &mut written.text);
        }
        Some(written)
    }

    /// Messages as records hold them.
    #[must_use]
    pub fn of_messages(messages: &[&str]) -> Self {
        let begins = messages.iter().scan(0, |end, message| Some(std::mem::replace(end, *end + message.len())));
        Self { begins: begins.collect(), text: messages.concat() }
    }

    /// Bytes before the message at `position`.
    fn begin(&self, position: usize) -> usize {
        self.begins.get(position).copied().unwrap_or(self.text.len())
    }
}

/// A message as one text, in which stretches of originals are looked for: the call that is answered, the content as a JSON string, the
/// calls, the other members, and the call again, since nobody knows on which side of the content it stood.
fn push_row(message: &MessageRow<'_>, style: Style, text: &mut String) {
    let answered = message.tool_call_id.as_deref().unwrap_or_default();
    text.push_str(answered);
    let content = message.content.as_deref().unwrap_or_default();
    // A list of parts is JSON already.
    if content.starts_with("[{") {
        text.push_str(content);
    } else {
        encode(content, style, text);
    }
    text.extend([&message.tool_calls, &message.extra].into_iter().flatten().map(|text| &**text));
    text.push_str(answered);
}

/// Finds what of originals was written.
#[derive(Debug)]
pub struct Deltas<'w> {
    written: &'w WrittenText,
    places: Places,
}

impl<'w> Deltas<'w> {
    /// Those by `written`; `None` where that is longer than pieces can say. Takes time in proportion to it.
    #[must_use]
    pub fn by(written: &'w WrittenText) -> Option<Self> {
        // A number of a piece holds a distance twice.
        i32::try_from(written.text.len()).ok()?;
        Some(Self { written, places: Places::of(written.text.as_bytes()) })
    }

    /// The stretches of `original` that stand anywhere in what was written, and the rest; `None` where that saves nothing. `end` is
    /// from where the first stretch is counted, and becomes where the last one ends. Takes time in proportion to `original`.
    #[must_use]
    pub fn of(&self, original: &str, end: &mut usize) -> Option<Delta> {
        u32::try_from(original.len()).ok()?;
        let text = &self.written.text;
        let mut copies = self.places.shared(original.as_bytes(), text.as_bytes(), *end);
        copies.retain_mut(|copy| copy.of_characters(original));
        let n_shared: usize = copies.iter().map(|copy| copy.n).sum();
        if n_shared <= copies.len() * PIECE + DELTA {
            return None;
        }
        let mut delta = Delta { pieces: Vec::with_capacity(copies.len()), rest: String::new() };
        let mut told = 0;
        for copy in copies {
            let rest = original.get(told..copy.from)?;
            delta.rest.push_str(rest);
            let moved = if copy.written < *end { (*end - copy.written) * 2 - 1 } else { (copy.written - *end) * 2 };
            delta.pieces.push(DeltaPiece { rest: rest.len() as u32, moved: moved as u32, copied: copy.n as u32 });
            (told, *end) = (copy.from + copy.n, copy.written + copy.n);
        }
        delta.rest.push_str(original.get(told..)?);
        Some(delta)
    }
}

/// Puts originals together in the order of their rows.
#[derive(Debug)]
pub struct Wholes<'w> {
    written: &'w WrittenText,
    position: Option<usize>,
    end: usize,
}

impl<'w> Wholes<'w> {
    /// Those by `written`.
    #[must_use]
    pub fn by(written: &'w WrittenText) -> Self {
        Self { written, position: None, end: 0 }
    }

    /// Where the first stretch of the next original is counted from: the beginning of the message at `position`, or, where the one before
    /// it has the same position, the end of its last stretch.
    pub fn begin(&mut self, position: usize) -> &mut usize {
        if self.position.replace(position) != Some(position) {
            self.end = self.written.begin(position);
        }
        &mut self.end
    }

    /// The next original.
    ///
    /// # Errors
    /// Says that it is not of what was written.
    pub fn next(&mut self, position: usize, pieces: &[DeltaPiece], rest: &str) -> Result<String, RestoreError> {
        let mut original = String::with_capacity(rest.len() + pieces.len() * 64);
        let is_whole = self.put_together(position, pieces, rest, &mut original).is_some();
        if is_whole { Ok(original) } else { Err(damaged("an original is not of what was written")) }
    }

    /// True where the next original comes out as this one, byte for byte. Takes no memory.
    #[must_use]
    pub fn next_is(&mut self, position: usize, delta: &Delta, original: &str) -> bool {
        let mut expected = Expected::new(original);
        self.put_together(position, &delta.pieces, &delta.rest, &mut expected).is_some() && expected.is_met()
    }

    fn put_together(
        &mut self,
        position: usize,
        pieces: &[DeltaPiece],
        mut rest: &str,
        original: &mut impl Out,
    ) -> Option<()> {
        self.begin(position);
        for piece in pieces {
            let (told, left) = rest.split_at_checked(piece.rest as usize)?;
            let n = piece.moved.div_ceil(2) as usize;
            let from = if piece.moved % 2 == 0 { self.end.checked_add(n) } else { self.end.checked_sub(n) }?;
            let end = from.checked_add(piece.copied as usize)?;
            original.push_str(told);
            original.push_str(self.written.text.get(from..end)?);
            (rest, self.end) = (left, end);
        }
        original.push_str(rest);
        Some(())
    }
}

/// A stretch that two texts have in common.
#[derive(Debug, Clone, Copy)]
struct Copy {
    from: usize,
    written: usize,
    n: usize,
}

impl Copy {
    /// Leaves out bytes of characters of `original` that are not shared as a whole; false where nothing is left.
    fn of_characters(&mut self, original: &str) -> bool {
        let end = self.from + self.n;
        let from = (self.from..end).find(|&at| original.is_char_boundary(at)).unwrap_or(end);
        let end = (from..=end).rev().find(|&at| original.is_char_boundary(at)).unwrap_or(from);
        *self = Self { from, written: self.written + from - self.from, n: end - from };
        self.n > 0
    }
}

/// How many bytes two texts begin with alike.
fn equal(a: &[u8], b: &[u8]) -> usize {
    let (a_words, _) = a.as_chunks::<8>();
    let (b_words, _) = b.as_chunks::<8>();
    let n = a_words.iter().zip(b_words).take_while(|(a, b)| a == b).count() * 8;
    n + a[n..].iter().zip(&b[n..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts end with alike.
fn equal_before(a: &[u8], b: &[u8]) -> usize {
    let n = a.len().min(b.len());
    let (a, b) = (&a[a.len() - n..], &b[b.len() - n..]);
    let eights = a.as_rchunks::<8>().1.iter().rev().zip(b.as_rchunks::<8>().1.iter().rev());
    let left = n - eights.take_while(|(a, b)| a == b).count() * 8;
    let bytes = a[..left].iter().rev().zip(b[..left].iter().rev());
    n - left + bytes.take_while(|(a, b)| a == b).count()
}

/// Places of a text by what stands there.
#[derive(Debug)]
struct Places {
    /// A bit for what may stand somewhere: most of what does not is told apart without a look at the slots.
    may_stand: Vec<u64>,
    /// Where the places of each slot begin; behind the last one, where they end.
    begins: Vec<u32>,
    /// Those of a slot ascend.
    all: Vec<u32>,
}

impl Places {
    fn of(text: &[u8]) -> Self {
        // Words are seldom shorter than this on average.
        let mut keys: Vec<(u32, u32)> = Vec::with_capacity(text.len() / (STEP * 4));
        keys.extend(Keys::of(text).step_by(STEP).map(|(at, key)| (at as u32, key)));
        let n_slots = keys.len().next_power_of_two();
        let mut places =
            Self { may_stand: vec![0; n_slots.div_ceil(8)], begins: vec![0; n_slots + 1], all: vec![0; keys.len()] };
        for &(_, key) in &keys {
            let (slot, (word, bit)) = (places.slot(key), places.bit(key));
            places.begins[slot] += 1;
            places.may_stand[word] |= bit;
        }
        let mut end = 0;
        for begin in &mut places.begins {
            end += *begin;
            *begin = end;
        }
        // From the last place on each slot is filled from its end, so that it begins where it should.
        for &(at, key) in keys.iter().rev() {
            let slot = places.slot(key);
            places.begins[slot] -= 1;
            places.all[places.begins[slot] as usize] = at;
        }
        places
    }

    fn slot(&self, key: u32) -> usize {
        key as usize & (self.begins.len() - 2)
    }

    /// The bit of a key: eight for each slot.
    fn bit(&self, key: u32) -> (usize, u64) {
        let bit = (u64::from(key) * (self.may_stand.len() as u64 * 64)) >> u32::BITS;
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    /// Places where this key may stand.
    fn with(&self, key: u32) -> &[u32] {
        let (word, bit) = self.bit(key);
        if self.may_stand[word] & bit == 0 {
            return &[];
        }
        let slot = self.slot(key);
        &self.all[self.begins[slot] as usize..self.begins[slot + 1] as usize]
    }

    /// Stretches of `original` that stand in the text `written` of these places: each time the longest of those that are tried, which
    /// are the nearest ones to the end of the last stretch; at the beginning that is `end`.
    fn shared(&self, original: &[u8], written: &[u8], mut end: usize) -> Vec<Copy> {
        let (mut copies, mut told, mut keys) = (Vec::new(), 0, Keys::of(original));
        while let Some((at, key)) = keys.next() {
            let places = self.with(key);
            if places.is_empty() {
                continue;
            }
            let copy_at = |&place: &u32| {
                let place = place as usize;
                let least = if (end..end + NEAR_BYTES).contains(&place) { NEAR } else { FAR };
                let n = equal(&original[at..], &written[place..]);
                (n >= least).then_some(Copy { from: at, written: place, n })
            };
            let (before, behind) = places.split_at(places.partition_point(|&place| (place as usize) < end));
            // Of equal ones the first.
            let longer = |best: Copy, copy: Copy| if copy.n > best.n { copy } else { best };
            let nearest = behind.iter().take(MOST_TRIED).chain(before.iter().rev().take(MOST_TRIED));
            let Some(copy) = nearest.filter_map(copy_at).reduce(longer) else { continue };
            let n_before = equal_before(&original[told..at], &written[..copy.written]);
            (told, end) = (at + copy.n, copy.written + copy.n);
            keys.go_to(told);
            copies.push(Copy { from: at - n_before, written: copy.written - n_before, n: n_before + copy.n });
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::{Delta, DeltaPiece, Deltas, Wholes, WrittenText, equal_before};

    /// What is left of `original` beside `written`, after a look at whether it comes back.
    fn rest(original: &str, written: &str) -> Option<String> {
        rests(&[original], &[written], 0).pop()?
    }

    /// The same of several for which the message at `position` stands.
    fn rests(originals: &[&str], written: &[&str], position: usize) -> Vec<Option<String>> {
        deltas(originals, written, position).into_iter().map(|delta| Some(delta?.rest)).collect()
    }

    fn deltas(originals: &[&str], written: &[&str], position: usize) -> Vec<Option<Delta>> {
        let written = WrittenText::of_messages(written);
        let deltas = Deltas::by(&written).expect("short");
        let (mut ends, mut wholes) = (Wholes::by(&written), Wholes::by(&written));
        let delta = |original: &&str| {
            let delta = deltas.of(original, ends.begin(position))?;
            assert_eq!(wholes.next(position, &delta.pieces, &delta.rest).as_deref(), Ok(*original));
            Some(delta)
        };
        originals.iter().map(delta).collect()
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
        assert!(rest.len() < lines(10, 40).len() + lines(60, 90).len() + 4, "{rest}");
        assert!((10..40).chain(60..90).all(|at| rest.contains(&format!("valve_{at} "))), "{rest}");
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
            assert_eq!(rest(original, written), None);
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
            let (before, behind) = written.split_at(next(written.len() + 1));
            let messages = [&before.concat(), "a quiet evening", &behind.concat()];
            rests(&[&first.concat(), "", &second.concat()], &messages.map(|text| text as &str), next(4));
        }
    }

    #[test]
    fn originals_that_became_one_text_are_found_in_it_one_after_the_other() {
        let turn =
            |name: &str, at: usize| format!(r#"{{"name": "{name}", "content": "I oil the hinges of gate {at}."}}"#);
        let turns: Vec<String> = (0..2_000).map(|at| turn(["Ada", "Bo"][at % 2], at)).collect();
        let written: String = (0..2_000).map(|at| format!("Ada: I oil the hinges of gate {at}.\n")).collect();
        let rests = rests(&turns.iter().map(String::as_str).collect::<Vec<_>>(), &[&written], 0);
        let n_left: usize = rests.iter().map(|rest| rest.as_ref().map_or(99, String::len)).sum();
        assert!(n_left < 40 * rests.len(), "{n_left}");
    }

    #[test]
    fn ends_are_alike_as_far_as_single_bytes_are() {
        for (n, other) in (0..40).flat_map(|n| [(n, 0), (n, 3), (n, 19)]) {
            let (a, b) = (format!("{}x{}", "q".repeat(other), "ab".repeat(n)), format!("y{}", "ab".repeat(n)));
            assert_eq!(equal_before(a.as_bytes(), b.as_bytes()), 2 * n);
            assert_eq!(equal_before(b.as_bytes(), a.as_bytes()), 2 * n);
            assert_eq!(equal_before(a.as_bytes(), a.as_bytes()), a.len());
        }
    }

    #[test]
    fn what_stands_in_another_message_is_not_stored_again() {
        let (file, other) = (lines(0, 60), lines(100, 120));
        let found = deltas(&[&file, &other], &["to the point", &file, "⋯ unchanged", &other], 2);
        assert!(found.iter().flatten().all(|delta| delta.rest.is_empty() && delta.pieces.len() == 1), "{found:?}");
        assert_eq!(found.iter().flatten().count(), 2);
    }

    #[test]
    fn what_does_not_belong_together_is_told() {
        let piece = |rest, moved, copied| DeltaPiece { rest, moved, copied };
        let whole = |pieces: &[DeltaPiece], rest, written| {
            Wholes::by(&WrittenText::of_messages(&[written])).next(0, pieces, rest)
        };
        for pieces in [[piece(9, 0, 1)], [piece(0, 0, 99)], [piece(1, 6, u32::MAX)], [piece(1, 1, 1)]] {
            assert!(whole(&pieces, "rest", "written").is_err(), "{pieces:?}");
        }
        assert!(whole(&[piece(2, 0, 4), piece(1, 2, 4)], "rest", "written").is_err());
        assert!(whole(&[piece(2, 0, 1)], "xé", "né").is_err(), "a character is torn");
        assert_eq!(whole(&[piece(1, 0, 3), piece(0, 5, 1)], "xé", "né").as_deref(), Ok("xnéné"));
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
