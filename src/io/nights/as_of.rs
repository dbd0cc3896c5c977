//! The logs of a store as a night left them, or what is kept of them after a merge. Knows nights; refuses to know where bytes stand.

use std::collections::{BTreeMap, BTreeSet};

use super::{Store, number_of};
use crate::error::{Error, Result};
use crate::pipeline::{LogState, Night};

/// The states of logs that a night left.
#[derive(Debug, Clone)]
pub struct StatesAsOf<'s> {
    /// By the paths of the logs, each with the run that has it.
    pub states: BTreeMap<&'s str, (&'s str, &'s LogState)>,
    /// The night, when these are not all that it left: the others were merged away.
    pub part_of: Option<&'s str>,
}

impl Store {
    /// The states of all logs as the night with this run left them, named by its run or its number; without one the latest. Of a night that is
    /// not whole any more these are the states that it took in itself and that are kept.
    ///
    /// # Errors
    /// `Usage` when there is no such night, or nothing is kept of it.
    pub fn as_of(&self, night: Option<&str>) -> Result<StatesAsOf<'_>> {
        let Some(name) = night else { return Ok(StatesAsOf { states: self.latest(), part_of: None }) };
        let number = number_of(name);
        let is_it = |night: &&str| *night == name || number.is_some() && number_of(night) == number;
        if let Some(found) = self.nights.iter().flat_map(Night::names).find(is_it).and_then(number_of) {
            return Ok(StatesAsOf { states: self.until(found), part_of: None });
        }
        let (mut states, mut part_of) = (BTreeMap::new(), None);
        for (run, log) in self.kept_of_merged() {
            if let Some(night) = log.night.as_deref().filter(|night| is_it(night)) {
                states.insert(&*log.path, (run, log));
                part_of = Some(night);
            }
        }
        if part_of.is_some() { Ok(StatesAsOf { states, part_of }) } else { Err(self.no_night(name)) }
    }

    fn no_night(&self, name: &str) -> Error {
        let last = self.nights.iter().flat_map(Night::names).last().unwrap_or("none");
        let kept: BTreeSet<&str> = self.kept_of_merged().filter_map(|(_, log)| log.night.as_deref()).collect();
        let kept = match kept.len() {
            0 => String::new(),
            _ => format!("; states of single logs are kept of {}", kept.into_iter().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("the store has no night {name}; the last is {last}{kept}");
        Error::usage(self.root.to_string(), message)
            .hinting("all that single nights left is kept by `condenser merge` with --every-state only")
    }

    /// States of nights that are not whole any more, each with the run that has it.
    fn kept_of_merged(&self) -> impl Iterator<Item = (&str, &LogState)> {
        let kept = |night: &'_ Night, log: &LogState| {
            log.night.as_ref().is_some_and(|name| !night.names().any(|whole| whole == name))
        };
        self.nights
            .iter()
            .flat_map(move |night| night.logs.iter().filter(move |log| kept(night, log)).map(|log| (&*night.run, log)))
    }
}
