//! What compression brought and what it took from view, for one conversation: one walk over the messages in
//! order, with a state per distinct fact. Formulas: the four documented metrics, and four of our own.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use super::assemble::Assembled;
use super::ids::Names;
use super::unit::Filled;
use crate::model::{Action, ActionCounts, Metrics, Output, Reason, marker};
use crate::stage::{View, is_consent};
use crate::summary::unit_key;
use crate::text::{CueKind, Fact, FactKind, Lexer, LineKind, Severity, TextView, fold_key, unnumbered};

/// In a message of the input.
const IN_INPUT: u16 = 1;
/// Visible in the output so far, not counting entity lists.
const VISIBLE: u16 = 2;
/// Listed as an entity.
const LISTED: u16 = 4;
/// In a message that was replaced.
const HIDDEN: u16 = 8;
/// Used by a kept message after it was hidden; counted once.
const USED: u16 = 16;
/// In a message whose id is still in the output.
const AT_HOME: u16 = 32;
/// An identifier, path, URL or version.
const TECHNICAL: u16 = 64;
/// What the precise metrics count.
const PRECISE: u16 = 128;
/// The name of somebody or something.
const NAMED: u16 = 256;

/// So much of the quality goes when every fact is gone from everywhere.
const VANISHING: f64 = 0.5;

/// A sentence of what was replaced that denies or binds.
const STATEMENT: u16 = 512;
/// A line of it that reports a failure.
const ERROR: u16 = 1024;
/// The first sentence of what a user agreed to or refused, where that was replaced.
const CONSENT: u16 = 2048;

/// The sets of one conversation; the memory is reused.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// What is known of each fact and sentence, by its key.
    seen: HashMap<u64, u16, FixedState>,
    /// Facts that stand in a text for messages that do not have them.
    foreign: Vec<u64>,
    /// References that lead nowhere, and messages that stand before what they followed.
    n_astray: usize,
    structure: [usize; 2],
    recall: Share,
}

#[derive(Debug, Default, Clone, Copy)]
struct Share {
    kept: usize,
    of: usize,
}

impl Share {
    fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.kept as f64 / self.of as f64)
    }
}

/// Where the findings of a text stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In a message that is in the input and in the output.
    Kept,
    /// In a message that was replaced; `at_home` for the first of its group, whose id lives on.
    Replaced { at_home: bool },
    /// In a text that replaces others.
    Replacement,
    /// In an entity list.
    Listed,
}

impl Meter {
    /// The metrics of a conversation. Retention is measured only when something was replaced.
    pub(super) fn measure(
        &mut self,
        view: &View<'_>,
        assembled: &Assembled,
        tokens_in: usize,
        lexer: &mut Lexer,
    ) -> Metrics {
        let mut metrics = sizes(view, assembled, tokens_in);
        if assembled.filled.is_empty() {
            return metrics;
        }
        self.seen.clear();
        self.foreign.clear();
        self.n_astray = n_disordered(assembled);
        self.structure = [0, 0];
        self.recall = Share::default();
        self.walk(view, assembled, lexer);
        self.report(&mut metrics);
        metrics
    }

    fn walk(&mut self, view: &View<'_>, assembled: &Assembled, lexer: &mut Lexer) {
        let mut filled = assembled.filled.iter();
        let mut home = vec![true; view.len()];
        let mut kept = vec![true; view.len()];
        let mut replacement: Vec<Option<(&Filled, &[usize])>> = vec![None; view.len()];
        for output in &assembled.messages {
            if let Output::Replaced(replaced) = output {
                replaced.sources.iter().for_each(|&index| kept[index] = false);
                replaced.sources.iter().skip(1).for_each(|&index| home[index] = false);
                replacement[replaced.sources[0]] = filled.next().map(|filled| (filled, &*replaced.sources));
            }
        }
        let names = LazyCell::new(|| Names::new(view.conversation));
        for index in 0..view.len() {
            let place = if kept[index] { Place::Kept } else { Place::Replaced { at_home: home[index] } };
            if !kept[index]
                && let Some(first) = view.texts(index).next().filter(|_| is_consent(&view.conversation.messages[index]))
            {
                self.note(first_words(&first), CONSENT | IN_INPUT);
            }
            for text in view.texts(index) {
                self.read(&text, place);
            }
            // Calls go with their message: only a compaction replaces messages that have some.
            for call in &view.conversation.messages[index].tool_calls {
                self.facts_of(&lexer.facts_alone(&call.arguments), place);
            }
            if let Some((filled, sources)) = replacement[index] {
                let quoted = self.replacement(filled, (view, sources), lexer);
                match filled.drafts.first().and_then(|draft| referred(&draft.text)) {
                    Some(target) => {
                        let leads_to = names.index_of(target).and_then(|index| kept.get(index));
                        self.n_astray += usize::from(leads_to != Some(&true));
                    }
                    None => self.note_foreign(view, sources, quoted),
                }
                self.untouched_parts(view, index, filled);
            }
        }
    }

    /// Reads what stands for the messages `sources`; gives the facts that it quotes. What blocks of code show is known.
    fn replacement(
        &mut self,
        filled: &Filled,
        (view, sources): (&View<'_>, &[usize]),
        lexer: &mut Lexer,
    ) -> HashSet<u64, FixedState> {
        let mut quoted = HashSet::default();
        let mut blocks = sources.iter().flat_map(|&index| view.texts(index)).flat_map(TextView::blocks);
        for draft in &filled.drafts {
            // Keys of whole units and their facts: what nobody else said stays without a place in the input.
            draft.shown.iter().for_each(|&key| self.note(key, VISIBLE));
            for quote in draft.quotes.iter().filter(|quote| !quote.is_known) {
                let text = draft.text.get(quote.range.clone()).unwrap_or("");
                let block = if text.starts_with("```") { blocks.find(|block| block.covered() == text) } else { None };
                let view = match block {
                    Some(block) => block,
                    None => lexer.alone(text),
                };
                self.read(&view, Place::Replacement);
                // A bare number stands in many texts and belongs to none.
                let tells =
                    |fact: &&Fact| fact.kind.is_technical() || fact.kind.is_precise() && fact.kind != FactKind::Number;
                quoted.extend(view.facts.iter().filter(tells).map(|fact| fact.key));
            }
            let lists = draft.entities.iter().filter_map(|range| draft.text.get(range.clone()));
            for entity in lists.flat_map(|list| list.split(marker::BETWEEN_ENTITIES)) {
                // In a list a name is one whatever stands beside it.
                self.note(fold_key(entity), LISTED);
                self.facts_of(&lexer.facts_alone(entity), Place::Listed);
            }
        }
        quoted
    }

    /// Notes what of the facts `quoted` the sources do not have.
    fn note_foreign(&mut self, view: &View<'_>, sources: &[usize], mut quoted: HashSet<u64, FixedState>) {
        for text in sources.iter().flat_map(|&index| view.texts(index)) {
            if quoted.is_empty() {
                return;
            }
            text.facts.iter().for_each(|fact| {
                quoted.remove(&fact.key);
            });
        }
        self.foreign.extend(quoted);
    }

    /// Text parts of a replaced message that stayed are visible.
    fn untouched_parts(&mut self, view: &View<'_>, index: usize, filled: &Filled) {
        if let crate::model::NewBody::Parts(replaced) = &filled.body {
            for (part, text) in view.text_parts(index) {
                if replaced.binary_search_by_key(&part, |(place, _)| *place).is_err() {
                    self.read(&text, Place::Replacement);
                }
            }
        }
    }

    /// Notes `flags` of what has this key.
    fn note(&mut self, key: u64, flags: u16) {
        *self.seen.entry(key).or_default() |= flags;
    }

    fn read(&mut self, text: &TextView<'_>, place: Place) {
        self.facts_of(text, place);
        // What stays as it is was not changed: of its sentences and lines nothing is measured.
        let (seen, of_structure) = match place {
            Place::Replaced { .. } => (IN_INPUT, 0),
            Place::Replacement => (VISIBLE, 1),
            Place::Kept | Place::Listed => return,
        };
        let binds = |kind: CueKind| matches!(kind, CueKind::Negation | CueKind::Obligation);
        for unit in text.units {
            let is_statement = text.cues_of(unit).iter().any(|cue| binds(cue.kind));
            if is_statement || seen == VISIBLE {
                self.note(unit_key(unit.span.of(text.text)), seen | if is_statement { STATEMENT } else { 0 });
            }
        }
        for line in text.lines.iter().filter(|line| line.severity == Severity::Failure) {
            self.note(unit_key(unnumbered(line.span.of(text.text))), seen | ERROR);
        }
        self.structure[of_structure] += structure(text);
    }

    fn facts_of(&mut self, text: &TextView<'_>, place: Place) {
        for fact in text.facts {
            let flags = self.seen.entry(fact.key).or_default();
            *flags |= if fact.kind.is_technical() { TECHNICAL } else { 0 };
            *flags |= if fact.kind.is_precise() { PRECISE } else { 0 };
            *flags |= if fact.kind == FactKind::Name { NAMED } else { 0 };
            match place {
                Place::Kept => {
                    if *flags & (HIDDEN | USED) == HIDDEN {
                        *flags |= USED;
                        self.recall.of += 1;
                        self.recall.kept += usize::from(*flags & VISIBLE != 0);
                    }
                    *flags |= IN_INPUT | VISIBLE | AT_HOME;
                }
                Place::Replaced { at_home } => *flags |= IN_INPUT | HIDDEN | if at_home { AT_HOME } else { 0 },
                Place::Replacement => *flags |= VISIBLE,
                Place::Listed => *flags |= LISTED,
            }
        }
    }

    fn report(&self, metrics: &mut Metrics) {
        let count = |of: u16, kept: u16| {
            self.seen.values().filter(|&&flags| flags & of == of).fold(Share::default(), |share, &flags| Share {
                kept: share.kept + usize::from(flags & kept != 0),
                of: share.of + 1,
            })
        };
        let entities = count(TECHNICAL | IN_INPUT, VISIBLE | LISTED);
        metrics.entity_retention = entities.value();
        metrics.structural_integrity =
            Share { kept: self.structure[1].min(self.structure[0]), of: self.structure[0] }.value();
        let shown = |flags: u16| flags & TECHNICAL != 0 && flags & IN_INPUT != 0 && flags & (VISIBLE | LISTED) != 0;
        let coherent = self.seen.values().filter(|&&flags| shown(flags));
        // A fact that is in no message at all is none that was moved.
        let is_moved = |key: &&u64| self.seen.get(key).is_some_and(|flags| flags & IN_INPUT != 0);
        let n_faults = self.n_astray + self.foreign.iter().filter(is_moved).count();
        metrics.reference_coherence = coherent
            .fold(Share { kept: 0, of: n_faults }, |share, &flags| Share {
                kept: share.kept + usize::from(flags & AT_HOME != 0),
                of: share.of + 1,
            })
            .value();
        metrics.quality_score = self.quality(metrics);
        metrics.fact_retention = count(PRECISE | IN_INPUT, VISIBLE).value();
        metrics.fact_retention_with_entities = count(PRECISE | IN_INPUT, VISIBLE | LISTED).value();
        metrics.forward_recall = self.recall.value();
        metrics.negation_retention = count(STATEMENT | IN_INPUT, VISIBLE).value();
        metrics.error_retention = count(ERROR | IN_INPUT, VISIBLE).value();
    }

    /// The documented score, less what is gone from every place of the conversation: facts, names, denials and duties, and
    /// consents.
    fn quality(&self, metrics: &Metrics) -> Option<f64> {
        let told = |flags: &&u16| **flags & IN_INPUT != 0 && **flags & (PRECISE | NAMED | STATEMENT | CONSENT) != 0;
        let gone = self.seen.values().filter(told).fold(Share::default(), |share, flags| Share {
            kept: share.kept + usize::from(flags & (VISIBLE | LISTED) == 0),
            of: share.of + 1,
        });
        let score = documented_quality(metrics);
        match gone.value() {
            Some(share) => Some(score.unwrap_or(1.0) * (1.0 - VANISHING * share)),
            None => score,
        }
    }
}

/// What a reference names.
fn referred(text: &str) -> Option<&str> {
    let id = || marker::referred(text).map(|(id, _)| id).or_else(|| marker::superseded_by(text));
    text.starts_with("[cce:").then(id).flatten()
}

/// Messages that stand before what they followed.
fn n_disordered(assembled: &Assembled) -> usize {
    let first = |output: &Output| match output {
        Output::Kept { index } => *index,
        Output::Replaced(replaced) => replaced.sources.first().copied().unwrap_or_default(),
    };
    assembled.messages.windows(2).filter(|pair| first(&pair[0]) > first(&pair[1])).count()
}

/// The first sentence of a text.
fn first_words(text: &TextView<'_>) -> u64 {
    unit_key(text.units.first().map_or(text.covered(), |unit| unit.span.of(text.text)))
}

/// The documented weights over what could be measured.
pub(super) fn documented_quality(metrics: &Metrics) -> Option<f64> {
    let parts =
        [(metrics.entity_retention, 0.4), (metrics.structural_integrity, 0.4), (metrics.reference_coherence, 0.2)];
    let (sum, weight) = parts
        .iter()
        .filter_map(|&(value, weight)| value.map(|value| (value * weight, weight)))
        .fold((0.0, 0.0), |(sum, total), (value, weight)| (sum + value, total + weight));
    (weight > 0.0).then(|| (sum / weight).min(1.0))
}

/// Fenced blocks, lines that open a JSON block, and tables, as the documented metric counts them.
fn structure(text: &TextView<'_>) -> usize {
    let fences = text.lines.iter().filter(|line| line.kind == LineKind::Fence).count();
    let mut json = 0;
    let mut rows = 0;
    for line in text.lines {
        match line.kind {
            LineKind::Json if matches!(line.span.of(text.text).trim(), "{" | "[") => json += 1,
            kind if kind.is_row() && line.span.of(text.text).trim().starts_with('|') => rows += 1,
            _ => {}
        }
    }
    fences / 2 + json + usize::from(rows >= 2)
}

/// What is counted without a look at the texts.
pub(super) fn sizes(view: &View<'_>, assembled: &Assembled, tokens_in: usize) -> Metrics {
    let mut metrics = Metrics { messages_in: view.len(), messages_out: assembled.messages.len(), ..Metrics::default() };
    for index in 0..view.len() {
        let n_chars = view.chars(index) + view.chars_beside(index);
        metrics.chars_in += n_chars;
    }
    let mut filled = assembled.filled.iter();
    for output in &assembled.messages {
        let n_chars = match output {
            Output::Kept { index } => view.chars(*index) + view.chars_beside(*index),
            Output::Replaced(_) => {
                filled.next().map_or(0, |filled| filled.chars_out + filled.chars_beside(view, output.first_source()))
            }
        };
        metrics.chars_out += n_chars;
    }
    metrics.tokens_in = tokens_in;
    metrics.tokens_out = assembled.n_tokens;
    metrics.ratio = ratio(metrics.chars_in, metrics.chars_out);
    metrics.token_ratio = ratio(metrics.tokens_in, metrics.tokens_out);
    metrics.counts = counts(assembled);
    metrics
}

fn ratio(before: usize, after: usize) -> f64 {
    if after == 0 { 1.0 } else { before as f64 / after as f64 }
}

fn counts(assembled: &Assembled) -> ActionCounts {
    let mut counts = ActionCounts::default();
    for decision in &assembled.decisions {
        match decision.action {
            Action::Preserved => counts.preserved += 1,
            Action::Compressed => counts.compressed += 1,
            Action::Deduped => counts.deduped += 1,
            Action::FuzzyDeduped => counts.fuzzy_deduped += 1,
            Action::CodeSplit => counts.code_split += 1,
            Action::Contradicted => counts.contradicted += 1,
            Action::Truncated => counts.truncated += 1,
        }
        match decision.reason {
            Reason::Pattern => counts.pattern_preserved += 1,
            Reason::Importance => counts.importance_preserved += 1,
            Reason::RelevanceDropped => counts.relevance_dropped += 1,
            Reason::ToolPrepass => counts.tool_prepass_trimmed += 1,
            _ => {}
        }
    }
    counts
}
