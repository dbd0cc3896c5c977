//! What the records of a batch come to, whatever they were read from: the sidecar, figures, decisions, training data,
//! rejects and counts. Lines and rows feed it; refuses to know either.

use arrow::record_batch::RecordBatch;

use super::again::Again;
use super::make_up::MakeUp;
use super::record::Product;
use super::sketch::{Contents, Sketch};
use super::tables::{Checksum, DecisionsBuilder, Kind, MetricsBuilder, OriginalRow, RowPlace, VerbatimBuilder};
use super::task::Task;
use super::training::TrainingBuilder;
use super::{EncodedBatch, Merge, RejectRow, Totals};
use crate::engine::Scratch;
use crate::error::Result;
use crate::model::PartView;

/// The tables of a batch in the making, all but the conversations.
pub(crate) struct Accumulator<'t> {
    pub(crate) task: &'t Task<'t>,
    verbatim: VerbatimBuilder,
    metrics: MetricsBuilder,
    decisions: DecisionsBuilder,
    training: Option<TrainingBuilder<'t>>,
    contents: Contents,
    pub(crate) out: EncodedBatch,
}

impl<'t> Accumulator<'t> {
    pub(crate) fn new(task: &'t Task<'t>) -> Self {
        Self {
            task,
            verbatim: VerbatimBuilder::default(),
            metrics: MetricsBuilder::default(),
            decisions: DecisionsBuilder::default(),
            training: task.trainer.map(|trainer| TrainingBuilder::new(trainer, task.verdicts)),
            contents: Contents::default(),
            out: EncodedBatch::default(),
        }
    }

    /// The same for records of about so many bytes.
    pub(crate) fn with_bytes(self, n_bytes: usize) -> Self {
        Self { verbatim: VerbatimBuilder::with_bytes(n_bytes), ..self }
    }

    /// Counts and measures a conversation; `hash` is that of its record or row.
    pub(crate) fn conversation(
        &mut self,
        place: RowPlace<'_>,
        product: &Product<'_>,
        hash: blake3::Hash,
        scratch: &mut Scratch,
    ) {
        let Product { decoded, condensed } = product;
        let conversation = &decoded.conversation;
        if let Some(surveyor) = self.task.surveyor {
            self.out.notes.extend(surveyor.notes((self.task.input, place.row), decoded));
            self.out.totals.conversations += 1;
            return;
        }
        self.metrics.push(place, &MakeUp::of(conversation), &condensed.metrics, &Checksum(hash).to_string());
        if let Some(training) = &mut self.training {
            training.push((self.task.input, place), decoded, scratch);
        }
        if self.task.trace {
            for decision in &condensed.decisions {
                self.decisions.push(place, conversation, decision);
            }
        }
        self.contents.add(conversation, condensed);
        self.out.proof.restored += 1;
        self.out.totals.absorb(&Totals::of(conversation, condensed));
    }

    /// Puts the bytes around a record into the sidecar.
    pub(crate) fn frame(&mut self, place: RowPlace<'_>, frame: &str) {
        self.verbatim.push(place, Kind::Frame, OriginalRow::default(), frame);
    }

    /// Puts what restores a record into the sidecar: itself, where nothing else brings it back, else a layout and the
    /// messages that something else stands for; the style of a record stands in all its rows.
    pub(crate) fn originals<'o>(
        &mut self,
        place: RowPlace<'_>,
        style: Option<char>,
        whole: Option<&str>,
        layout: Option<&str>,
        messages: impl Iterator<Item = (OriginalRow<'o>, &'o str)>,
    ) {
        let of_record = OriginalRow { style, ..OriginalRow::default() };
        if let Some(record) = whole {
            self.verbatim.push(place, Kind::Record, of_record, record);
            self.out.proof.raw_records += 1;
        }
        if let Some(layout) = layout {
            self.verbatim.push(place, Kind::Layout, of_record, layout);
        }
        let mut next_mark = 1;
        for (row, message) in messages {
            self.verbatim.push(place, Kind::Message, OriginalRow { next_mark, ..row }, message);
            next_mark = PartView::next_mark(row.views, next_mark);
            self.out.proof.originals += 1;
        }
    }

    /// Puts a record that comes again into the sidecar: what is new of it, what is shown, and what is said of its `messages`.
    pub(crate) fn again<'o>(
        &mut self,
        place: RowPlace<'_>,
        again: &Again<'_>,
        messages: impl Iterator<Item = OriginalRow<'o>>,
    ) {
        let Again { rows, original, view } = again;
        for (kind, text, rows) in [(Kind::Again, original, *rows), (Kind::View, view, &[])] {
            let row = OriginalRow { pieces: text.pieces.as_deref(), rows, ..OriginalRow::default() };
            self.verbatim.push(place, kind, row, &text.rest);
        }
        self.out.rests_on.extend(rows.iter().map(|row| row.run.clone()));
        self.originals(place, None, None, None, messages.map(|row| (row, "")));
    }

    /// Takes a record out, or a further piece of one that was taken out, which counts no more.
    pub(crate) fn reject(&mut self, row: RejectRow) {
        self.out.totals.rejects += u64::from(!row.reason.is_empty());
        self.out.rejects.push(row);
    }

    /// All tables, with these conversations.
    pub(crate) fn finish(mut self, conversations: RecordBatch) -> Result<EncodedBatch> {
        if let Some(training) = self.training {
            let (rows, dropped, tally) = training.finish()?;
            (self.out.training, self.out.dropped) = (Some(rows), dropped);
            self.out.sketch.training = Some(tally);
        }
        let decisions = self.task.trace.then(|| self.decisions.finish()).transpose()?;
        let metrics = self.metrics.finish()?;
        let training = self.out.sketch.training.take();
        let mut sketch = Sketch { contents: Some(self.contents), training, ..Sketch::default() };
        sketch.figures.add_rows(&metrics)?;
        for reject in &self.out.rejects {
            sketch.add_reject(reject);
        }
        self.out.sketch = sketch;
        self.out.tables = [Some(conversations), Some(self.verbatim.finish()?), Some(metrics), decisions];
        Ok(self.out)
    }
}
