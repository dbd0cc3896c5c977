//! Insert-then-compress: of a long conversation everything but its head and its recent messages becomes one summary, which
//! a model writes at the end of that conversation, or the engine from what it found. Decides first and changes last. Knows
//! whole conversations; refuses to know prompts, and where the originals go.

mod findings;
mod offline;
mod rebuild;
mod reply;
mod tail;
mod trigger;
mod turns;

use std::ops::Range;

use super::advice::{Advice, Plugins};
use super::assemble::{Assembled, assemble};
use super::checks::{clean, objection};
use super::count::Count;
use super::fill::{ChosenOf, Filler};
use super::ids::Names;
use super::metrics::Meter;
use super::plan;
use super::unit::Unit;
use crate::model::marker::Archive;
use crate::model::{
    Answer, Ask, BudgetOutcome, ChunkPolicy, CompactionAsk, CompactionOutcome, CompactionTrigger, CompressionDepth,
    Consult, Conversation, EngineOptions, Message, Metrics, NoAnswer, Reason, Role, Strategy, Summarizer,
};
use crate::stage::View;
use crate::summary::{Draft, Keys};
use crate::text::Lexer;

use findings::Findings;
use rebuild::{Frame, Rebuilt, Written};
use tail::{Cuts, can_carry_summary};
use trigger::{Size, reduces, trigger};

/// Of a question that is too long for the model so many messages are pulled back at most.
const MAX_PULLED_BACK: usize = 64;

/// What insert-then-compress has to do with a conversation.
pub(super) struct Due<'c> {
    /// Why it is compacted now; `None` when it is not.
    trigger: Option<CompactionTrigger>,
    cuts: Cuts<'c>,
    archived: Range<usize>,
}

impl<'c> Due<'c> {
    /// `None` when the usual way is to be gone: with another strategy, and where the first archived message cannot carry a
    /// summary.
    pub(super) fn of(conversation: &'c Conversation<'c>, options: &EngineOptions, n_tokens: &[usize]) -> Option<Self> {
        if options.strategy != Strategy::InsertThenCompress {
            return None;
        }
        let size = Size { n_messages: n_tokens.len(), n_tokens: n_tokens.iter().sum() };
        let cuts = Cuts::of(conversation, options);
        let archived = cuts.archived(options.compaction_recent);
        let trigger = trigger(size, options).filter(|&trigger| {
            let n_archived_tokens = n_tokens.get(archived.clone()).unwrap_or_default().iter().sum();
            has_news(conversation, &archived) && reduces(trigger, n_archived_tokens, size)
        });
        if trigger.is_some() && !can_carry_summary(conversation.messages.get(archived.start)?) {
            return None;
        }
        Some(Self { trigger, cuts, archived })
    }

    /// True when the words of the conversation are needed.
    pub(super) fn is_now(&self) -> bool {
        self.trigger.is_some()
    }

    /// The conversation as insert-then-compress leaves it.
    pub(super) fn compact(
        self,
        view: &View<'_>,
        count: &Count,
        n_tokens: &[usize],
        (lexer, meter): (&mut Lexer, &mut Meter),
        consult: &mut Consult<'_>,
    ) -> (Assembled, Metrics) {
        let Self { trigger, cuts, archived } = self;
        let conversation = view.conversation;
        let names = Names::new(conversation);
        let mut plan = plan::keep_all(conversation.messages.len(), Reason::BelowThreshold);
        let advice = Advice::ask(&Plugins::default(), view, &plan);
        let mut filler = Filler {
            view: *view,
            names: &names,
            lexer,
            task: None,
            count,
            advice: &advice,
            adapters: &[],
            n_tokens,
            min_saving: view.options.min_saving,
            used: Vec::new(),
            earlier: Keys::default(),
            chosen: ChosenOf::default(),
        };
        let earlier = earlier(conversation, &archived);
        let compacted = trigger.and_then(|trigger| {
            let frame = Frame { trigger, policy: view.options.compaction_chunks, earlier: earlier.as_ref() };
            Compaction { filler: &mut filler, cuts: &cuts, archived: archived.clone(), frame }.run(consult)
        });
        let (units, outcome) = if let Some(Compacted { unit, archived, outcome, note }) = compacted {
            let mut units = kept(view, n_tokens, &archived, Reason::CompactionRecent);
            plan.notes.extend(note.iter().flat_map(|&note| archived.clone().map(move |index| (index, note))));
            units.push(unit);
            (units, Some(outcome))
        } else {
            let reason = if trigger.is_some() { Reason::MergeReverted } else { Reason::BelowThreshold };
            let keep = |(index, &n_tokens)| Unit::kept(index, reason, n_tokens);
            (n_tokens.iter().enumerate().map(keep).collect(), None)
        };
        plan.file_notes();
        let assembled = assemble(view, &plan, units);
        let mut metrics = meter.measure(view, &assembled, n_tokens.iter().sum(), lexer);
        // A budget takes nothing here: it is only held against what came out.
        metrics.budget = view.options.token_budget.map(|max_tokens| BudgetOutcome {
            fits: metrics.tokens_out <= max_tokens,
            token_count: metrics.tokens_out,
            recency_window: outcome.as_ref().map_or(metrics.messages_in, |outcome| outcome.n_recent),
            protected_tokens: metrics.tokens_out,
            depth: CompressionDepth::Gentle,
        });
        metrics.compaction = outcome;
        metrics.counts.llm_summaries = consult.n_summaries;
        metrics.counts.llm_fallbacks = consult.n_fallbacks;
        (assembled, metrics)
    }
}

/// Every message outside of `archived`, as it is: the head for its role, the others for `reason`.
fn kept(view: &View<'_>, n_tokens: &[usize], archived: &Range<usize>, reason: Reason) -> Vec<Unit> {
    let outside = (0..view.len()).filter(|index| !archived.contains(index));
    let reason = |index| if index < archived.start { Reason::PreservedRole } else { reason };
    outside.map(|index| Unit::kept(index, reason(index), n_tokens[index])).collect()
}

/// The summary of the round before, among the archived messages.
fn earlier<'c>(conversation: &'c Conversation<'_>, archived: &Range<usize>) -> Option<Archive<'c>> {
    let mut messages = conversation.messages.get(archived.clone()).unwrap_or_default().iter().rev();
    messages.find_map(|message| Archive::read(message.texts().next().filter(|_| message.role == Role::User)?))
}

/// True when there is something to archive beside summaries of earlier rounds.
fn has_news(conversation: &Conversation<'_>, archived: &Range<usize>) -> bool {
    let messages = conversation.messages.get(archived.clone()).unwrap_or_default();
    messages.iter().any(|message| message.texts().next().and_then(Archive::read).is_none())
}

/// One conversation that is to be compacted.
struct Compaction<'f, 'a> {
    filler: &'f mut Filler<'a>,
    cuts: &'f Cuts<'f>,
    archived: Range<usize>,
    frame: Frame<'f>,
}

/// What became of it.
struct Compacted {
    unit: Unit,
    archived: Range<usize>,
    outcome: CompactionOutcome,
    /// What became of the question.
    note: Option<Reason>,
}

/// What a model says to a question.
enum Word {
    /// Nothing yet, or nobody was asked.
    Open,
    /// A summary for these messages.
    Taken(Box<Rebuilt>, Range<usize>),
    Refused(Reason),
}

impl Compaction<'_, '_> {
    /// `None` when nothing that is short enough can be said.
    fn run(mut self, consult: &mut Consult<'_>) -> Option<Compacted> {
        // What stands there without a model, and for as long as there is no answer.
        let own = self.own(&self.archived.clone());
        let word = if self.asks() { self.ask(own.as_ref(), consult) } else { Word::Open };
        let ((unit, outcome), archived, note) = match word {
            Word::Taken(rebuilt, archived) => {
                consult.n_summaries += 1;
                (*rebuilt, archived, Some(Reason::LlmSummary))
            }
            Word::Refused(reason) => {
                consult.n_fallbacks += 1;
                (own?.1, self.archived.clone(), Some(reason))
            }
            Word::Open => (own?.1, self.archived.clone(), None),
        };
        let n_messages = self.filler.view.len();
        let outcome = CompactionOutcome {
            n_archived: archived.len(),
            n_recent: n_messages - self.archived.end,
            n_pulled_back: self.archived.end - archived.end,
            by_model: note == Some(Reason::LlmSummary),
            ..outcome
        };
        Some(Compacted { unit, archived, outcome, note })
    }

    fn asks(&self) -> bool {
        self.filler.options().summarizer != Summarizer::Deterministic
    }

    /// The engine's own summary, at the fullest level that fits.
    fn own(&self, archived: &Range<usize>) -> Option<(Draft, Rebuilt)> {
        let findings = Findings::of(&self.filler.view, archived.clone());
        let max_chars = self.frame.max_chars(self.filler, archived);
        let levels = self.frame.level().min(offline::MAX_LEVEL)..=offline::MAX_LEVEL;
        levels.into_iter().find_map(|level| {
            let body = offline::body(&findings, level, max_chars);
            // Counts alone stand for nothing.
            if body.quotes.is_empty() {
                return None;
            }
            // Topics are the first to go.
            [findings.topics.clone(), None].into_iter().find_map(|topics| {
                let written = Written { body: body.clone(), topics, continues: None };
                let rebuilt = self.frame.rebuild(self.filler, archived, &written)?;
                Some((written.body, rebuilt))
            })
        })
    }

    /// Asks about the whole archive; when that is too long for the model, without its last message, and then without half
    /// of its messages.
    fn ask(&mut self, own: Option<&(Draft, Rebuilt)>, consult: &mut Consult<'_>) -> Word {
        let n = self.archived.len();
        let mut end = self.archived.end + 1;
        for n_pulled_back in [0, 1, (n / 2).max(4).min(n.saturating_sub(2)).min(MAX_PULLED_BACK)] {
            let archived = match n_pulled_back {
                0 => self.archived.clone(),
                n => self.cuts.up_to(self.archived.end - n),
            };
            if archived.end >= end || !has_news(self.filler.view.conversation, &archived) {
                continue;
            }
            end = archived.end;
            let max_chars = self.frame.max_chars(self.filler, &archived);
            if max_chars == 0 {
                break;
            }
            match consult.ask(Ask::Compaction(self.question(&archived, max_chars))) {
                None | Some(Answer::None(NoAnswer::Later)) => return Word::Open,
                Some(Answer::Text(text)) => {
                    let draft = own.map_or("", |(draft, _)| draft.text.as_str());
                    return match self.taken(text, &archived, max_chars, draft) {
                        Ok(rebuilt) => Word::Taken(Box::new(rebuilt), archived),
                        Err(reason) => Word::Refused(reason),
                    };
                }
                Some(Answer::None(NoAnswer::TooLong)) => {}
                Some(Answer::None(NoAnswer::Offline)) => return Word::Refused(Reason::LlmOffline),
                Some(Answer::None(NoAnswer::ToolCall)) => return Word::Refused(Reason::LlmToolCall),
                Some(Answer::None(NoAnswer::Cut)) => return Word::Refused(Reason::LlmTooLong),
                Some(Answer::None(NoAnswer::Failed)) => break,
            }
        }
        Word::Refused(Reason::LlmFailed)
    }

    fn question(&self, archived: &Range<usize>, max_chars: usize) -> CompactionAsk {
        let messages = self.filler.view.conversation.messages.get(..archived.end).unwrap_or_default();
        let is_asked = self.frame.policy == ChunkPolicy::Model;
        let previous = self.frame.earlier.filter(|_| is_asked).and_then(|earlier| earlier.chunk.topics);
        CompactionAsk { turns: turns::turns(messages), previous_topics: previous.map(str::to_owned), max_chars }
    }

    /// The summary that a model wrote, when it is good enough; the error is why it is not.
    fn taken(&mut self, text: &str, archived: &Range<usize>, max_chars: usize, draft: &str) -> Result<Rebuilt, Reason> {
        let reply = reply::read(clean(text, draft))?;
        if reply.body.chars().count() > max_chars {
            return Err(Reason::LlmTooLong);
        }
        let messages = self.filler.view.conversation.messages.get(..archived.end).unwrap_or_default();
        let calls = messages.iter().flat_map(|message| &message.tool_calls);
        let arguments = calls.map(|call| call.arguments.as_ref());
        let sources: Vec<&str> = messages.iter().flat_map(Message::texts).chain(arguments).collect();
        if let Some(reason) = objection(&reply.body, &sources, draft) {
            return Err(reason);
        }
        let mut body = Draft::default();
        body.quote_exact(&reply.body);
        let mut written = Written { body, topics: reply.topics, continues: reply.continues };
        self.frame
            .rebuild(self.filler, archived, &written)
            .or_else(|| {
                written.topics = None;
                self.frame.rebuild(self.filler, archived, &written)
            })
            .ok_or(Reason::LlmTooLong)
    }
}
