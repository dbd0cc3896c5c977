//! Brings results of batches that have ended into the kept replies. A result is kept the moment it is read; the batch is
//! entered as fetched after all are on disk.

use serde::Serialize;

use super::requests::{Keys, keys};
use super::{BatchFolder, BatchStage, Batches, Endpoint, Receipt, ResultLine, Search, anthropic, openai};
use crate::error::Result;
use crate::llm::cache::{Kept, ReplyOutcome, ReplyStore, parse_hex};
use crate::llm::{LlmProvider, Refusal, RefusalKind, Usage};

/// Batches cost half of what requests cost that are answered at once, with both providers.
const SHARE_OF_PRICE: f64 = 0.5;

/// What became of a batch that had ended.
#[derive(Debug, Clone, Serialize)]
pub struct Fetched {
    /// Its number.
    #[serde(rename = "batch")]
    pub name: String,
    /// What came out of it; `None` when nothing did.
    pub receipt: Option<Receipt>,
    /// Why nothing did.
    pub trouble: Option<&'static str>,
}

/// Fetches the results of every batch that has ended. `cost` says what tokens cost when a model is asked at once.
///
/// # Errors
/// When results cannot be fetched or kept; the same call again fetches them whole.
pub async fn fetch(
    endpoint: &Endpoint,
    batches: &Batches,
    store: &ReplyStore,
    cost: &(dyn Fn(&Usage) -> Option<f64> + Sync),
) -> Result<Vec<Fetched>> {
    let mut fetched = Vec::new();
    for mut batch in batches.all()? {
        let BatchStage::Ended { id, unproven, results } = batch.state.stage.clone() else { continue };
        endpoint.check(&batch)?;
        let mut open = Keys::default();
        keys(&batch.requests(), &mut open)?;
        let model = batch.state.model.clone();
        let mut taking =
            Taking { store, cost, model, open, receipt: Receipt { id, ..Receipt::default() }, n_foreign: 0 };
        let mut is_there = true;
        for path in &results {
            is_there &= endpoint.lines(path, |line| taking.take(endpoint.protocol(), line)).await?;
        }
        if !is_there {
            // To another account nothing is there: only who sees the batch knows that its results are gone.
            endpoint.find(&taking.receipt.id).await?;
        }
        store.sync()?;
        let told = taking.end(&mut batch, unproven, is_there)?;
        fetched.push(told);
    }
    Ok(fetched)
}

struct Taking<'s> {
    store: &'s ReplyStore,
    cost: &'s (dyn Fn(&Usage) -> Option<f64> + Sync),
    model: String,
    /// Requests without a result so far.
    open: Keys,
    receipt: Receipt,
    /// Lines that answer no request of this batch.
    n_foreign: u64,
}

impl Taking<'_> {
    fn take(&mut self, protocol: LlmProvider, line: &[u8]) -> Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let line = match protocol {
            LlmProvider::Openai => openai::result_line(line),
            LlmProvider::Anthropic => anthropic::result_line(line),
        };
        let Some(ResultLine { custom_id, result }) = line else {
            self.receipt.trouble.get_or_insert_with(|| "a line of the results cannot be read".to_owned());
            return Ok(());
        };
        let Some(key) = parse_hex(&custom_id).filter(|key| self.open.contains(key)) else {
            self.n_foreign += 1;
            return Ok(());
        };
        let (outcome, cost) = match result {
            Ok(completion) => {
                let Usage { input, cached, cache_written, output } = completion.usage;
                self.receipt.n_replies += 1;
                let add = |sum: &mut u64, tokens: u64| *sum = sum.saturating_add(tokens);
                add(&mut self.receipt.input_tokens, input);
                add(&mut self.receipt.cached_tokens, cached.saturating_add(cache_written));
                add(&mut self.receipt.output_tokens, output);
                let cost = (self.cost)(&completion.usage).map(|cost| cost * SHARE_OF_PRICE);
                if let Some(cost) = cost {
                    *self.receipt.cost.get_or_insert(0.0) += cost;
                }
                (ReplyOutcome::Reply(completion), cost)
            }
            Err(Refusal { kind: kind @ (RefusalKind::BadRequest | RefusalKind::TooLong), message }) => {
                self.receipt.n_failed += 1;
                self.receipt.trouble.get_or_insert_with(|| message.clone());
                (ReplyOutcome::Failed { is_too_long: kind == RefusalKind::TooLong, message }, None)
            }
            // The server, the key or the model was in the way, not the request.
            Err(Refusal { message, .. }) => {
                self.receipt.trouble.get_or_insert(message);
                return Ok(());
            }
        };
        self.open.remove(&key);
        let kept = Kept { model: self.model.clone(), is_batch: true, cost, outcome };
        if self.store.get(&key)?.as_ref() == Some(&kept) {
            return Ok(());
        }
        self.store.put(&key, &kept)
    }

    /// Enters what came of it.
    fn end(mut self, batch: &mut BatchFolder, unproven: Option<Search>, is_there: bool) -> Result<Fetched> {
        let n_requests = batch.state.n_requests;
        let n_done = self.receipt.n_replies + self.receipt.n_failed;
        let mut told = Fetched { name: batch.name.clone(), receipt: None, trouble: None };
        self.receipt.n_open = n_requests.saturating_sub(n_done);
        let id = self.receipt.id.clone();
        match unproven {
            Some(mut search) if n_done == 0 && self.n_foreign > 0 => {
                search.not_ours.push(id);
                batch.enter(BatchStage::Submitting { search, file: None })?;
                told.trouble = Some("the batch at the API is another one of the same size; submit again");
            }
            _ if !is_there => {
                let message = "the API has its results no longer".to_owned();
                batch.enter(BatchStage::Refused { id, message })?;
                told.trouble = Some("the API has its results no longer; what is missing is open again");
            }
            _ => {
                batch.enter(BatchStage::Fetched(self.receipt.clone()))?;
                told.receipt = Some(self.receipt);
            }
        }
        Ok(told)
    }
}
