//! What of an original stands in the conversation that was written, and the rest, so that each byte is stored once. Knows texts; refuses
//! to know why they differ.

use super::escape::{Style, encode};
use super::layout::{RestoreError, damaged};
use super::row::MessageRow;

/// Bytes that a stretch has at least: one that stands near behind the last one, and any other.
const NEAR: usize = 24;
const FAR: usize = 48;
/// Bytes behind the last stretch that are near.
const NEAR_BYTES: usize = 64;
/// Of bytes that are not ASCII one place in two to the power of so many is looked up.
const SPARSE: u32 = 3;
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
        let mut written = Self::default();
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
        self.begin(position);
        self.put_together(pieces, rest).ok_or_else(|| damaged("an original is not of what was written"))
    }

    fn put_together(&mut self, pieces: &[DeltaPiece], mut rest: &str) -> Option<String> {
        let mut original = String::with_capacity(rest.len() + pieces.len() * 64);
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
        Some(original)
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

/// Bytes of a key.
const KEY: usize = 16;

/// The same byte eight times.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Of eight bytes those that are letters or digits, and those that are not ASCII, by their highest bits.
fn kinds(bytes: u64) -> (u64, u64) {
    let low = bytes & each(0x7f);
    let is_from = |of: u64, first: u8| of + each(0x80 - first);
    let is_between = |of: u64, first: u8, last: u8| is_from(of, first) & !is_from(of, last + 1);
    let word = is_between(low, b'0', b'9') | is_between(low | each(0x20), b'a', b'z');
    let wide = bytes & each(0x80);
    (word & each(0x80) & !wide, wide)
}

/// Places that are looked up, and what stands there: beginnings of words, and some places of what has none, whatever stands around
/// them.
#[derive(Debug)]
struct Keys<'t> {
    bytes: &'t [u8],
    /// The block that is looked at.
    block: usize,
    /// Of its places those that are left, and which of them are not ASCII, a bit for each.
    places: u64,
    wide: u64,
    /// 1 where what stands before the block is a letter or a digit.
    before: u64,
}

/// Bytes of a block: one for each bit.
const BLOCK: usize = u64::BITS as usize;

impl<'t> Keys<'t> {
    fn of(bytes: &'t [u8]) -> Self {
        let mut keys = Self { bytes, block: 0, places: 0, wide: 0, before: 0 };
        keys.look();
        keys
    }

    /// Looks at the block; behind the end of a text nothing stands.
    fn look(&mut self) {
        let rest = &self.bytes[self.block..];
        let block = rest.first_chunk::<BLOCK>().copied().unwrap_or_else(|| {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            block
        });
        let (mut word, mut wide) = (0, 0);
        for (at, eight) in block.as_chunks::<8>().0.iter().enumerate() {
            let (word_here, wide_here) = kinds(u64::from_le_bytes(*eight));
            word |= highest_bits(word_here) << (8 * at);
            wide |= highest_bits(wide_here) << (8 * at);
        }
        self.places = word & !(word << 1 | self.before) | wide;
        (self.wide, self.before) = (wide, word >> (BLOCK - 1));
    }

    /// Goes on at a place behind the last one.
    fn go_to(&mut self, at: usize) {
        if at >= self.block + BLOCK {
            self.before = u64::from(self.bytes[at - 1].is_ascii_alphanumeric());
            self.block = at;
            self.look();
        } else {
            self.places &= u64::MAX << (at - self.block);
        }
    }
}

/// The highest bit of each of eight bytes, one beside the other.
fn highest_bits(bytes: u64) -> u64 {
    (bytes >> 7 & each(1)).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

impl Iterator for Keys<'_> {
    type Item = (usize, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.places == 0 {
                self.block += BLOCK;
                if self.block + KEY > self.bytes.len() {
                    return None;
                }
                self.look();
            }
            let bit = self.places.trailing_zeros();
            let at = self.block + bit as usize;
            self.places &= self.places - 1;
            let sixteen = self.bytes.get(at..)?.first_chunk::<KEY>()?;
            let [first, second] = [0, 8].map(|from| u64::from_le_bytes(std::array::from_fn(|at| sixteen[from + at])));
            let mixed = first.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            if self.wide >> bit & 1 == 0 || mixed.leading_zeros() >= SPARSE {
                let key = (mixed ^ second.rotate_left(29)).wrapping_mul(0xD1B5_4A32_D192_ED03);
                return Some((at, (key >> u32::BITS) as u32));
            }
        }
    }
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
        let keys: Vec<(u32, u32)> = Keys::of(text).step_by(STEP).map(|(at, key)| (at as u32, key)).collect();
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
            let before = original[told..at].iter().rev().zip(written[..copy.written].iter().rev());
            let n_before = before.take_while(|(a, b)| a == b).count();
            (told, end) = (at + copy.n, copy.written + copy.n);
            keys.go_to(told);
            copies.push(Copy { from: at - n_before, written: copy.written - n_before, n: n_before + copy.n });
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::{Delta, DeltaPiece, Deltas, KEY, Keys, Wholes, WrittenText};

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
    fn words_begin_where_they_do() {
        let text = "a1 bc:D_e@Zz[z`y{0/9:é x  (f) end of it all, and more of it".repeat(5);
        let is_of_word = |at: usize| text.as_bytes()[at].is_ascii_alphanumeric();
        let words = (0..=text.len() - KEY).filter(|&at| is_of_word(at) && (at == 0 || !is_of_word(at - 1)));
        let words: Vec<usize> = words.collect();
        let found = |keys: Keys<'_>| -> Vec<usize> {
            keys.map(|(at, _)| at).filter(|&at| text.as_bytes()[at].is_ascii()).collect()
        };
        assert_eq!(found(Keys::of(text.as_bytes())), words);
        for (at, behind) in (1..=words[70]).map(|at| (at, words.iter().position(|&word| word >= at).expect("one"))) {
            let mut keys = Keys::of(text.as_bytes());
            keys.next();
            keys.go_to(at.max(1));
            assert_eq!(found(keys), words[behind..], "{at}");
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
