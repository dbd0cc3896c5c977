//! Which language is spoken, for figures by language: by script, and by the commonest function words where many languages
//! share one. Cheap and rough: it reads the beginnings of some texts, and says nothing when they say too little.

use std::ops::RangeInclusive;

use super::words::{Table, words_file};

/// How much is read of a text, and of how many texts with something in them.
const HEAD_CHARS: usize = 160;
const MAX_TEXTS: usize = 6;
/// Letters below which nothing is said; of dense scripts a third is enough.
const MIN_LETTERS: usize = 12;
/// Function words that must speak for a language.
const MIN_WORDS: u32 = 2;

/// Languages in Latin letters.
const LANGUAGES: [&str; 16] =
    ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "pl", "cs", "tr", "fi", "id", "vi"];

/// The languages of each word, as bits in the order of [`LANGUAGES`].
static WORDS: Table<1024, true> = Table::new(words_file!("language"), &LANGUAGES);

/// Scripts beside the Latin one, and the language that is written in each. The first [`N_DENSE`] say more with a letter.
const SCRIPTS: [(RangeInclusive<char>, &str); 9] = [
    ('\u{3040}'..='\u{30FF}', "ja"),
    ('\u{4E00}'..='\u{9FFF}', "zh"),
    ('\u{AC00}'..='\u{D7AF}', "ko"),
    ('\u{400}'..='\u{52F}', "ru"),
    ('\u{370}'..='\u{3FF}', "el"),
    ('\u{590}'..='\u{5FF}', "he"),
    ('\u{600}'..='\u{6FF}', "ar"),
    ('\u{900}'..='\u{97F}', "hi"),
    ('\u{E00}'..='\u{E7F}', "th"),
];
const N_DENSE: usize = 3;

/// Letters by script.
#[derive(Default)]
struct Scripts {
    latin: usize,
    /// Cyrillic letters that only Ukrainian has.
    ukrainian: usize,
    others: [usize; SCRIPTS.len()],
}

impl Scripts {
    fn count(&mut self, c: char) {
        self.latin += usize::from(matches!(c, 'À'..='ɏ' | 'Ḁ'..='ỿ'));
        self.ukrainian += usize::from("іїєґІЇЄ".contains(c));
        if let Some(script) = SCRIPTS.iter().position(|(letters, _)| letters.contains(&c)) {
            self.others[script] += 1;
        }
    }

    /// The language of the script that has most letters; `None` for Latin and for too few letters.
    fn language(&self) -> Option<&'static str> {
        let mut n_letters = self.others;
        let [kana, han, ..] = self.others;
        // Japanese is written in both.
        (n_letters[0], n_letters[1]) = if kana * 10 > han { (kana + han, 0) } else { (0, han) };
        n_letters[..N_DENSE].iter_mut().for_each(|n| *n *= 3);
        let most = (0..SCRIPTS.len()).max_by_key(|&script| n_letters[script])?;
        let is_ukrainian = SCRIPTS[most].1 == "ru" && self.ukrainian * 20 > n_letters[most];
        let language = if is_ukrainian { "uk" } else { SCRIPTS[most].1 };
        // A few borrowed words do not make another language of it.
        (n_letters[most] >= MIN_LETTERS && n_letters[most] > self.latin).then_some(language)
    }
}

/// The ISO 639-1 code of the language that most of these texts are in; `None` when they say too little or do not agree.
pub fn language<'t>(texts: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    let mut scripts = Scripts::default();
    let mut votes = [0_u32; LANGUAGES.len()];
    let mut word = String::new();
    for text in texts.filter(|text| text.len() > 3).take(MAX_TEXTS) {
        for c in text.chars().take(HEAD_CHARS).chain([' ']) {
            if c.is_ascii_alphabetic() {
                scripts.latin += 1;
                word.push(c.to_ascii_lowercase());
            } else if !c.is_ascii() && c.is_alphabetic() {
                scripts.count(c);
                word.extend(c.to_lowercase());
            } else if !word.is_empty() {
                vote(&word, &mut votes);
                word.clear();
            }
        }
    }
    if let Some(language) = scripts.language() {
        return Some(language);
    }
    let best = (0..votes.len()).max_by_key(|&index| (votes[index], std::cmp::Reverse(index)))?;
    let is_sure = scripts.latin >= MIN_LETTERS && votes[best] >= MIN_WORDS;
    let rivals = votes.iter().enumerate().filter(|&(index, &n)| index != best && n * 5 > votes[best] * 4).count();
    // Danish and Norwegian share nearly all of these words; then the first of the two is named.
    (is_sure && rivals <= usize::from(matches!(LANGUAGES[best], "da" | "no"))).then_some(LANGUAGES[best])
}

fn vote(word: &str, votes: &mut [u32; LANGUAGES.len()]) {
    if word.len() > 8 {
        return;
    }
    let mut languages = WORDS.of(word.as_bytes());
    while languages != 0 {
        votes[languages.trailing_zeros() as usize] += 1;
        languages &= languages - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::language;

    #[test]
    fn languages_are_told_by_script_and_by_function_words() {
        for (text, code) in [
            ("What is the best way to cook rice? I have a pot and no lid.", Some("en")),
            ("Ich habe das Paket nicht erhalten, und die Nummer ist falsch.", Some("de")),
            ("Je ne trouve pas la page et le lien est cassé dans le message.", Some("fr")),
            ("No encuentro la página y el enlace está roto en el mensaje.", Some("es")),
            ("Non trovo la pagina e il collegamento è rotto, come mai?", Some("it")),
            ("Eu não encontro a página e o link da mensagem não funciona.", Some("pt")),
            ("Ik kan de pagina niet vinden en het is een oude link.", Some("nl")),
            ("Jag hittar inte sidan och det är en gammal länk.", Some("sv")),
            ("你好，请问这部电影的导演是谁？我很喜欢他。", Some("zh")),
            ("こんにちは。今日はいい天気ですね。", Some("ja")),
            ("안녕하세요 오늘 날씨가 좋네요", Some("ko")),
            ("Привет, где находится ближайшая аптека?", Some("ru")),
            ("Привіт, де знаходиться найближча аптека і її адреса?", Some("uk")),
            ("Když jsem přišel, už jsou pryč, a co je v pokoji, nevím.", Some("cs")),
            ("ok", None),
            ("xyzzy 12345 {}[] 0xff", None),
        ] {
            assert_eq!(language(std::iter::once(text)), code, "{text}");
        }
    }
}
