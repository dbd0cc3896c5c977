//! The bounded sample of a job: what is read before its first part, the same for any number of workers and machines.
//! Depends on nothing but the inputs and how they are cut. Refuses to know what is done with it.

use std::sync::{Mutex, PoisonError};

use super::look::Look;
use super::work::encode_batch;
use super::{Corpus, PlannedInput, PlannedPart};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Conversation, Message, ShapeName};

/// Text in a sample: enough for stable figures of all but the rarest things, read in about a second.
pub const SAMPLE_BYTES: usize = 16 << 20;
/// So many parts are looked into; where there are more, evenly spread ones.
const MAX_SAMPLED_PARTS: usize = 64;

/// Calls `each` with the first conversations of up to 64 evenly spread parts, until they hold `max_bytes` of text, the
/// same share of each part; the conversation that goes beyond is the last one of its part. May block for seconds.
///
/// # Errors
/// `Usage` for stdin, which can be read only once. When an input cannot be read; one that is not what it should be is
/// left out here, since the job names it.
pub fn sample(
    corpus: &dyn Corpus,
    inputs: &[PlannedInput],
    parts: &[PlannedPart],
    shape: Option<ShapeName>,
    max_bytes: usize,
    each: &mut (dyn FnMut(&Conversation<'_>) + Send),
) -> Result<()> {
    if let Some(stdin) = inputs.iter().find(|input| input.source == "-") {
        let message = "stdin can be read only once, and a sample of it is needed before";
        return Err(Error::new(ErrorKind::Usage, &stdin.source, message).hinting("write it to a file first"));
    }
    let n_sampled = parts.len().min(MAX_SAMPLED_PARTS);
    let state = Mutex::new((each, 0_usize));
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let look = Look::new(|conversation: &Conversation<'_>| {
        let (each, left) = &mut *lock();
        if *left > 0 {
            each(conversation);
            *left = left.saturating_sub(conversation.messages.iter().flat_map(Message::texts).map(str::len).sum());
        }
    });
    let read = |part: &PlannedPart, input: &PlannedInput| -> Result<()> {
        let mut source = corpus.open(part.input, input, &part.slice)?;
        while lock().1 > 0 {
            let Some(batch) = source.next_batch()? else { break };
            encode_batch(&look.task(&input.source, shape), &batch)?;
        }
        Ok(())
    };
    for at in 0..n_sampled {
        let part = &parts[at * parts.len() / n_sampled];
        let Some(input) = inputs.get(part.input) else { continue };
        lock().1 = max_bytes / n_sampled;
        match read(part, input) {
            Err(error) if matches!(error.kind, ErrorKind::Input | ErrorKind::Usage) => {
                tracing::debug!(%error, "left out of the sample");
            }
            done => done?,
        }
    }
    Ok(())
}
