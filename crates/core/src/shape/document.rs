//! What a file of JSON is, told by its beginning: a record per line, or one value over many lines. Knows no stream.

use super::json::{Bad, Kind, Scanner};
use super::shapes::likelihood;

/// Keys of an object under which a list of records may stand: samples of an evaluation, simulations of a benchmark.
pub const RECORD_LISTS: [&str; 2] = ["samples", "simulations"];

/// The longest token that may be cut at the end of a head: two escapes.
const MAX_CUT: usize = 12;

/// True when a stream that begins with `head` (up to 64 KiB of it) is a document: its first value does not end on its
/// line, or it is a list of records, or an object with such a list.
#[must_use]
pub fn is_document(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let valid = std::str::from_utf8(head).map_or_else(|error| error.valid_up_to(), str::len);
    let text = head.get(..valid).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or_default();
    let text = text.trim_start_matches([' ', '\t', '\r', '\n']);
    let Some(open @ (b'[' | b'{')) = text.bytes().next() else { return false };
    let (seen, is_cut) = match Scanner::new(text).value() {
        Ok(value) if value.text.contains('\n') => return true,
        Ok(value) => (value.text, false),
        Err(bad) => (text.get(..bad.at).unwrap_or(text), bad.at + MAX_CUT >= text.len()),
    };
    let complete = Scanner::new(text).value().is_ok();
    if !complete && seen.contains('\n') {
        // A line that was cut in two is followed by whole ones, which begin like it; what stands inside a document is
        // indented or begins otherwise.
        return !text.lines().skip(1).any(|line| line.as_bytes().first() == Some(&open));
    }
    (complete || is_cut) && if open == b'[' { is_list_of_records(text) } else { has_list_of_records(text) }
}

/// True when messages may stand under this key of a record.
#[must_use]
pub fn is_list_key(key: &str) -> bool {
    likelihood(key) > 0
}

/// The keys of an object, as far as the text goes, and whether their values are lists of objects.
fn keys(scanner: &mut Scanner<'_>) -> Vec<(String, bool)> {
    let mut keys = Vec::new();
    // What breaks off is told as far as it goes.
    let outcome = scanner.object(|scanner, key| {
        let is_list = scanner.peek()? == Kind::List;
        let at = keys.len();
        keys.push((key.name.into_owned(), false));
        if !is_list {
            return scanner.value().map(|_| ());
        }
        scanner.list(|scanner| {
            let is_object = scanner.peek()? == Kind::Object;
            if let Some((_, of_objects)) = keys.get_mut(at) {
                *of_objects = is_object;
            }
            scanner.value().map(|_| ())
        })?;
        Ok(())
    });
    outcome.ok();
    keys
}

fn is_list_of_records(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    let mut found = false;
    let mut first = |scanner: &mut Scanner<'_>| {
        if scanner.peek()? == Kind::Object {
            let keys = keys(scanner);
            let is_message = keys.iter().any(|(key, _)| matches!(key.as_str(), "role" | "from"));
            found = !is_message && keys.iter().any(|(key, of_objects)| *of_objects && is_list_key(key));
        }
        Err(Bad { at: 0, expected: "nothing more" })
    };
    if scanner.peek() == Ok(Kind::List) {
        scanner.list(&mut first).ok();
    }
    found
}

fn has_list_of_records(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    if scanner.peek() != Ok(Kind::Object) {
        return false;
    }
    let keys = keys(&mut scanner);
    let first = keys.iter().find(|(key, of_objects)| *of_objects && (is_list_key(key) || is_record_list(key)));
    first.is_some_and(|(key, _)| is_record_list(key))
}

fn is_record_list(key: &str) -> bool {
    RECORD_LISTS.contains(&key)
}
