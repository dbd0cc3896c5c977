//! Texts that have a format as a whole go to the adapter for it, before rules that keep structure or split code from
//! prose. Knows where an adapter may be used, not the formats: the engine brings their detectors.

use std::fmt;

use super::classify::has_secret;
use super::{GroupKind, Plan, Stage, View};
use crate::model::Reason;
use crate::text::TextView;

/// Shorter messages are left to the rules that follow.
const MIN_CHARS: usize = 200;

/// Tells whether a text has the format of an adapter, and if so whether it pays.
pub type Detector = Box<dyn Fn(&TextView<'_>) -> Option<bool> + Send + Sync>;

/// Claims messages with one text for the first adapter whose format it has and that pays. What has a format and pays
/// with none is kept: other rules would make flat prose of it. Messages with secrets are not claimed; those that match a
/// preserve pattern must be claimed before.
pub struct Adapt {
    detectors: Vec<Detector>,
}

impl Adapt {
    /// One detector per adapter, in the order of the adapters: `GroupKind::Adapter(i)` is the format of detector `i`.
    #[must_use]
    pub fn new(detectors: Vec<Detector>) -> Self {
        Self { detectors }
    }

    pub(super) fn has_detectors(&self) -> bool {
        !self.detectors.is_empty()
    }
}

impl fmt::Debug for Adapt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapt").field("n_detectors", &self.detectors.len()).finish()
    }
}

impl Stage for Adapt {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        for index in plan.free().collect::<Vec<_>>() {
            let Some(text) = view.text(index).filter(|_| view.chars(index) >= MIN_CHARS) else { continue };
            let mut is_known = false;
            let found = self.detectors.iter().position(|detects| {
                let pays = detects(&text);
                is_known |= pays.is_some();
                pays == Some(true)
            });
            if !is_known || has_secret(&text) {
                continue;
            }
            match found {
                Some(adapter) => {
                    plan.group(vec![index], GroupKind::Adapter(adapter));
                }
                None => plan.keep(index, Reason::AdapterReverted),
            }
        }
    }
}
