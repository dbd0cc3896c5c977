//! Says what a reply does: it confirms and nothing else, it reports a deed, it announces one. Knows single texts and
//! whole words; refuses to know who speaks and what was said before.

use super::lexed::{CueKind, Unit};
use super::requests::is_question;
use super::view::TextView;
use super::wide::is_wide;
use super::words::{Table, word_list, word_table};

/// A longer text is no mere confirmation.
const MAX_CONFIRMATION: usize = 100;
/// Words in front in which a deed or an announcement shows.
const MAX_HEAD: usize = 9;

word_table!(WORDS: Table<1024, true>, "replies": CONFIRMS BESIDE DONE DONE_BEHIND HERE HAVE BETWEEN);

/// Confirmations in scripts without blanks; of those with one beginning the longer ones stand first.
static WIDE: &[&str] = word_list!("wide", CONFIRMS);

/// Refusals in scripts without blanks.
const WIDE_REFUSALS: [&str; 5] = ["不", "没有", "いいえ", "아니요", "아니"];

/// Behind the opening of a correction these take it back.
const SETTLED: [&str; 12] =
    ["yes", "yeah", "yep", "fine", "ok", "okay", "good", "great", "thanks", "thank", "perfect", "worries"];

/// True for a text that is nothing but a confirmation or thanks: every word of it is one or adds nothing, and it asks
/// nothing. "Great, now move it to 5433." is none.
#[must_use]
pub fn is_confirmation(text: &str) -> bool {
    let text = text.trim();
    if text.is_empty() || text.chars().nth(MAX_CONFIRMATION).is_some() || text.contains(['?', '？']) {
        return false;
    }
    let mut confirms = text.contains(['👍', '👌', '✅']);
    for word in words(text) {
        if is_listed(CONFIRMS, &word) {
            confirms = true;
        } else if word.chars().all(is_wide) {
            if !is_wide_confirmation(&word) {
                return false;
            }
            confirms = true;
        } else if !is_listed(BESIDE, &word) {
            return false;
        }
    }
    confirms
}

/// True for a sentence that reports what was done, or hands it over: "I've added …", "Fixed: …", "Here is …",
/// "… has been removed". `is_negated` says that a statement in it is denied, which reports nothing.
#[must_use]
pub fn reports_deed(sentence: &str, is_negated: bool) -> bool {
    if is_negated {
        return false;
    }
    let head: Vec<String> = words(sentence).take(MAX_HEAD).collect();
    let rest = head.iter().skip_while(|word| is_listed(BETWEEN, word)).collect::<Vec<_>>();
    let opens = match rest.as_slice() {
        [first, ..] if is_listed(DONE | HERE, first) => true,
        [first, rest @ ..] if is_listed(HAVE, first) => {
            rest.iter().find(|word| !is_listed(BETWEEN, word)).is_some_and(|word| is_done(word))
        }
        _ => false,
    };
    let passive = || {
        let words: Vec<String> = words(sentence).collect();
        words.windows(3).any(|three| {
            matches!((three[0].as_str(), three[1].as_str()), ("has" | "have", "been")) && is_done(&three[2])
        })
    };
    opens || sentence.contains("been ") && passive() || !sentence.is_ascii() && is_wide_deed(sentence)
}

/// True for a sentence that says what is or will be done next: "Let me look at …", "I'm reading …".
#[must_use]
pub fn announces(sentence: &str) -> bool {
    let head: Vec<String> = words(sentence).take(MAX_HEAD).collect();
    let rest: Vec<&str> = head.iter().skip_while(|word| is_listed(BETWEEN, word)).map(String::as_str).collect();
    let is_doing = |words: &[&str]| match words {
        ["i'm" | "we're", next, ..] | ["i", "am", next, ..] | ["we", "are", next, ..] => next.ends_with("ing"),
        _ => false,
    };
    let opens =
        |words: &[&str], opening: &str| opening.split(' ').enumerate().all(|(at, word)| words.get(at) == Some(&word));
    let openings = word_list!("announcing", OPENINGS);
    let starts = |words: &[&str]| is_doing(words) || openings.iter().any(|opening| opens(words, opening));
    let all: Vec<&str> = head.iter().map(String::as_str).collect();
    starts(&rest)
        || starts(&all)
        || ["让我", "我来", "我将", "我会"].iter().any(|opening| sentence.starts_with(opening))
}

/// True for a text that begins with a confirmation: "Yes, please go ahead."
#[must_use]
pub fn begins_confirming(text: &str) -> bool {
    words(text).next().is_some_and(|word| is_listed(CONFIRMS, &word))
}

/// True for a text that begins with a yes or a no: "Yes, please cancel both", "No, keep the old flight".
#[must_use]
pub fn begins_with_consent(text: &str) -> bool {
    let first = words(text).next().unwrap_or_default();
    is_listed(CONFIRMS, &first)
        || matches!(first.as_str(), "no" | "nope" | "nein" | "non")
        || first.starts_with(is_wide) && WIDE.iter().chain(&WIDE_REFUSALS).any(|known| first.starts_with(known))
}

/// True for a text that corrects `before`: it begins like a correction, and its "no" answers no question. "Waiting …",
/// "Actually, yes" and "No, that's fine" correct nothing.
#[must_use]
pub fn corrects(text: &TextView<'_>, before: &TextView<'_>) -> bool {
    let has = |view: &TextView<'_>, unit: &Unit, kind| view.cues_of(unit).iter().any(|cue| cue.kind == kind);
    let Some(first) = text.units.first().filter(|unit| has(text, unit, CueKind::Correction)) else { return false };
    let head: Vec<String> = words(first.span.of(text.text)).take(MAX_HEAD).collect();
    let is_settled = head.iter().skip(1).take(4).any(|word| SETTLED.contains(&word.as_str()));
    let denies = head.first().is_some_and(|word| matches!(word.as_str(), "no" | "nein" | "non"));
    let asks = || {
        let is_asked = |unit: &&Unit| !has(before, unit, CueKind::Filler) && is_question(unit.span.of(before.text));
        before.units.iter().any(|unit| is_asked(&unit))
    };
    !(is_settled || denies && asks())
}

fn is_done(word: &str) -> bool {
    is_listed(DONE | DONE_BEHIND, word)
}

fn is_wide_deed(sentence: &str) -> bool {
    const WIDE_DEEDS: [&str; 9] = ["已经", "已完成", "已为", "以下是", "这是", "しました", "完了", "했습니다", "완료"];
    WIDE_DEEDS.iter().any(|deed| sentence.contains(deed))
}

/// Words in lower case without signs at their ends; an apostrophe in them stays.
fn words(text: &str) -> impl Iterator<Item = String> + use<'_> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
}

/// True when `word` is in one of the lists `flags`.
fn is_listed(flags: u32, word: &str) -> bool {
    WORDS.of(word.as_bytes()) & flags != 0
}

/// True when the text is made of confirmations alone.
fn is_wide_confirmation(mut text: &str) -> bool {
    while !text.is_empty() {
        let Some(rest) = WIDE.iter().find_map(|known| text.strip_prefix(known)) else { return false };
        text = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{announces, begins_with_consent, is_confirmation, reports_deed};

    #[test]
    fn a_confirmation_is_nothing_but_one() {
        for text in [
            "Thanks!",
            "ok",
            "Perfect, thank you so much!",
            "Great, that works.",
            "LGTM 👍",
            "Yes.",
            "Danke, passt!",
            "Merci beaucoup",
            "好的，谢谢",
            "ありがとうございます！",
            "네, 감사합니다",
            "👍",
        ] {
            assert!(is_confirmation(text), "{text}");
        }
        for text in [
            "",
            "Great, now here is the real requirement.",
            "Yesterday it crashed.",
            "Okay, but on port 5433.",
            "Thanks, is it done?",
            "Nothing.",
            "Looks",
            "好的，改成三十秒",
            "No",
            "Greatest",
            "yes 5",
        ] {
            assert!(!is_confirmation(text), "{text}");
        }
    }

    #[test]
    fn a_consent_is_known_by_its_first_word() {
        for text in [
            "Yes, please cancel both #W1 and #W2.",
            "No, keep it.",
            "ok go",
            "Nein danke",
            "好的，请取消",
            "いいえ、違います",
        ] {
            assert!(begins_with_consent(text), "{text}");
        }
        for text in ["", "Yesterday it crashed.", "Nothing works.", "Please cancel both.", "請取消"] {
            assert!(!begins_with_consent(text), "{text}");
        }
    }

    #[test]
    fn deeds_are_reported_and_announcements_are_none() {
        for text in [
            "Done.",
            "I've added the index.",
            "I have just updated both files.",
            "Fixed: the port was wrong.",
            "Sure, here is the list:",
            "Your booking has been cancelled.",
            "Ich habe es hinzugefügt.",
            "已经改好了。",
        ] {
            assert!(reports_deed(text, false), "{text}");
        }
        for text in ["I have a question.", "The numbers do not add up.", "We lost events.", "Heretofore it was so."] {
            assert!(!reports_deed(text, false), "{text}");
        }
        assert!(!reports_deed("I have not removed it; nothing was done.", true));
        for text in [
            "I’m reading the commit.",
            "Let me look at it.",
            "Sure, I'll check.",
            "I am going to run the tests.",
            "Now let me see",
        ] {
            assert!(announces(text), "{text}");
        }
        assert!(!announces("Letters are sent."));
    }
}
