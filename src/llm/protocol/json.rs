//! Writes the JSON of a request, and reads that of a reply, which is paid for, however oddly it is written. Knows no
//! API.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::{Refusal, RefusalKind};

/// An escape in a text of JSON: a pair of surrogates, half of one, or another.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    let (high, low, half) =
        ("u[dD][89abAB][0-9a-fA-F]{2}", "u[dD][c-fC-F][0-9a-fA-F]{2}", "u[dD][89a-fA-F][0-9a-fA-F]{2}");
    Regex::new(&format!(r"(?s)\\(?:{high}\\{low}|(?<half>{half})|.)")).expect("the pattern is constant")
});

/// The body of a request: texts, numbers and maps with texts as keys.
pub(super) fn written(body: &impl Serialize) -> String {
    serde_json::to_string(body).expect("texts and numbers can be written as JSON")
}

/// What a body says. Half a surrogate pair, which some servers write where a limit cuts a character, and bytes that are
/// no UTF-8 become U+FFFD.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    let as_it_is = serde_json::from_slice(body);
    as_it_is.or_else(|error| {
        let body = String::from_utf8_lossy(body);
        let mended = ESCAPE.replace_all(&body, |found: &Captures<'_>| match found.name("half") {
            Some(_) => "\\ufffd".to_owned(),
            None => found[0].to_owned(),
        });
        serde_json::from_str(&mended).map_err(|_| unreadable(&error))
    })
}

/// A number of tokens among those that a reply tells: 0 when it is none.
pub(super) fn tokens(usage: &Value, pointer: &str) -> u64 {
    let told = usage.pointer(pointer);
    // Some servers write whole numbers with a point. What is below 0 becomes 0.
    told.and_then(|told| told.as_u64().or_else(|| told.as_f64().map(|number| number as u64))).unwrap_or(0)
}

/// JSON that is cut or says something else. The parser's message does not quote what it read.
fn unreadable(error: &serde_json::Error) -> Refusal {
    let what = if error.is_eof() { "the response ends too early" } else { "the response is no reply of this API" };
    Refusal::new(RefusalKind::Unreadable, format!("{what} (line {}, column {})", error.line(), error.column()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{parse, tokens};

    #[test]
    fn texts_that_no_server_should_write_are_read() {
        let read = |body: &[u8]| parse::<String>(body).map_err(|refusal| refusal.message);
        assert_eq!(read(br#""a\u0000b""#), Ok("a\0b".into()));
        assert_eq!(read(br#""\ud83e\udd80 \ud83e""#), Ok("\u{1f980} \u{fffd}".into()));
        assert_eq!(read(br#""\uDE00 \\ud83e \\\ud83ex""#), Ok("\u{fffd} \\ud83e \\\u{fffd}x".into()));
        assert_eq!(read(b"\"a\xffb\""), Ok("a\u{fffd}b".into()));
        assert!(read(br#""cut"#).is_err_and(|message| message.contains("too early")));
        assert!(read("[".repeat(10_000).as_bytes()).is_err());
    }

    #[test]
    fn numbers_of_tokens_may_be_odd() {
        let usage = json!({ "a": 12.0, "b": -3, "c": "7", "d": null, "e": 1e300, "f": { "g": u64::MAX }, "h": 12.7 });
        let told = ["/a", "/b", "/c", "/d", "/e", "/f/g", "/h", "/x"].map(|pointer| tokens(&usage, pointer));
        assert_eq!(told, [12, 0, 0, 0, u64::MAX, u64::MAX, 12, 0]);
        assert_eq!(tokens(&json!([]), "/a"), 0);
    }
}
