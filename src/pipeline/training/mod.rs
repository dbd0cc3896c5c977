//! Training-ready data: records become conversations as an API saw them, compressed until they fit, in the words of a trainer. Knows
//! records and engines; refuses to know files.

mod again;
mod card;
mod chat_template;
mod guard;
mod marks;
mod preference;
mod rows;
mod tally;
mod trainer;
mod turns;
mod validity;
mod windows;
mod wording;

pub use card::{data_card, dataset_info};
pub use chat_template::ChatTemplate;
pub use guard::ChatGuard;
pub(crate) use rows::TrainingBuilder;
pub use rows::{TrainingRows, is_eval, training_schema};
pub use tally::{CONTEXTS, TrainingTally};
pub use trainer::{EngineWish, Engines, Trainer};
