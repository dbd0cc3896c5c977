//! The documents that are shown as pages.

use super::page::page;
use super::pair;
use crate::pipeline::sweep::SweepDocument;
use crate::report::pair::Texts;
use crate::report::{DriftDocument, ReportDocument, views};

/// A report as one page, with the `texts` of conversations that it lists.
pub fn report_page(document: &ReportDocument, texts: &Texts) -> String {
    page(&views::report(document, texts), |html| pair::texts(document, texts, html))
}

/// A comparison as one page.
pub fn drift_page(document: &DriftDocument) -> String {
    page(&views::drift(document), |_| {})
}

/// A sweep as one page.
pub fn sweep_page(document: &SweepDocument) -> String {
    page(&views::sweep(document), |_| {})
}
