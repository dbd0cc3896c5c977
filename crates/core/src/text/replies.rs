//! Says what a reply does: it confirms and nothing else, it reports a deed, it announces one. Knows single texts and
//! whole words; refuses to know who speaks and what was said before.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use super::lexed::{CueKind, Unit};
use super::requests::is_question;
use super::view::TextView;
use super::wide::is_wide;

/// A longer text is no mere confirmation.
const MAX_CONFIRMATION: usize = 100;
/// Words in front in which a deed or an announcement shows.
const MAX_HEAD: usize = 9;

/// Confirms.
const CONFIRMS: u8 = 1;
/// May stand beside these and adds nothing.
const BESIDE: u8 = 1 << 1;
/// What was done, as the first word of a report or behind "I have".
const DONE: u8 = 1 << 2;
/// The same, only behind "I have": alone it may be an order.
const DONE_BEHIND: u8 = 1 << 3;
/// Hands something over.
const HERE: u8 = 1 << 4;
/// Who reports.
const HAVE: u8 = 1 << 5;
/// May stand before and between these.
const BETWEEN: u8 = 1 << 6;

/// Flags and the words that carry them.
const LISTS: &[(u8, &str)] = &[
    (
        CONFIRMS,
        "great perfect thanks thank thx ty ok okay k yes yep yeah yup sure done lgtm excellent awesome nice cool good right exactly agreed confirmed fine works understood gotcha brilliant wonderful lovely fantastic amazing super superb alright absolutely approved neat cheers noted roger sweet indeed",
    ),
    (
        CONFIRMS,
        "danke dank dankeschön perfekt toll prima gut klar genau stimmt richtig passt einverstanden ja verstanden merci parfait génial d'accord oui exact entendu bien gracias perfecto vale genial bueno claro sí exacto entendido correcto listo",
    ),
    (
        BESIDE,
        "you u so very much a lot that's that is it's it this looks look sounds sound all for the your help again now i see get got guys everyone and then well oh ah wow haha many really just to me makes sense job work quick explanation answer info information please go ahead here there we're we are i'm am happy glad appreciate appreciated day have nice one way too",
    ),
    (
        BESIDE,
        "vielen schön sehr das ist es für die hilfe mir alles so dir ihnen auch beaucoup très c'est ça ce est pour ton votre aide je vous à de muchas mucho muy está es por la tu ayuda eso todo acuerdo",
    ),
    (
        DONE,
        "done added fixed removed updated created changed renamed moved implemented applied deployed installed merged committed pushed reverted refactored replaced deleted completed finished configured enabled disabled booked cancelled canceled scheduled refunded rewritten rewrote wrote written tested verified adjusted corrected converted extracted generated saved submitted processed modified upgraded resolved cleaned bumped wired switched raised lowered increased reduced extended shortened simplified translated summarized documented checked",
    ),
    (
        DONE,
        "erledigt fertig hinzugefügt geändert behoben entfernt erstellt angepasst aktualisiert gelöscht umbenannt fait ajouté corrigé supprimé modifié créé listo hecho añadido agregado corregido eliminado creado actualizado",
    ),
    (DONE_BEHIND, "set run put made built sent found cut read"),
    (HERE, "here's here voilà voici hier aquí"),
    (HAVE, "i've we've i we j'ai he hemos ich wir"),
    (
        BETWEEN,
        "just now already also have successfully habe haben has been then both all ok okay sure great perfect thanks alright certainly absolutely yes no problem got it understood everything that's it's is are und es das die den",
    ),
];

/// Confirmations in scripts without blanks; of those with one beginning the longer ones stand first.
const WIDE: &str = "非常感谢 多谢 谢谢你 谢谢您 谢谢 感谢 好的 好吧 好了 好 明白了 明白 知道了 了解了 了解 没问题 可以 对的 对 嗯嗯 嗯 是的 太好了 太棒了 不错 收到 完美 \
    ありがとうございました ありがとうございます ありがとう 了解しました 了解です 分かりました わかりました 承知しました \
    承知いたしました はい なるほど 完璧です 完璧 大丈夫です いいですね そうですね そうですか \
    감사합니다 고마워요 고맙습니다 네 알겠습니다 좋아요 좋습니다 완벽해요 您 你 了 的 啊 呢 哦 呀 です ね よ";

/// Refusals in scripts without blanks.
const WIDE_REFUSALS: [&str; 5] = ["不", "没有", "いいえ", "아니요", "아니"];

const ANNOUNCING: [&[&str]; 16] = [
    &["i'll"],
    &["i", "will"],
    &["let", "me"],
    &["let's"],
    &["i'm", "going", "to"],
    &["i", "am", "going", "to"],
    &["we'll"],
    &["ich", "werde"],
    &["lass", "mich"],
    &["je", "vais"],
    &["voy", "a"],
    &["now", "i'll"],
    &["now", "let", "me"],
    &["first", "i'll"],
    &["first", "let", "me"],
    &["next", "i'll"],
];

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
    let starts = |words: &[&str]| is_doing(words) || ANNOUNCING.iter().any(|opening| words.starts_with(opening));
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
        || first.starts_with(is_wide)
            && WIDE.split_ascii_whitespace().chain(WIDE_REFUSALS).any(|known| first.starts_with(known))
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
fn is_listed(flags: u8, word: &str) -> bool {
    static WORDS: LazyLock<HashMap<&str, u8, FixedState>> = LazyLock::new(|| {
        let mut words = HashMap::default();
        for &(flag, list) in LISTS {
            list.split_ascii_whitespace().for_each(|word| *words.entry(word).or_default() |= flag);
        }
        words
    });
    WORDS.get(word).is_some_and(|found| found & flags != 0)
}

/// True when the text is made of confirmations alone.
fn is_wide_confirmation(mut text: &str) -> bool {
    while !text.is_empty() {
        let Some(rest) = WIDE.split_ascii_whitespace().find_map(|known| text.strip_prefix(known)) else { return false };
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
