//! Says whether a sentence asks the other side for something: a question by its mark or its last word, a request by the
//! words that requests begin with. Knows single sentences; refuses to know who speaks.

/// What a sentence asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// An answer.
    Question,
    /// A deed.
    Request,
}

/// Signs behind the mark of a question: quotes, brackets, an emoji, more marks.
const MAX_BEHIND: usize = 8;
/// Words in front among which a request shows.
const MAX_HEAD: usize = 4;

/// One of these anywhere asks for something.
const POLITE: &[&str] = &["please", "pls", "plz", "bitte", "svp"];
/// The same for what is said in several words or without blanks.
const PHRASES: &[&str] =
    &["s'il te plaît", "s'il vous plaît", "por favor", "请", "請", "帮我", "幫我", "ください", "お願い", "教えて"];
/// One of these with one of `SIDES` behind it.
const MODALS: &[&str] = &[
    "can",
    "could",
    "would",
    "will",
    "should",
    "shall",
    "may",
    "do",
    "did",
    "kannst",
    "könntest",
    "würdest",
    "können",
    "könnten",
    "würden",
    "peux",
    "pourrais",
    "pouvez",
    "pourriez",
];
const SIDES: &[&str] = &["you", "u", "we", "i", "du", "sie", "wir", "ich", "tu", "vous", "nous", "je"];
/// One of `SIDES` with one of these behind it.
const WISHES: &[&str] =
    &["want", "need", "would", "möchte", "brauche", "brauchen", "will", "wollen", "veux", "voudrais", "voulons"];
/// A first word that asks by itself.
const OPENERS: &[&str] = &[
    "let's",
    "lets",
    "i'd",
    "we'd",
    "puedes",
    "puede",
    "podrías",
    "podría",
    "quiero",
    "necesito",
    "add",
    "adjust",
    "analyze",
    "answer",
    "apply",
    "ask",
    "build",
    "change",
    "check",
    "clean",
    "commit",
    "compare",
    "consider",
    "continue",
    "convert",
    "create",
    "delete",
    "describe",
    "do",
    "don't",
    "enable",
    "ensure",
    "explain",
    "extract",
    "figure",
    "find",
    "fix",
    "generate",
    "get",
    "give",
    "go",
    "help",
    "implement",
    "improve",
    "install",
    "investigate",
    "keep",
    "list",
    "look",
    "make",
    "merge",
    "move",
    "never",
    "open",
    "provide",
    "push",
    "put",
    "read",
    "refactor",
    "remove",
    "rename",
    "replace",
    "review",
    "rewrite",
    "run",
    "search",
    "send",
    "set",
    "show",
    "solve",
    "start",
    "stop",
    "suggest",
    "summarize",
    "tell",
    "test",
    "translate",
    "try",
    "update",
    "use",
    "verify",
    "write",
];

/// What the sentence `text` asks for, if anything. Meant for what a person says: an account of what was done may begin
/// like a request.
#[must_use]
pub fn ask(text: &str) -> Option<Ask> {
    if is_question(text) {
        return Some(Ask::Question);
    }
    is_request(text).then_some(Ask::Request)
}

fn is_question(text: &str) -> bool {
    let mut behind = text.chars().rev().take(MAX_BEHIND).skip_while(|&c| !c.is_alphanumeric() && !is_mark(c));
    match behind.next() {
        Some(c) if is_mark(c) => true,
        // Particles that make a question of a statement in Chinese, Japanese and Korean.
        Some(c) => matches!(c, '吗' | '嗎' | 'か' | '까'),
        None => false,
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '⸮' | '՞' | '፧' | '꘏' | '⁇' | '⁈' | '⁉' | '‽' | '﹖' | '︖')
}

fn is_request(text: &str) -> bool {
    let is_one_of = |word: &str, list: &[&str]| list.iter().any(|known| is(word, known));
    let words = || text.split([' ', '\n', '\t']).map(bare).filter(|word| !word.is_empty());
    let mut before = "";
    for (at, word) in words().take(MAX_HEAD).enumerate() {
        let asks = is_one_of(before, MODALS) && is_one_of(word, SIDES)
            || is_one_of(before, SIDES) && is_one_of(word, WISHES)
            || at == 0 && is_one_of(word, OPENERS) && !text.starts_with(['(', '[', '<']);
        if asks {
            return true;
        }
        before = word;
    }
    words().any(|word| is_one_of(word, POLITE)) || PHRASES.iter().any(|phrase| text.contains(phrase))
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is(word: &str, known: &str) -> bool {
    word.eq_ignore_ascii_case(known) || word.contains('’') && word.replace('’', "'").eq_ignore_ascii_case(known)
}

#[cfg(test)]
mod tests {
    use super::{Ask, ask};

    #[test]
    fn questions_have_a_mark_or_a_particle() {
        for text in ["Is that OK?", "Really?!", "(what now?)", "这样可以吗", "これでいいですか。", "هل هذا صحيح؟"]
        {
            assert_eq!(ask(text), Some(Ask::Question), "{text}");
        }
        assert_eq!(ask("That is OK."), None);
        assert_eq!(ask("See https://a.example/b?c=1 there"), None);
    }

    #[test]
    fn requests_are_known_by_their_first_words() {
        for text in [
            "can you look at this project",
            "Ok, could we use the other one",
            "I need the list by noon.",
            "Let’s go on.",
            "Mach das bitte fertig.",
            "Könntest du das prüfen",
            "请把它改成三十秒",
            "Fix the test.",
        ] {
            assert_eq!(ask(text), Some(Ask::Request), "{text}");
        }
        for text in ["The list was fixed.", "We added a test.", "They can use it."] {
            assert_eq!(ask(text), None, "{text}");
        }
    }
}
