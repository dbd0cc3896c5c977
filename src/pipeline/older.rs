//! What earlier versions of the program wrote into documents, in the words of this one. Knows names and values that are
//! gone, not what they did.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::model::{DEFAULT_RESUMMARIZE_AFTER, EngineOptions};

/// Before `resummarize_after` there was a switch, whose number was what is now the default.
const RECOMPACT: &str = "recompact";

/// The options of the engine as this or an earlier version wrote them.
pub(super) fn engine_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EngineOptions, D::Error> {
    let mut written = Value::deserialize(deserializer)?;
    if let Some(options) = written.as_object_mut()
        && let Some(switch) = options.remove(RECOMPACT)
    {
        let is_on = switch.as_bool().ok_or_else(|| D::Error::custom("`recompact` was a switch"))?;
        let number = if is_on { DEFAULT_RESUMMARIZE_AFTER } else { 0 };
        options.insert("resummarize_after".to_owned(), number.into());
    }
    EngineOptions::deserialize(written).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_RESUMMARIZE_AFTER, engine_options};

    #[test]
    fn a_switch_that_became_a_number_is_read() {
        let read = |text: &str| engine_options(&mut serde_json::Deserializer::from_str(text));
        for (text, number) in [
            ("{\"recompact\":true}", DEFAULT_RESUMMARIZE_AFTER),
            ("{\"recompact\":false}", 0),
            ("{\"resummarize_after\":3}", 3),
            ("{}", DEFAULT_RESUMMARIZE_AFTER),
        ] {
            assert_eq!(read(text).expect("it was written so").resummarize_after, number, "{text}");
        }
        assert!(read("{\"recompact\":8}").is_err() && read("{\"other\":true}").is_err());
    }
}
