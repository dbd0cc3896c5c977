//! Extracts: scores the units of one or more texts, packs the best into the budget, keeps their order.

use super::budget::{Style, budget_of};
use super::discourse::Discourse;
use super::draft::{Draft, Proposal, Wrap, shorten, unit_key};
use super::ending::{self, ending};
use super::entities::{entities, most_telling};
use super::packing::{BLANK, GAP, MAX_ADDED, Packing, Piece, facts_in, joiner, whole};
use super::plugins::deciding_scores;
use super::score::{FILLER, Scorer, Scores, Weight};
use super::spoken::{Hints, Keys, Spoken, Voice};
use super::tokens::without_tokens;
use crate::model::CompressionDepth;
use crate::text::{Fact, Span, TextView, Unit, plain};

/// The best unit may exceed the budget by this much, as long as something is saved: better one sentence too
/// long than the second best.
const STRETCH: f64 = 2.0;
/// Of the text, which even a stretched budget does not pass.
const MAX_SHARE: f64 = 0.75;
/// So many characters of a question or request are free.
const MAX_ASKED: usize = 60;
/// A shorter text whose best unit does not fit is told whole: it could only be cut, or give its second best.
pub(super) const MAX_UNCUT: usize = 240;
/// A shorter run without a blank is a word, a path or a URL.
const MIN_RUN: usize = 240;
/// So much of the best sentence stands for a text of which nothing was chosen.
const MAX_UNCHOSEN: usize = 80;
/// Brackets, counts, and what stands between and behind sentences take fewer characters.
pub(super) const MAX_AROUND: usize = 100;
/// And they take no fewer: `[summary: ]`.
pub(super) const MIN_AROUND: usize = 11;
/// A sentence is cut to no fewer characters.
const MIN_CUT: usize = 20;
/// Facts in the summary that consists of nothing else.
const MAX_STUB_ENTITIES: usize = 10;

/// A summary of `texts`, each with its own budget. `max_chars` is the budget of each text when given.
#[must_use]
pub fn summarize(texts: &[Spoken<'_>], wrap: &Wrap, style: Style, max_chars: Option<usize>) -> Proposal {
    if style.depth == CompressionDepth::Aggressive {
        return Proposal::unlisted(stub(texts, style), wrap);
    }
    let mut body = Draft::default();
    let mut shown = Keys::default();
    // What a classifier let go was let go on purpose: it is not listed again.
    let mut listed = Vec::with_capacity(texts.len());
    for spoken in texts {
        let filtered = if style.is_usual() && max_chars.is_none() { filtered(spoken) } else { None };
        if !body.text.is_empty() {
            body.say(if filtered.is_some() { "\n\n" } else { GAP });
        }
        if let Some(draft) = filtered {
            body.append(&draft);
        } else if max_chars.is_none() && is_uncut(spoken, style) {
            tell(spoken, &mut shown, &mut body);
            listed.push(*spoken);
        } else {
            extract(spoken, max_chars.unwrap_or_else(|| budget_of(spoken, style)), &mut shown, &mut body);
            listed.push(*spoken);
        }
    }
    // What was left was left for what was chosen.
    if texts.iter().all(|spoken| spoken.hints.chosen.is_some()) {
        return Proposal::unlisted(body, wrap);
    }
    let entities = entities(&listed, &body.text);
    Proposal::summary(body, wrap, entities)
}

/// What a classifier of tokens left of the text; it has no budget, so that it stands for no tighter summary.
fn filtered(spoken: &Spoken<'_>) -> Option<Draft> {
    spoken.hints.tokens.and_then(|decisions| without_tokens(&spoken.view, decisions))
}

/// At most so many characters has what [`summarize`] makes of `texts`; `None` where nobody can say before it is written.
#[must_use]
pub fn most_chars(texts: &[Spoken<'_>], style: Style) -> Option<usize> {
    let of_text = |spoken: &Spoken<'_>| {
        let n_chars = spoken.view.counts.chars as usize;
        // What a program or a user says is told with how it ended and what it asks.
        let is_plain = matches!(spoken.voice, Voice::Assistant | Voice::Other) && !spoken.hints.is_by_others();
        let budget = budget_of(spoken, style);
        let most = budget.max(stretched(&spoken.view, budget)) + MAX_ADDED + MAX_AROUND;
        is_plain.then_some(if n_chars < MAX_UNCUT { n_chars + MAX_AROUND } else { most })
    };
    texts.iter().map(of_text).sum()
}

/// At least so many characters has what [`summarize`] makes of `texts`: each shows a sentence, or as much of one as is never cut.
#[must_use]
pub fn least_chars(texts: &[Spoken<'_>]) -> usize {
    let of_text = |spoken: &Spoken<'_>| {
        let (view, is_by_others) = (&spoken.view, spoken.hints.is_by_others() || !spoken.view.fences.is_empty());
        let n_letters =
            |unit: &Unit| unit.span.of(view.text).chars().filter(|c| c.is_alphabetic()).take(MIN_CUT).count();
        if is_by_others { 0 } else { view.units.iter().map(n_letters).min().unwrap_or_default() }
    };
    texts.iter().map(of_text).sum::<usize>() + MIN_AROUND
}

/// The most telling facts alone; where there are none, the beginning of the best sentence of each text.
pub(super) fn stub(texts: &[Spoken<'_>], style: Style) -> Draft {
    let mut out = Draft::default();
    for spoken in texts {
        let ended = ending(spoken);
        if !out.text.is_empty() && !ended.is_empty() {
            out.say(ending::SEPARATOR);
        }
        ending::say(&ended, &mut out);
    }
    let mut join = if out.text.is_empty() { "" } else { ending::SEPARATOR };
    for entity in most_telling(texts, MAX_STUB_ENTITIES) {
        out.say(std::mem::replace(&mut join, ", "));
        let start = out.text.len();
        out.say(&entity);
        out.entities.push(start..out.text.len());
    }
    if out.text.is_empty() {
        for spoken in texts {
            if !out.text.is_empty() {
                out.say(GAP);
            }
            let view = &spoken.view;
            let best = best_unit(spoken).map_or(view.covered(), |index| whole_span(view, index).of(view.text));
            shorten(&plain(best), budget_of(spoken, style), &mut out);
        }
    }
    out
}

/// Appends the whole text to `out`.
pub(super) fn tell(spoken: &Spoken<'_>, shown: &mut Keys, out: &mut Draft) {
    let view = &spoken.view;
    shown.extend(view.facts.iter().map(|fact| fact.key));
    view.units.iter().for_each(|unit| out.shows(view, unit));
    out.quote_units(&plain(view.covered()), view.fences.is_empty());
}

/// True for a short text of which an extract would show a fragment, or not the best.
pub(super) fn is_uncut(spoken: &Spoken<'_>, style: Style) -> bool {
    spoken.hints.chosen.is_none() && (spoken.view.counts.chars as usize) < MAX_UNCUT && !shows_best_unit(spoken, style)
}

/// Appends the extract of one text to `out`.
pub(super) fn extract(spoken: &Spoken<'_>, budget: usize, shown: &mut Keys, out: &mut Draft) {
    let view = &spoken.view;
    let start = out.text.len();
    let ended = ending(spoken);
    let n_ended = ending::say(&ended, out);
    let mut picked = select(spoken, budget.saturating_sub(n_ended).max(budget / 2), shown);
    picked.retain(|piece| !ended.contains(&piece.span.of(view.text).trim()));
    if !ended.is_empty() && !picked.is_empty() {
        out.say(ending::SEPARATOR);
    }
    write(view, &picked, spoken.hints.chosen.is_some(), out);
    if picked.is_empty() && ended.is_empty() {
        let budget = if spoken.hints.chosen.is_some() { budget.min(MAX_UNCHOSEN) } else { budget };
        let best = best_unit(spoken).map_or(view.covered(), |index| whole_span(view, index).of(view.text));
        shorten(&plain(best), budget, out);
    }
    if let Some((kind, blob)) = longest_run(view)
        && !out.text.get(start..).unwrap_or_default().contains(blob)
    {
        out.say(&format!("{GAP}({} characters of {kind})", blob.len()));
    }
}

/// Appends `pieces` of one text. With `is_exact` a fact that goes on in the next piece is quoted as one.
pub(super) fn write(view: &TextView<'_>, pieces: &[Piece], is_exact: bool, out: &mut Draft) {
    let mut told_until = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let words = plain(piece.span.of(view.text));
        let joiner = at.checked_sub(1).map(|at| joiner(view, &pieces[at], piece));
        let goes_on = piece.span.start < told_until;
        let unit = &view.units[piece.unit];
        let facts = if piece.span == unit.span { view.facts_of(unit) } else { facts_in(view, piece.span) };
        told_until = facts.iter().map(|fact| fact.span.end).fold(told_until, u32::max);
        let is_whole = piece.span.start <= unit.span.start && piece.span.end == unit.span.end;
        let is_known = is_whole && told_until <= piece.span.end;
        if is_exact && joiner == Some(BLANK) && goes_on {
            out.quote_on(&words, is_known);
        } else {
            out.say(joiner.unwrap_or_default());
            out.quote_units(&words, is_known);
        }
        out.shows(view, unit);
        // The number of an item stands before it.
        if piece.span.start < unit.span.start {
            let number = Span { start: piece.span.start, end: unit.span.start };
            out.shown.extend(facts_in(view, number).iter().map(|fact| fact.key));
        }
    }
}

/// What fits, in text order: first the best of each paragraph, then the others, each time the best first; what is shown
/// already does not count again, and a whole unit that the conversation shows before comes last.
fn select(spoken: &Spoken<'_>, budget: usize, shown: &mut Keys) -> Vec<Piece> {
    let view = &spoken.view;
    if let Some(chosen) = spoken.hints.chosen {
        let is_chosen = |index: &usize| chosen.binary_search(&view.units[*index].span.start).is_ok();
        let taken: Vec<usize> = (0..view.units.len()).filter(is_chosen).collect();
        let facts = taken.iter().flat_map(|&index| view.facts_of(&view.units[index]));
        shown.extend(facts.map(|fact| fact.key));
        return Packing::laid_out(view, &taken);
    }
    let fixed = Scores::of(&[*spoken]);
    let scorer = fixed.scorer(0, view);
    let scores = points(spoken, &scorer);
    let ranks = ranks(view, &scores, &spoken.hints);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&index| scores[index] >= 0).collect();
    order.sort_by(|&a, &b| ranks[b].total_cmp(&ranks[a]));
    let discourse = spoken.hints.by_clauses.then(|| Discourse::of(view));
    let mut packing = Packing::new(budget, stretched(view, budget), &scores, discourse);
    packing.budget += asked(spoken, &scorer, &order);
    let is_said = |&index: &usize| is_earlier(spoken, unit_key(view.units[index].span.of(view.text)));
    let (said, order): (Vec<usize>, Vec<usize>) = order.into_iter().partition(is_said);
    let (primaries, others) = split_primaries(view, &ranks, order);
    for candidates in [primaries, others, said] {
        let mut repeated = Vec::new();
        for index in candidates {
            let fresh = |fact: &Fact| if shown.contains(&fact.key) { Weight::None } else { weight(spoken, fact) };
            if scorer.score(index, fresh) * 2 < scores[index] {
                repeated.push(index);
            } else {
                packing.take(view, index, &scorer.chosen_by(index), shown);
            }
        }
        for index in repeated {
            packing.take(view, index, &scorer.chosen_by(index), shown);
        }
    }
    if let Some(index) = scorer.last_ask() {
        packing.add(view, index);
    }
    packing.pieces(view)
}

/// What decides in which order the units of `view` are shown: `points` itself, or with the entropy of those that have
/// any; the others come last.
fn ranks(view: &TextView<'_>, points: &[i32], hints: &Hints<'_>) -> Vec<f64> {
    let Some((scores, mode)) = hints.entropy.filter(|_| !hints.by_clauses) else {
        return points.iter().copied().map(f64::from).collect();
    };
    let candidates: Vec<usize> = (0..points.len()).filter(|&index| points[index] >= 0).collect();
    let heuristic: Vec<f64> = candidates.iter().map(|&index| f64::from(points[index])).collect();
    let entropy: Vec<f64> = candidates.iter().map(|&index| scores.of(&view.units[index])).collect();
    let mut ranks = vec![f64::MIN; points.len()];
    for (index, rank) in candidates.into_iter().zip(deciding_scores(&heuristic, &entropy, mode)) {
        ranks[index] = rank;
    }
    ranks
}

/// The points of every unit. A fact that the conversation shows before counts half.
fn points(spoken: &Spoken<'_>, scorer: &Scorer<'_, '_>) -> Vec<i32> {
    (0..spoken.view.units.len()).map(|index| scorer.score(index, |fact| weight(spoken, fact))).collect()
}

fn weight(spoken: &Spoken<'_>, fact: &Fact) -> Weight {
    if is_earlier(spoken, fact.key) { Weight::Half } else { Weight::Full }
}

/// True for what the conversation shows before the text; where the caller's scorer decides, that makes no difference.
fn is_earlier(spoken: &Spoken<'_>, key: u64) -> bool {
    spoken.hints.entropy.is_none() && spoken.hints.earlier.is_some_and(|earlier| earlier.contains(&key))
}

/// What the best question or request may take beyond the budget, so that it takes no place from facts.
fn asked(spoken: &Spoken<'_>, scorer: &Scorer<'_, '_>, order: &[usize]) -> usize {
    let units = &spoken.view.units;
    let best = order.iter().find(|&&index| scorer.is_asking(index));
    best.map_or(0, |&index| (units[index].n_chars as usize).min(MAX_ASKED))
}

/// What the first unit may take at most.
fn stretched(view: &TextView<'_>, budget: usize) -> usize {
    (budget as f64 * STRETCH).min(f64::from(view.counts.chars) * MAX_SHARE) as usize
}

/// True when a summary of the text would show its best unit whole: where it would not, it shows the second best or a cut.
fn shows_best_unit(spoken: &Spoken<'_>, style: Style) -> bool {
    let budget = budget_of(spoken, style);
    let view = &spoken.view;
    best_unit(spoken).is_some_and(|index| {
        let n_chars: usize = whole(view, index).map(|index| view.units[index].n_chars as usize).sum();
        n_chars <= budget.max(stretched(view, budget))
    })
}

/// From the start of a unit to the end of what it announces.
fn whole_span(view: &TextView<'_>, index: usize) -> Span {
    let last = whole(view, index).end - 1;
    Span { start: view.units[index].span.start, end: view.units[last].span.end }
}

/// The best unit of each paragraph apart from the rest; both keep the order of `order`.
fn split_primaries(view: &TextView<'_>, scores: &[f64], order: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
    let mut best: Vec<Option<usize>> = Vec::new();
    for (index, unit) in view.units.iter().enumerate() {
        let paragraph = unit.paragraph as usize;
        if best.len() <= paragraph {
            best.resize(paragraph + 1, None);
        }
        if best[paragraph].is_none_or(|other| scores[index] > scores[other]) {
            best[paragraph] = Some(index);
        }
    }
    order.into_iter().partition(|&index| best[view.units[index].paragraph as usize] == Some(index))
}

fn best_unit(spoken: &Spoken<'_>) -> Option<usize> {
    let points = points(spoken, &Scores::of(&[*spoken]).scorer(0, &spoken.view));
    let points: Vec<i32> = points.into_iter().map(|points| points.max(FILLER)).collect();
    let ranks = ranks(&spoken.view, &points, &spoken.hints);
    (0..ranks.len()).rev().max_by(|&a, &b| ranks[a].total_cmp(&ranks[b]))
}

/// The longest run of ASCII without a blank, which no summary can quote, in what is viewed, and what it looks like.
fn longest_run<'a>(view: &TextView<'a>) -> Option<(&'static str, &'a str)> {
    if (view.counts.longest_piece as usize) < MIN_RUN {
        return None;
    }
    let run = view.covered().split_ascii_whitespace().max_by_key(|run| run.len())?;
    if run.len() < MIN_RUN || !run.is_ascii() || run.starts_with("http") {
        return None;
    }
    let all = |test: fn(u8) -> bool| run.bytes().all(test);
    let kind = if all(|byte| byte.is_ascii_hexdigit()) {
        "hex digits"
    } else if all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)) {
        "base64"
    } else if run.starts_with("data:") {
        "a data URL"
    } else {
        "text without blanks"
    };
    Some((kind, run))
}

#[cfg(test)]
mod tests {
    use super::{least_chars, summarize};
    use crate::model::CompressionDepth;
    use crate::summary::{Hints, Keys, Spoken, Style, Voice, Wrap, keys};
    use crate::text::{Lexed, Lexer};

    /// The summary of `texts`, with up to `max_chars` characters, where the size is `fits`.
    fn told(texts: &[&str], max_chars: Option<usize>, fits: impl Fn(usize) -> bool) -> String {
        let mut lexer = Lexer::default();
        let lexed: Vec<Lexed> = texts.iter().map(|text| lexer.lex(text)).collect();
        let spoken =
            |(text, lexed)| Spoken { view: lexer.view(text, lexed), voice: Voice::Other, hints: Hints::default() };
        let spoken: Vec<Spoken<'_>> = texts.iter().copied().zip(&lexed).map(spoken).collect();
        let style = Style::new(CompressionDepth::Gentle);
        summarize(&spoken, &Wrap::default(), style, max_chars).accept(fits).map_or_else(String::new, |draft| draft.text)
    }

    #[track_caller]
    fn check(text: &str, max_chars: usize, expected: &str) {
        let told = told(&[text], Some(max_chars), |_| true);
        let body = told.split(" | entities").next().unwrap_or_default().trim_end_matches(']');
        assert_eq!(body, format!("[summary: {expected}"));
    }

    #[test]
    fn a_sentence_that_fits_with_a_blank_before_it_is_shown() {
        let first = "The valve KMS-7781 cost $500 in 2024.";
        let second = "It must stay shut until the crew of the night comes.";
        let text =
            format!("{first} {second} The garden was quiet and nobody said anything about the rain of the week.");
        let both = format!("{first} {second}");
        check(&text, both.len(), &both);
        check(&text, both.len() - 1, first);
        // Between list items stands a sign and a blank.
        let list =
            "- valve KMS-7781 for $500\n- valve KMS-7782 for $700\n- the garden was quiet for the whole of the day";
        let both = "valve KMS-7781 for $500; valve KMS-7782 for $700";
        check(list, both.len(), both);
        check(list, both.len() - 1, "valve KMS-7781 for $500");
    }

    #[test]
    fn no_summary_is_shorter_than_is_known_before() {
        let first = "The valve KMS-7781 cost $500 in 2024.";
        let second = "It must stay shut until the crew of the night comes.";
        for text in [first.to_owned(), format!("{first} {second}"), format!("Yes. {second} ").repeat(9)] {
            for texts in [&[text.as_str()][..], &[first, text.as_str()]] {
                let mut lexer = Lexer::default();
                let lexed: Vec<Lexed> = texts.iter().map(|text| lexer.lex(text)).collect();
                let view = |(text, lexed)| lexer.view(text, lexed);
                let views = texts.iter().copied().zip(&lexed).map(view);
                let spoken: Vec<Spoken<'_>> =
                    views.map(|view| Spoken { view, voice: Voice::Other, hints: Hints::default() }).collect();
                assert!(least_chars(&spoken) <= told(texts, None, |_| true).chars().count(), "{texts:?}");
            }
        }
    }

    #[test]
    fn short_texts_of_a_group_are_not_cut() {
        let long = "The boiler is 14 years old. ".repeat(40);
        let short = "But, um, Susanne Burger, who is at the institute, and who was formerly in the other town and is now back \
            with the others, said that she has something which she uses to do eight channels at once, all of them";
        assert!(short.len() < 240);
        let told = told(&[&long, short], None, |_| true);
        assert!(told.contains(short), "{told}");
    }

    #[test]
    fn entities_give_way_one_by_one_and_the_least_telling_first() {
        let text =
            "Anna Berger was there, and Ben Meier was not, and KMS-7781 is the ticket of what they had to say to \
            each other on the long way back from the river to the house on the hill, where it was dark. "
                .to_owned()
                + &"The garden must never be watered at noon, because the sun burns the leaves then. ".repeat(6);
        let text = text.as_str();
        let list = |max: usize| {
            let told = told(&[text], Some(90), |n_chars| n_chars <= max);
            told.split_once(" | entities: ").map(|(_, list)| list.trim_end_matches(']').to_owned())
        };
        let full = told(&[text], Some(90), |_| true).chars().count();
        assert_eq!(list(full).as_deref(), Some("Anna Berger, Ben Meier, KMS-7781"));
        assert_eq!(list(full - 1).as_deref(), Some("Anna Berger, KMS-7781"));
        assert_eq!(list(full - ", Ben Meier".len() - 1).as_deref(), Some("KMS-7781"));
        assert_eq!(list(full - ", Ben MeierAnna Berger, ".len() - 1), None);
    }

    #[test]
    fn what_only_announces_or_rates_gives_way() {
        let says = "The pump in the cellar stops at night when the fuse gets too warm.";
        for empty in [
            "The meeting covered several important topics.",
            "Keeping a cellar dry is one of the hardest problems.",
            "This is a great question!",
            "There are several ways to do this:",
        ] {
            check(&format!("{empty}\n\n{says} The others sat in the sun."), 70, says);
        }
        for (empty, says) in [
            ("Das ist eine sehr wichtige Frage.", "Die Pumpe im Keller bleibt stehen, sobald es Nacht wird."),
            ("C'est une excellente question.", "La pompe de la cave tombe en panne chaque nuit."),
            ("Es una excelente pregunta.", "La bomba del sótano se para todas las noches."),
            ("这是一个好问题。", "地下室的水泵晚上停了，原因是保险丝太热。"),
        ] {
            check(&format!("{empty} {says}"), says.chars().count(), says);
        }
        check("This is a great question!", 80, "This is a great question!");
    }

    #[test]
    fn deeds_consensus_and_number_words_count() {
        let quiet = "The garden was quiet and the air was warm all through the day.";
        for says in [
            "Anna will send the draft by Friday.",
            "Everyone agreed to keep the shed.",
            "We all think the shed is too small.",
            "Three of the five are at work.",
            "Anna schickt den Entwurf bis Freitag.",
            "Tout le monde est d'accord là-dessus.",
            "Ana lo enviará antes del viernes.",
        ] {
            check(&format!("{quiet} {says} {quiet}"), says.chars().count(), says);
        }
    }

    #[test]
    fn a_decision_that_points_back_brings_what_it_points_to() {
        let rest = "The garden was quiet and the air was warm all through the day, and so it stayed for a while.";
        for (named, other, decides) in [
            (
                "The second option is a roof of tin.",
                "The first option is a roof of straw.",
                "We decided on the second option.",
            ),
            ("One idea is tin, or straw.", "The rain was loud.", "We all agreed to take both approaches."),
            (
                "Das zweite wäre ein Dach aus Blech.",
                "Das erste wäre ein Dach aus Stroh.",
                "Wir nehmen den zweiten Vorschlag.",
            ),
        ] {
            let told = told(&[&format!("{rest} {other} {named} {rest} {decides}")], Some(90), |_| true);
            assert!(told.contains(named) && told.contains(decides), "{told}");
        }
    }

    #[test]
    fn what_the_conversation_shows_already_comes_last() {
        let said = "The valve KMS-7781 cost $500 in 2024.";
        let new = "The shed has a roof of straw that leaks.";
        let text = format!("{said} {new}");
        let mut lexer = Lexer::default();
        let lexed = lexer.lex(&text);
        let view = lexer.view(&text, &lexed);
        let earlier: Keys = keys(&view, &view.units[0]).collect();
        for (earlier, shown) in [(None, said), (Some(&earlier), new)] {
            let spoken = Spoken { view, voice: Voice::Other, hints: Hints { earlier, ..Hints::default() } };
            let style = Style::new(CompressionDepth::Gentle);
            let draft = summarize(&[spoken], &Wrap::default(), style, Some(42)).accept(|_| true);
            assert!(draft.is_some_and(|draft| draft.text.contains(shown)));
        }
    }
}
