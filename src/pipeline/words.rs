//! Counts the words of a corpus before a job begins: a bounded sample that depends on nothing but the inputs and how
//! they are cut. Knows conversations; refuses to know what the counts are for and where they are written.

use std::sync::{Mutex, PoisonError};

use super::record::{Form, Recipe};
use super::task::Task;
use super::work::encode_batch;
use super::{Condense, Corpus, Plan, PlannedInput, PlannedPart};
use crate::engine::Scratch;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Condensed, Conversation, EngineOptions, Message, Metrics, Output, ShapeName};
use crate::text::{DEFAULT_MAX_WORDS, WordCounts, WordStatistics};

/// Text that is counted: enough for stable counts of all but the rarest words, read in about a second.
pub const WORD_SAMPLE_BYTES: usize = 16 << 20;
/// So many parts are looked into; where there are more, evenly spread ones.
const MAX_SAMPLED_PARTS: usize = 64;
/// Of a longer text its beginning is counted: the rest of a file of data would drown the talk.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Counts the words of `plan`'s inputs: of up to 64 parts, evenly spread, the first records, 16 MiB of text in all and
/// the same share of each; 64 KiB of any one text. What is read does not depend on workers and machines.
///
/// May block for seconds.
///
/// # Errors
/// `Usage` for stdin, which can be read only once. When an input cannot be read; one that is not what it should be is
/// left out here, since the job names it.
pub fn count_words(corpus: &dyn Corpus, plan: &Plan) -> Result<WordStatistics> {
    count_words_of(corpus, &plan.inputs, &plan.parts, plan.options.shape)
}

/// The same for slices of inputs without a job.
///
/// # Errors
/// See [`count_words`].
pub fn count_words_of(
    corpus: &dyn Corpus,
    inputs: &[PlannedInput],
    parts: &[PlannedPart],
    shape: Option<ShapeName>,
) -> Result<WordStatistics> {
    if let Some(stdin) = inputs.iter().find(|input| input.source == "-") {
        let message = "stdin can be read only once, and its words are to be counted before";
        let error = Error::new(ErrorKind::Usage, &stdin.source, message);
        return Err(error.hinting("write it to a file first, or leave out --entropy-scorer"));
    }
    let n_sampled = parts.len().min(MAX_SAMPLED_PARTS);
    let mut words = WordCounts::default();
    for at in 0..n_sampled {
        let part = parts[at * parts.len() / n_sampled];
        match count_part(corpus, inputs, &part, shape, WORD_SAMPLE_BYTES / n_sampled) {
            Ok(counted) => words.merge(counted),
            Err(error) if matches!(error.kind, ErrorKind::Input | ErrorKind::Usage) => {
                tracing::debug!(%error, "left out of the word statistics");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(words.freeze(DEFAULT_MAX_WORDS))
}

fn count_part(
    corpus: &dyn Corpus,
    inputs: &[PlannedInput],
    part: &PlannedPart,
    shape: Option<ShapeName>,
    max_bytes: usize,
) -> Result<WordCounts> {
    let Some(input) = inputs.get(part.input) else { return Ok(WordCounts::default()) };
    let mut source = corpus.open(part.input, input, &part.slice)?;
    let counter = Counter { options: EngineOptions::default(), state: Mutex::new((WordCounts::default(), max_bytes)) };
    // Whatever holds a conversation is read the way that the job reads it; what is made of it goes away.
    let recipe = Recipe { engine: &counter, form: Form::Columns, shape, forced: shape.is_some() };
    let task = Task { recipe, source: &input.source, trace: false, verbatim_map: false, dataset: None };
    while counter.left() > 0 {
        let Some(batch) = source.next_batch()? else { break };
        encode_batch(&task, &batch)?;
    }
    Ok(counter.state.into_inner().unwrap_or_else(PoisonError::into_inner).0)
}

/// Stands where the engine stands, counts and changes nothing.
#[derive(Debug)]
struct Counter {
    options: EngineOptions,
    /// The counts, and the bytes that may still be counted.
    state: Mutex<(WordCounts, usize)>,
}

impl Counter {
    fn left(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1
    }
}

impl Condense for Counter {
    fn options(&self) -> &EngineOptions {
        &self.options
    }

    fn condense(&self, conversation: &Conversation<'_>, _scratch: &mut Scratch) -> Condensed {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (words, left) = &mut *state;
        for text in conversation.messages.iter().flat_map(Message::texts) {
            let text = beginning(text, MAX_TEXT_BYTES.min(*left));
            words.add(text);
            *left -= text.len();
        }
        let messages = (0..conversation.messages.len()).map(|index| Output::Kept { index }).collect();
        Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }
    }
}

/// The first `max_bytes` of `text`, or a little less: characters stay whole.
fn beginning(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
