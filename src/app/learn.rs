//! Learns from finished conversations what their next turns used, and says on others how well that is guessed, beside hiding all
//! but the last results. Knows inputs and a model; refuses to know features.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::conversations::each_conversation;
use super::{App, inputs_of, place};
use crate::engine::{Engine, Scratch, TurnCut};
use crate::error::{Error, ErrorKind, Result};
use crate::io::Input;
use crate::io::store::Stores;
use crate::model::{AssistantText, Conversation, EngineOptions, LookAhead, NextTurn};
use crate::pipeline::{Observer, TableOptions, is_eval};
use crate::walk::{Lessons, UseModel, cuts_of};

/// Share of the conversations on which the model is judged, and not trained.
const HELD_BACK: f64 = 0.2;
/// Cuts of a conversation by which the threshold is settled, and by which the model is judged.
const CUTS: usize = 3;
/// Bytes of conversations that are compressed again and again to settle the threshold, about.
const SETTLED: f64 = 64e6;
/// What the threshold of a model is for.
const RATIO: f64 = 2.0;
/// Above every worth there is.
const MAX_WORTH: u32 = 1 << 16;
/// Last results that may stay where all others are hidden.
const MASKS: [usize; 12] = [0, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60, 90];

/// What is learned from.
#[derive(Debug, Clone)]
pub struct LearnSettings {
    /// Files, folders, patterns and addresses.
    pub inputs: Vec<String>,
    /// How tables among them are read.
    pub tables: TableOptions,
    /// The model that is written.
    pub output: String,
    /// Whether one that is there is overwritten.
    pub overwrites: bool,
    /// Where inputs lie.
    pub stores: Stores,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct LearnOutcome {
    /// Conversations with tools from which was learned.
    pub n_trained: usize,
    /// Those on which the model was judged.
    pub n_judged: usize,
    /// Records that are no conversations.
    pub has_rejects: bool,
    /// The worth from which something is shown.
    pub threshold: u32,
    /// Values that the next turns of the conversations that were held back needed.
    pub n_needed: usize,
    /// Share of them that stood in its place.
    pub recall: Option<f64>,
    /// Characters before over after.
    pub ratio: f64,
    /// The recall when all results but the last few are hidden.
    pub masked_recall: Option<f64>,
    /// The ratio then, as close to the other one as it comes.
    pub masked_ratio: f64,
    /// How many results stay then.
    pub n_results_shown: usize,
}

/// Learns a model and writes it.
///
/// # Errors
/// `Empty` when there is nothing to learn from; `Usage` when the file cannot be written.
pub fn learn(app: &App, settings: &LearnSettings, observer: &dyn Observer) -> Result<LearnOutcome> {
    let output = place(Path::new(&settings.output), &settings.stores)?;
    if settings.inputs.iter().any(|input| input == "-") {
        let error = Error::new(ErrorKind::Usage, "-", "what is learned from is read twice; stdin is gone after once");
        return Err(error.hinting("write it into a file first"));
    }
    if !settings.overwrites && output.exists()? {
        let error = Error::new(ErrorKind::Usage, output.to_string(), "the file exists already and is not overwritten");
        return Err(error.hinting("choose another name, or overwrite it with --force"));
    }
    let inputs = inputs_of(app, &settings.inputs, &settings.stores, observer)?;
    let (model, outcome) = Learner { app, inputs: &inputs, tables: &settings.tables, observer }.learn()?;
    app.wait(output.write_atomic(model.to_string().as_bytes()))?;
    Ok(outcome)
}

struct Learner<'l> {
    app: &'l App,
    inputs: &'l [Input],
    tables: &'l TableOptions,
    observer: &'l dyn Observer,
}

impl Learner<'_> {
    fn learn(&self) -> Result<(UseModel, LearnOutcome)> {
        let teacher = Engine::new(EngineOptions::default())?;
        let mut lessons = Lessons::default();
        let (mut n_trained, mut n_judged, mut n_bytes) = (0, 0, 0);
        let has_rejects = self.each(&mut |conversation| {
            let is_taken = !is_held_back(conversation) && teacher.teach(conversation, &mut lessons);
            n_trained += usize::from(is_taken);
            n_bytes += conversation.messages.iter().map(|message| message.raw.len()).sum::<usize>();
            Ok(true)
        })?;
        let (n_values, _) = lessons.len();
        if n_values == 0 {
            let error =
                Error::new(ErrorKind::Empty, "", "no conversation in these inputs has tools and turns to learn from");
            return Err(
                error.hinting("a model is learned from finished sessions of agents, of fourteen messages or more")
            );
        }
        let model = lessons.learn();
        drop(lessons);
        let model = self.settle(model, SETTLED / n_bytes.max(1) as f64)?;
        let threshold = model.threshold();
        let engine = guessing(model.clone())?;
        let mut scratch = Scratch::default();
        let (mut guessed, mut masked) = (NextTurn::default(), [NextTurn::default(); MASKS.len()]);
        self.each(&mut |conversation| {
            if is_held_back(conversation) && teacher.goes_by_use(conversation) {
                n_judged += 1;
                for cut in cuts_of(conversation, CUTS) {
                    let cut = TurnCut::new(conversation, cut);
                    guessed += cut.compressed(&engine, &mut scratch);
                    for (sum, &n) in masked.iter_mut().zip(&MASKS) {
                        *sum += cut.masked(n);
                    }
                }
            }
            Ok(true)
        })?;
        let ratio = guessed.ratio();
        let by_distance = |a: &&(NextTurn, usize), b: &&(NextTurn, usize)| {
            (a.0.ratio() - ratio).abs().total_cmp(&(b.0.ratio() - ratio).abs())
        };
        let masks: Vec<(NextTurn, usize)> = masked.into_iter().zip(MASKS).collect();
        let (mask, n_results_shown) = *masks.iter().min_by(by_distance).expect("there are masks");
        let outcome = LearnOutcome {
            n_trained,
            n_judged,
            has_rejects,
            threshold,
            n_needed: guessed.needed,
            recall: guessed.recall(),
            ratio,
            masked_recall: mask.recall(),
            masked_ratio: mask.ratio(),
            n_results_shown,
        };
        Ok((model, outcome))
    }

    /// The model with the threshold that makes what it was trained on half as long, by a share of that.
    fn settle(&self, model: UseModel, share: f64) -> Result<UseModel> {
        let mut scratch = Scratch::default();
        let is_taken = |conversation: &Conversation<'_>| {
            !is_held_back(conversation) && is_eval(&format!("settle {}", conversation.id), share)
        };
        let ratio_at = |threshold: u32, scratch: &mut Scratch| {
            let engine = guessing(model.clone().with_threshold(threshold))?;
            let mut sum = NextTurn::default();
            self.each(&mut |conversation| {
                if is_taken(conversation) && engine.goes_by_use(conversation) {
                    for cut in cuts_of(conversation, 1) {
                        sum += TurnCut::new(conversation, cut).size(&engine, scratch);
                    }
                }
                Ok(true)
            })?;
            Ok::<f64, Error>(sum.ratio())
        };
        let (mut low, mut high) = (0, MAX_WORTH);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if ratio_at(middle, &mut scratch)? < RATIO {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(model.with_threshold(high))
    }

    /// Calls `each` with every conversation; true when something was none.
    fn each(&self, each: &mut dyn FnMut(&Conversation<'_>) -> Result<bool>) -> Result<bool> {
        each_conversation(self.inputs, self.tables, self.app, self.observer, &mut |_, decoded| {
            each(&decoded.conversation)
        })
    }
}

fn is_held_back(conversation: &Conversation<'_>) -> bool {
    is_eval(&conversation.id, HELD_BACK)
}

fn guessing(model: UseModel) -> Result<Engine> {
    let options =
        EngineOptions { look_ahead: LookAhead::Off, assistant: AssistantText::Auto, ..EngineOptions::default() };
    Ok(Engine::new(options)?.with_use_model(Arc::new(model)))
}
