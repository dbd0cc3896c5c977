//! What a job reports of its run, and the thresholds that it is held to. Flags of `condenser report` and keys of job
//! files are declared here once. Knows names of figures, not how they are counted or compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind, Result};
use crate::model::Figure;
use crate::pipeline::JobKind;

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
    /// What it is called, on its first line [default: Compression report].
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,
    /// Write its first screen and what else is worth a mail as Markdown; `-` for stdout, instead of the table.
    #[arg(long, value_name = "FILE|-")]
    pub markdown: Option<String>,
    /// Write every table as CSV into this folder; files of the same names are replaced.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<String>,
    /// What a million tokens cost: adds what the tokens cost before and after.
    #[arg(long, value_name = "PRICE")]
    pub price_per_million: Option<f64>,
    /// The currency of the price [default: USD].
    #[arg(long, value_name = "NAME", requires = "price_per_million")]
    pub currency: Option<String>,
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

impl ReportArgs {
    /// True when the document is shown as JSON.
    pub fn is_json(&self) -> bool {
        self.json == Some(true)
    }

    /// True when something goes into files.
    pub fn is_written(&self) -> bool {
        [&self.html, &self.markdown, &self.csv].into_iter().any(Option::is_some)
    }

    /// The first threshold that needs another run, by its key.
    pub fn comparing(&self) -> Option<&'static str> {
        [
            ("max_psi", self.max_psi.is_some()),
            ("max_ks", self.max_ks.is_some()),
            ("new_reasons", self.new_reasons == Some(false)),
            ("new_rejects", self.new_rejects == Some(false)),
        ]
        .into_iter()
        .find_map(|(name, is_set)| is_set.then_some(name))
    }

    /// True when the run is held to something.
    pub fn has_thresholds(&self) -> bool {
        self.comparing().is_some() || !self.floors.is_empty() || self.max_reject_rate.is_some()
    }

    /// The same with floors by the columns of their figures.
    pub fn checked(mut self) -> Result<Self> {
        let usage = |place: String, message: String| Error::new(ErrorKind::Usage, place, message);
        let within = |place: String, value: Option<f64>, most: f64| match value {
            Some(value) if !(0.0..=most).contains(&value) => {
                let range = if most > 1.0 { "a number from 0" } else { "a number from 0 to 1" };
                Err(usage(place, format!("expected {range}")))
            }
            _ => Ok(()),
        };
        within("report.max_psi".to_owned(), self.max_psi, f64::MAX)?;
        within("report.max_ks".to_owned(), self.max_ks, 1.0)?;
        within("report.max_reject_rate".to_owned(), self.max_reject_rate, 1.0)?;
        within("report.price_per_million".to_owned(), self.price_per_million, f64::MAX)?;
        if self.currency.is_some() && self.price_per_million.is_none() {
            return Err(usage("report.currency".to_owned(), "this says nothing without price_per_million".to_owned()));
        }
        for (name, floor) in &mut self.floors {
            let place = format!("report.floors.{name}");
            // `quality` is short for its score.
            let Some(figure) = Figure::named(if name == "quality" { "quality_score" } else { name }) else {
                let names = Figure::ALL.map(Figure::as_str).join(", ");
                return Err(usage(place, format!("there is no such figure; there are {names}")));
            };
            within(place, Some(*floor), if figure.is_ratio() { f64::MAX } else { 1.0 })?;
            figure.as_str().clone_into(name);
        }
        // Of several floors of a figure the last one holds.
        self.floors = BTreeMap::from_iter(self.floors).into_iter().collect();
        Ok(self)
    }

    /// What holds for a job of this kind, without what says nothing but the defaults.
    pub(super) fn settle(self, kind: JobKind) -> Result<Self> {
        let settled = self.checked()?;
        let comparing = settled.comparing();
        if let (Some(name), None) = (comparing, &settled.against)
            && kind != JobKind::Compaction
        {
            let message = "this compares the run with another; name it with against = \"RUN\"";
            return Err(Error::new(ErrorKind::Usage, format!("report.{name}"), message));
        }
        if settled.against.is_some() && comparing.is_none() && kind != JobKind::Report {
            let message = "this does nothing without a threshold such as max_psi";
            return Err(Error::new(ErrorKind::Usage, "report.against", message));
        }
        Ok(settled)
    }

    /// The settings as the job file of a job of this kind says them: nothing that holds by default.
    pub(super) fn to_args(&self, kind: JobKind) -> Self {
        Self {
            json: Some(self.is_json()).filter(|is_json| *is_json || kind == JobKind::Report),
            no_texts: self.no_texts.filter(|no_texts| *no_texts),
            new_reasons: self.new_reasons.filter(|may_be| !may_be),
            new_rejects: self.new_rejects.filter(|may_be| !may_be),
            ..self.clone()
        }
    }
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
