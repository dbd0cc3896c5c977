//! Draws conversations out of inputs, so many of each class: those with the smallest hashes of their ids, so that the
//! sample depends on what is in the inputs, never on its order, on workers or on machines. Knows conversations and how
//! many bytes they hold, not what they are measured for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::error::Result;
use crate::model::{Content, Conversation, Media, Message, Part, ReadAs, ResultParts, Role, Thought, ToolCall};
use crate::pipeline::bridge::Bridge;
use crate::pipeline::look::Look;
use crate::pipeline::make_up::class_of;
use crate::pipeline::work::encode_batch;
use crate::pipeline::{Batch, Corpus, PlannedInput, PlannedPart, is_eval};

/// Conversations in a sample: enough for intervals of a few hundredths of a ratio.
pub const DEFAULT_SAMPLE: usize = 400;
/// Text in a sample, of each class: some seconds of work per option set on one core.
pub const DEFAULT_SAMPLE_BYTES: usize = 16 << 20;
/// A conversation with more than this share of the bytes of its class would be the sample.
const GIANT_SHARE: usize = 4;
/// Mixed into every hash, so that a sample has nothing to do with other splits by id, such as that of training data.
const SEED: &[u8] = b"condenser sweep sample 1";

/// Who waits for a sweep.
pub trait Watch: Sync {
    /// An error when the user asked to stop.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// Something was done, in a sentence.
    fn tell(&self, text: &str) {
        let _ = text;
    }
}

/// How much is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleOptions {
    /// Conversations, of all classes together.
    pub conversations: usize,
    /// Bytes of text, of each class.
    pub class_bytes: usize,
    /// Share of the conversations that is drawn apart, to prove what was found on the others.
    pub held_back: f64,
}

impl Default for SampleOptions {
    fn default() -> Self {
        Self { conversations: DEFAULT_SAMPLE, class_bytes: DEFAULT_SAMPLE_BYTES, held_back: 0.0 }
    }
}

/// The conversations of a class.
#[derive(Debug, Clone, Default)]
pub struct Stratum {
    /// The class.
    pub class: String,
    /// How many of them the inputs have.
    pub n_seen: usize,
    /// Those that were drawn, by the hash of their ids.
    pub drawn: Vec<Conversation<'static>>,
    /// Bytes of their texts.
    pub n_bytes: usize,
}

/// What was drawn.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// By class.
    pub strata: Vec<Stratum>,
}

/// Both samples, and what is in neither.
#[derive(Debug, Clone, Default)]
pub struct Drawn {
    /// What is measured.
    pub sample: Sample,
    /// What is held back.
    pub held_back: Sample,
    /// Conversations of the inputs, rejected ones left out.
    pub n_conversations: usize,
    /// Records that are no conversations.
    pub n_rejects: usize,
    /// Where the first of them stands, and what is wrong with it.
    pub first_reject: Option<String>,
    /// Conversations that are too long for a sample.
    pub n_giants: usize,
}

/// Where the conversations come from.
#[derive(Clone, Copy)]
pub struct CorpusParts<'a> {
    /// Opens them.
    pub corpus: &'a dyn Corpus,
    /// Their names.
    pub inputs: &'a [PlannedInput],
    /// Their slices.
    pub parts: &'a [PlannedPart],
    /// As what all records are read.
    pub read_as: Option<ReadAs<'a>>,
}

impl std::fmt::Debug for CorpusParts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CorpusParts").field("inputs", &self.inputs).finish_non_exhaustive()
    }
}

/// Reads the inputs once, from beginning to end, and draws.
pub fn draw(inputs: &CorpusParts<'_>, options: SampleOptions, bridge: &Bridge, watch: &dyn Watch) -> Result<Drawn> {
    let state = Mutex::new(State::default());
    let look = Look::new(|conversation: &Conversation<'_>| {
        let (class, key) = (class_of(conversation), key_of(conversation));
        let is_held_back = options.held_back > 0.0 && is_eval(&conversation.id, options.held_back);
        let n_bytes = conversation.messages.iter().flat_map(Message::texts).map(str::len).sum();
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.n_conversations += 1;
        if n_bytes > options.class_bytes / GIANT_SHARE {
            state.n_giants += 1;
        } else {
            state.classes.entry((is_held_back, class)).or_default().offer(key, n_bytes, conversation, &options);
        }
    });
    let (mut n_rejects, mut first_reject) = (0, None);
    for part in inputs.parts {
        let Some(input) = inputs.inputs.get(part.input) else { continue };
        let mut source = inputs.corpus.open(part.input, input, &part.slice)?;
        let task = look.task(&input.source, inputs.read_as);
        loop {
            watch.check()?;
            let mut batches: Vec<Batch> = Vec::with_capacity(bridge.threads());
            while batches.len() < bridge.threads()
                && let Some(batch) = source.next_batch()?
            {
                batches.push(batch);
            }
            if batches.is_empty() {
                break;
            }
            let encode = |batch: &Batch| {
                let encoded = encode_batch(&task, batch)?;
                Ok((encoded.totals.rejects as usize, encoded.rejects.into_iter().next()))
            };
            let rejects: Result<Vec<_>> = bridge.install(|| batches.par_iter().map(encode).collect());
            for (n, first) in rejects? {
                n_rejects += n;
                first_reject = first_reject.or_else(|| {
                    first
                        .map(|row| format!("{}: record {}: {}: {}", row.source, row.source_row, row.reason, row.detail))
                });
            }
        }
    }
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Drawn { first_reject, ..state.finish(options, n_rejects) })
}

/// What is smaller is drawn first: a hash of the id, and one of the texts where ids are the same.
type Key = ([u8; 16], [u8; 16]);

#[derive(Debug, Default)]
struct State {
    classes: BTreeMap<(bool, &'static str), Reservoir>,
    n_conversations: usize,
    n_giants: usize,
}

#[derive(Debug, Default)]
struct Reservoir {
    n_seen: usize,
    n_bytes: usize,
    drawn: BTreeMap<Key, (usize, Conversation<'static>)>,
    /// The smallest key that did not fit: nothing from it on is drawn.
    closed_at: Option<Key>,
}

impl Reservoir {
    /// Keeps the smallest keys as far as they fit, whatever the order in which they come.
    fn offer(&mut self, key: Key, n_bytes: usize, conversation: &Conversation<'_>, options: &SampleOptions) {
        self.n_seen += 1;
        if self.closed_at.is_some_and(|closed_at| key >= closed_at) || self.drawn.contains_key(&key) {
            return;
        }
        self.n_bytes += n_bytes;
        self.drawn.insert(key, (n_bytes, detached(conversation)));
        while (self.drawn.len() > options.conversations || self.n_bytes > options.class_bytes)
            && let Some((key, (n_bytes, _))) = self.drawn.pop_last()
        {
            self.n_bytes -= n_bytes;
            self.closed_at = Some(key);
        }
    }
}

impl State {
    fn finish(self, options: SampleOptions, n_rejects: usize) -> Drawn {
        let mut drawn =
            Drawn { n_conversations: self.n_conversations, n_giants: self.n_giants, n_rejects, ..Drawn::default() };
        for ((is_held_back, class), reservoir) in self.classes {
            let mut stratum = Stratum { class: class.to_owned(), n_seen: reservoir.n_seen, ..Stratum::default() };
            stratum.drawn = reservoir.drawn.into_values().map(|(_, conversation)| conversation).collect();
            let sample = if is_held_back { &mut drawn.held_back } else { &mut drawn.sample };
            sample.strata.push(stratum);
        }
        for sample in [&mut drawn.sample, &mut drawn.held_back] {
            sample.cut(options.conversations);
        }
        drawn
    }
}

impl Sample {
    /// Leaves at most `max` conversations: half of them in equal shares, so that rare classes have some, the other half
    /// by how frequent a class is.
    fn cut(&mut self, max: usize) {
        let n_seen: usize = self.strata.iter().map(|stratum| stratum.n_seen).sum();
        let equal = max as f64 / 2.0 / self.strata.len().max(1) as f64;
        let share = |stratum: &Stratum| {
            let of_all = stratum.n_seen as f64 / n_seen.max(1) as f64;
            ((equal + max as f64 / 2.0 * of_all) as usize).max(1).min(stratum.drawn.len())
        };
        let mut shares: Vec<usize> = self.strata.iter().map(share).collect();
        // What small classes leave goes to the others.
        let mut left = max.saturating_sub(shares.iter().sum());
        for (stratum, share) in self.strata.iter().zip(&mut shares) {
            let more = left.min(stratum.drawn.len() - *share);
            *share += more;
            left -= more;
        }
        for (stratum, share) in self.strata.iter_mut().zip(shares) {
            stratum.drawn.truncate(share);
            let texts = stratum.drawn.iter().flat_map(|drawn| &drawn.messages).flat_map(Message::texts);
            stratum.n_bytes = texts.map(str::len).sum();
        }
    }

    /// Number of conversations.
    pub fn len(&self) -> usize {
        self.strata.iter().map(|stratum| stratum.drawn.len()).sum()
    }

    /// True when nothing was drawn.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Class (as an index) and conversation in an order in which every beginning holds the classes in the shares of the
    /// whole.
    pub fn spread(&self) -> Vec<(usize, &Conversation<'static>)> {
        let mut all = Vec::with_capacity(self.len());
        for (class, stratum) in self.strata.iter().enumerate() {
            let n = stratum.drawn.len() as f64;
            let place = |at: usize| (at as f64 + 0.5) / n;
            all.extend(stratum.drawn.iter().enumerate().map(|(at, drawn)| (place(at), class, drawn)));
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.into_iter().map(|(_, class, drawn)| (class, drawn)).collect()
    }
}

fn key_of(conversation: &Conversation<'_>) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(SEED).update(conversation.id.as_bytes());
    let by_id = half(&hasher);
    for message in &conversation.messages {
        for text in message.texts() {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
    }
    (by_id, half(&hasher))
}

fn half(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    half
}

/// The conversation without the record that it was read from. The engine reads no raw JSON, so none is kept.
pub(in crate::pipeline) fn detached(conversation: &Conversation<'_>) -> Conversation<'static> {
    let messages = conversation.messages.iter().map(|message| Message {
        raw: "",
        id: message.id.as_deref().map(owned),
        role: match &message.role {
            Role::System => Role::System,
            Role::Developer => Role::Developer,
            Role::User => Role::User,
            Role::Assistant => Role::Assistant,
            Role::Tool => Role::Tool,
            Role::Function => Role::Function,
            Role::Other(name) => Role::Other(owned(name)),
            Role::Missing => Role::Missing,
        },
        name: message.name.as_deref().map(owned),
        content: match &message.content {
            Content::Absent => Content::Absent,
            Content::Null => Content::Null,
            Content::Text(text) => Content::Text(owned(text)),
            Content::Parts(parts) => Content::Parts(parts.iter().map(part).collect()),
            Content::Other => Content::Other,
        },
        tool_calls: message.tool_calls.iter().map(call).collect(),
        tool_call_id: message.tool_call_id.as_deref().map(owned),
        results: message.results.iter().map(result).collect(),
        reasoning: message.reasoning.iter().map(thought).collect(),
        provenance: message.provenance.clone(),
    });
    let (is_compacted, held) = (conversation.is_compacted, conversation.held.clone());
    Conversation {
        id: owned(&conversation.id),
        messages: messages.collect(),
        is_compacted,
        age: conversation.age,
        held,
    }
}

/// There is no record any more, but what may be changed of it still may.
fn thought(thought: &Thought<'_>) -> Thought<'static> {
    Thought { text: owned(&thought.text), places: vec![""; thought.places.len()] }
}

fn result(result: &ResultParts<'_>) -> ResultParts<'static> {
    ResultParts { parts: result.parts.clone(), call: result.call.as_deref().map(owned) }
}

fn part(part: &Part<'_>) -> Part<'static> {
    match part {
        Part::Text(text) => Part::Text(owned(text)),
        // What it is says all that the engine looks at.
        Part::Media(media) => Part::Media(Media { kind: media.kind, name: media.name.as_deref().map(owned), raw: "" }),
        Part::Opaque => Part::Opaque,
    }
}

fn call(call: &ToolCall<'_>) -> ToolCall<'static> {
    ToolCall {
        id: call.id.as_deref().map(owned),
        name: call.name.as_deref().map(owned),
        arguments: owned(&call.arguments),
        // Where they stand is asked by who writes them.
        place: call.place.map(|_| ""),
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}
