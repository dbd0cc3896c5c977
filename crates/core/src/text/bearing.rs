//! Says what a sentence does to the talk that it stands in: settles something, counts, points back, or only announces
//! and rates. Knows words, phrases and where they stand; refuses to know facts and who speaks.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::bears::{Bearing, Pointer};
use super::classes::decode;
use super::lexed::Span;
use super::scan::{self, Piece};
use super::seen::Seen;
use super::words::bearing::{
    ALL, BOTH, CHOICE, CHOOSES, DEADLINE, DUTY, EMPTY, FIRST, FORMER, FUTURE, GOOD, HERE, JUDGED, LISTS, MANY, MOST,
    NTH_HIGH, NTH_LOW, NUMBER, OF, ONE, OR, PERIOD, SECOND, SETTLED, SUCH, TELLS, THAT, THING, THINKS, THIRD, TIME,
};
use super::words::{self, Entries, flag, words_file};

/// A sentence that only announces or rates has at most so many words; one that rates a question has fewer.
const MAX_EMPTY: usize = 16;
const MAX_RATED: usize = 12;
const MAX_RATING: usize = 8;
/// The same in characters, where words have no blanks between.
const MAX_EMPTY_WIDE: usize = 40;

/// Of these flags one alone may give a bearing; words of the others do so beside them.
const BEARING: u32 = THING
    | JUDGED
    | HERE
    | SETTLED
    | TIME
    | PERIOD
    | DUTY
    | THINKS
    | NUMBER
    | BOTH
    | CHOICE
    | CHOOSES
    | FORMER
    | FIRST
    | SECOND
    | THIRD;

const OFFERS: u32 = CHOICE | THING | OR;

/// Phrases without blanks, and the flag of each.
static WIDE: LazyLock<(AhoCorasick, Vec<u32>)> = LazyLock::new(|| {
    let entries = || Entries::of(words_file!("bearing_wide"));
    let finder =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(entries().map(|(_, phrase)| phrase));
    (finder.expect("a short list of phrases"), entries().map(|(list, _)| flag(LISTS, list)).collect())
});

/// Finds out what sentences do; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Bearings {
    words: Vec<u32>,
}

impl Bearings {
    /// What the sentence at `span` does, which these pieces lie in or overlap.
    pub(super) fn of(&mut self, text: &str, span: Span, (pieces, all): (&[Piece], Seen)) -> Bearing {
        let is_wide = all.mask & scan::WIDE != 0;
        let may_rate = all.bears & ONE != 0 && all.bears & OF != 0;
        if !all.has_others && all.bears & BEARING == 0 && !is_wide && !may_rate {
            return Bearing { offers: all.bears & OFFERS != 0, ..Bearing::default() };
        }
        self.words.clear();
        let mut seen = all.bears;
        let (words, others) = if all.has_others || all.has_signs { (&[][..], pieces) } else { (pieces, &[][..]) };
        self.words.extend(words.iter().map(|piece| piece.bears));
        for piece in others {
            if piece.is_word() {
                self.words.push(piece.bears);
            } else {
                let first = self.words.len();
                self.words.extend(flags_of(piece.within(text.as_bytes(), span)));
                seen = self.words[first..].iter().fold(seen, |seen, word| seen | word);
            }
        }
        if seen & BEARING == 0 && !is_wide && !self.may_rate(seen) {
            return Bearing { offers: seen & OFFERS != 0, ..Bearing::default() };
        }
        let sentence = span.of(text);
        bearing(sentence, &self.words, seen, is_wide.then(|| wide(sentence)))
    }

    /// True for a sentence with "one of the" in it.
    fn may_rate(&self, seen: u32) -> bool {
        let has_all = seen & ONE != 0 && seen & OF != 0 && seen & TELLS != 0 && self.words.len() <= MAX_RATED;
        has_all && self.words.array_windows().any(|[one, of]| one & ONE != 0 && of & OF != 0)
    }
}

/// What the sentence `text` of these `words` does, all of which are `seen`; `wide` is what is said in it without blanks, if anything.
fn bearing(text: &str, words: &[u32], seen: u32, wide: Option<u32>) -> Bearing {
    let n_numbers = wide.map_or(0, |_| n_wide_numbers(text));
    let wide = wide.unwrap_or_default();
    let seen = seen | wide;
    let has = |flag: u32| seen & flag != 0;
    // One of the first words is followed by one of the second ones.
    let near = |first: u32, second: u32, distance: usize| {
        let is_followed = |at: usize| words.iter().skip(at + 1).take(distance).any(|word| word & second != 0);
        has(first) && has(second) && (0..words.len()).any(|at| words[at] & first != 0 && is_followed(at))
    };
    let ordinal = if has(FIRST) {
        1
    } else if has(SECOND) {
        2
    } else if has(THIRD) {
        3
    } else {
        numbered(words)
    };
    let points_back = if has(BOTH) && (near(BOTH, CHOICE | THING | THAT, 3) || wide != 0) {
        Some(Pointer::Both)
    } else if has(FIRST | SECOND | THIRD) && (near(FIRST | SECOND | THIRD, CHOICE, 2) || wide != 0) {
        Some(Pointer::Nth(ordinal))
    } else if has(FORMER) || near(THAT, ONE | CHOICE, 1) {
        Some(Pointer::Last)
    } else {
        None
    };
    let will_be = || {
        let mut behind = words.iter().skip_while(|word| **word & FUTURE == 0).skip(1);
        behind.any(|word| word & TIME != 0)
    };
    let by_a_time = near(DEADLINE, TIME | PERIOD, 4) || has(TIME) && will_be();
    Bearing {
        is_empty: is_empty(text, words, seen, near),
        settles: by_a_time || has(SETTLED) || near(DUTY, OF, 1) || has(ALL) && near(ALL, THINKS, 3),
        chooses: has(CHOOSES),
        numbers: if near(NUMBER, NUMBER, 3) { 2 } else { n_numbers.max(u8::from(has(NUMBER))) },
        points_back,
        offers: has(OFFERS) || ordinal > 0,
        ordinal,
    }
}

/// "Approach two" is 2.
fn numbered(words: &[u32]) -> u8 {
    let is_numbered = |pair: &&[u32]| pair[0] & CHOICE != 0 && pair[1] & (NTH_LOW | NTH_HIGH) != 0;
    let bit = |flags: u32, flag: u32| u8::from(flags & flag != 0);
    words.windows(2).find(is_numbered).map_or(0, |pair| bit(pair[1], NTH_LOW) + 2 * bit(pair[1], NTH_HIGH))
}

/// True for what announces or rates; `near` as in [`bearing`].
fn is_empty(text: &str, words: &[u32], seen: u32, near: impl Fn(u32, u32, usize) -> bool) -> bool {
    if seen & EMPTY != 0 {
        return text.chars().take(MAX_EMPTY_WIDE + 1).count() <= MAX_EMPTY_WIDE;
    }
    let has = |flag: u32| seen & flag != 0;
    if words.len() > MAX_EMPTY || has(SUCH) {
        return false;
    }
    let is_one_of = |words: &[u32]| words[0] & TELLS != 0 && words[1] & ONE != 0 && words[2] & OF != 0;
    // Superlatives that end like one are looked for in the words themselves.
    let is_superlative = |at: usize| {
        let is_one = |word: &str| is_superlative(word.as_bytes());
        let mut written = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !matches!(*word, "" | "l"));
        words.iter().skip(at + 3).take(3).any(|word| word & MOST != 0)
            || written.by_ref().skip(at + 3).take(3).any(is_one)
    };
    let begins_here = words.first().is_some_and(|word| word & HERE != 0);
    has(TELLS) && near(MANY, THING, 3)
        || words.len() <= MAX_RATING && near(GOOD, JUDGED, 1)
        || words.len() <= MAX_RATED
            && words.windows(3).enumerate().any(|(at, words)| is_one_of(words) && is_superlative(at))
        || begins_here && (has(THING) || text.trim_end().ends_with([':', '：']))
}

/// The flags of every word.
fn flags_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            while let Some(n) = n_letter(bytes, at) {
                at += n;
            }
            let (end, word) = (at, &bytes[start..at]);
            at += if at < bytes.len() { decode(bytes, at).1 } else { 1 };
            // The rest of an article: "l'idée".
            if !matches!(word, b"" | b"l") {
                return Some(words::find(bytes, start, end).bears);
            }
        }
        None
    })
}

/// Bytes of the letter or digit at `at`, if one stands there.
#[inline]
fn n_letter(bytes: &[u8], at: usize) -> Option<usize> {
    let byte = *bytes.get(at)?;
    if byte.is_ascii() {
        return byte.is_ascii_alphanumeric().then_some(1);
    }
    let (code, len) = decode(bytes, at);
    char::from_u32(code).is_some_and(char::is_alphanumeric).then_some(len)
}

fn is_superlative(word: &[u8]) -> bool {
    let ends = |end: &&[u8]| word.len().checked_sub(end.len()).is_some_and(|at| word[at..].eq_ignore_ascii_case(end));
    word.len() > 5 && [&b"est"[..], b"sten", "ßten".as_bytes()].iter().any(ends)
}

/// The flags of what is said without blanks.
fn wide(text: &str) -> u32 {
    if text.bytes().all(|byte| byte < 0xe3) {
        return 0;
    }
    let (finder, flags) = &*WIDE;
    let flags = finder.find_iter(text).fold(0, |seen, found| seen | flags[found.pattern().as_usize()]);
    // "最…之一": one of the most.
    let is_superlative = flags & MOST != 0 && flags & ONE != 0;
    flags & !(MOST | ONE) | if is_superlative { EMPTY } else { 0 }
}

/// Numerals in front of what counts things, up to two.
fn n_wide_numbers(text: &str) -> u8 {
    if text.bytes().all(|byte| byte < 0xe3) {
        return 0;
    }
    let mut before = ' ';
    let pairs = text.chars().filter(|&c| {
        let counts = "两兩二三四五六七八九十".contains(before) && "个個名人件次位条種种項项つ台本".contains(c);
        before = c;
        counts
    });
    pairs.take(2).fold(0, |n, _| n + 1)
}

#[cfg(test)]
mod tests {
    use super::Bearings;
    use crate::text::bears::{Bearing, Pointer};
    use crate::text::lexed::{CharCounts, Span};
    use crate::text::scan::scan;
    use crate::text::seen::Seen;

    fn bearing(text: &str) -> Bearing {
        let mut pieces = Vec::new();
        scan(text, 0, text.len(), &mut pieces, &mut CharCounts::default());
        let seen = Seen::of(&pieces);
        Bearings::default().of(text, Span { start: 0, end: text.len() as u32 }, (&pieces, seen))
    }

    #[test]
    fn what_only_announces_or_rates_is_empty_in_every_language() {
        for text in [
            "The meeting covered several important topics.",
            "Naming things is one of the hardest problems.",
            "This is a great question!",
            "There are several ways to do this:",
            "Here are some tips for the summer:",
            "Es gibt mehrere Möglichkeiten, das zu tun:",
            "Wir haben viele wichtige Themen besprochen.",
            "Das ist eine gute Frage.",
            "Das ist eines der schwierigsten Probleme.",
            "Il existe plusieurs façons de le faire :",
            "C'est une excellente question.",
            "C'est l'un des plus grands défis.",
            "Hay varias maneras de hacerlo:",
            "Es una de las más difíciles.",
            "以下是一些建议：",
            "这是一个好问题。",
            "这是最难的问题之一。",
            "いくつかの方法があります。",
        ] {
            assert!(bearing(text).is_empty, "{text}");
        }
        for text in [
            "The meeting covered several topics, including the leak in the cellar.",
            "The pump stops at night because the fuse is too small.",
            "There are two valves behind the wall, and the left one leaks.",
            "Here is the key.",
            "One of the most popular trees here is the oak.",
            "Viele Gäste kamen zu spät.",
            "这个泵晚上停了。",
        ] {
            assert!(!bearing(text).is_empty, "{text}");
        }
    }

    #[test]
    fn deeds_with_a_time_and_what_all_want_are_settled() {
        for text in [
            "Anna will send the draft by Friday.",
            "I'll call them tomorrow.",
            "Ben is responsible for the garden.",
            "Everyone agreed on the blue one.",
            "We all think the door is too small.",
            "Anna schickt den Entwurf bis Freitag.",
            "Wir sind uns einig.",
            "Anna doit l'envoyer avant vendredi.",
            "Tout le monde est d'accord.",
            "Ana lo enviará antes del viernes.",
            "Todos estamos de acuerdo.",
            "大家都同意。",
            "张三负责这件事。",
        ] {
            assert!(bearing(text).settles, "{text}");
        }
        for text in [
            "They are responsible adults.",
            "It will take a week.",
            "The week was cold.",
            "All of the paint is dry.",
            "Friday was cold.",
        ] {
            assert!(!bearing(text).settles, "{text}");
        }
    }

    #[test]
    fn number_words_count_and_choices_point_back() {
        assert_eq!(bearing("Three of the five valves leak.").numbers, 2);
        assert_eq!(bearing("Drei der fünf Ventile lecken.").numbers, 2);
        assert_eq!(bearing("五个阀门中有三个漏水。").numbers, 2);
        for text in ["Approach two signs them.", "Option B signs them.", "Variante 2 ist teurer."] {
            assert_eq!(bearing(text).ordinal, 2, "{text}");
        }
        for (text, pointer) in [
            ("We go with the second option.", Some(Pointer::Nth(2))),
            ("Let's take both approaches.", Some(Pointer::Both)),
            ("We decided to use that one.", Some(Pointer::Last)),
            ("I prefer the latter.", Some(Pointer::Last)),
            ("Wir nehmen den zweiten Vorschlag.", Some(Pointer::Nth(2))),
            ("Wir nehmen beide Varianten.", Some(Pointer::Both)),
            ("On prend la deuxième option.", Some(Pointer::Nth(2))),
            ("Elegimos la segunda opción.", Some(Pointer::Nth(2))),
            ("我们决定用第二个方案。", Some(Pointer::Nth(2))),
            ("They paint the second door.", None),
        ] {
            assert_eq!(bearing(text).points_back, pointer, "{text}");
            assert!(pointer.is_none() || bearing(text).chooses || text.contains("decided"), "{text}");
        }
    }
}
