//! What came out of a conversation in the form in which the metrics read it: which messages stayed, and of every text that
//! stands for others the passages that are quoted, listed or said by the engine. Somebody who wants to know what the
//! metrics see changes it and has it measured again. Knows no damage.

use std::ops::Range;

use super::assemble::Assembled;
use super::unit::Filled;
use super::{Engine, Scratch};
use crate::model::{
    Action, Answers, Condensed, Consult, Conversation, Metrics, NewBody, Output, Provenance, Reason, Replacement,
};
use crate::summary::Draft;

/// What came out, as the metrics read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The output in order.
    pub messages: Vec<ReadMessage>,
}

/// One message of the output.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadMessage {
    /// It stayed.
    Kept {
        /// Index in the input.
        index: usize,
    },
    /// It stands for others.
    Replaced(ReadReplacement),
}

/// What stands for messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadReplacement {
    /// Indices of the messages that it stands for, ascending, never empty.
    pub sources: Vec<usize>,
    /// One text for a string, and one per part of a content list that was replaced.
    pub texts: Vec<Vec<Excerpt>>,
    /// The places of the replaced parts in the content list; `None` for a string.
    pub parts: Option<Vec<usize>>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Where it comes from.
    pub kind: ExcerptKind,
    /// Its words.
    pub text: String,
}

/// Where a passage comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExcerptKind {
    /// Words of the source.
    Quoted,
    /// A list of entities.
    Listed,
    /// Words of the engine, such as the frame of a summary or a reference; no metric reads them.
    Said,
}

impl Engine {
    /// Compresses as [`Engine::condense`] does; gives what the metrics read as well. No model is asked.
    #[must_use]
    pub fn read(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> (Condensed, Reading) {
        let mut asks = Vec::new();
        let (assembled, metrics) =
            self.consult_assembled(conversation, scratch, &mut Consult::new(&Answers::default(), &mut asks));
        let mut filled = assembled.filled.iter();
        let messages = assembled.messages.iter().map(|output| match output {
            Output::Kept { index } => ReadMessage::Kept { index: *index },
            Output::Replaced(replacement) => {
                let drafts = filled.next().map(|filled| filled.drafts.as_slice()).unwrap_or_default();
                ReadMessage::Replaced(ReadReplacement {
                    sources: replacement.sources.clone(),
                    texts: drafts.iter().map(passages).collect(),
                    parts: match &replacement.body {
                        NewBody::Text(_) => None,
                        NewBody::Parts(parts) => Some(parts.iter().map(|(part, _)| *part).collect()),
                    },
                })
            }
        });
        let reading = Reading { messages: messages.collect() };
        (Condensed { messages: assembled.messages, decisions: assembled.decisions, metrics }, reading)
    }

    /// The shares of facts, structure and statements that `reading` shows of `conversation`; for the reading that
    /// [`Engine::read`] gave they are those of its metrics, but for what words tell otherwise when they stand alone: here every
    /// quotation is read again. Sizes and counts of actions mean nothing here.
    #[must_use]
    pub fn measure(&self, conversation: &Conversation<'_>, reading: &Reading, scratch: &mut Scratch) -> Metrics {
        scratch.profiles.measure(conversation);
        scratch.profiles.lex(conversation);
        let mut assembled = Assembled::default();
        for message in &reading.messages {
            match message {
                ReadMessage::Kept { index } => assembled.messages.push(Output::Kept { index: *index }),
                ReadMessage::Replaced(replaced) => {
                    let body = match &replaced.parts {
                        None => NewBody::Text(String::new()),
                        Some(parts) => NewBody::Parts(parts.iter().map(|&part| (part, String::new())).collect()),
                    };
                    assembled.filled.push(filled(replaced, body.clone()));
                    let (sources, provenance) = (replaced.sources.clone(), Provenance::default());
                    assembled.messages.push(Output::Replaced(Replacement {
                        sources,
                        is_by_several: false,
                        body,
                        spots: Vec::new(),
                        provenance,
                        views: Vec::new(),
                    }));
                }
            }
        }
        let view = self.view(conversation, &scratch.profiles);
        scratch.meter.measure(&view, &assembled, 0, &mut scratch.lexer)
    }
}

/// The pieces of a draft in order.
fn passages(draft: &Draft) -> Vec<Excerpt> {
    let quoted = draft.quoted().map(|range| (range, ExcerptKind::Quoted));
    let listed = draft.entities.iter().map(|range| (range.clone(), ExcerptKind::Listed));
    let mut marked: Vec<(Range<usize>, ExcerptKind)> = quoted.chain(listed).collect();
    marked.sort_by_key(|(range, _)| range.start);
    let mut passages = Vec::with_capacity(marked.len() * 2 + 1);
    let mut push = |range: Range<usize>, kind| {
        if let Some(text) = draft.text.get(range).filter(|text| !text.is_empty()) {
            passages.push(Excerpt { kind, text: text.to_owned() });
        }
    };
    let mut end = 0;
    for (range, kind) in marked {
        push(end..range.start, ExcerptKind::Said);
        end = range.end;
        push(range, kind);
    }
    push(end..draft.text.len(), ExcerptKind::Said);
    passages
}

fn filled(replaced: &ReadReplacement, body: NewBody) -> Filled {
    let draft = |passages: &Vec<Excerpt>| {
        let mut draft = Draft::default();
        for passage in passages {
            match passage.kind {
                ExcerptKind::Quoted => draft.quote_exact(&passage.text),
                ExcerptKind::Said => draft.say(&passage.text),
                ExcerptKind::Listed => {
                    let start = draft.text.len();
                    draft.say(&passage.text);
                    draft.entities.push(start..draft.text.len());
                }
            }
        }
        draft
    };
    let drafts: Vec<Draft> = replaced.texts.iter().map(draft).collect();
    Filled {
        action: Action::Compressed,
        reason: Reason::CompressibleProse,
        body,
        provenance: Provenance::default(),
        marked: None,
        metadata: None,
        chars_out: drafts.iter().map(Draft::n_chars).sum(),
        drafts,
    }
}
