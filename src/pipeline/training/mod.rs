//! Training-ready data: conversations as chat templates want them, split into train and eval by their ids. Knows
//! conversations before and after the engine, no shape and no file.

mod guard;
mod rows;
mod template;
mod turns;

pub use guard::ChatGuard;
pub(crate) use rows::TrainingBuilder;
pub use rows::{is_eval, training_schema};
