//! Texts of single messages: by their form, part by part, and summaries of summaries.

use std::sync::Arc;

use super::fill::{Filler, voice};
use super::guard::saves;
use super::unit::{Filled, metadata_chars};
use crate::model::{Action, CompressionDepth, NewBody, Provenance, Reason, marker};
use crate::stage::classify::{Depth, judge};
use crate::stage::{View, is_json};
use crate::summary::{
    Adapter, Hints, Proposal, Spoken, Style, Voice, Wanted, Wrap, digest, outline, pays, split_code, summarize,
};
use crate::text::TextView;

/// A merged summary of earlier summaries gets this share of them.
const RECOMPACT_SHARE: f64 = 0.40;
const MAX_RECOMPACT_CHARS: usize = 900;
/// Shorter parts of a content list are kept.
pub(super) const MIN_PART_CHARS: usize = 120;

impl Filler<'_> {
    /// A content list: each long text part in its own place.
    pub(super) fn parts(&self, index: usize, provenance: Provenance, wrap: &Wrap, style: Style) -> Option<Filled> {
        let view = self.view;
        let large = view.is_large(index);
        let metadata = self.metadata(&provenance);
        let mut filled = Filled {
            action: Action::Compressed,
            reason: Reason::CompressibleProse,
            body: NewBody::Parts(Vec::new()),
            provenance,
            drafts: Vec::new(),
            chars_out: view.chars(index) + metadata_chars(metadata.as_deref()),
            metadata,
        };
        let mut replaced = Vec::new();
        for (part, text) in view.text_parts(index) {
            let n_chars = text.counts.chars as usize;
            if n_chars < MIN_PART_CHARS || marker::stands_for_others(text.text) {
                continue;
            }
            let verdict = judge(&text, if large { Depth::Explain } else { Depth::Decide });
            if !large && text.fences.is_empty() && verdict.is_hard() {
                continue;
            }
            let spoken = Spoken { view: text, voice: self.voice(index), hints: self.hints_at(index, part) };
            let proposal = one_text(&spoken, large, verdict.is_output, wrap, style);
            let shorter =
                proposal.and_then(|proposal| proposal.accept(|length| saves(length, n_chars, self.min_saving)));
            if let Some(draft) = shorter {
                filled.chars_out -= n_chars - draft.n_chars();
                replaced.push((part, draft.text.clone()));
                filled.drafts.push(draft);
            }
        }
        filled.body = NewBody::Parts(replaced);
        let is_worth_it = !filled.drafts.is_empty() && saves(filled.chars_out, view.chars(index), self.min_saving);
        (is_worth_it && self.saves_tokens(&filled, &[index])).then_some(filled)
    }

    /// A summary of summaries: each one is a paragraph, with its speaker in front when there are several.
    pub(super) fn recompact(&mut self, members: &[usize], wrap: &Wrap) -> Proposal {
        let messages = &self.view.conversation.messages;
        let several = members.iter().any(|&index| messages[index].role != messages[members[0]].role);
        let mut joined = String::new();
        for &index in members {
            let inner = messages[index].texts().next().and_then(marker::inner_summary).unwrap_or_default();
            let speaker = messages[index].role.as_str();
            if several && !inner.starts_with(speaker) {
                joined.push_str(speaker);
                joined.push_str(": ");
            }
            joined.push_str(inner);
            joined.push_str("\n\n");
        }
        self.lexer.clear();
        let lexed = self.lexer.lex(&joined);
        let text = Spoken { view: self.lexer.view(&joined, &lexed), voice: Voice::Other, hints: self.advice.general() };
        let max_chars = ((joined.chars().count() as f64 * RECOMPACT_SHARE) as usize).min(MAX_RECOMPACT_CHARS);
        summarize(&[text], wrap, Style::new(CompressionDepth::Gentle), Some(max_chars))
    }
}

/// Characters that would stand for message `index` if it were alone: what a reference to another is held against.
pub(super) fn chars_alone(view: &View<'_>, index: usize, adapters: &[Arc<dyn Adapter>]) -> usize {
    let n_chars = view.chars(index);
    let Some(text) = view.text(index) else { return n_chars };
    let large = view.is_large(index);
    let verdict = judge(&text, Depth::Decide);
    let is_protected = |piece: &TextView<'_>| !large && judge(piece, Depth::Decide).is_hard();
    let style = Style::new(view.options.compression_depth);
    let wrap = Wrap { embedded_id: None, n_messages: 1 };
    let spoken = Spoken { view: text, voice: voice(view, None, index), hints: Hints::default() };
    let by_format = adapters.iter().find_map(|adapter| Some((adapter, pays(&**adapter, &text, &is_protected)?)));
    let proposal = if let Some((adapter, pays)) = by_format {
        let wanted = Wanted { wrap: &wrap, style, is_protected: &is_protected };
        adapter.compress(&spoken, &wanted).filter(|_| pays).map(Proposal::complete)
    } else if !large && text.fences.is_empty() && (verdict.is_hard() || is_json(text.text)) {
        None
    } else {
        one_text(&spoken, large, verdict.is_output, &wrap, style)
    };
    let shorter = proposal.and_then(|text| text.accept(|length| saves(length, n_chars, view.options.min_saving)));
    shorter.map_or(n_chars, |draft| draft.n_chars())
}

/// What may stand for one text.
pub(super) fn one_text(
    spoken: &Spoken<'_>,
    large: bool,
    is_output: bool,
    wrap: &Wrap,
    style: Style,
) -> Option<Proposal> {
    let text = &spoken.view;
    if !text.fences.is_empty() {
        let is_protected = |piece: &TextView<'_>| !large && judge(piece, Depth::Decide).is_hard();
        return split_code(spoken, wrap, style, &is_protected).map(Proposal::complete);
    }
    let body = if large { outline(text) } else { None };
    let body = body.or_else(|| is_output.then(|| digest(text, style)));
    Some(body.map_or_else(|| summarize(&[*spoken], wrap, style, None), |body| Proposal::unlisted(body, wrap)))
}
