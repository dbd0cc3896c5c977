//! Says whether a text opens by taking back or correcting what was said before, and how. Knows the openings of
//! sentences in a few languages; refuses to know who is corrected and about what.
//!
//! A signal counts only where it directs: at the start of one of the first sentences, in a form that corrects.
//! "You can ignore the noise", "wait for the agents" and "not only X but Y" correct nothing.

use std::sync::LazyLock;

use super::lexed::{Unit, UnitKind};
use super::requests::{Ask, ask, is_question};
use super::view::TextView;

/// How a text corrects, in the order in which the names are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Correction {
    /// "Actually, …", "Correction: …"
    Explicit,
    /// "No, use …"
    Negation,
    /// "Instead, use …", "Use … instead."
    Instead,
    /// "Scratch that", "Ignore the last message"
    Retraction,
    /// "Don't use …"
    Dont,
    /// "Not … but …"
    NotBut,
    /// "Wait, … should …"
    Wait,
    /// "Sorry, I meant …"
    Sorry,
    /// "I was wrong"
    OwnError,
    /// "Let me correct …"
    Rephrase,
}

impl Correction {
    /// The published name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit_correction",
            Self::Negation => "negation_directive",
            Self::Instead => "instead_directive",
            Self::Retraction => "retraction",
            Self::Dont => "dont_directive",
            Self::NotBut => "not_but_pattern",
            Self::Wait => "wait_correction",
            Self::Sorry => "sorry_correction",
            Self::OwnError => "self_correction",
            Self::Rephrase => "rephrase",
        }
    }
}

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
                (false, _) => words.push(Word { core, mark, from }),
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
        let asks = is_question(self.text) && ask(said) != Some(Ask::Request);
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
            let next = self.words.get(at + 1).map_or("", |next| next.core);
            let is_marked = matches!(word.mark, ',' | '.' | '!' | ';' | ':' | '-' | '–' | '—' | '…' | '，');
            let n = match word.core {
                "actually" => {
                    openers.actually = true;
                    1
                }
                "no" | "nope" | "nah" | "nein" | "non" | "nee" if is_marked || is_opener(next) => {
                    openers.no = true;
                    1
                }
                "wait" | "stop" | "moment" | "halt" | "espera" | "attends" | "attendez"
                    if is_marked || is_opener(next) =>
                {
                    openers.wait = true;
                    1
                }
                "hold" | "hang" if next == "on" => {
                    openers.wait = true;
                    2
                }
                "sorry" | "oops" | "whoops" | "apologies" | "pardon" | "entschuldigung" | "perdón" | "désolé"
                    if is_marked =>
                {
                    openers.sorry = true;
                    1
                }
                "my" if matches!(next, "mistake" | "bad") => {
                    openers.sorry = true;
                    2
                }
                "oh" | "ah" | "hm" | "hmm" | "ok" | "okay" | "well" | "but" | "and" | "so" | "yeah" | "hey" | "um"
                | "uh" | "please" | "ach" => 1,
                _ => break,
            };
            at += n;
        }
        (openers, at.min(self.words.len()))
    }

    /// "Instead, use …", "Use … instead."
    fn is_instead(&self, rest: &[Word<'_>]) -> bool {
        let first = rest[0];
        let next = rest.get(1).map_or("", |next| next.core);
        match first.core {
            "instead" if next == "of" => {
                let after = |word: &Word<'_>| {
                    matches!(word.core, "we" | "can" | "could" | "let's" | "please" | "use" | "make" | "just")
                };
                rest.iter().skip(3).any(after)
            }
            "instead" => first.mark == ',' || is_imperative(next) || matches!(next, "it" | "we" | "let's" | "the"),
            "stattdessen" | "plutôt" | "rather" => first.mark == ',' || is_imperative(next),
            _ => {
                let end = self.text.trim_end_matches(|c: char| !c.is_alphanumeric());
                is_order(rest)
                    && [" instead", " stattdessen", " plutôt", " en su lugar"].iter().any(|word| end.ends_with(word))
            }
        }
    }
}

fn is_opener(word: &str) -> bool {
    matches!(word, "actually" | "no" | "wait" | "sorry" | "nein" | "scratch" | "instead" | "hold" | "stop")
}

fn starts(words: &[Word<'_>], with: &[&str]) -> bool {
    words.len() >= with.len() && words.iter().zip(with).all(|(word, with)| word.core == *with)
}

/// True when one of `words` is in `list`.
fn has(words: &[Word<'_>], list: &str) -> bool {
    words.iter().any(|word| is_in(list, word.core))
}

/// True when `word` is in `list`, whose words are separated by blanks.
fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

/// "Actually, …" says something that differs; it does not think aloud, agree, or ask for time.
fn states(rest: &[Word<'_>], speaker: Speaker) -> bool {
    const ALOUD: &str = "let looking thinking wait before while yes yeah thanks thank never hmm one maybe great good nice perfect \
        i'll i've i'd i'm sounds it's reading until";
    const OPINION: &str = "see need should think realize realise notice noticed found can could want just wonder have like was \
        understand know believe might will also missed";
    let (first, second) = (rest[0].core, rest.get(1).map_or("", |word| word.core));
    let agrees = matches!(first, "that's" | "that" | "this" | "you" | "you're" | "your") && agrees(rest);
    if speaker == Speaker::User {
        let is_plain = matches!(first, "let" | "it's" | "i'd" | "i'm" | "never" | "maybe");
        let asks =
            first == "i" && matches!(second, "have" | "had" | "wonder" | "was" | "think" | "just" | "also" | "like");
        return !(is_in(ALOUD, first) && !is_plain || asks || agrees);
    }
    let is_aloud = is_in(ALOUD, first) && first != "it's" || first == "i" && is_in(OPINION, second);
    !(is_aloud || matches!(first, "you" | "you're" | "your") || agrees)
}

/// "that's fine", "that is great", "you're right".
fn agrees(rest: &[Word<'_>]) -> bool {
    const GOOD: &str = "fine ok okay all it good great right correct everything enough perfect cool helpful interesting true \
        exactly";
    rest.iter().take(4).any(|word| is_in(GOOD, word.core))
}

/// Says what to do or what should be.
fn directs(rest: &[Word<'_>]) -> bool {
    const SHOULD: &str = "should shouldn't must mustn't meant instead sollte soll muss devrait doit debe debería";
    const SUBJECTS: &str = "it's that's c'est es das";
    let first = rest[0].core;
    let speaks = first == "i" && matches!(rest[1].core, "want" | "wanted" | "meant" | "said" | "asked" | "mean");
    let we = matches!(first, "we" | "you")
        && matches!(rest[1].core, "want" | "need" | "should" | "must" | "can't" | "cannot");
    is_order(rest)
        || speaks
        || we
        || has(rest.get(..6).unwrap_or(rest), SHOULD)
        || (is_in(SUBJECTS, first) || starts(rest, &["it", "is"]) || starts(rest, &["that", "is"])) && !agrees(rest)
}

/// Says that something is not so.
fn denies(rest: &[Word<'_>]) -> bool {
    rest.iter().any(|word| {
        matches!(word.core, "not" | "wrong" | "incorrect" | "never" | "nicht" | "kein" | "keine" | "falsch" | "pas")
            || word.core.ends_with("n't")
    })
}

/// Begins with what is to be done.
fn is_order(rest: &[Word<'_>]) -> bool {
    let is_wish = matches!(rest[0].core, "i'd" | "we'd" | "quiero" | "necesito" | "puedes" | "puede");
    !is_wish && is_imperative(rest[0].core) || rest[0].core == "please" || starts(rest, &["do", "not"])
}

fn is_imperative(word: &str) -> bool {
    const VERBS: &str = "take leave drop pick choose call name return revert skip switch store reduce increase lower raise limit \
        include exclude avoid nimm nehmt benutze verwende verwenden nutze mach macht ändere lass setze setz \
        schreib utilise utilisez prends prenez mets mettez fais faites change changez garde gardez usa use usen \
        utiliza utilice pon haz cambia cambie deja toma book cancel";
    is_in(VERBS, word) || (!word.is_empty() && ask(word) == Some(Ask::Request))
}

/// "Don't use …", "Please do not add …", "Stop using …", also in French and Spanish.
fn is_dont(rest: &[Word<'_>]) -> bool {
    const VERBS: &str = "use add make put include write change touch run create set call store send do remove delete move rename \
        install commit push merge keep book cancel import modify return log cache retry deploy open";
    let verb = |at: usize| rest.get(at).is_some_and(|word| is_in(VERBS, word.core));
    match rest[0].core {
        "don't" | "dont" | "never" => verb(1),
        "do" => rest[1].core == "not" && verb(2),
        "stop" => rest[1].core.ends_with("ing"),
        "no" => {
            rest[0].mark == ' ' && matches!(rest[1].core, "uses" | "utilices" | "use" | "usen" | "pongas" | "hagas")
        }
        "n'utilise" | "n'utilisez" => has(&rest[1..], "pas plus"),
        _ => false,
    }
}

/// "Not X but Y", "Nicht X, sondern Y", "Pas X mais Y", "No X sino Y".
fn is_not_but(rest: &[Word<'_>]) -> bool {
    const VAGUE: &str = "sure only just really that ideal perfect necessarily yet bad exactly all much to too even nur so seulement \
        solo sólo every everyone everything because if trying great quite always many primarily";
    let but = match rest[0].core {
        "not" => "but",
        "nicht" => "sondern",
        "pas" => "mais",
        "no" if rest[0].mark == ' ' => "sino",
        _ => return false,
    };
    !is_in(VAGUE, rest[1].core) && has(rest.get(2..12).or(rest.get(2..)).unwrap_or_default(), but)
}

/// [`PHRASES`], sorted by phrase.
static SORTED: LazyLock<Vec<(&str, Correction)>> = LazyLock::new(|| {
    let of = |&(kind, list): &(Correction, &'static str)| list.split('|').map(move |phrase| (phrase, kind));
    let mut sorted: Vec<(&str, Correction)> = PHRASES.iter().flat_map(of).collect();
    sorted.sort_unstable();
    sorted
});

/// The kind of the phrase that `text` begins with; `text` is in lower case.
fn phrase(text: &str) -> Option<Correction> {
    let text = text.trim_start_matches(['"', '“', '(']);
    let first = text.chars().next()?;
    let start = SORTED.partition_point(|(phrase, _)| phrase.chars().next() < Some(first));
    let same = SORTED.get(start..)?.iter().take_while(|(phrase, _)| phrase.starts_with(first));
    same.filter(|(phrase, _)| begins(text, phrase)).map(|&(_, kind)| kind).min()
}

/// True when `text` begins with `phrase` as whole words.
fn begins(text: &str, phrase: &str) -> bool {
    let Some(rest) = text.strip_prefix(phrase) else { return false };
    let is_free = !phrase.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    is_free || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '\'')
}

/// The phrases that correct by themselves, in English, German, French, Spanish and Chinese. Lower case, with `|` between
/// them; a phrase that ends with a sign needs that sign.
static PHRASES: &[(Correction, &str)] = &[
    (
        Correction::Explicit,
        "correction:|correction,|correction -|correction –|correction —|small correction|one correction",
    ),
    (Correction::Explicit, "korrektur:|korrektur,|rectification :|rectification:|corrección:|en fait,|en réalité,"),
    (Correction::Explicit, "en realidad,|更正|訂正|纠正一下|不对，"),
    (Correction::Negation, "nein, nimm|nein, nehm|nein, benutz|nein, verwend|nein, nutz|nein, bitte|nein, es soll"),
    (Correction::Negation, "nein, ich meinte|nein, lieber|non, utilise|non, utilisez|non, il faut|non, plutôt"),
    (
        Correction::Negation,
        "non, je voulais|no, usa|no, utiliza|no, mejor|no, debe|no, quería|no, quiero|不，用|不，改|不，应该|不，请",
    ),
    (Correction::Negation, "不要这样，"),
    (
        Correction::Instead,
        "mejor usa|mejor utiliza|nimm stattdessen|nimm lieber|verwende stattdessen|改用|换成|改成|请改用",
    ),
    (
        Correction::Retraction,
        "scratch that|scratch this|strike that|forget that|forget it|forget what i|forget about that",
    ),
    (Correction::Retraction, "forget my|forget the last|forget the previous|ignore that,|ignore that.|ignore that and"),
    (
        Correction::Retraction,
        "ignore what i|ignore my|ignore the last|ignore the previous|ignore the above|ignore that last",
    ),
    (Correction::Retraction, "ignore that part|ignore this part|disregard that|disregard what i|disregard my"),
    (
        Correction::Retraction,
        "disregard the last|disregard the previous|disregard the above|nevermind that|never mind that",
    ),
    (Correction::Retraction, "never mind the|nevermind the|never mind what i|never mind,|nevermind,|cancel that"),
    (
        Correction::Retraction,
        "i take that back|i take it back|vergiss das|vergiss es|vergiss was|vergiss, was|ignoriere das",
    ),
    (Correction::Retraction, "ignorier das|ignoriere die letzte|ignoriere meine|kommando zurück|oublie ça|oubliez ça"),
    (Correction::Retraction, "oublie ce que|oubliez ce que|ignore ce que|ignorez ce que|olvida eso|olvídalo|olvida lo"),
    (
        Correction::Retraction,
        "ignora eso|ignora lo|忽略之前|忽略上面|忽略前面|忽略刚才|忘了刚才|忘了之前|忘掉刚才|当我没说",
    ),
    (Correction::Dont, "不要用|别用|不要使用|请不要使用|请不要用|不要再用"),
    (Correction::Sorry, "sorry, i meant|sorry i meant|sorry, i mean|sorry, i was wrong"),
    (
        Correction::Sorry,
        "sorry, i misspoke|sorry, i mistyped|sorry, i misread|sorry, i got|sorry, i gave|sorry, i wrote",
    ),
    (Correction::Sorry, "sorry, i said|sorry, i made|sorry, i confused|sorry, i mixed|sorry, i should have"),
    (Correction::Sorry, "sorry, that was wrong|sorry, that was a mistake|sorry, it should|sorry, that should"),
    (Correction::Sorry, "sorry, correction|sorry, wrong|apologies, i meant|apologies, i was|apologies, i misread"),
    (
        Correction::Sorry,
        "apologies, that was|sorry, ich meinte|entschuldigung, ich meinte|entschuldigung, ich habe mich",
    ),
    (Correction::Sorry, "sorry, ich habe mich|pardon, je voulais dire|désolé, je voulais dire|pardon, je me suis"),
    (
        Correction::Sorry,
        "désolé, je me suis|perdón, quise decir|perdón, me equivoqué|perdón, quería decir|抱歉，我说错|抱歉，我弄错",
    ),
    (Correction::Sorry, "抱歉，我搞错|抱歉，我写错|不好意思，我说错|对不起，我说错|对不起，我弄错|对不起，我搞错"),
    (Correction::OwnError, "i was wrong|i was mistaken|i was incorrect|i made a mistake|i made an error|i misspoke"),
    (
        Correction::OwnError,
        "i mistyped|i misread|i misremembered|i meant|i got that wrong|i got it wrong|that was wrong",
    ),
    (Correction::OwnError, "that was incorrect|that was my mistake|what i said was wrong"),
    (Correction::OwnError, "my previous answer was|my previous message was|my last message was|my earlier answer was"),
    (Correction::OwnError, "ich meinte|ich habe mich geirrt|ich lag falsch|das war falsch|je me suis trompé"),
    (Correction::OwnError, "je voulais dire|me equivoqué|quise decir|我错了|我说错了|我弄错了|我搞错了|我写错了"),
    (Correction::Rephrase, "let me correct|let me rephrase|let me restate|let me rectify|let me revise my"),
    (Correction::Rephrase, "to correct myself|to correct my|i need to correct|i have to correct|i should correct"),
    (
        Correction::Rephrase,
        "i want to correct|i must correct|i'd like to correct|lass mich das korrigieren|ich korrigiere",
    ),
    (Correction::Rephrase, "ich muss das korrigieren|ich muss mich korrigieren|je corrige|je reformule"),
    (Correction::Rephrase, "laissez-moi corriger|corrijo|déjame corregir|让我更正|我的意思是|我更正|我纠正"),
];

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
