//! Says what a sentence does to the talk that it stands in: settles something, counts, points back, or only announces
//! and rates. Knows the words of `bearing_words` and where they stand; refuses to know facts and who speaks.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use foldhash::fast::FixedState;

use super::bearing_words::{
    ALL, BOTH, CHOICE, CHOOSES, DEADLINE, DUTY, EMPTY, FIRST, FORMER, FUTURE, GOOD, HERE, JUDGED, MANY, MOST, NUMBER,
    OF, ONE, OR, PERIOD, SECOND, SETTLED, SUCH, TELLS, THAT, THING, THINKS, THIRD, TIME, WIDE, WORDS,
};

/// A sentence that only announces or rates has at most so many words; one that rates a question has fewer.
const MAX_EMPTY: usize = 16;
const MAX_RATED: usize = 12;
const MAX_RATING: usize = 8;
/// The same in characters, where words have no blanks between.
const MAX_EMPTY_WIDE: usize = 40;
/// Longer words are in no list.
const MAX_WORD: usize = 20;

/// What a sentence does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bearing {
    /// It announces what others say, or rates without a reason.
    pub is_empty: bool,
    /// Somebody will do something by a time, or all agree.
    pub settles: bool,
    /// It names a choice as the one to take.
    pub chooses: bool,
    /// What its number words weigh: one for any, two for a share ("three of the five").
    pub numbers: u8,
    /// What it speaks of stands before it.
    pub points_back: Option<Pointer>,
    /// It names what can be chosen.
    pub offers: bool,
    /// "The second …" is 2; 0 for none.
    pub ordinal: u8,
}

/// What a sentence points back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointer {
    /// The first, second or third of what was named.
    Nth(u8),
    /// Two things.
    Both,
    /// What was named last.
    Last,
}

static FLAGS: LazyLock<HashMap<&'static str, u32, FixedState>> = LazyLock::new(|| {
    let mut flags: HashMap<&str, u32, FixedState> = HashMap::default();
    for (flag, words) in WORDS {
        for word in words.split_whitespace() {
            *flags.entry(word).or_default() |= flag;
        }
    }
    flags
});

static WIDE_FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let phrases = WIDE.iter().map(|(phrase, _)| phrase);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(phrases).expect("a short list of phrases")
});

/// What the sentence `text` does.
#[must_use]
pub fn bearing(text: &str) -> Bearing {
    let (words, wide) = (flags(text), wide(text));
    let seen = words.iter().fold(0, |seen, word| seen | word) | wide;
    let has = |flag: u32| seen & flag != 0;
    // One of the first words is followed by one of the second ones.
    let near = |first: u32, second: u32, distance: usize| {
        (0..words.len())
            .filter(|&at| words[at] & first != 0)
            .any(|at| words.iter().skip(at + 1).take(distance).any(|word| word & second != 0))
    };
    let ordinal = if has(FIRST) {
        1
    } else if has(SECOND) {
        2
    } else {
        3 * u8::from(has(THIRD))
    };
    let points_back = if has(BOTH) && (near(BOTH, CHOICE | THING | THAT, 3) || wide != 0) {
        Some(Pointer::Both)
    } else if ordinal > 0 && (near(FIRST | SECOND | THIRD, CHOICE, 2) || wide != 0) {
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
        is_empty: is_empty(text, &words, seen, near),
        settles: by_a_time || has(SETTLED) || near(DUTY, OF, 1) || has(ALL) && near(ALL, THINKS, 3),
        chooses: has(CHOOSES),
        numbers: if near(NUMBER, NUMBER, 3) { 2 } else { n_wide_numbers(text).max(u8::from(has(NUMBER))) },
        points_back,
        offers: has(CHOICE | THING | OR) || ordinal > 0,
        ordinal,
    }
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
    let is_superlative = |at: usize| words.iter().skip(at + 3).take(3).any(|word| word & MOST != 0);
    let begins_here = words.first().is_some_and(|word| word & HERE != 0);
    has(TELLS) && near(MANY, THING, 3)
        || words.len() <= MAX_RATING && near(GOOD, JUDGED, 1)
        || words.len() <= MAX_RATED
            && words.windows(3).enumerate().any(|(at, words)| is_one_of(words) && is_superlative(at))
        || begins_here && (has(THING) || text.trim_end().ends_with([':', '：']))
}

/// The flags of every word; nothing for a text without blanks between its words.
fn flags(text: &str) -> Vec<u32> {
    let mut folded = String::new();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !matches!(*word, "" | "l"));
    words
        .map(|word| {
            if word.len() > MAX_WORD {
                return 0;
            }
            let is_folded = word.bytes().all(|byte| byte.is_ascii_lowercase());
            if !is_folded {
                folded.clear();
                folded.extend(word.chars().flat_map(char::to_lowercase));
            }
            let word = if is_folded { word } else { folded.as_str() };
            let listed = FLAGS.get(word).copied().unwrap_or_default();
            let is_superlative = word.len() > 5 && ["est", "sten", "ßten"].iter().any(|end| word.ends_with(end));
            listed | if is_superlative { MOST } else { 0 }
        })
        .collect()
}

/// The flags of what is said without blanks.
fn wide(text: &str) -> u32 {
    if text.bytes().all(|byte| byte < 0xe3) {
        return 0;
    }
    let flags = WIDE_FINDER.find_iter(text).fold(0, |flags, found| flags | WIDE[found.pattern().as_usize()].1);
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
    use super::{Pointer, bearing};

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
