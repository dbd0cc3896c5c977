//! Values of a job that are written in more than one way: sizes with units, limits as numbers or shares. Each reads
//! the same text on the command line and in a file.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::pipeline::{Compression, MaxRejects};

const SIZE: &str = "a size such as \"512MiB\" or a number of bytes";
const SECONDS: &str = "a number of seconds such as 30";
const TEMPERATURE: &str = "a number from 0 to 2, or \"none\" to leave it to the model";
const LIMIT: &str = "a number of records or a share such as 0.01 or \"1%\"";

const COMPRESSION: &str = "\"none\", \"gzip\", \"zstd\" or \"zstd:LEVEL\" with a level from 1 to 19";

/// How progress is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProgressMode {
    /// A bar on a terminal, else plain lines.
    #[default]
    Auto,
    /// A bar.
    Bar,
    /// One line per source.
    Plain,
    /// One JSON object per line.
    Json,
    /// Nothing.
    None,
}

/// A number as JSON or TOML has it.
#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i128),
    Broken(f64),
}

impl Number {
    fn as_seconds(self) -> Option<u64> {
        match self {
            Self::Whole(number) => u64::try_from(number).ok(),
            Self::Broken(_) => None,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Broken(number) => number,
        }
    }
}

/// What is written as a text, or as a number of which `of` makes it.
struct TextOrNumber<T> {
    expected: &'static str,
    of: fn(Number) -> Option<T>,
}

impl<T> TextOrNumber<T> {
    fn number<E: de::Error>(&self, number: Number, found: de::Unexpected<'_>) -> Result<T, E> {
        (self.of)(number).ok_or_else(|| E::invalid_value(found, &self.expected))
    }
}

impl<T: FromStr> Visitor<'_> for TextOrNumber<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.number(Number::Whole(number.into()), de::Unexpected::Signed(number))
    }
    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.number(Number::Whole(number.into()), de::Unexpected::Unsigned(number))
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        self.number(Number::Broken(number), de::Unexpected::Float(number))
    }
}

/// How a value is read and what its schema says.
macro_rules! text_or_number {
    ($type:ident, $expected:ident, $of:expr, $schema:tt) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(TextOrNumber { expected: $expected, of: $of })
            }
        }
        schema_of!($type, $schema);
    };
}

/// A span of time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub Duration);

impl Seconds {
    fn of(seconds: f64) -> Option<Self> {
        Duration::try_from_secs_f64(seconds).ok().filter(|duration| !duration.is_zero()).map(Self)
    }
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok().and_then(Self::of);
        seconds.ok_or_else(|| format!("expected {SECONDS}"))
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

text_or_number!(Seconds, SECONDS, |number| Seconds::of(number.as_f64()), { "description": SECONDS, "type": ["string", "number"], "exclusiveMinimum": 0 });

/// A span of time in whole seconds; written with `s`, `m`, `h`, `d` or `w` behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(pub u64);

const SPAN: &str = "a span of time such as 90s, 30m, 6h, 3d or 2w, or a number of seconds";
const UNITS_OF_TIME: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3600), ('m', 60), ('s', 1)];

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with = |&(unit, seconds): &(char, u64)| Some((text.strip_suffix(unit)?, seconds));
        let (number, seconds) = UNITS_OF_TIME.iter().find_map(with).unwrap_or((text, 1));
        let seconds = number.trim().parse().ok().and_then(|number: u64| number.checked_mul(seconds));
        seconds.map(Self).ok_or_else(|| format!("expected {SPAN}"))
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fits = |&&(_, seconds): &&(char, u64)| self.0.is_multiple_of(seconds);
        let (unit, seconds) = UNITS_OF_TIME.iter().find(fits).copied().filter(|_| self.0 > 0).unwrap_or(('s', 1));
        serializer.collect_str(&format_args!("{}{unit}", self.0 / seconds))
    }
}

text_or_number!(TimeSpan, SPAN, |number| number.as_seconds().map(TimeSpan), { "description": SPAN, "type": ["string", "integer"], "minimum": 0 });

/// How freely a model chooses words; `None` says nothing about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Temperature(pub Option<f64>);

impl Default for Temperature {
    fn default() -> Self {
        Self(Some(0.0))
    }
}

impl Temperature {
    fn of(number: f64) -> Option<Self> {
        (0.0..=2.0).contains(&number).then_some(Self(Some(number)))
    }
}

impl FromStr for Temperature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        text.parse().ok().and_then(Self::of).ok_or_else(|| format!("expected {TEMPERATURE}"))
    }
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(number) => serializer.serialize_f64(number),
            None => serializer.serialize_str("none"),
        }
    }
}

text_or_number!(Temperature, TEMPERATURE, |number| Temperature::of(number.as_f64()), { "description": TEMPERATURE, "type": ["number", "string"], "minimum": 0, "maximum": 2 });

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub usize);

impl Size {
    fn of(number: Number) -> Option<Self> {
        match number {
            Number::Whole(bytes) => usize::try_from(bytes).ok().filter(|&bytes| bytes > 0).map(Self),
            Number::Broken(_) => None,
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_size(text).map(Self)
    }
}

/// The largest unit that divides the size: `512MiB`, `3000`.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.into_iter().find(|&(unit, _)| self.0 >= unit && self.0.is_multiple_of(unit)) {
            Some((unit, name)) => write!(f, "{}{name}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

text_or_number!(Size, SIZE, Size::of, {
    "description": SIZE,
    "type": ["string", "integer"],
    "pattern": "^[0-9]+(\\.[0-9]+)? ?([kKmMgG]([iI]?[bB])?|[bB])?$",
    "minimum": 1
});

/// A size in bytes with an optional unit: `1GiB`, `512MB`, `64k`. The units of 1024 and their short forms count
/// in 1024, `kB`, `MB` and `GB` in 1000.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>();
    let unit = text.strip_prefix(&*digits).unwrap_or_default().trim();
    let factor: f64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return Err(format!("`{unit}` is no unit; use KiB, MiB, GiB, kB, MB or GB")),
    };
    match digits.parse::<f64>() {
        Ok(number) if number * factor >= 1.0 => Ok((number * factor) as usize),
        _ => Err("expected a size such as 512MiB".to_owned()),
    }
}

impl MaxRejects {
    fn of(number: Number) -> Option<Self> {
        match number {
            Number::Whole(count) => u64::try_from(count).ok().map(Self::Count),
            Number::Broken(share) => (0.0..=1.0).contains(&share).then_some(Self::Share(share)),
        }
    }
}

impl FromStr for MaxRejects {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(count) = text.parse() {
            return Ok(Self::Count(count));
        }
        let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        let share = number.parse::<f64>().ok().and_then(|number| Self::of(Number::Broken(number / divisor)));
        share.ok_or_else(|| "expected a number of records or a share such as 0.01 or 1%".to_owned())
    }
}

impl Serialize for MaxRejects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

text_or_number!(MaxRejects, LIMIT, MaxRejects::of, { "description": LIMIT, "type": ["string", "number"], "minimum": 0 });

impl fmt::Display for Compression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => out.write_str("none"),
            Self::Gzip => out.write_str("gzip"),
            Self::Zstd(Self::ZSTD) => out.write_str("zstd"),
            Self::Zstd(level) => write!(out, "zstd:{level}"),
        }
    }
}

impl FromStr for Compression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let level = |level: &str| level.parse().ok().filter(|level| (1..=19).contains(level)).map(Self::Zstd);
        let read = match text {
            "none" => Some(Self::None),
            "gzip" => Some(Self::Gzip),
            "zstd" => Some(Self::default()),
            _ => text.strip_prefix("zstd:").and_then(level),
        };
        read.ok_or_else(|| format!("expected {COMPRESSION}"))
    }
}

impl Serialize for Compression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

text_or_number!(Compression, COMPRESSION, |_| None, { "description": COMPRESSION, "type": "string", "pattern": "^(none|gzip|zstd(:([1-9]|1[0-9]))?)$" });

#[cfg(test)]
mod tests {
    use super::{Compression, MaxRejects, Size, parse_size};

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1), ("2k", 2048), ("1.5MiB", 1_572_864), ("3 MB", 3_000_000), ("1GiB", 1 << 30)] {
            assert_eq!(parse_size(text), Ok(bytes));
        }
        for text in ["", "x", "1 parsec", "-1", "0"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        for (bytes, text) in [(1 << 30, "1GiB"), (3000, "3000"), (1_572_864, "1536KiB"), (1, "1")] {
            assert_eq!((Size(bytes).to_string(), parse_size(text)), (text.to_owned(), Ok(bytes)));
        }
    }

    #[test]
    fn compression_has_levels() {
        for text in ["none", "gzip", "zstd", "zstd:1", "zstd:19"] {
            assert_eq!(text.parse::<Compression>().map(|read| read.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("zstd:3".parse(), Ok(Compression::default()));
        for text in ["", "zstd:", "zstd:0", "zstd:20", "gzip:9", "lz4"] {
            assert!(text.parse::<Compression>().is_err(), "{text}");
        }
    }

    #[test]
    fn limits_of_rejects_are_numbers_or_shares() {
        assert_eq!("10".parse(), Ok(MaxRejects::Count(10)));
        assert_eq!("0.25".parse(), Ok(MaxRejects::Share(0.25)));
        assert_eq!("1%".parse(), Ok(MaxRejects::Share(0.01)));
        assert!("1.5".parse::<MaxRejects>().is_err() && "many".parse::<MaxRejects>().is_err());
    }
}
