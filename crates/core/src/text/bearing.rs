//! Says what a sentence does to the talk that it stands in: settles something, counts, points back, or only announces
//! and rates. Knows words, phrases and where they stand; refuses to know facts and who speaks.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::words::{Table, VOWELS};

/// A sentence that only announces or rates has at most so many words; one that rates a question has fewer.
const MAX_EMPTY: usize = 16;
const MAX_RATED: usize = 12;
const MAX_RATING: usize = 8;
/// The same in characters, where words have no blanks between.
const MAX_EMPTY_WIDE: usize = 40;

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

static FLAGS: Table<2048> = Table::new(WORDS);

static WIDE_FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let phrases = WIDE.iter().map(|(phrase, _)| phrase);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(phrases).expect("a short list of phrases")
});

/// What the sentence `text` does.
#[must_use]
pub(super) fn bearing(text: &str) -> Bearing {
    let (words, wide) = (flags(text), wide(text));
    let seen = words.iter().fold(0, |seen, word| seen | word) | wide;
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
        numbered(&words)
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
        is_empty: is_empty(text, &words, seen, near),
        settles: by_a_time || has(SETTLED) || near(DUTY, OF, 1) || has(ALL) && near(ALL, THINKS, 3),
        chooses: has(CHOOSES),
        numbers: if near(NUMBER, NUMBER, 3) { 2 } else { n_wide_numbers(text).max(u8::from(has(NUMBER))) },
        points_back,
        offers: has(CHOICE | THING | OR) || ordinal > 0,
        ordinal,
    }
}

/// "Approach two" is 2.
fn numbered(words: &[u32]) -> u8 {
    let is_numbered = |pair: &&[u32]| pair[0] & CHOICE != 0 && pair[1] & NUMBERED != 0;
    words.windows(2).find(is_numbered).map_or(0, |pair| (pair[1] >> ORDINAL_BIT) as u8)
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

/// The flags of every word.
fn flags(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut flags = Vec::with_capacity(bytes.len() / 6 + 1);
    let (mut start, mut at) = (0, 0);
    while at <= bytes.len() {
        let (is_in_word, n) = match bytes.get(at) {
            Some(byte) if byte.is_ascii() => (byte.is_ascii_alphanumeric(), 1),
            _ => {
                let next = text.get(at..).and_then(|rest| rest.chars().next());
                (next.is_some_and(char::is_alphanumeric), next.map_or(1, char::len_utf8))
            }
        };
        if !is_in_word {
            let word = &bytes[start..at];
            // The rest of an article: "l'idée".
            if !matches!(word, b"" | b"l") {
                flags.push(FLAGS.find(bytes, start, at) & !VOWELS | if is_superlative(word) { MOST } else { 0 });
            }
            start = at + n;
        }
        at += n;
    }
    flags
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

/// More than one, and not how many.
const MANY: u32 = 1;
/// A word for anything that can be told in parts.
const THING: u32 = 1 << 1;
/// Says that something is, or was spoken of.
const TELLS: u32 = 1 << 2;
const GOOD: u32 = 1 << 3;
/// What is rated.
const JUDGED: u32 = 1 << 4;
/// Points to what follows.
const HERE: u32 = 1 << 5;
/// Names parts behind it.
const SUCH: u32 = 1 << 6;
/// Superlatives that do not end like one.
const MOST: u32 = 1 << 7;
const ONE: u32 = 1 << 8;
const OF: u32 = 1 << 9;
const ALL: u32 = 1 << 10;
const THINKS: u32 = 1 << 11;
/// Says by itself that something is settled.
const SETTLED: u32 = 1 << 12;
/// In front of a time by which something is done.
const DEADLINE: u32 = 1 << 13;
const TIME: u32 = 1 << 14;
const FUTURE: u32 = 1 << 15;
/// Gives a task to somebody.
const DUTY: u32 = 1 << 16;
const NUMBER: u32 = 1 << 17;
const BOTH: u32 = 1 << 18;
/// A word for what can be chosen.
const CHOICE: u32 = 1 << 19;
const CHOOSES: u32 = 1 << 20;
const THAT: u32 = 1 << 21;
/// Points back by itself.
const FORMER: u32 = 1 << 22;
const FIRST: u32 = 1 << 23;
const SECOND: u32 = 1 << 24;
const THIRD: u32 = 1 << 25;
const OR: u32 = 1 << 26;
/// A time that says when something is done behind a `DEADLINE` only.
const PERIOD: u32 = 1 << 29;
/// Numbers behind a choice: both bits for three.
const NUMBERED: u32 = 3 << ORDINAL_BIT;
const ORDINAL_BIT: u32 = 30;
/// A phrase that announces or rates by itself.
const EMPTY: u32 = 1 << 27;

/// The words by what they do, in English, German, French and Spanish. Lower case, separated by blanks; a word may stand in
/// several lists.
static WORDS: &[(u32, &str)] = &[
    (MANY, "several many various multiple numerous few some different number variety range couple lot lots"),
    (MANY, "mehrere viele verschiedene einige zahlreiche diverse reihe vielzahl paar"),
    (MANY, "plusieurs nombreux nombreuses divers diverses différents différentes quelques nombre série"),
    (MANY, "varios varias muchos muchas diversos diversas diferentes distintos distintas algunos algunas serie"),
    (
        THING,
        "ways reasons things points topics subjects aspects factors steps options methods approaches techniques strategies issues questions challenges benefits advantages features types kinds examples tips suggestions ideas considerations possibilities",
    ),
    (
        THING,
        "möglichkeiten gründe dinge punkte themen aspekte faktoren schritte optionen methoden ansätze strategien fragen herausforderungen vorteile arten beispiele tipps vorschläge ideen wege",
    ),
    (
        THING,
        "façons manières raisons choses points sujets aspects facteurs étapes méthodes approches techniques stratégies défis avantages exemples conseils suggestions idées moyens possibilités",
    ),
    (
        THING,
        "maneras formas razones cosas puntos temas aspectos factores pasos opciones métodos enfoques técnicas estrategias cuestiones desafíos ventajas tipos ejemplos consejos sugerencias posibilidades",
    ),
    (
        TELLS,
        "are is were was covered covers cover discussed discuss discusses explored explore explores touched addressed consider",
    ),
    (TELLS, "ist war est es era gibt gab sind waren besprochen behandelt diskutiert existieren"),
    (TELLS, "existe existent sont avons abordé discuté hay existen son hemos tratamos abordamos discutimos"),
    (GOOD, "great good excellent interesting important fascinating complex wonderful tricky thoughtful fantastic"),
    (GOOD, "gute tolle spannende interessante wichtige komplexe schwierige ausgezeichnete spannendes wichtiges"),
    (GOOD, "bonne excellente intéressante importante belle buena excelente interesante importante gran"),
    (JUDGED, "question topic subject frage thema sujet pregunta tema"),
    (HERE, "here below hier nachfolgend voici aquí"),
    (SUCH, "including namely such e.g z.b darunter nämlich notamment comme como incluyendo"),
    (MOST, "most best worst plus más mejores peores"),
    (ONE, "one einer eine eines un une uno una"),
    (OF, "of der des de for für to"),
    (ALL, "everyone everybody all alle jeder tous monde todos todas"),
    (THINKS, "agree agreed agrees think thinks want wants prefer prefers believe convinced"),
    (THINKS, "einverstanden denken finden wollen meinen dafür zugestimmt accord pensons pense voulons veut préférons"),
    (THINKS, "acuerdo pensamos queremos quieren preferimos creemos"),
    (SETTLED, "unanimous unanimously consensus einstimmig einig einvernehmlich konsens übernimmt kümmert"),
    (SETTLED, "unanimité unanimement unanimidad unánime consenso"),
    (DEADLINE, "by until till before bis vor avant ici antes hasta para"),
    (
        TIME,
        "monday tuesday wednesday thursday friday saturday sunday tomorrow tonight noon eod january february march april june july august september october november december",
    ),
    (
        TIME,
        "montag dienstag mittwoch donnerstag freitag samstag sonntag morgen heute mittag januar februar märz mai juni juli oktober dezember",
    ),
    (
        TIME,
        "lundi mardi mercredi jeudi vendredi samedi dimanche demain midi lunes martes miércoles jueves viernes sábado domingo mañana mediodía",
    ),
    (PERIOD, "end week month ende woche monatsende fin"),
    (FUTURE, "will ll shall werde werden wird werdet vais va vont allons voy vamos van"),
    (DUTY, "responsible assigned zuständig verantwortlich charge responsable encarga encargado"),
    (NUMBER, "two three four five six seven eight nine ten eleven twelve dozen half thirds"),
    (NUMBER, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dutzend hälfte deux trois quatre cinq"),
    (NUMBER, "sept huit dix onze douze moitié dos tres cuatro cinco seis siete ocho nueve diez doce mitad"),
    (BOTH, "both beide beiden deux ambos ambas dos"),
    (CHOICE, "option options approach approaches idea proposal proposals suggestion version versions variant variants"),
    (CHOICE, "plan plans solution solutions choice design designs alternative alternatives method methods"),
    (CHOICE, "vorschlag vorschläge variante varianten lösung lösungen möglichkeit möglichkeiten ansatz ansätze idee"),
    (CHOICE, "proposition propositions idée approche opción opciones propuesta propuestas solución soluciones enfoque"),
    (1 << ORDINAL_BIT, "one 1 a eins un una uno"),
    (2 << ORDINAL_BIT, "two 2 b zwei deux dos"),
    (3 << ORDINAL_BIT, "three 3 c drei trois tres"),
    (CHOOSES, "go going take choose chose pick picked prefer adopt use let"),
    (CHOOSES, "nehmen nehme wählen bevorzugen bevorzuge prenons prend choisissons préfère préférons"),
    (CHOOSES, "tomamos elegimos preferimos prefiero usamos"),
    (THAT, "that this these those them dieser diese diesen dieses cette ces esa ese esta este"),
    (FORMER, "former latter letztere letzteren erstere ersteren celui celle"),
    (FIRST, "first erste ersten erster première premier primera primer primero"),
    (SECOND, "second zweite zweiten zweiter deuxième seconde segunda segundo"),
    (THIRD, "third dritte dritten dritter troisième tercera tercero"),
    (OR, "or either oder entweder ou soit o u"),
];

/// Phrases of Chinese and Japanese.
static WIDE: &[(&str, u32)] = &[
    ("以下是", EMPTY),
    ("以下为", EMPTY),
    ("下面是", EMPTY),
    ("有几种", EMPTY),
    ("有很多种", EMPTY),
    ("有多种", EMPTY),
    ("有以下几", EMPTY),
    ("几个方面", EMPTY),
    ("好问题", EMPTY),
    ("以下の", EMPTY),
    ("以下に", EMPTY),
    ("良い質問", EMPTY),
    ("いい質問", EMPTY),
    ("いくつかの方法", EMPTY),
    ("様々な方法", EMPTY),
    ("最", MOST),
    ("之一", ONE),
    ("の一つ", ONE),
    ("ひとつです", ONE),
    ("都同意", SETTLED),
    ("都觉得", SETTLED),
    ("都认为", SETTLED),
    ("一致同意", SETTLED),
    ("全員一致", SETTLED),
    ("负责", SETTLED),
    ("負責", SETTLED),
    ("担当します", SETTLED),
    ("前完成", SETTLED),
    ("までに", SETTLED),
    ("第一个", FIRST),
    ("第一种", FIRST),
    ("一番目", FIRST),
    ("第二个", SECOND),
    ("第二种", SECOND),
    ("二番目", SECOND),
    ("第三个", THIRD),
    ("第三种", THIRD),
    ("三番目", THIRD),
    ("两种都", BOTH),
    ("两个都", BOTH),
    ("両方", BOTH),
    ("选", CHOOSES),
    ("就用", CHOOSES),
    ("采用", CHOOSES),
    ("决定用", CHOOSES),
    ("にします", CHOOSES),
    ("にしましょう", CHOOSES),
    ("或者", OR),
    ("还是", OR),
    ("または", OR),
    ("方案", CHOICE),
    ("方法", CHOICE),
];

#[cfg(test)]
mod tests {
    use super::{FLAGS, Pointer, WORDS, bearing};
    use std::collections::HashSet;

    #[test]
    fn every_listed_word_is_found_and_the_table_has_room() {
        let mut words = HashSet::new();
        for (flags, list) in WORDS {
            for word in list.split_whitespace() {
                words.insert(word);
                for word in [word.to_owned(), word.to_ascii_uppercase()] {
                    assert_eq!(FLAGS.find(word.as_bytes(), 0, word.len()) & flags, *flags, "{word}");
                }
            }
        }
        assert!(words.len() < 1024, "the table gets full");
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
