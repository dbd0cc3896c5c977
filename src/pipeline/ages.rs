//! Sessions that may go on: how old a conversation is by the times in its record, and what is done with one of that age. Knows records;
//! refuses to know stores.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime};
use serde::{Deserialize, Serialize};

use super::condense::Keeper;
use super::{Condense, EarlierNights};
use crate::engine::Scratch;
use crate::model::{Age, Condensed, Consult, Conversation, EngineOptions, Reason};
use crate::shape::Decoded;
use crate::text::tokens::TokenCounter;

/// Numbers from here on are milliseconds since 1970, as far back as 1973; smaller ones are seconds.
const FIRST_MILLIS: f64 = 1e11;
/// Numbers below are no times of a conversation: 1980, in seconds.
const FIRST_SECONDS: f64 = 3.2e8;
const MILLIS: u64 = 1000;
/// How times are written without a zone; they are taken for UTC.
const WITHOUT_ZONE: [&str; 3] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y/%m/%d %H:%M:%S%.f"];

/// When a conversation is at rest, and when it is not yet looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ages {
    /// The moment as of which ages are told, in milliseconds since 1970.
    pub as_of: u64,
    /// A conversation stays as it is for so many seconds after its last message.
    pub keep_open: u64,
    /// It may go on for so many seconds, and is compacted without look-ahead; then it is at rest.
    pub rested_after: u64,
}

impl Ages {
    /// The age of a conversation that was last written to at `last_at`, in milliseconds since 1970.
    pub fn of(&self, last_at: u64) -> Age {
        let seconds = self.as_of.saturating_sub(last_at) / MILLIS;
        if seconds >= self.rested_after {
            Age::Rested
        } else if seconds < self.keep_open {
            Age::Young
        } else {
            Age::Open
        }
    }

    /// The latest time that the record of a conversation names and that is not still to come, in milliseconds since 1970.
    fn last_in(&self, decoded: &Decoded<'_>) -> Option<u64> {
        decoded.times().filter_map(time_of).filter(|&at| at <= self.as_of).max()
    }
}

/// Ages, and when what is read was last written to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dated<'a> {
    pub(crate) ages: &'a Ages,
    /// In milliseconds since 1970; `None` where nobody knows.
    pub(crate) written_at: Option<u64>,
    /// What a store knows of the conversations of a source, which goes before that.
    pub(crate) known: Option<(&'a dyn EarlierNights, &'a str)>,
}

impl Dated<'_> {
    /// Notes how old a conversation is; gives when it was last written to.
    pub(crate) fn note(&self, decoded: &mut Decoded<'_>) -> u64 {
        let known = || self.known.and_then(|(nights, source)| nights.last_at(source, &decoded.conversation.id));
        let last = self.ages.last_in(decoded).or_else(known).or(self.written_at).unwrap_or(self.ages.as_of);
        decoded.conversation.age = self.ages.of(last);
        last
    }
}

/// The time that a JSON value says, in milliseconds since 1970.
fn time_of(json: &str) -> Option<u64> {
    let millis = if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        let without_zone = |form: &&str| NaiveDateTime::parse_from_str(&text, form).ok();
        match DateTime::parse_from_rfc3339(&text) {
            Ok(time) => time.timestamp_millis(),
            Err(_) => WITHOUT_ZONE.iter().find_map(without_zone)?.and_utc().timestamp_millis(),
        }
    } else {
        match json.parse::<f64>().ok()? {
            number if number >= FIRST_MILLIS => number as i64,
            number if number >= FIRST_SECONDS => (number * 1000.0) as i64,
            _ => return None,
        }
    };
    u64::try_from(millis).ok()
}

/// Milliseconds since 1970 of a time as RFC 3339 writes it.
pub(super) fn parse_time(text: &str) -> Option<u64> {
    u64::try_from(DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis()).ok()
}

/// An engine for each age: what is young stays as it is.
#[derive(Debug)]
pub struct ByAge {
    rested: Arc<dyn Condense>,
    open: Arc<dyn Condense>,
    keeper: Keeper,
}

impl ByAge {
    /// With an engine for what is at rest and one for what may go on, which looks at nothing ahead.
    pub fn new(rested: Arc<dyn Condense>, open: Arc<dyn Condense>, counter: Option<&Arc<dyn TokenCounter>>) -> Self {
        let keeper = Keeper::new(rested.options(), counter);
        Self { rested, open, keeper }
    }

    fn young(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        self.keeper.keep(conversation, scratch, Reason::StillOpen)
    }
}

impl Condense for ByAge {
    fn options(&self) -> &EngineOptions {
        self.rested.options()
    }

    fn condense(&self, conversation: &Conversation<'_>, scratch: &mut Scratch) -> Condensed {
        match conversation.age {
            Age::Rested => self.rested.condense(conversation, scratch),
            Age::Open => self.open.condense(conversation, scratch),
            Age::Young => self.young(conversation, scratch),
        }
    }

    fn consult(&self, conversation: &Conversation<'_>, scratch: &mut Scratch, consult: &mut Consult<'_>) -> Condensed {
        match conversation.age {
            Age::Rested => self.rested.consult(conversation, scratch, consult),
            Age::Open => self.open.consult(conversation, scratch, consult),
            Age::Young => self.young(conversation, scratch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Age, Ages, time_of};

    #[test]
    fn times_are_read_as_logs_write_them() {
        let then = 1_935_817_845_000;
        for text in [
            "\"2031-05-06T07:10:45Z\"",
            "\"2031-05-06T07:10:45.000Z\"",
            "\"2031-05-06T09:10:45+02:00\"",
            "\"2031-05-06T07:10:45\"",
            "\"2031-05-06 07:10:45.000000\"",
            "1935817845",
            "1935817845.0",
            "1935817845000",
        ] {
            assert_eq!(time_of(text), Some(then), "{text}");
        }
        for text in ["\"yesterday\"", "\"\"", "null", "7", "true", "-5", "\"07:10\"", "{}"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_young_becomes_open_and_then_rests() {
        let ages = Ages { as_of: 10_000_000, keep_open: 100, rested_after: 1000 };
        let of = |seconds: u64| ages.of(ages.as_of - seconds * 1000);
        assert_eq!([0, 99, 100, 999, 1000, 9000].map(of), {
            use Age::{Open, Rested, Young};
            [Young, Young, Open, Open, Rested, Rested]
        });
        // A clock that goes wrong makes nothing old.
        assert_eq!(ages.of(u64::MAX), Age::Young);
    }
}
