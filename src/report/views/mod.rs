//! What is shown of each document, described as a view. Refuses to compute: every number is one of the document. Knows
//! neither terminal nor page.

mod calibration;
mod drift;
mod first;
mod originals;
mod report;
mod runs;
mod sweep;

pub(super) use calibration::matrix;
pub(super) use drift::drift;
pub(super) use report::report;
pub(super) use sweep::sweep;
