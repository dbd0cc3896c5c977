//! Reports as text for a terminal: aligned, within the columns that there are, in colours when they are wanted. Knows
//! documents, no terminal: width and colours are told.

mod drift;
mod layout;
mod sections;

use super::{DriftDocument, ReportDocument};
use layout::Page;

pub use layout::Screen;

impl ReportDocument {
    /// The report as lines of text.
    #[must_use]
    pub fn render(&self, screen: Screen) -> String {
        let mut page = Page::new(screen);
        sections::write(self, &mut page);
        page.finish()
    }
}

impl DriftDocument {
    /// The comparison as lines of text.
    #[must_use]
    pub fn render(&self, screen: Screen) -> String {
        let mut page = Page::new(screen);
        drift::write(self, &mut page);
        page.finish()
    }
}
