//! How low figures may be. Knows the metrics of a conversation, not who decides by them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Figure, Metrics};

const EXPECTED: &str = "FIGURE=SHARE such as \"quality=0.9\", or \"FIGURE=gentlest\", \"FIGURE=gentlest-0.01\"";
const GENTLEST: &str = "gentlest";

/// How low a figure may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Least {
    /// This share.
    Share(f64),
    /// So much less than what the gentlest of the option sets leaves.
    Gentlest(f64),
}

/// A figure and how low it may be: `quality=0.9`, `fact_retention=gentlest`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// What is looked at.
    pub figure: Figure,
    /// The least that will do.
    pub least: Least,
}

impl Floor {
    /// The least value that will do where the gentlest set leaves `gentlest`, `None` where it had nothing to measure.
    #[must_use]
    pub fn least(&self, gentlest: Option<f64>) -> f64 {
        match self.least {
            Least::Share(share) => share,
            Least::Gentlest(slack) => gentlest.unwrap_or(1.0) - slack,
        }
    }

    /// True when `metrics` hold it beside those of the gentlest set. A figure that had nothing to measure holds every
    /// floor, and as a floor it asks that nothing is lost.
    #[must_use]
    pub fn is_met(&self, metrics: &Metrics, gentlest: &Metrics) -> bool {
        let least = self.least(self.figure.of(gentlest));
        self.figure.of(metrics).is_none_or(|value| value >= least)
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least {
            Least::Share(share) => write!(f, "{}={share}", self.figure.as_str()),
            Least::Gentlest(0.0) => write!(f, "{}={GENTLEST}", self.figure.as_str()),
            Least::Gentlest(slack) => write!(f, "{}={GENTLEST}-{slack}", self.figure.as_str()),
        }
    }
}

impl FromStr for Floor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, least) = text.split_once('=').ok_or_else(|| format!("expected {EXPECTED}"))?;
        let (name, least) = (name.trim(), least.trim());
        let figure = name.parse()?;
        let share = |text: &str| text.trim().parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        let found = match least.strip_prefix(GENTLEST).map(str::trim) {
            Some("") => Some(Least::Gentlest(0.0)),
            Some(slack) => slack.strip_prefix('-').and_then(share).map(Least::Gentlest),
            None => share(least).map(Least::Share),
        };
        let least = found.ok_or_else(|| format!("`{least}` is no share from 0 to 1; expected {EXPECTED}"))?;
        Ok(Self { figure, least })
    }
}

impl Serialize for Floor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Floor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Floor {
    fn schema_name() -> Cow<'static, str> {
        "Floor".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": EXPECTED,
            "type": "string",
            "pattern": "^ *[a-z_]+ *= *(gentlest( *- *[0-9.]+)?|[0-9.]+) *$"
        })
    }
}

/// Floors from a list of texts, or from one text.
///
/// # Errors
/// Says which text is no floor.
pub fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Floor>, D::Error> {
    struct Floors;
    impl<'de> Visitor<'de> for Floors {
        type Value = Vec<Floor>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{EXPECTED}, or a list of such texts")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Floor>, E> {
            text.split(',').map(|text| text.parse().map_err(E::custom)).collect()
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<Floor>, A::Error> {
            let mut floors = Vec::new();
            while let Some(floor) = items.next_element()? {
                floors.push(floor);
            }
            Ok(floors)
        }
    }
    deserializer.deserialize_any(Floors)
}

#[cfg(test)]
mod tests {
    use super::{Floor, Least};
    use crate::model::{Figure, Metrics};

    #[test]
    fn a_floor_is_read_as_it_is_shown() {
        for text in
            ["quality_score=0.9", "fact_retention=gentlest", "forward_recall=1", "error_retention=gentlest-0.01"]
        {
            assert_eq!(text.parse::<Floor>().map(|floor| floor.to_string()), Ok(text.to_owned()));
        }
        let short = "quality = 0.5".parse::<Floor>();
        assert_eq!(short, Ok(Floor { figure: Figure::QualityScore, least: Least::Share(0.5) }));
        for (text, says) in [
            ("quality", "expected FIGURE"),
            ("quality=2", "no share"),
            ("quality=gentlest+1", "no share"),
            ("fact=0.5", "fact_retention"),
        ] {
            let error = text.parse::<Floor>().expect_err("it is no floor");
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn what_had_nothing_to_measure_holds_every_floor() {
        let nothing = Metrics::default();
        let half = Metrics { fact_retention: Some(0.5), ..Metrics::default() };
        let floor = |text: &str| text.parse::<Floor>().expect("a floor");
        assert!(floor("fact_retention=0.9").is_met(&nothing, &half));
        assert!(!floor("fact_retention=0.9").is_met(&half, &half));
        assert!(floor("fact_retention=gentlest").is_met(&half, &half));
        assert!(!floor("fact_retention=gentlest").is_met(&half, &nothing), "the gentlest set lost nothing");
        assert!(floor("fact_retention=gentlest-0.5").is_met(&half, &nothing));
    }
}
