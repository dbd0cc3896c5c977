//! Says whether a text opens by taking back or correcting what was said before, and how. Knows the openings of
//! sentences in a few languages; refuses to know who is corrected and about what.
//!
//! A signal counts only where it directs: at the start of one of the first sentences, in a form that corrects.
//! "You can ignore the noise", "wait for the agents" and "not only X but Y" correct nothing.

use std::sync::LazyLock;

use super::lexed::{Unit, UnitKind};
use super::requests::{Wish, ask, is_question};
use super::view::TextView;
use super::words::{Entries, Table, word_table, words_file};
use crate::model::named;

named! {
    /// How a text corrects, in the order in which the names are tried.
    pub enum Correction {
        /// "Actually, …", "Correction: …"
        Explicit = "explicit_correction",
        /// "No, use …"
        Negation = "negation_directive",
        /// "Instead, use …", "Use … instead."
        Instead = "instead_directive",
        /// "Scratch that", "Ignore the last message"
        Retraction = "retraction",
        /// "Don't use …"
        Dont = "dont_directive",
        /// "Not … but …"
        NotBut = "not_but_pattern",
        /// "Wait, … should …"
        Wait = "wait_correction",
        /// "Sorry, I meant …"
        Sorry = "sorry_correction",
        /// "I was wrong"
        OwnError = "self_correction",
        /// "Let me correct …"
        Rephrase = "rephrase",
    }
}

word_table!(WORDS: Table<1024, true>, "corrections":
    OPENS NO WAIT SORRY BEFORE ALOUD OPINION GOOD SHOULD SUBJECTS DENIES ORDERS FORBIDDEN VAGUE);

/// Who may correct: what a user says directs, what an assistant says may be thinking aloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// One who asks and decides.
    User,
    /// One that answers.
    Assistant,
    /// One of several who talk: "actually" and "no" are only ways to speak.
    Peer,
}

/// A correction at the head of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundCorrection {
    /// How.
    pub kind: Correction,
    /// Index of the unit that says so.
    pub unit: usize,
    /// True for a "no" that would also answer a question.
    pub may_answer: bool,
}

/// Units at the head of a text that are looked at; those before the signal must be short.
const MAX_UNITS: usize = 3;
/// Longer words before the signal make the message one about something else.
const MAX_LEAD_CHARS: u32 = 60;
/// Bytes of a unit that are looked at.
const MAX_HEAD_BYTES: usize = 240;
/// Words of a head that are looked at.
const MAX_WORDS: usize = 24;

/// The correction that `view` opens with, if any.
#[must_use]
pub fn correction(view: &TextView<'_>, speaker: Speaker) -> Option<FoundCorrection> {
    let mut best: Option<FoundCorrection> = None;
    for (index, unit) in view.units.iter().take(MAX_UNITS).enumerate() {
        if matches!(unit.kind, UnitKind::Heading | UnitKind::Line) {
            break;
        }
        if let Some((kind, may_answer)) = of_unit(view, unit, speaker)
            && best.is_none_or(|best| kind < best.kind)
        {
            best = Some(FoundCorrection { kind, unit: index, may_answer });
        }
        if unit.n_chars > MAX_LEAD_CHARS {
            break;
        }
    }
    best
}

fn of_unit(view: &TextView<'_>, unit: &Unit, speaker: Speaker) -> Option<(Correction, bool)> {
    let text = unit.span.of(view.text).trim_start_matches(['*', '_', '-', '–', '—', '•', ' ']);
    let head =
        text.char_indices().take_while(|(at, _)| *at < MAX_HEAD_BYTES).map(|(_, c)| if c == '’' { '\'' } else { c });
    let head: String = head.flat_map(char::to_lowercase).collect();
    Head::of(&head, text).correction(speaker)
}

/// A word of the head.
#[derive(Clone, Copy)]
struct Word<'h> {
    /// Without signs around it.
    core: &'h str,
    /// What it does, as flags of [`WORDS`].
    does: u32,
    /// The sign behind it, or a blank.
    mark: char,
    /// From here on.
    from: &'h str,
}

struct Head<'h> {
    words: Vec<Word<'h>>,
    /// The unit as it was written.
    text: &'h str,
}

impl Word<'_> {
    /// True when it does one of `flags`.
    fn is(&self, flags: u32) -> bool {
        self.does & flags != 0
    }
}

/// What stands before what is said.
#[derive(Default)]
struct Openers {
    actually: bool,
    no: bool,
    wait: bool,
    sorry: bool,
}

impl<'h> Head<'h> {
    fn of(head: &'h str, text: &'h str) -> Self {
        let mut words: Vec<Word<'h>> = Vec::new();
        let mut from = head;
        while words.len() < MAX_WORDS {
            from = from.trim_start();
            let Some(piece) = from.split_whitespace().next() else { break };
            let core = piece.trim_matches(|c: char| !c.is_alphanumeric());

            let mark = piece.chars().rev().take_while(|c| !c.is_alphanumeric()).last().unwrap_or(' ');
            match (core.is_empty(), words.last_mut()) {
                // A dash by itself belongs to the word before it.
                (true, Some(last)) => last.mark = mark,
                (true, None) => {}
                (false, _) => words.push(Word { core, does: WORDS.of(core.as_bytes()), mark, from }),
            }
            from = from.strip_prefix(piece).unwrap_or_default();
        }
        Self { words, text }
    }

    fn correction(&self, speaker: Speaker) -> Option<(Correction, bool)> {
        let from = self.words.first()?.from;
        if let Some(kind) = phrase(from) {
            return self.allowed(kind, speaker).then_some((kind, false));
        }
        let (openers, at) = self.openers();
        let rest = &self.words[at..];
        let said = rest.first().map_or("", |word| word.from);
        let asks = is_question(self.text) && ask(said) != Some(Wish::Request);
        if let Some(kind) = phrase(said).filter(|_| at > 0) {
            let kind = match kind {
                Correction::OwnError if openers.sorry => Correction::Sorry,
                kind if openers.actually => kind.min(Correction::Explicit),
                kind => kind,
            };
            return self.allowed(kind, speaker).then_some((kind, false));
        }
        if rest.len() < 2 || asks || speaker == Speaker::Peer {
            return None;
        }
        let is_user = speaker == Speaker::User;
        if openers.actually && states(rest, speaker) {
            return Some((Correction::Explicit, false));
        }
        if openers.no && is_user && directs(rest) {
            return Some((Correction::Negation, !is_order(rest)));
        }
        if is_user && self.is_instead(rest) {
            return Some((Correction::Instead, false));
        }
        if is_user && is_dont(rest) {
            return Some((Correction::Dont, false));
        }
        if is_user && is_not_but(rest) {
            return Some((Correction::NotBut, false));
        }
        let is_wait = openers.wait && states(rest, speaker) && (directs(rest) || denies(rest));
        is_wait.then_some((Correction::Wait, false))
    }

    /// Others than a user who say what not to do or what to do instead give advice.
    fn allowed(&self, kind: Correction, speaker: Speaker) -> bool {
        let is_advice =
            matches!(kind, Correction::Negation | Correction::Instead | Correction::Dont | Correction::NotBut);
        !(is_question(self.text) || is_advice && speaker != Speaker::User)
    }

    /// The openers and how many words they take.
    fn openers(&self) -> (Openers, usize) {
        let mut openers = Openers::default();
        let mut at = 0;
        while let Some(&word) = self.words.get(at) {
            let next = self.words.get(at + 1);
            let is_marked = matches!(word.mark, ',' | '.' | '!' | ';' | ':' | '-' | '–' | '—' | '…' | '，');
            let is_free = is_marked || next.is_some_and(|next| next.is(BEFORE));
            let (opener, n) = match (word.core, next.map_or("", |next| next.core)) {
                ("actually", _) => (Some(&mut openers.actually), 1),
                ("hold" | "hang", "on") => (Some(&mut openers.wait), 2),
                ("my", "mistake" | "bad") => (Some(&mut openers.sorry), 2),
                _ if word.is(NO) && is_free => (Some(&mut openers.no), 1),
                _ if word.is(WAIT) && is_free => (Some(&mut openers.wait), 1),
                _ if word.is(SORRY) && is_marked => (Some(&mut openers.sorry), 1),
                _ if word.is(OPENS) => (None, 1),
                _ => break,
            };
            if let Some(opener) = opener {
                *opener = true;
            }
            at += n;
        }
        (openers, at.min(self.words.len()))
    }

    /// "Instead, use …", "Use … instead."
    fn is_instead(&self, rest: &[Word<'_>]) -> bool {
        let (first, next) = (rest[0], rest[1]);
        match first.core {
            "instead" if next.core == "of" => {
                let after = |word: &Word<'_>| {
                    matches!(word.core, "we" | "can" | "could" | "let's" | "please" | "use" | "make" | "just")
                };
                rest.iter().skip(3).any(after)
            }
            "instead" => {
                first.mark == ',' || is_imperative(&next) || matches!(next.core, "it" | "we" | "let's" | "the")
            }
            "stattdessen" | "plutôt" | "rather" => first.mark == ',' || is_imperative(&next),
            _ => {
                let end = self.text.trim_end_matches(|c: char| !c.is_alphanumeric());
                is_order(rest)
                    && [" instead", " stattdessen", " plutôt", " en su lugar"].iter().any(|word| end.ends_with(word))
            }
        }
    }
}

fn starts(words: &[Word<'_>], with: &[&str]) -> bool {
    words.len() >= with.len() && words.iter().zip(with).all(|(word, with)| word.core == *with)
}

/// True when one of `words` does one of `flags`.
fn has(words: &[Word<'_>], flags: u32) -> bool {
    words.iter().any(|word| word.is(flags))
}

/// "Actually, …" says something that differs; it does not think aloud, agree, or ask for time.
fn states(rest: &[Word<'_>], speaker: Speaker) -> bool {
    let (first, second) = (rest[0].core, rest.get(1).map_or("", |word| word.core));
    let agrees = matches!(first, "that's" | "that" | "this" | "you" | "you're" | "your") && agrees(rest);
    if speaker == Speaker::User {
        let is_plain = matches!(first, "let" | "it's" | "i'd" | "i'm" | "never" | "maybe");
        let asks =
            first == "i" && matches!(second, "have" | "had" | "wonder" | "was" | "think" | "just" | "also" | "like");
        return !(rest[0].is(ALOUD) && !is_plain || asks || agrees);
    }
    let is_opinion = first == "i" && rest.get(1).is_some_and(|word| word.is(OPINION));
    let is_aloud = rest[0].is(ALOUD) && first != "it's" || is_opinion;
    !(is_aloud || matches!(first, "you" | "you're" | "your") || agrees)
}

/// "that's fine", "that is great", "you're right".
fn agrees(rest: &[Word<'_>]) -> bool {
    has(rest.get(..4).unwrap_or(rest), GOOD)
}

/// Says what to do or what should be.
fn directs(rest: &[Word<'_>]) -> bool {
    let first = rest[0].core;
    let speaks = first == "i" && matches!(rest[1].core, "want" | "wanted" | "meant" | "said" | "asked" | "mean");
    let we = matches!(first, "we" | "you")
        && matches!(rest[1].core, "want" | "need" | "should" | "must" | "can't" | "cannot");
    is_order(rest)
        || speaks
        || we
        || has(rest.get(..6).unwrap_or(rest), SHOULD)
        || (rest[0].is(SUBJECTS) || starts(rest, &["it", "is"]) || starts(rest, &["that", "is"])) && !agrees(rest)
}

/// Says that something is not so.
fn denies(rest: &[Word<'_>]) -> bool {
    rest.iter().any(|word| word.is(DENIES) || word.core.ends_with("n't"))
}

/// Begins with what is to be done.
fn is_order(rest: &[Word<'_>]) -> bool {
    let is_wish = matches!(rest[0].core, "i'd" | "we'd" | "quiero" | "necesito" | "puedes" | "puede");
    !is_wish && is_imperative(&rest[0]) || rest[0].core == "please" || starts(rest, &["do", "not"])
}

fn is_imperative(word: &Word<'_>) -> bool {
    word.is(ORDERS) || ask(word.core) == Some(Wish::Request)
}

/// "Don't use …", "Please do not add …", "Stop using …", also in French and Spanish.
fn is_dont(rest: &[Word<'_>]) -> bool {
    let verb = |at: usize| rest.get(at).is_some_and(|word| word.is(FORBIDDEN));
    match rest[0].core {
        "don't" | "dont" | "never" => verb(1),
        "do" => rest[1].core == "not" && verb(2),
        "stop" => rest[1].core.ends_with("ing"),
        "no" => {
            rest[0].mark == ' ' && matches!(rest[1].core, "uses" | "utilices" | "use" | "usen" | "pongas" | "hagas")
        }
        "n'utilise" | "n'utilisez" => rest[1..].iter().any(|word| matches!(word.core, "pas" | "plus")),
        _ => false,
    }
}

/// "Not X but Y", "Nicht X, sondern Y", "Pas X mais Y", "No X sino Y".
fn is_not_but(rest: &[Word<'_>]) -> bool {
    let but = match rest[0].core {
        "not" => "but",
        "nicht" => "sondern",
        "pas" => "mais",
        "no" if rest[0].mark == ' ' => "sino",
        _ => return false,
    };
    !rest[1].is(VAGUE) && rest.iter().take(12).skip(2).any(|word| word.core == but)
}

/// The phrases that correct by themselves, sorted.
static PHRASES: LazyLock<Vec<(&str, Correction)>> = LazyLock::new(|| {
    let kind = |list: &str| Correction::ALL.iter().copied().find(|kind| kind.as_str() == list);
    let entries = Entries::of(words_file!("corrections_phrases"));
    let mut phrases: Vec<(&str, Correction)> =
        entries.filter_map(|(list, phrase)| Some((phrase, kind(list)?))).collect();
    phrases.sort_unstable();
    phrases
});

/// The kind of the phrase that `text` begins with; `text` is in lower case.
fn phrase(text: &str) -> Option<Correction> {
    let text = text.trim_start_matches(['"', '“', '(']);
    let first = text.chars().next()?;
    let start = PHRASES.partition_point(|(phrase, _)| phrase.chars().next() < Some(first));
    let same = PHRASES.get(start..)?.iter().take_while(|(phrase, _)| phrase.starts_with(first));
    same.filter(|(phrase, _)| begins(text, phrase)).map(|&(_, kind)| kind).min()
}

/// True when `text` begins with `phrase` as whole words.
fn begins(text: &str, phrase: &str) -> bool {
    let Some(rest) = text.strip_prefix(phrase) else { return false };
    let is_free = !phrase.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    is_free || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'')
}

#[cfg(test)]
mod tests {
    use super::{Correction, Speaker, correction};
    use crate::text::Lexer;

    fn found(text: &str, speaker: Speaker) -> Option<Correction> {
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(text);
        correction(&lexer.view(text, &lexed), speaker).map(|found| found.kind)
    }

    #[test]
    fn directives_of_a_user_correct() {
        use Correction::{Dont, Explicit, Instead, Negation, NotBut, OwnError, Rephrase, Retraction, Sorry, Wait};
        for (text, kind) in [
            ("Actually, I only need a one-way ticket, not round trip.", Explicit),
            ("Hmm, actually use ten minutes.", Explicit),
            ("Correction: the port is 6380.", Explicit),
            ("No, use the other cluster.", Negation),
            ("no, the block should stay as is", Negation),
            ("Instead, keep the old names.", Instead),
            ("Use the replica instead.", Instead),
            ("Thanks! Scratch that, we ship on Friday.", Retraction),
            ("ignore the last message, this is the right copy", Retraction),
            ("Don't use Redis for the sessions.", Dont),
            ("Please do not add a retry there.", Dont),
            ("not as a comment, but as a document", NotBut),
            ("Wait, there should be 3 passengers, not just 1.", Wait),
            ("Sorry, I meant the staging host.", Sorry),
            ("I was wrong about the limit.", OwnError),
            ("Let me rephrase: the job runs daily.", Rephrase),
            ("Nein, nimm bitte den zweiten Server.", Negation),
            ("Korrektur: das Treffen ist am Montag.", Explicit),
            ("En fait, le délai est de dix jours.", Explicit),
            ("Perdón, quise decir el martes.", Sorry),
            ("更正：超时是十分钟。", Explicit),
            ("抱歉，我说错了，应该是十分钟。", Sorry),
        ] {
            assert_eq!(found(text, Speaker::User), Some(kind), "{text}");
        }
    }

    #[test]
    fn words_that_correct_nothing_are_no_signals() {
        for text in [
            "You can ignore the noise in the log.",
            "Wait for all three agents to complete.",
            "We had to wait, but then it worked.",
            "Not only the tests but also the docs changed.",
            "Not sure if it is obvious, but we should dedupe.",
            "No, thank you.",
            "No, that's all for now.",
            "no, this is fine.",
            "Actually, that's great!",
            "Actually, before we proceed, I need to mention something.",
            "wait, do we only have a single link colour?",
            "Don't worry about it.",
            "Don't wait 30s just send it?",
            "Sorry for the delay on this.",
            "ignore this error: cmd/hooks.go:332: missing cases",
            "The report of the quarter is long and says a lot about everything that we did in the year. Actually, I like it.",
        ] {
            assert_eq!(found(text, Speaker::User), None, "{text}");
        }
    }

    #[test]
    fn among_several_speakers_only_plain_words_take_something_back() {
        for text in
            ["Actually I looked it up.", "No, we want the other one.", "Don't use that.", "Wait, it should be ten."]
        {
            assert_eq!(found(text, Speaker::Peer), None, "{text}");
        }
        for text in ["Never mind, it did work.", "I meant the codecs package.", "Oh sorry, I meant four."] {
            assert!(found(text, Speaker::Peer).is_some(), "{text}");
        }
    }

    #[test]
    fn an_assistant_that_thinks_aloud_corrects_nothing() {
        for text in [
            "Actually, let me check the summary package first.",
            "Actually, looking at the code flow, it is fine.",
            "Wait, I need to reconsider the fix.",
            "No, the fix still works.",
            "Don't push yourself too hard.",
            "Instead, use open and relaxed body language.",
            "Not ideal but not data loss.",
            "Actually your intuition is exactly right.",
        ] {
            assert_eq!(found(text, Speaker::Assistant), None, "{text}");
        }
        for text in
            ["Correction: the limit is 30.", "I was wrong, the loop ends early.", "Actually, the cache is per host."]
        {
            assert!(found(text, Speaker::Assistant).is_some(), "{text}");
        }
    }
}
