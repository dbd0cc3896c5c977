//! What a job reports of its run, and the thresholds that it is held to. Flags of `condenser report` and keys of job
//! files are declared here once. Knows names of figures, not how they are counted or compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::JobKind;
use crate::pipeline::tables::SHARES;

/// What is reported of a run, and what it is held against.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, clap::Args)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ReportArgs {
    /// Print the document as JSON instead of a table [default: false].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub json: Option<bool>,
    /// Write the report as one page that fetches nothing; a file that is there is replaced. `-` for stdout, instead of the
    /// table.
    #[arg(long, value_name = "FILE|-")]
    pub html: Option<String>,
    /// Leave the texts of conversations out of the page [default: false].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub no_texts: Option<bool>,
    /// What a million tokens cost, in whatever currency: adds what the tokens cost before and after.
    #[arg(long, value_name = "PRICE")]
    pub price_per_million: Option<f64>,
    /// A file that `condenser calibrate --json` wrote: how surely each metric finds planted damage.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<String>,
    /// The run or store to compare with; for a compaction or its store also `previous-night` or `all-nights` [default for
    /// a compaction with thresholds: all-nights].
    #[arg(long, value_name = "RUN")]
    pub against: Option<String>,
    /// Exit code 5 when the population stability index of a figure or of a breakdown is above this, such as 0.2, and
    /// above what chance explains.
    #[arg(long, value_name = "PSI")]
    pub max_psi: Option<f64>,
    /// Exit code 5 when the Kolmogorov–Smirnov statistic of a figure is above this (0 to 1), and above what chance
    /// explains.
    #[arg(long, value_name = "D")]
    pub max_ks: Option<f64>,
    /// Exit code 5 when the mean of a figure is below this, such as `quality_score=0.9`. May be given several times.
    #[arg(long = "floor", value_name = "FIGURE=MEAN", value_parser = read_floor)]
    #[serde(serialize_with = "write_floors", deserialize_with = "read_floors", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<String, f64>"))]
    pub floors: Vec<(String, f64)>,
    /// Exit code 5 when a larger share of the records (0 to 1) is rejected.
    #[arg(long, value_name = "SHARE")]
    pub max_reject_rate: Option<f64>,
    /// Whether messages may be decided for reasons that the other run does not have; exit code 5 otherwise
    /// [default: true].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub new_reasons: Option<bool>,
    /// Whether records may be rejected for reasons that the other run does not have; exit code 5 otherwise
    /// [default: true].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub new_rejects: Option<bool>,
}

/// What holds for the report of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportSettings {
    /// The document as JSON.
    pub json: bool,
    /// The file of the page.
    pub html: Option<String>,
    /// Whether the page goes without the texts of conversations.
    pub no_texts: bool,
    /// Price of a million tokens.
    pub price_per_million: Option<f64>,
    /// File of a calibration.
    pub calibration: Option<String>,
    /// The run to compare with, as written.
    pub against: Option<String>,
    /// What the run is held to.
    pub thresholds: Thresholds,
}

/// Bounds beyond which a run has drifted.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// Of the population stability index of every figure and breakdown.
    pub max_psi: Option<f64>,
    /// Of the Kolmogorov–Smirnov statistic of every figure.
    pub max_ks: Option<f64>,
    /// The least mean of a figure.
    pub floors: BTreeMap<String, f64>,
    /// The largest share of rejected records.
    pub max_reject_rate: Option<f64>,
    /// Whether there may be reasons that the other run does not have.
    pub new_reasons: bool,
    /// Whether there may be reasons of rejects that the other run does not have.
    pub new_rejects: bool,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            max_psi: None,
            max_ks: None,
            floors: BTreeMap::new(),
            max_reject_rate: None,
            new_reasons: true,
            new_rejects: true,
        }
    }
}

impl Thresholds {
    /// The first threshold that needs another run, by its key.
    #[must_use]
    pub fn comparing(&self) -> Option<&'static str> {
        [
            ("max_psi", self.max_psi.is_some()),
            ("max_ks", self.max_ks.is_some()),
            ("new_reasons", !self.new_reasons),
            ("new_rejects", !self.new_rejects),
        ]
        .into_iter()
        .find_map(|(name, is_set)| is_set.then_some(name))
    }

    /// True when nothing is held to anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.comparing().is_none() && self.floors.is_empty() && self.max_reject_rate.is_none()
    }
}

impl ReportArgs {
    /// The thresholds.
    ///
    /// # Errors
    /// `Usage` for a number out of range, or a figure that there is not.
    pub fn thresholds(&self) -> Result<Thresholds> {
        for (name, value, most) in [
            ("report.max_psi", self.max_psi, f64::MAX),
            ("report.max_ks", self.max_ks, 1.0),
            ("report.max_reject_rate", self.max_reject_rate, 1.0),
            ("report.price_per_million", self.price_per_million, f64::MAX),
        ] {
            if value.is_some_and(|value| !(0.0..=most).contains(&value)) {
                let range = if most > 1.0 { "a number from 0" } else { "a number from 0 to 1" };
                return Err(Error::new(ErrorKind::Usage, name, format!("expected {range}")));
            }
        }
        for (figure, floor) in &self.floors {
            let place = format!("report.floors.{figure}");
            if !SHARES.contains(&named(figure)) {
                let message = format!("there is no such figure; there are {}", SHARES.join(", "));
                return Err(Error::new(ErrorKind::Usage, place, message));
            }
            let most = if figure.ends_with("ratio") { f64::MAX } else { 1.0 };
            if !(0.0..=most).contains(floor) {
                let range = if most > 1.0 { "a number from 0" } else { "a number from 0 to 1" };
                return Err(Error::new(ErrorKind::Usage, place, format!("expected {range}")));
            }
        }
        Ok(Thresholds {
            max_psi: self.max_psi,
            max_ks: self.max_ks,
            floors: self.floors.iter().map(|(figure, floor)| (named(figure).to_owned(), *floor)).collect(),
            max_reject_rate: self.max_reject_rate,
            new_reasons: self.new_reasons.unwrap_or(true),
            new_rejects: self.new_rejects.unwrap_or(true),
        })
    }

    /// What holds for a job of this kind.
    pub(super) fn settle(self, kind: JobKind) -> Result<ReportSettings> {
        let thresholds = self.thresholds()?;
        if let (Some(name), None) = (thresholds.comparing(), &self.against)
            && kind != JobKind::Compaction
        {
            let message = "this compares the run with another; name it with against = \"RUN\"";
            return Err(Error::new(ErrorKind::Usage, format!("report.{name}"), message));
        }
        if self.against.is_some() && thresholds.comparing().is_none() && kind != JobKind::Report {
            let message = "this does nothing without a threshold such as max_psi";
            return Err(Error::new(ErrorKind::Usage, "report.against", message));
        }
        Ok(ReportSettings {
            json: self.json.unwrap_or_default(),
            html: self.html,
            no_texts: self.no_texts.unwrap_or_default(),
            price_per_million: self.price_per_million,
            calibration: self.calibration,
            against: self.against,
            thresholds,
        })
    }
}

impl ReportSettings {
    /// The settings as a job file says them.
    pub(super) fn to_args(&self, kind: JobKind) -> ReportArgs {
        let Self { json, html, no_texts, price_per_million, calibration, against, thresholds } = self.clone();
        ReportArgs {
            json: (json || kind == JobKind::Report).then_some(json),
            html,
            no_texts: no_texts.then_some(no_texts),
            price_per_million,
            calibration,
            against,
            max_psi: thresholds.max_psi,
            max_ks: thresholds.max_ks,
            floors: thresholds.floors.into_iter().collect(),
            max_reject_rate: thresholds.max_reject_rate,
            new_reasons: (!thresholds.new_reasons).then_some(false),
            new_rejects: (!thresholds.new_rejects).then_some(false),
        }
    }
}

/// The column of a figure; `quality` is short for its score.
fn named(figure: &str) -> &str {
    if figure == "quality" { "quality_score" } else { figure }
}

fn read_floor(text: &str) -> std::result::Result<(String, f64), String> {
    let floor =
        text.split_once('=').and_then(|(name, floor)| Some((name.trim().to_owned(), floor.trim().parse().ok()?)));
    floor.ok_or_else(|| "expected a figure and the least mean, such as quality_score=0.9".to_owned())
}

fn write_floors<S: Serializer>(floors: &[(String, f64)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(floors.iter().map(|(name, floor)| (name, floor)))
}

fn read_floors<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<(String, f64)>, D::Error> {
    Ok(BTreeMap::deserialize(deserializer)?.into_iter().collect())
}
