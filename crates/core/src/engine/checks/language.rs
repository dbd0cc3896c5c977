//! Whether an answer is in another language than its source: by script, and by trigrams where languages share one.
//! Knows prose; refuses to know facts, which are of no language.

use whatlang::{Lang, detect};

/// A shorter text does not show its language; an ideograph counts as three characters.
const MIN_CHARS: usize = 60;
/// Surety of the language, 0 to 1, from which it counts.
const MIN_SURETY: f64 = 0.9;
/// Of a source in several languages, one with this share may be answered in.
const MIN_SHARE: f64 = 0.1;
/// Where and how much is read of a long source, in characters.
const MAX_CHUNKS: usize = 24;
const CHUNK: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    Hangul,
    Kana,
    Han,
}

/// Characters by script, those without blanks between words counted three times.
#[derive(Default)]
struct Scripts([usize; 10]);

impl Scripts {
    fn of(text: &str) -> Self {
        let mut scripts = Self::default();
        for c in text.chars() {
            if let Some(script) = script(c) {
                let is_dense = matches!(script, Script::Hangul | Script::Kana | Script::Han);
                scripts.0[script as usize] += if is_dense { 3 } else { 1 };
            }
        }
        // Ideographs among kana are Japanese.
        let (kana, han) = (scripts.0[Script::Kana as usize], scripts.0[Script::Han as usize]);
        if kana * 10 > han {
            scripts.0[Script::Kana as usize] += han;
            scripts.0[Script::Han as usize] = 0;
        }
        scripts
    }

    fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// The script that most of the text is in, as its index.
    fn main(&self) -> usize {
        (0..self.0.len()).max_by_key(|&index| self.0[index]).unwrap_or_default()
    }
}

/// True when `answer` is surely in a language that neither the source nor the draft speaks.
pub(super) fn is_another(answer: &str, source: &[&str], draft: &str) -> bool {
    let answer = prose(answer, usize::MAX);
    let scripts = Scripts::of(&answer);
    if scripts.total() < MIN_CHARS {
        return false;
    }
    let chunks: Vec<String> = chunks(source).iter().map(|chunk| prose(chunk, CHUNK)).collect();
    let read: Vec<Scripts> = chunks.iter().map(|chunk| Scripts::of(chunk)).collect();
    let n_all: usize = read.iter().map(Scripts::total).sum();
    if n_all < MIN_CHARS {
        return false;
    }
    let main = scripts.main();
    let n_same: usize = read.iter().map(|scripts| scripts.0[main]).sum();
    let own = Scripts::of(&prose(draft, usize::MAX));
    if (n_same as f64) < MIN_SHARE * n_all as f64 {
        return own.total() < MIN_CHARS || own.main() != main;
    }
    let Some(found) = detect(&answer).filter(|info| info.confidence() >= MIN_SURETY) else { return false };
    let long = chunks.iter().zip(&read).filter(|(_, scripts)| scripts.0[main] >= MIN_CHARS && scripts.main() == main);
    let langs: Vec<_> = long.filter_map(|(chunk, _)| detect(chunk)).collect();
    let n_same = langs.iter().filter(|info| are_alike(info.lang(), found.lang())).count();
    let is_sure = langs.iter().any(|info| info.confidence() >= MIN_SURETY && !are_alike(info.lang(), found.lang()));
    is_sure
        && n_same as f64 <= MIN_SHARE * langs.len() as f64
        && detect(draft).is_none_or(|info| !are_alike(info.lang(), found.lang()))
}

/// True for one language, and for languages that short texts do not tell apart.
fn are_alike(one: Lang, other: Lang) -> bool {
    const GROUPS: [&[Lang]; 7] = [
        &[Lang::Dan, Lang::Nob, Lang::Swe],
        &[Lang::Spa, Lang::Por, Lang::Cat],
        &[Lang::Ces, Lang::Slk],
        &[Lang::Hrv, Lang::Srp, Lang::Slv],
        &[Lang::Ind, Lang::Jav],
        &[Lang::Rus, Lang::Ukr, Lang::Bel, Lang::Bul, Lang::Mkd],
        &[Lang::Nld, Lang::Afr],
    ];
    one == other || GROUPS.iter().any(|group| group.contains(&one) && group.contains(&other))
}

/// Parts of the source from its beginning to its end; of each text at least its beginning while there is room.
fn chunks<'t>(source: &[&'t str]) -> Vec<&'t str> {
    let mut all = Vec::new();
    let n_bytes: usize = source.iter().map(|text| text.len()).sum();
    let step = (n_bytes / MAX_CHUNKS).max(CHUNK);
    let is_short = source.len() <= MAX_CHUNKS;
    let mut next = 0;
    let mut before = 0;
    for text in source {
        while next < before + text.len() {
            let mut at = next - before;
            while !text.is_char_boundary(at) {
                at += 1;
            }
            all.push(text.get(at..(at + step).min(text.len())).unwrap_or_else(|| text.get(at..).unwrap_or_default()));
            next += step;
        }
        before += text.len();
        if is_short {
            next = before;
        }
    }
    all
}

/// The words of `text`, without code, paths and numbers.
fn prose(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut n_chars = 0;
    for piece in text.split_whitespace() {
        let is_wide = piece.chars().any(|c| matches!(script(c), Some(Script::Han | Script::Kana | Script::Hangul)));
        let is_sign = |c: char| c.is_ascii_digit() || "_/\\{}=<>`@#$|[]".contains(c);
        let inner = piece.chars().skip(1).any(|c| c.is_ascii_uppercase());
        if !is_wide && (piece.contains(is_sign) || inner) {
            continue;
        }
        out.push_str(piece);
        out.push(' ');
        n_chars += piece.chars().count();
        if n_chars >= max_chars {
            break;
        }
    }
    out
}

fn script(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{77f}' => Script::Arabic,
        '\u{900}'..='\u{dff}' => Script::Indic,
        '\u{e00}'..='\u{e7f}' => Script::Thai,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        '\u{3041}'..='\u{30ff}' => Script::Kana,
        '\u{3400}'..='\u{9fff}' => Script::Han,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::is_another;

    const ENGLISH: &str = "The connection pool was raised after the outage because the queries took far too long and the \
        retries did not help anybody at all.";
    const GERMAN: &str = "Der Pool wurde nach dem Ausfall vergrößert, weil die Abfragen zu lange dauerten und die Versuche \
        davor nicht geholfen haben.";
    const CHINESE: &str = "连接池在故障之后被扩大了，因为查询花费的时间太长，而且之前的重试没有任何帮助。";
    const JAPANESE: &str =
        "障害の後、クエリに時間がかかりすぎていたため、接続プールが拡大されました。再試行は役に立ちませんでした。";

    #[test]
    fn every_language_answers_itself_only() {
        let all = [ENGLISH, GERMAN, CHINESE, JAPANESE];
        for (at, answer) in all.iter().enumerate() {
            for (of, source) in all.iter().enumerate() {
                assert_eq!(is_another(answer, &[source], ""), at != of, "{answer} for {source}");
            }
        }
    }

    #[test]
    fn a_source_in_two_languages_may_be_answered_in_both() {
        let logs = "error: connection refused by the server after waiting for the reply\n".repeat(8);
        let mixed = format!("{CHINESE}\n{logs}");
        assert!(!is_another(CHINESE, &[&mixed], "") && !is_another(ENGLISH, &[&mixed], ""));
        assert!(!is_another(GERMAN, &[GERMAN, ENGLISH], "") && !is_another(ENGLISH, &[GERMAN, ENGLISH], ""));
        assert!(!is_another("Kurz gesagt.", &[ENGLISH], ""), "too short to tell");
    }
}
