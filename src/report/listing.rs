//! What a run holds, file by file, as one document for machines and as lines for people. Knows plan and commits, no file
//! and no terminal.

use serde::Serialize;

use super::SourceFacts;
use super::numbers::{NOTHING, bytes, count, counted, ratio as shown_ratio};
use super::plain::{cut, cut_start, line, width};
use crate::pipeline::sketch::{Share, ratio};
use crate::pipeline::{Commit, Manifest, PlannedPart, ReadInput, RunPlan, TableName, Tally};

/// Version of the document.
pub const LISTING_VERSION: u32 = 1;

/// Between two columns.
const GAP: &str = "  ";
/// A name is not cut below so many columns.
const MIN_NAME: usize = 24;

/// What a run holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(title = "listing"))]
pub struct ListingDocument {
    /// See [`LISTING_VERSION`].
    pub listing_version: u32,
    /// The run as given.
    pub run: String,
    /// `complete`; `partial` when it was finished without some of its files; `unfinished` when it has no manifest yet.
    pub status: String,
    /// The files that it read or is going to read, in its order.
    pub files: Vec<FileFacts>,
    /// Sums over what it holds.
    pub totals: ListingTotals,
}

/// A file of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FileFacts {
    /// Its name as given.
    pub source: String,
    /// What became of it.
    pub status: FileStatus,
    /// Why it failed; else `null`.
    pub error: Option<String>,
    /// What the run holds of it.
    #[serde(flatten)]
    pub held: SourceFacts,
    /// Bytes as stored that it had when the job began; `null` where that was not known, as of stdin.
    pub bytes_planned: Option<u64>,
    /// The parts that it is in, in order; others may share the only one.
    pub parts: Vec<usize>,
    /// Those of its parts that the run does not hold.
    pub parts_missing: Vec<usize>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// The run holds all of it.
    #[default]
    Complete,
    /// It could not be read, while others that share its part were.
    Failed,
    /// The run was finished without it.
    Missing,
    /// A part of it is not committed yet.
    Pending,
}

/// Sums over what a run holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ListingTotals {
    /// Files, whatever became of them.
    pub files: u64,
    /// Files that failed.
    pub files_failed: u64,
    /// Files without which the run was finished.
    pub files_missing: u64,
    /// Files of which a part is not committed yet.
    pub files_pending: u64,
    /// What the run holds of all of them.
    #[serde(flatten)]
    pub held: SourceFacts,
    /// Bytes of all files of the run.
    pub bytes_written: u64,
    /// `bytes_stored` over `bytes_written`.
    pub bytes_ratio: f64,
    /// The run holds figures alone: no original comes back from it.
    pub only_measures: bool,
    /// Parts that were planned.
    pub parts: u64,
    /// Parts that the run holds.
    pub parts_committed: u64,
}

impl ListingDocument {
    /// The listing of the run that is called `run`: of what its plan named, or without one of what its `commits` read, which
    /// stand in order. A run without a manifest is unfinished.
    pub fn new(
        run: String,
        plan: Option<&RunPlan>,
        commits: &[Commit],
        manifest: Option<&Manifest>,
        tally: &Tally,
    ) -> Self {
        let open = if manifest.is_some() { FileStatus::Missing } else { FileStatus::Pending };
        let files = plan.map_or_else(|| files_read(commits), |plan| files_planned(plan, commits, open));
        let n_parts = plan.map_or(commits.len(), |plan| plan.parts.len());
        Self {
            listing_version: LISTING_VERSION,
            run,
            status: manifest.map_or("unfinished", |manifest| &manifest.status).to_owned(),
            totals: ListingTotals::new(&files, tally, n_parts, commits.len()),
            files,
        }
    }

    /// The listing as lines of text: one for each file, and the sums. Within `columns` names lose their beginning and
    /// reasons their end; a name keeps 24 columns in any case.
    pub fn text(&self, columns: Option<usize>) -> String {
        let with_rejects = self.files.iter().any(|file| file.held.rejects > 0);
        let with_text = self.files.iter().any(|file| file.text().is_some());
        let mut rows = vec![Row::head()];
        rows.extend(self.files.iter().map(Row::of));
        let widths = [0, 1, 2, 3, 4].map(|at| rows.iter().map(|row| width(&row.cells[at])).max().unwrap_or(0));
        let is_shown = [true, with_rejects, true, with_text, true];
        let mut out = String::new();
        for row in &rows {
            let cells = row.cells.iter().zip(widths).zip(is_shown).filter(|(_, is_shown)| *is_shown);
            let start: String = cells.map(|((cell, width), _)| format!("{cell:>width$}{GAP}")).collect();
            let room = columns.map(|columns| columns.saturating_sub(width(&start)).max(MIN_NAME));
            out.push_str(&start);
            out.push_str(&row.name_within(room));
            out.push('\n');
        }
        out + &self.totals.line(&self.status) + "\n"
    }
}

/// The files of a plan with what `commits` hold of them; what stands in no commit is `open`.
fn files_planned(plan: &RunPlan, commits: &[Commit], open: FileStatus) -> Vec<FileFacts> {
    let file =
        |source: &str, bytes| FileFacts { source: source.to_owned(), bytes_planned: bytes, ..FileFacts::default() };
    let mut files: Vec<FileFacts> = plan.inputs.iter().map(|input| file(&input.source, input.bytes)).collect();
    let mut commits = commits.iter().peekable();
    for (part, planned) in plan.parts.iter().enumerate() {
        let files = files.get_mut(planned.inputs()).unwrap_or_default();
        let commit = commits.next_if(|commit| commit.part == part);
        for file in &mut *files {
            file.parts.push(part);
            if commit.is_none() {
                file.parts_missing.push(part);
                file.status = open;
            }
        }
        if let Some(commit) = commit {
            take(files, commit, plan, planned);
        }
    }
    files
}

/// Adds what a part holds of the files that were planned for it.
fn take(files: &mut [FileFacts], commit: &Commit, plan: &RunPlan, planned: &PlannedPart) {
    let inputs = plan.inputs.get(planned.inputs()).unwrap_or_default();
    let mut failed = commit.failed.iter();
    for (file, read) in files.iter_mut().zip(commit.read_of(inputs)) {
        if let Some(read) = read {
            file.add(read);
        } else {
            file.status = FileStatus::Failed;
            file.error = failed.next().map(|failed| failed.error.clone());
        }
    }
}

/// The files that `commits` read, for runs that have no plan.
fn files_read(commits: &[Commit]) -> Vec<FileFacts> {
    let mut files: Vec<FileFacts> = Vec::new();
    for commit in commits {
        for read in commit.inputs() {
            if commit.split.is_first() {
                files.push(FileFacts { source: read.source.to_owned(), ..FileFacts::default() });
            }
            if let Some(file) = files.last_mut() {
                file.add(read);
                file.parts.push(commit.part);
            }
        }
    }
    files
}

impl FileFacts {
    fn add(&mut self, read: ReadInput<'_>) {
        self.held.add(read.input, read.totals);
    }

    /// Bytes of its text, where the file is complete and has another size.
    fn text(&self) -> Option<u64> {
        let held = &self.held;
        (self.status == FileStatus::Complete && held.bytes_stream != held.bytes_stored).then_some(held.bytes_stream)
    }

    /// Bytes as stored.
    fn stored(&self) -> Option<u64> {
        self.bytes_planned.or((self.status == FileStatus::Complete).then_some(self.held.bytes_stored))
    }

    /// What is to be said of it; nothing when it is complete.
    fn remark(&self) -> String {
        match (self.status, &self.error) {
            (FileStatus::Complete, _) => String::new(),
            (FileStatus::Failed, Some(error)) => {
                let why = error.strip_prefix(&*self.source).and_then(|why| why.strip_prefix(": "));
                format!("failed: {}", why.unwrap_or(error))
            }
            (FileStatus::Failed, None) => "failed".to_owned(),
            (FileStatus::Missing, _) => "missing: the run was finished without it".to_owned(),
            (FileStatus::Pending, _) if self.parts_missing.len() == self.parts.len() => "not committed yet".to_owned(),
            (FileStatus::Pending, _) => {
                format!(
                    "{} of {} not committed yet",
                    self.parts_missing.len(),
                    counted(self.parts.len() as u64, "part")
                )
            }
        }
    }
}

impl ListingTotals {
    fn new(files: &[FileFacts], tally: &Tally, n_parts: usize, n_committed: usize) -> Self {
        let n_files = |status| files.iter().filter(|file| file.status == status).count() as u64;
        let (totals, bytes_written) = (&tally.totals, tally.bytes_written());
        let share = Share {
            conversations: totals.conversations,
            messages: totals.messages_in,
            chars_in: totals.chars_in,
            chars_out: totals.chars_out,
        };
        Self {
            files: files.len() as u64,
            files_failed: n_files(FileStatus::Failed),
            files_missing: n_files(FileStatus::Missing),
            files_pending: n_files(FileStatus::Pending),
            held: SourceFacts {
                share,
                rejects: totals.rejects,
                over_budget: totals.over_budget,
                bytes_stored: tally.bytes_stored,
                bytes_stream: tally.bytes_stream,
                lost_rows: files.iter().map(|file| file.held.lost_rows).sum(),
            },
            bytes_written,
            bytes_ratio: ratio(tally.bytes_stored, bytes_written),
            only_measures: n_committed > 0 && !tally.written.contains_key(TableName::Verbatim.as_str()),
            parts: n_parts as u64,
            parts_committed: n_committed as u64,
        }
    }

    /// All of it in one line.
    fn line(&self, status: &str) -> String {
        let held = &self.held;
        let mut said = vec![counted(self.files, "file")];
        let others =
            [(self.files_failed, "failed"), (self.files_missing, "missing"), (self.files_pending, "not committed yet")];
        said.extend(others.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))));
        said.push(counted(held.share.conversations, "conversation"));
        said.extend((held.rejects > 0).then(|| counted(held.rejects, "reject")));
        let text = format!(" ({} of text)", bytes(held.bytes_stream));
        let text = if held.bytes_stream == held.bytes_stored { "" } else { &text };
        said.push(format!("{} read{text}", bytes(held.bytes_stored)));
        said.push(format!("{} stored in the run", bytes(self.bytes_written)));
        said.extend((held.bytes_stored > 0).then(|| format!("bytes ratio {}", shown_ratio(self.bytes_ratio))));
        said.extend(self.only_measures.then(|| "no originals: it only measures".to_owned()));
        if self.parts_committed < self.parts {
            said.push(format!("{} of {} committed", count(self.parts_committed), counted(self.parts, "part")));
        }
        format!("{status}: {}", said.join(", "))
    }
}

/// A line of the listing.
struct Row {
    /// Conversations, rejects, bytes as stored, bytes of text, parts.
    cells: [String; 5],
    name: String,
    remark: String,
}

impl Row {
    fn head() -> Self {
        let cells = ["conversations", "rejects", "size", "unpacked", "part"].map(str::to_owned);
        Self { cells, name: "file".to_owned(), remark: String::new() }
    }

    fn of(file: &FileFacts) -> Self {
        let nothing = || NOTHING.to_owned();
        let is_read = file.held != SourceFacts::default() || file.status == FileStatus::Complete;
        let counts = [file.held.share.conversations, file.held.rejects];
        let [conversations, rejects] = counts.map(|n| if is_read { count(n) } else { nothing() });
        let parts = match &*file.parts {
            [] => nothing(),
            [part] => part.to_string(),
            [first, .., last] => format!("{first}–{last}"),
        };
        let sizes = [file.stored(), file.text()].map(|size| size.map_or_else(nothing, bytes));
        let [stored, text] = sizes;
        Self {
            cells: [conversations, rejects, stored, text, parts],
            name: line(&file.source).into_owned(),
            remark: line(&file.remark()).into_owned(),
        }
    }

    /// Name and remark within so many columns.
    fn name_within(&self, room: Option<usize>) -> String {
        let (name, remark) = (width(&self.name), width(&self.remark));
        let gap = if remark > 0 { GAP.len() } else { 0 };
        let room = room.unwrap_or(usize::MAX);
        if name + gap + remark <= room {
            return if remark > 0 { format!("{}{GAP}{}", self.name, self.remark) } else { self.name.clone() };
        }
        // A name tells more at its end, a reason at its beginning; each gets half where neither fits.
        let for_name = name.min((room.saturating_sub(gap + remark)).max(room / 2)).max(MIN_NAME.min(name));
        let for_remark = room.saturating_sub(for_name + gap);
        let name = cut_start(&self.name, for_name);
        if remark == 0 || for_remark == 0 { name } else { format!("{name}{GAP}{}", cut(&self.remark, for_remark)) }
    }
}
