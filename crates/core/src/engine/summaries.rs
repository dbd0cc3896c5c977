//! Texts by a model: once it is settled which messages become one, each summary is asked for, once, and takes the place
//! of the engine's own when it is good enough. Knows units and slots; refuses to know prompts and who answers.

use super::checks::{clean, objection};
use super::fill::{Filler, saves, used_of};
use super::told;
use super::unit::{Filled, State, Unit};
use crate::model::{Action, Answer, Ask, Consult, NewBody, NoAnswer, Reason, SummaryAsk};
use crate::stage::Plan;
use crate::summary::{Draft, Proposal, Spoken, Style, budget_of, entities, talk_budget};

/// No model says anything in less.
const MIN_ANSWER_CHARS: usize = 60;
/// A text that the engine could not make shorter is worth a question from this length on.
const MIN_KEPT_CHARS: usize = 240;

/// Asks for every summary among `units`, and puts the answers that there are in their places. While a ruling is open it
/// is not settled which messages become one: what was asked now would be paid for in vain.
pub(super) fn fill(filler: &mut Filler<'_>, plan: &mut Plan, units: &mut [Unit], consult: &mut Consult<'_>) {
    if filler.options().summarizer.modes().is_empty() || consult.n_open > 0 {
        return;
    }
    for unit in units {
        let (state, notes) = match &unit.state {
            State::Replaced(filled) if filled.reason == Reason::Unused => told(filler, unit, filled, consult),
            State::Replaced(filled) if may_be_asked(filled) => asked(filler, unit, filled, consult),
            State::Kept(Reason::SingleReverted) => kept(filler, unit, consult),
            _ => continue,
        };
        plan.notes.extend(unit.members.iter().flat_map(|&index| notes.iter().map(move |&reason| (index, reason))));
        if let Some(filled) = state {
            *unit = filler.unit(std::mem::take(&mut unit.members), State::Replaced(filled));
        }
    }
}

/// Summaries of what is said, also between code; what keeps another structure, and summaries of summaries, are the
/// engine's own.
fn may_be_asked(filled: &Filled) -> bool {
    let is_talk = matches!(
        filled.reason,
        Reason::CompressibleProse
            | Reason::MergedCompressed
            | Reason::FlowQa
            | Reason::FlowRequest
            | Reason::FlowCorrection
            | Reason::FlowAcknowledgment
            | Reason::Cluster
            | Reason::BudgetTightened
    );
    is_talk && filled.action == Action::Compressed || filled.reason == Reason::CodeSplit
}

/// A question about one text, and what an answer has to fit into.
struct Question<'q> {
    sources: &'q [Spoken<'q>],
    /// The sources as a model reads them.
    text: String,
    /// What stands there now.
    draft: &'q Draft,
    max_chars: usize,
}

/// The unit with what a model says in each slot; `None` when nothing of it is taken.
fn asked(
    filler: &Filler<'_>,
    unit: &Unit,
    filled: &Filled,
    consult: &mut Consult<'_>,
) -> (Option<Filled>, Vec<Reason>) {
    let mut notes = Vec::new();
    let mut drafts = filled.drafts.clone();
    let mut n_taken = 0;
    let spoken_parts = match &filled.body {
        NewBody::Text(_) => Vec::new(),
        NewBody::Parts(_) => filler.spoken_parts(unit.first()),
    };
    let part_at = |place: usize| {
        let found = spoken_parts.binary_search_by_key(&place, |(other, _)| *other);
        found.ok().map(|at| spoken_parts[at].1)
    };
    for (at, draft) in filled.drafts.iter().enumerate() {
        let sources = match &filled.body {
            NewBody::Text(_) => filler.spoken(&unit.members),
            NewBody::Parts(parts) => parts.get(at).and_then(|(place, _)| part_at(*place)).into_iter().collect(),
        };
        if !draft.passages.is_empty() {
            let (draft, n) = between_code(filler, unit, &sources, draft, consult, &mut notes);
            drafts[at] = draft;
            n_taken += n;
            continue;
        }
        let Some(question) = question(filler, unit, &sources, draft) else { continue };
        let n_chars: usize = sources.iter().map(|source| source.view.counts.chars as usize).sum();
        let n_metadata = match &filled.body {
            NewBody::Text(_) => filled.n_metadata(),
            NewBody::Parts(_) => 0,
        };
        let n_before = draft.n_chars();
        let fits = |length: usize| length <= n_before || saves(length + n_metadata, n_chars, filler.min_saving);
        let taken = put(&question, filler, consult, &mut notes, &fits);
        if let Some(draft) = taken {
            drafts[at] = draft;
            n_taken += 1;
        }
    }
    let shorter = (n_taken > 0).then(|| rewritten(filler, unit, filled, drafts)).flatten();
    count(n_taken, shorter.is_some(), consult, &mut notes);
    (shorter, notes)
}

/// The unit whose marks tell what they hide; `None` when none does.
fn told(filler: &Filler<'_>, unit: &Unit, filled: &Filled, consult: &mut Consult<'_>) -> (Option<Filled>, Vec<Reason>) {
    let mut notes = Vec::new();
    // A budget was met with what stands there.
    if filler.options().token_budget.is_some() {
        return (None, notes);
    }
    let Some(marked) = &filled.marked else { return (None, notes) };
    let index = unit.first();
    let message = &filler.view.conversation.messages[index];
    let (views, n_taken) = told::told(message, &marked.views, used_of(&filler.used, index), consult, &mut notes);
    let shown = || filler.shown(index, views, marked.spots.clone(), filled.provenance.clone());
    let told = (n_taken > 0).then(shown).flatten().filter(|told| filler.saves_by_use(index, told));
    count(n_taken, told.is_some(), consult, &mut notes);
    (told, notes)
}

/// Counts the answers of a unit that were good enough; `fits` when they stand where they should.
fn count(n_taken: usize, fits: bool, consult: &mut Consult<'_>, notes: &mut Vec<Reason>) {
    if fits {
        consult.n_summaries += n_taken;
    } else if n_taken > 0 {
        consult.n_fallbacks += n_taken;
        notes.retain(|reason| *reason != Reason::LlmSummary);
        notes.push(Reason::LlmTooLong);
    }
}

/// The draft with what a model says of its passages, and of how many; the last first, so that the others stay in place.
fn between_code(
    filler: &Filler<'_>,
    unit: &Unit,
    sources: &[Spoken<'_>],
    draft: &Draft,
    consult: &mut Consult<'_>,
    notes: &mut Vec<Reason>,
) -> (Draft, usize) {
    let (mut out, mut n_taken) = (draft.clone(), 0);
    for passage in draft.passages.iter().rev() {
        let Some(source) = sources.first() else { break };
        let own = draft.passage(passage);
        let source = [Spoken { view: source.view.passage(passage.source), ..*source }];
        let Some(question) = question(filler, unit, &source, &own) else { continue };
        let n_before = own.n_chars().max(passage.source.of(source[0].view.text).chars().count().saturating_sub(1));
        if let Some(said) = put(&question, filler, consult, notes, &|length| length <= n_before) {
            out = out.with(&passage.range, &said);
            n_taken += 1;
        }
    }
    (out, n_taken)
}

/// The unit with other texts, when it fits where the old one stood: a budget was met with that one.
fn rewritten(filler: &Filler<'_>, unit: &Unit, filled: &Filled, drafts: Vec<Draft>) -> Option<Filled> {
    let (action, reason, provenance) = (filled.action, filled.reason, filled.provenance.clone());
    let new = match &filled.body {
        NewBody::Text(_) => filler.filled(drafts.into_iter().next()?, action, reason, provenance),
        NewBody::Parts(parts) => {
            let parts = parts.iter().map(|(part, _)| *part).zip(drafts).collect();
            filler.filled_parts(unit.first(), parts, action, reason, provenance)
        }
    };
    let n_chars: usize = unit.members.iter().map(|&index| filler.view.chars(index)).sum();
    let has_budget = filler.options().token_budget.is_some();
    let n_tokens = filler.count.filled(&filler.view, unit.first(), &new);
    let fits = if has_budget { n_tokens <= unit.n_tokens } else { filler.saves_tokens(&new, &unit.members) };
    let is_short = new.chars_out <= filled.chars_out || saves(new.chars_out, n_chars, filler.min_saving);
    (fits && is_short).then_some(new)
}

/// A message that the engine could not make shorter.
fn kept(filler: &Filler<'_>, unit: &Unit, consult: &mut Consult<'_>) -> (Option<Filled>, Vec<Reason>) {
    let mut notes = Vec::new();
    let index = unit.first();
    let sources = filler.spoken(&unit.members);
    let is_worth_it = sources.len() == 1 && filler.view.chars(index) >= MIN_KEPT_CHARS;
    if !is_worth_it || filler.options().token_budget.is_some() {
        return (None, notes);
    }
    let provenance = filler.provenance(&unit.members);
    let wrap = filler.wrap(&unit.members, 1);
    let Some(empty) = Proposal::summary(Draft::default(), &wrap, Vec::new()).accept(|_| true) else {
        return (None, notes);
    };
    let Some(question) = question(filler, unit, &sources, &empty) else { return (None, notes) };
    let n_chars = filler.view.chars(index);
    let fits = |length: usize| saves(length, n_chars, filler.min_saving);
    let draft = put(&question, filler, consult, &mut notes, &fits);
    let filled = draft.map(|draft| filler.filled(draft, Action::Compressed, Reason::CompressibleProse, provenance));
    let filled = filled.filter(|filled| {
        saves(filled.chars_out, n_chars, filler.min_saving) && filler.saves_tokens(filled, &unit.members)
    });
    consult.n_summaries += usize::from(filled.is_some());
    (filled, notes)
}

/// The question for the slot of `draft`; `None` when it has none, or less room than an answer takes.
fn question<'q>(filler: &Filler<'_>, unit: &Unit, sources: &'q [Spoken<'q>], draft: &'q Draft) -> Option<Question<'q>> {
    let own = draft.text.get(draft.slot.as_ref()?.body.clone())?.chars().count();
    let messages = &filler.view.conversation.messages;
    let is_talk = unit.members.iter().any(|&index| messages[index].name != messages[unit.first()].name);
    let style = Style::new(filler.options().compression_depth);
    let max_chars = if filler.options().token_budget.is_some() {
        own
    } else if is_talk {
        own.max(talk_budget(sources, style))
    } else {
        own.max(sources.iter().map(|source| budget_of(source, style)).sum())
    };
    let speaker = |index: usize| (messages[index].role.as_str(), messages[index].name.as_deref());
    let several = unit.members.windows(2).any(|pair| speaker(pair[0]) != speaker(pair[1]));
    let mut text = String::new();
    for (at, source) in sources.iter().enumerate() {
        text.push_str(if at > 0 { "\n\n" } else { "" });
        if let Some(&index) = unit.members.get(at).filter(|_| several) {
            let (role, name) = speaker(index);
            text.push_str(name.unwrap_or(role));
            text.push_str(": ");
        }
        text.push_str(source.view.covered().trim());
    }
    (max_chars >= MIN_ANSWER_CHARS && !text.is_empty()).then_some(Question { sources, text, draft, max_chars })
}

/// The first answer that is good enough, in its frame, when that `fits`; the notes say what became of the others. `None` while a question
/// is open, too.
fn put(
    question: &Question<'_>,
    filler: &Filler<'_>,
    consult: &mut Consult<'_>,
    notes: &mut Vec<Reason>,
    fits: &dyn Fn(usize) -> bool,
) -> Option<Draft> {
    let own = question.draft.slot.as_ref().and_then(|slot| question.draft.text.get(slot.body.clone())).unwrap_or("");
    let texts: Vec<&str> = question.sources.iter().map(|source| source.view.covered()).collect();
    for &mode in filler.options().summarizer.modes() {
        let (text, draft) = (question.text.clone(), own.to_owned());
        let ask = SummaryAsk { mode, text, max_chars: question.max_chars, draft };
        let refused = match consult.ask(Ask::Summary(ask))? {
            Answer::None(NoAnswer::Offline) => {
                notes.push(Reason::LlmOffline);
                break;
            }
            Answer::None(none) => none.reason(),
            Answer::Text(answer) => {
                let answer = clean(answer, own);
                if let Some(reason) = objection(answer, &texts, own) {
                    reason
                } else if answer.chars().count() > question.max_chars {
                    Reason::LlmTooLong
                } else {
                    let listed = entities(question.sources, answer);
                    match Proposal::answered(question.draft, answer, listed).and_then(|proposal| proposal.accept(fits))
                    {
                        Some(draft) => {
                            notes.push(Reason::LlmSummary);
                            return Some(draft);
                        }
                        None => Reason::LlmTooLong,
                    }
                }
            }
        };
        notes.push(refused);
    }
    consult.n_fallbacks += 1;
    None
}
