//! The record that is written for a conversation whose original is no JSON: its row as an object of messages, and back.
//! Knows columns; refuses to know what the original looks like.

use super::escape::{Style, encode};
use super::json::{Raw, items, members};
use super::layout::{RestoreError, damaged};
use super::row::{MessageRow, Row};

/// `{"messages": [{"role", "name", "content", "metadata"}]}`.
pub(super) fn write(row: &Row<'_>) -> String {
    let mut record = String::from("{\"messages\":[");
    for (at, message) in row.messages.iter().enumerate() {
        record.push_str(if at > 0 { ",{" } else { "{" });
        let texts = [("role", &message.role), ("name", &message.name), ("content", &message.content)];
        let mut is_first = true;
        for (key, text) in texts.iter().filter_map(|(key, text)| Some((key, text.as_deref()?))) {
            record.extend([if std::mem::take(&mut is_first) { "\"" } else { ",\"" }, key, "\":"]);
            encode(text, Style::MINIMAL, &mut record);
        }
        if let Some(metadata) = &message.metadata {
            record.extend([",\"metadata\":", metadata]);
        }
        record.push('}');
    }
    record.push_str("]}");
    record
}

/// The row that was written so.
pub(super) fn read(record: &str) -> Result<Row<'_>, RestoreError> {
    let mut row = Row::default();
    let mut list = None;
    members(record, |key, value| {
        if key.name == "messages" {
            list = Some(value);
        }
    });
    items(list.ok_or_else(|| damaged("the record has no messages"))?.text, |item| {
        let mut message = MessageRow::default();
        members(item.text, |key, value| match key.name.as_ref() {
            "role" => message.role = Raw::string(value),
            "name" => message.name = Raw::string(value),
            "content" => message.content = Raw::string(value),
            _ => {}
        });
        row.messages.push(message);
    });
    Ok(row)
}
