//! Hands in what was planned, once, and looks how far it is. Knows what is written down of a batch and what the API
//! says about it.

use serde::Serialize;

use super::endpoint::Trouble;
use super::{BatchFolder, BatchStage, Batches, Endpoint, Page, Progress, Remote, Search};
use crate::error::Result;
use crate::llm::{LlmProvider, Refusal};

/// Batches that are asked for in one list.
const PAGE: usize = 100;

/// A batch that the API has now.
#[derive(Debug, Clone, Serialize)]
pub struct Handed {
    /// Its number.
    #[serde(rename = "batch")]
    pub name: String,
    /// Its name at the API.
    pub id: String,
    /// Requests in it.
    #[serde(rename = "requests")]
    pub n_requests: u64,
    /// It was there already: an earlier call was stopped before it could write that down.
    pub was_there: bool,
}

/// Hands in every batch that was planned, one after the other, each of them once: what is about to happen is written
/// down before, so that a call after a stopped one first looks whether the API has the batch.
///
/// # Errors
/// When the API refuses, or it is not known whether it has a batch; the same call again goes on from there.
pub async fn submit(endpoint: &Endpoint, batches: &Batches) -> Result<Vec<Handed>> {
    let mut all = batches.all()?;
    let mut handed = Vec::new();
    for at in 0..all.len() {
        let claimed: Vec<String> = all.iter().filter_map(|batch| batch.state.stage.id().map(str::to_owned)).collect();
        let batch = &mut all[at];
        let was_there = match batch.state.stage.clone() {
            BatchStage::Planned => {
                endpoint.check(batch)?;
                let newest = endpoint.list(1, None).await?.batches.into_iter().next();
                let search = Search { newest_before: newest.map(|batch| batch.id), not_ours: Vec::new() };
                create(endpoint, batch, search, None).await?;
                false
            }
            BatchStage::Submitting { search, file } => {
                endpoint.check(batch)?;
                if let Some(id) = look(endpoint, batch, &search, &claimed).await? {
                    let unproven = (endpoint.protocol() == LlmProvider::Anthropic).then_some(search);
                    batch.enter(BatchStage::Submitted { id, unproven })?;
                    true
                } else {
                    create(endpoint, batch, search, file).await?;
                    false
                }
            }
            _ => continue,
        };
        let id = batch.state.stage.id().unwrap_or_default().to_owned();
        handed.push(Handed { name: batch.name.clone(), id, n_requests: batch.state.n_requests, was_there });
    }
    Ok(handed)
}

async fn create(endpoint: &Endpoint, batch: &mut BatchFolder, search: Search, file: Option<String>) -> Result<()> {
    // An earlier call that was not answered may still have been heard: where to look for it stays written down. The file
    // does not, since it may be what is refused.
    let before = match &batch.state.stage {
        BatchStage::Submitting { search, .. } => BatchStage::Submitting { search: search.clone(), file: None },
        stage => stage.clone(),
    };
    let file = match file {
        Some(file) => Some(file),
        None => match endpoint.upload(batch).await {
            Ok(file) => file,
            // A file that is there twice costs nothing.
            Err(trouble) => return Err(named(endpoint.error(trouble), batch)),
        },
    };
    batch.enter(BatchStage::Submitting { search, file: file.clone() })?;
    match endpoint.create(batch, file.as_deref()).await {
        Ok(Remote { id, .. }) => batch.enter(BatchStage::Submitted { id, unproven: None }),
        Err(Trouble::Unknown(refusal)) => {
            let message = format!("it is not known whether the API has it now: {}", refusal.message);
            let error = endpoint.error(Trouble::Unknown(Refusal { message, ..refusal }));
            Err(named(error, batch).hinting("submit again: it is looked for before it is handed in again"))
        }
        Err(trouble) => {
            batch.enter(before)?;
            Err(named(endpoint.error(trouble), batch))
        }
    }
}

fn named(mut error: crate::error::Error, batch: &BatchFolder) -> crate::error::Error {
    error.message = format!("batch {}: {}", batch.name, error.message);
    error
}

/// The batch among those that are newer than the search began. One API gives back the mark that a batch was made with; at
/// the other the oldest one of the same size that belongs to no other batch is taken, and its results prove it.
async fn look(endpoint: &Endpoint, batch: &BatchFolder, search: &Search, claimed: &[String]) -> Result<Option<String>> {
    let (mut after, mut found): (Option<String>, _) = (None, None);
    loop {
        let Page { batches, has_more } = endpoint.list(PAGE, after.as_deref()).await?;
        for remote in &batches {
            if Some(&remote.id) == search.newest_before.as_ref() {
                return Ok(found);
            }
            let is_free = !claimed.contains(&remote.id) && !search.not_ours.contains(&remote.id);
            let is_alike = match endpoint.protocol() {
                LlmProvider::Openai => remote.mark.as_ref() == Some(&batch.state.blake3),
                LlmProvider::Anthropic => remote.n_requests == Some(batch.state.n_requests),
            };
            if is_free && is_alike {
                found = Some(remote.id.clone());
            }
        }
        match batches.last() {
            // A server that gives the same page again knows no pages.
            Some(last) if has_more && after.as_ref() != Some(&last.id) => after = Some(last.id.clone()),
            _ => return Ok(found),
        }
    }
}

/// How far a batch is.
#[derive(Debug, Clone, Serialize)]
pub struct Polled {
    /// Its number.
    #[serde(rename = "batch")]
    pub name: String,
    /// Requests in it.
    #[serde(rename = "requests")]
    pub n_requests: u64,
    /// Requests that are done, as the API counts; all when it has ended.
    #[serde(rename = "done")]
    pub n_done: u64,
    /// It has ended; its results are there.
    #[serde(rename = "has_ended")]
    pub is_ended: bool,
    /// Why the API refused it as a whole.
    pub refused: Option<String>,
}

/// Asks how far every batch is that was handed in, once.
pub async fn poll(endpoint: &Endpoint, batches: &Batches) -> Result<Vec<Polled>> {
    let mut polled = Vec::new();
    for mut batch in batches.all()? {
        let BatchStage::Submitted { id, unproven } = batch.state.stage.clone() else { continue };
        endpoint.check(&batch)?;
        let n_requests = batch.state.n_requests;
        let mut told =
            Polled { name: batch.name.clone(), n_requests, n_done: n_requests, is_ended: true, refused: None };
        match endpoint.find(&id).await?.progress {
            Progress::Running { n_done } => told = Polled { n_done, is_ended: false, ..told },
            Progress::Ended { results } => batch.enter(BatchStage::Ended { id, unproven, results })?,
            Progress::Refused { message } => {
                told = Polled { n_done: 0, refused: Some(message.clone()), ..told };
                batch.enter(BatchStage::Refused { id, message })?;
            }
        }
        polled.push(told);
    }
    Ok(polled)
}
