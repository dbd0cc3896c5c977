//! Arrow values as JSON text. Nulls in structs are left out, so that the text reads like a record that somebody
//! wrote. Knows types, not what the fields mean, but for the few that hold JSON as text.

use std::fmt::Write as _;
use std::ops::Range;

use arrow::array::{Array, AsArray, BooleanArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::cells::{Ranges, TextColumn, values_of};

const FORMAT: FormatOptions<'static> = FormatOptions::new();
/// Fields of a message that some tables hold as JSON text.
const JSON_TEXT: [&str; 3] = ["tool_calls", "function_call", "metadata"];

/// Writes the messages of a column as JSON.
pub(super) struct Renderer<'a> {
    node: Node<'a>,
}

impl<'a> Renderer<'a> {
    /// For the messages of a column of lists. With `reading`, calls and metadata that are JSON in a text column are
    /// written as JSON, so that they are understood; without, everything is what it is.
    pub(super) fn new(messages: &'a StructArray, reading: bool) -> Self {
        Self { node: structs(messages, reading) }
    }

    /// Appends one message.
    pub(super) fn write(&self, index: usize, out: &mut String) {
        self.node.write(index, out);
    }

    /// Appends a list of messages.
    pub(super) fn write_list(&self, range: Range<usize>, out: &mut String) {
        write_items(&self.node, range, out);
    }
}

/// An array ready to be written value by value.
enum Node<'a> {
    Null,
    Bool(&'a BooleanArray),
    Text(TextColumn<'a>),
    JsonText(TextColumn<'a>),
    /// As its display says, with or without quotes.
    Plain(ArrayFormatter<'a>, Option<NullBuffer>, bool),
    Float(Box<dyn Fn(usize) -> f64 + 'a>, Option<&'a NullBuffer>, bool),
    List(Ranges<'a>, Option<&'a NullBuffer>, Box<Node<'a>>),
    Struct(Vec<(String, Node<'a>)>, Option<&'a NullBuffer>),
    Map(Ranges<'a>, Option<&'a NullBuffer>, TextColumn<'a>, Box<Node<'a>>),
    Dictionary(Vec<usize>, Option<&'a NullBuffer>, Box<Node<'a>>),
}

fn structs(array: &StructArray, reading: bool) -> Node<'_> {
    let fields = array.fields().iter().zip(array.columns()).map(|(field, column)| {
        let is_json = reading && JSON_TEXT.contains(&field.name().as_str());
        let node = match TextColumn::of(column).filter(|_| is_json) {
            Some(texts) => Node::JsonText(texts),
            None => node(column),
        };
        let mut key = quoted(field.name());
        key.push(':');
        (key, node)
    });
    Node::Struct(fields.collect(), array.nulls())
}

fn node(array: &dyn Array) -> Node<'_> {
    if let Some(texts) = TextColumn::of(array) {
        return Node::Text(texts);
    }
    let nulls = array.nulls();
    match array.data_type() {
        DataType::Null => Node::Null,
        DataType::Boolean => Node::Bool(array.as_boolean()),
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>();
            Node::Float(Box::new(|row| f64::from(values.value(row).to_f32())), nulls, true)
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            Node::Float(Box::new(|row| f64::from(values.value(row))), nulls, true)
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            Node::Float(Box::new(|row| values.value(row)), nulls, false)
        }
        DataType::Struct(_) => structs(array.as_struct(), false),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let keys = if dictionary.values().is_empty() { Vec::new() } else { dictionary.normalized_keys() };
            Node::Dictionary(keys, dictionary.keys().nulls(), Box::new(node(dictionary.values())))
        }
        DataType::Map(_, _) => {
            let map = array.as_map();
            match (Ranges::of(array), TextColumn::of(map.keys())) {
                (Some(ranges), Some(keys)) => Node::Map(ranges, nulls, keys, Box::new(node(map.values()))),
                _ => plain(array),
            }
        }
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(_, _) => match (Ranges::of(array), values_of(array)) {
            (Some(ranges), Some(values)) => Node::List(ranges, nulls, Box::new(node(values))),
            _ => plain(array),
        },
        _ => plain(array),
    }
}

/// What has no form in JSON is written as its display, in quotes.
fn plain(array: &dyn Array) -> Node<'_> {
    let is_bare = array.data_type().is_integer();
    ArrayFormatter::try_new(array, &FORMAT)
        .map_or(Node::Null, |formatter| Node::Plain(formatter, array.logical_nulls(), !is_bare))
}

impl Node<'_> {
    fn is_null(&self, index: usize) -> bool {
        let null = |nulls: Option<&NullBuffer>| nulls.is_some_and(|nulls| nulls.is_null(index));
        match self {
            Self::Null => true,
            Self::Bool(values) => values.is_null(index),
            Self::Text(texts) | Self::JsonText(texts) => texts.get(index).is_none(),
            Self::Plain(_, nulls, _) => null(nulls.as_ref()),
            Self::Float(_, nulls, _) | Self::List(_, nulls, _) | Self::Struct(_, nulls) | Self::Map(_, nulls, _, _) => {
                null(*nulls)
            }
            Self::Dictionary(keys, nulls, values) => {
                null(*nulls) || keys.get(index).is_none_or(|&key| values.is_null(key))
            }
        }
    }

    fn write(&self, index: usize, out: &mut String) {
        if self.is_null(index) {
            out.push_str("null");
            return;
        }
        match self {
            Self::Null => {}
            Self::Bool(values) => out.push_str(if values.value(index) { "true" } else { "false" }),
            Self::Text(texts) => write_text(texts.get(index).unwrap_or_default(), out),
            Self::JsonText(texts) => {
                let text = texts.get(index).unwrap_or_default();
                let is_json =
                    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
                if is_json { out.push_str(text) } else { write_text(text, out) }
            }
            Self::Plain(formatter, _, quotes) => {
                let text = formatter.value(index).try_to_string().unwrap_or_default();
                if *quotes { write_text(&text, out) } else { out.push_str(&text) }
            }
            Self::Float(value, _, short) => write_float(value(index), *short, out),
            Self::List(ranges, _, items) => write_items(items, ranges.get(index), out),
            Self::Struct(fields, _) => {
                let mut separator = '{';
                for (key, field) in fields.iter().filter(|(_, field)| !field.is_null(index)) {
                    out.push(std::mem::replace(&mut separator, ','));
                    out.push_str(key);
                    field.write(index, out);
                }
                out.push_str(if separator == '{' { "{}" } else { "}" });
            }
            Self::Map(ranges, _, keys, values) => {
                out.push('{');
                for (nth, at) in ranges.get(index).enumerate() {
                    out.push_str(if nth > 0 { "," } else { "" });
                    write_text(keys.get(at).unwrap_or_default(), out);
                    out.push(':');
                    values.write(at, out);
                }
                out.push('}');
            }
            Self::Dictionary(keys, _, values) => values.write(keys[index], out),
        }
    }
}

fn write_items(node: &Node<'_>, range: Range<usize>, out: &mut String) {
    out.push('[');
    for (nth, item) in range.enumerate() {
        if nth > 0 {
            out.push(',');
        }
        node.write(item, out);
    }
    out.push(']');
}

/// The shortest text that gives the number back; JSON has no infinity, which becomes null.
fn write_float(value: f64, short: bool, out: &mut String) {
    if !value.is_finite() {
        out.push_str("null");
    } else if short {
        write!(out, "{:?}", value as f32).expect("writing to a string cannot fail");
    } else {
        write!(out, "{value:?}").expect("writing to a string cannot fail");
    }
}

/// `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(text, &mut out);
    out
}

/// Appends `text` as a JSON string. Long runs without escapes are found a block at a time.
pub(super) fn write_text(text: &str, out: &mut String) {
    const BLOCK: usize = 32;
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let bytes = text.as_bytes();
    out.reserve(text.len() + 2);
    out.push('"');
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        // No early end, so that the comparison becomes one of vectors.
        if !block.iter().fold(false, |found, &byte| found | special(byte)) {
            at += block.len();
            continue;
        }
        for (offset, &byte) in block.iter().enumerate().filter(|&(_, &byte)| special(byte)) {
            out.push_str(text.get(start..at + offset).unwrap_or_default());
            start = at + offset + 1;
            match byte {
                b'"' => out.push_str("\\\""),
                b'\\' => out.push_str("\\\\"),
                b'\n' => out.push_str("\\n"),
                b'\r' => out.push_str("\\r"),
                b'\t' => out.push_str("\\t"),
                _ => write!(out, "\\u{byte:04x}").expect("writing to a string cannot fail"),
            }
        }
        at += block.len();
    }
    out.push_str(text.get(start..).unwrap_or_default());
    out.push('"');
}
