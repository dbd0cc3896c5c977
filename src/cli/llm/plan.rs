//! The questions of a job: its inputs go through the engine, with a model that answers from kept replies and writes
//! down what it cannot answer. No run is written.

use std::sync::{Arc, Mutex, PoisonError};

use condenser::engine::Scratch;
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::expand;
use condenser::llm::batch::Asking;
use condenser::llm::{ModelSettings, Prompts, answer_of};
use condenser::model::{Answer, Answers, Ask, Condensed, Conversation, EngineOptions, NoAnswer};
use condenser::pipeline::bridge::Bridge;
use condenser::pipeline::{
    Commit, Condense, EncodedBatch, JobKind, JobSettings, LlmSettings, Manifest, Model, PartSink, PartStart, Sink,
    Target, compress as compress_all, count_words,
};
use futures::FutureExt;

use crate::cli::{block_on, block_on_thread, compaction, compress, place, progress, stores_of};

/// How the questions of this job become requests, and replies answers: as in its run.
pub(super) fn asking(settings: &JobSettings, model: &LlmSettings) -> Asking {
    let prompts = Prompts::new(&settings.options.engine);
    Asking {
        model: ModelSettings::of(model),
        request: Box::new(move |ask| prompts.request(ask)),
        answer: Box::new(answer_of),
    }
}

/// Sends the inputs of the job through its engine, which asks `model`; what comes out is dropped.
pub(super) fn through_engine(settings: &JobSettings, model: Arc<dyn Model>) -> Result<()> {
    let stores = stores_of(settings);
    let mut inputs = expand(&settings.inputs, &stores)?;
    if let (JobKind::Compaction, Target::Run(store)) = (settings.kind, &settings.target) {
        inputs = compaction::tonight(&place(store.as_ref(), &stores)?, inputs, &mut Vec::new())?;
    }
    let (corpus, plan) = compress::plan(settings, inputs)?;
    let words = if compress::counts_words(&settings.options.engine) {
        let (corpus, plan) = (corpus.clone(), plan.clone());
        Some(block_on_thread(move |_| count_words(&*corpus, &plan))?)
    } else {
        None
    };
    let engine = compress::engine(settings, words.as_ref())?;
    let asking = Arc::new(Consulting { engine, model, trouble: Mutex::new(None) });
    let context = compress::context(settings, asking.clone(), progress::observer(settings))?;
    let done = block_on(compress_all(&context, &plan, Vec::new(), corpus, &Nowhere));
    match asking.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => done.map(drop),
    }
}

/// An engine that consults a model until it asks nothing more. The model must answer at once.
#[derive(Debug)]
struct Consulting {
    engine: Arc<dyn Condense>,
    model: Arc<dyn Model>,
    /// The first failure of the model.
    trouble: Mutex<Option<Error>>,
}

impl Consulting {
    /// Whether another round may ask more. Which messages are summarised, and with which others, is settled only when
    /// all rulings of the conversation are there: nothing else is asked before, since it would be paid for in vain.
    fn answer(&self, mut asks: Vec<Ask>, answers: &mut Answers) -> Result<bool> {
        let is_ruling = |ask: &Ask| matches!(ask, Ask::Ruling { .. });
        let has_rulings = asks.iter().any(is_ruling);
        asks.retain(|ask| !has_rulings || is_ruling(ask));
        let ids: Vec<_> = asks.iter().map(Ask::id).collect();
        let now = self.model.answer(asks).now_or_never();
        let given = now.ok_or_else(|| Error::new(ErrorKind::Internal, "", "a plan waits for no model"))??;
        let is_open = has_rulings && given.contains(&Answer::None(NoAnswer::Offline));
        let has_given = !given.is_empty();
        ids.into_iter().zip(given).for_each(|(id, answer)| answers.insert(id, answer));
        Ok(has_given && !is_open)
    }
}

impl Condense for Consulting {
    fn options(&self) -> &EngineOptions {
        self.engine.options()
    }

    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        let mut answers = Answers::default();
        loop {
            let mut asks = Vec::new();
            let condensed = self.engine.consult(conversation, scratch, &answers, &mut asks);
            match self.answer(asks, &mut answers) {
                Ok(true) => {}
                Ok(false) => return condensed,
                Err(error) => {
                    self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return condensed;
                }
            }
        }
    }

    fn consult(
        &self,
        conversation: &Conversation<'_>,
        scratch: &mut Scratch,
        _: &Answers,
        _: &mut Vec<Ask>,
    ) -> Condensed {
        self.condense(conversation, scratch)
    }
}

/// Drops everything.
struct Nowhere;

impl Sink for Nowhere {
    type Part = Self;

    async fn begin(&self, _: &PartStart<'_>) -> Result<Self> {
        Ok(Self)
    }

    async fn finish(&self, manifest: Manifest) -> Result<Manifest> {
        Ok(manifest)
    }
}

impl PartSink for Nowhere {
    async fn write(&mut self, _: EncodedBatch, _: &Bridge) -> Result<()> {
        Ok(())
    }

    async fn commit(self, commit: Commit, _: &Bridge) -> Result<Commit> {
        Ok(commit)
    }
}
