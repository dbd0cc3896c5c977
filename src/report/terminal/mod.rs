//! Reports as text for a terminal: aligned, within the columns that there are, in colours when they are wanted. Knows
//! documents, no terminal: width and colours are told.

mod calibrated;
mod drift;
mod layout;
mod sections;

use layout::Page;

use super::{DriftDocument, ReportDocument};

/// How a report is shown.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Columns of the terminal.
    pub width: usize,
    /// With colours.
    pub colours: bool,
    /// Everything, not only what one looks at first.
    pub all: bool,
}

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
