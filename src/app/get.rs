//! One conversation out of a run, as it was or as it is shown.

use super::App;
use super::output::Destination;
use crate::error::{Error, Result};
use crate::io::Run;
use crate::pipeline::RestoredSlice;
use crate::pipeline::bridge::Bridge;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// As it was: exact bytes of records, messages of rows as JSON.
    Original,
    /// As the run shows it.
    Compressed,
}

/// Writes the conversations of `runs` with this id.
pub fn get(app: &App, runs: &[Run], id: &str, which: Which, output: &mut Destination) -> Result<()> {
    let (mut found, bridge) = (false, Bridge::new(1)?);
    for run in runs {
        found |= match which {
            Which::Original => original(app, run, id, &bridge, output)?,
            Which::Compressed => compressed(app, run, id, &bridge, output)?,
        };
    }
    if found { Ok(()) } else { Err(unknown(id)) }
}

/// That a run has no such conversation.
pub fn unknown(id: &str) -> Error {
    Error::input(id, "there is no conversation with this id; `condenser ls RUN --ids` lists them")
}

pub(super) fn original(app: &App, run: &Run, id: &str, bridge: &Bridge, output: &mut Destination) -> Result<bool> {
    let mut found = false;
    for commit in &run.commits {
        app.stop.check()?;
        let Some(mut restorer) = run.find(commit, id, bridge)? else { continue };
        while let Some(restored) = restorer.next_slice()? {
            found |= restored.records > 0;
            output.write(restored.bytes())?;
            if let (RestoredSlice::Rows { rows, .. }, Some(table)) = (&restored.slice, &commit.table) {
                for cell in table.cells(rows)? {
                    output.write(cell.as_bytes())?;
                    output.write(b"\n")?;
                }
            }
        }
    }
    Ok(found)
}

fn compressed(app: &App, run: &Run, id: &str, bridge: &Bridge, output: &mut Destination) -> Result<bool> {
    let mut found = false;
    for commit in &run.commits {
        app.stop.check()?;
        for line in run.find_compressed(commit, id, bridge)? {
            found = true;
            output.write(line.as_bytes())?;
            output.write(b"\n")?;
        }
    }
    Ok(found)
}
