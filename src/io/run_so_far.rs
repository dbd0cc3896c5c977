//! A run as far as it has come: its plan, the parts that are committed, what it takes. Looks at no table, so that a run can
//! be looked at while a job works on it.

use super::run_documents::{COMMITS, PLAN, each_commit, plan_bytes};
use super::run_reader::Run;
use super::store::Place;
use crate::error::{ErrorKind, Result};
use crate::pipeline::{Commit, Manifest, RunPlan, Tally, open_sealed};

/// A run, finished or not.
#[derive(Debug)]
pub struct RunSoFar {
    /// What the job was going to do; runs of the first format have no plan.
    pub plan: Option<RunPlan>,
    /// The parts that are committed, in order, without their sketches; of a finished run those that its manifest joins.
    pub commits: Vec<Commit>,
    /// What it read and wrote, every file of it counted, but not why records were rejected.
    pub tally: Tally,
    /// The manifest, or the error with which commands end that need one.
    pub manifest: Result<Manifest>,
}

impl RunSoFar {
    /// Looks at the run at `root`; `check` is asked before each part and ends the work with its error.
    ///
    /// # Errors
    /// `Usage` when there is no run, `Verification` when a document differs from what was written.
    pub fn open(root: &Place, check: &dyn Fn() -> Result<()>) -> Result<Self> {
        let without_sketch = &mut |commit: &mut Commit| {
            commit.sketch = None;
            check()
        };
        let run = match Run::open_seeing(root.clone(), without_sketch) {
            Ok(run) => run,
            Err(error) if error.kind == ErrorKind::Unfinished => {
                let plan = plan_bytes(root)?.unwrap_or_default();
                let Some(read) = read_plan(root, &plan)? else { return Err(error) };
                let mut so_far =
                    Self { plan: None, commits: Vec::new(), tally: Tally::default(), manifest: Err(error) };
                so_far.tally.add_documents("plan", 1, plan.len() as u64);
                so_far.take_commits(root, &read, without_sketch)?;
                return Ok(Self { plan: Some(read), ..so_far });
            }
            Err(error) => return Err(error),
        };
        let plan = run.check_plan()?;
        let tally = run.tally_with(&plan);
        Ok(Self { plan: read_plan(root, &plan)?, commits: run.commits, tally, manifest: Ok(run.manifest) })
    }

    /// Takes the commits of `plan` that are there.
    fn take_commits(
        &mut self,
        root: &Place,
        plan: &RunPlan,
        see: &mut dyn FnMut(&mut Commit) -> Result<()>,
    ) -> Result<()> {
        let sizes = root.join(COMMITS).names()?;
        let sizes = sizes.into_iter().map(|(name, bytes)| (format!("{COMMITS}/{name}"), bytes)).collect();
        each_commit(root, plan, &sizes, &mut |mut commit, n_bytes| {
            see(&mut commit)?;
            self.tally.add(&commit);
            self.tally.add_documents("commits", 1, n_bytes);
            self.commits.push(commit);
            Ok(())
        })
    }
}

/// What a plan says; `None` where there is none.
fn read_plan(root: &Place, bytes: &[u8]) -> Result<Option<RunPlan>> {
    let place = root.join(PLAN).to_string();
    (!bytes.is_empty()).then(|| open_sealed(bytes, &place)).transpose()
}
