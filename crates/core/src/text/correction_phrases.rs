//! The phrases that correct by themselves, in English, German, French, Spanish and Chinese. Lower case, with `|`
//! between them; a phrase that ends with a sign needs that sign. Knows no rule but how they begin.

use std::sync::LazyLock;

use super::corrections::Correction;

/// Sorted by phrase.
static SORTED: LazyLock<Vec<(&str, Correction)>> = LazyLock::new(|| {
    let of = |&(kind, list): &(Correction, &'static str)| list.split('|').map(move |phrase| (phrase, kind));
    let mut sorted: Vec<(&str, Correction)> = PHRASES.iter().flat_map(of).collect();
    sorted.sort_unstable();
    sorted
});

/// The kind of the phrase that `text` begins with; `text` is in lower case.
pub(super) fn phrase(text: &str) -> Option<Correction> {
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
