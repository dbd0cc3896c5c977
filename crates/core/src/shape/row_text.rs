//! A row as one text, in which stretches of its record can be found, and back: the record that it would be, or its values. Knows
//! columns, not what they say.

use std::borrow::Cow;

use super::escape::{Style, encode};
use super::layout::{RestoreError, damaged};
use super::row::{MessageRow, Row};
use crate::model::{Condensed, Metrics, Output, ProvenancePlace};

/// Stands behind each message, and between the values of one. Neither stands in a JSON text but inside a string, escaped.
const MESSAGE: char = '\u{1E}';
const VALUE: char = '\u{1F}';
/// Values of a message.
const N_VALUES: usize = 7;

/// `row` as a text: as `record`, when that is the same conversation; else its values as JSON, each as its record has it where texts are
/// escaped in the style with this code, and nothing for null. `None` where no text says it.
#[must_use]
pub fn row_text(row: &Row<'_>, record: String, style: char) -> Option<String> {
    let text = if row_of_text(&record).is_ok_and(|back| back == *row) { record } else { values(row, style)? };
    // What the columns hold beside JSON is told by its coming back.
    row_of_text(&text).is_ok_and(|back| back == *row).then_some(text)
}

fn values(row: &Row<'_>, style: char) -> Option<String> {
    let style = Style::from_code(style)?;
    let mut text = String::new();
    for message in &row.messages {
        let MessageRow { role, content, name, tool_calls, tool_call_id, metadata, extra } = message;
        for (value, is_text) in [
            (role, true),
            // A list of parts is JSON already.
            (content, !content.as_ref().is_some_and(|content| content.starts_with("[{"))),
            (name, true),
            (tool_calls, false),
            (tool_call_id, true),
            (metadata, false),
            (extra, false),
        ] {
            match value {
                Some(value) if is_text => encode(value, style, &mut text),
                Some(value) => text.push_str(value),
                None => {}
            }
            text.push(VALUE);
        }
        text.push(MESSAGE);
    }
    text.extend(row.extra.as_deref());
    Some(text)
}

/// The row that such a text is.
///
/// # Errors
/// Says that it is none.
pub fn row_of_text(text: &str) -> Result<Row<'_>, RestoreError> {
    let wrong = || damaged("a conversation is not of its record");
    if !text.is_empty() && !text.contains(MESSAGE) {
        return row_of_record(text).ok_or_else(wrong);
    }
    let mut messages = Vec::new();
    let mut rest = text;
    while let Some((message, behind)) = rest.split_once(MESSAGE) {
        let mut values = message.strip_suffix(VALUE).ok_or_else(wrong)?.split(VALUE).map(value);
        let mut next = || values.next().ok_or_else(wrong)?;
        messages.push(MessageRow {
            role: next()?,
            content: next()?,
            name: next()?,
            tool_calls: next()?,
            tool_call_id: next()?,
            metadata: next()?,
            extra: next()?,
        });
        if message.matches(VALUE).count() != N_VALUES {
            return Err(wrong());
        }
        rest = behind;
    }
    Ok(Row { messages, extra: (!rest.is_empty()).then(|| rest.into()) })
}

/// The row of a record of which nothing is replaced.
fn row_of_record(record: &str) -> Option<Row<'static>> {
    let decoded = super::decode(record, super::detect(record)?, "").ok()?;
    let n_messages = decoded.conversation.messages.len();
    let messages = (0..n_messages).map(|index| Output::Kept { index }).collect();
    let condensed = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
    let row = decoded.row(&condensed, ProvenancePlace::Sidecar);
    let owned = |value: &Option<Cow<'_, str>>| value.as_ref().map(|value| Cow::Owned(value.to_string()));
    let message = |message: &MessageRow<'_>| MessageRow {
        role: owned(&message.role),
        content: owned(&message.content),
        name: owned(&message.name),
        tool_calls: owned(&message.tool_calls),
        tool_call_id: owned(&message.tool_call_id),
        metadata: owned(&message.metadata),
        extra: owned(&message.extra),
    };
    Some(Row { messages: row.messages.iter().map(message).collect(), extra: owned(&row.extra) })
}

fn value(json: &str) -> Result<Option<Cow<'_, str>>, RestoreError> {
    match json.as_bytes().first() {
        None => Ok(None),
        Some(b'"') => {
            let text =
                serde_json::from_str::<Cow<'_, str>>(json).map_err(|_| damaged("a text of a column is broken"))?;
            Ok(Some(text))
        }
        Some(_) => Ok(Some(json.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::{MessageRow, Row, row_of_text, row_text};

    #[test]
    fn a_row_comes_back_from_its_text() {
        let message = |content: &str| MessageRow {
            role: Some("tool".to_owned().into()),
            content: Some(content.to_owned().into()),
            tool_calls: Some("[ {\"id\": \"a\"} ]".into()),
            extra: Some("{\"x\":\"\\u001f\"}".into()),
            ..MessageRow::default()
        };
        let texts = ["", "a \"quote\"\n\u{1F}é", "[{\"type\":\"text\",\"text\":\"\\n\"}]"];
        let row = Row { messages: texts.map(message).to_vec(), extra: Some("{\"id\":1}".into()) };
        for style in ['1', '2', '4'] {
            let text = row_text(&row, String::new(), style);
            assert_eq!(text.as_deref().map(row_of_text), Some(Ok(row.clone())), "{style} {text:?}");
        }
        assert_eq!(row_of_text("").ok(), Some(Row::default()));
        let record = r#"{"id":"a","messages":[{"role":"user","content":"caf\u00e9","name":null}],"n":1.0}"#;
        let row = row_of_text(record).expect("a record");
        assert_eq!(row.messages[0].content.as_deref(), Some("café"));
        assert_eq!(row_text(&row, record.to_owned(), '1').as_deref(), Some(record));
        assert!(row_of_text("no record").is_err());
        // No list of parts, so that its signs would be taken for ends of values.
        assert_eq!(row_text(&Row { messages: vec![message("[{\u{1F}")], extra: None }, String::new(), '1'), None);
        assert!(row_of_text("\"a\"\u{1F}\u{1E}").is_err());
    }
}
