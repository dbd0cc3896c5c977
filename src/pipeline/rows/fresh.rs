//! Replaced messages as structs: the first message that they stand for, with new values in the fields that changed.
//! Every other field is taken as it is. Knows no table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray, UInt64Array};
use arrow::compute::{cast, interleave, take};
use arrow::datatypes::{DataType, Fields};
use serde_json::value::RawValue;

use super::cells::{TextColumn, is_text};
use super::parse::{self, nullable};
use super::plan::survives_json;
use super::render::quoted;
use crate::model::{Content, NewBody, ProvenancePlace, Replacement, ShapeName};
use crate::pipeline::record::Product;
use crate::shape;

/// A message that stands for others.
#[derive(Debug)]
pub(super) struct Fresh {
    /// Index among the values of the message that it is a copy of.
    base: usize,
    /// The fields that change.
    fields: Vec<usize>,
    /// Their new values, as a JSON object.
    changes: String,
}

/// Makes replaced messages of one column.
pub(super) struct Maker<'a> {
    fields: &'a Fields,
    /// Text columns that may be the content.
    contents: Vec<(usize, TextColumn<'a>)>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(values: &'a StructArray, shape: Option<ShapeName>) -> Self {
        let is_content = |name: &str| name == "content" || (name == "value" && shape == Some(ShapeName::Sharegpt));
        let known = matches!(shape, Some(ShapeName::Openai | ShapeName::Cce | ShapeName::Sharegpt));
        let contents = values.fields().iter().enumerate().filter(|(_, field)| known && is_content(field.name()));
        let contents = contents.filter_map(|(at, _)| Some((at, TextColumn::of(values.column(at))?))).collect();
        Self { fields: values.fields(), contents }
    }

    /// The replaced messages of a conversation whose messages begin at `start`.
    pub(super) fn make<'p>(
        &self,
        product: &Product<'_>,
        place: ProvenancePlace,
        start: usize,
        replaced: impl Iterator<Item = (usize, &'p Replacement)> + Clone,
        out: &mut Vec<Fresh>,
    ) -> Result<(), String> {
        let simple = |(_, replacement): (usize, &Replacement)| self.simple(product, place, start, replacement);
        if let Some(all) = replaced.clone().map(simple).collect::<Option<Vec<_>>>() {
            out.extend(all);
            return Ok(());
        }
        let record = product.decoded.condensed_record(&product.condensed, place);
        let again = shape::decode(&record, product.decoded.read_as, "").map_err(|reject| reject.detail)?;
        for (position, replacement) in replaced {
            let first = replacement.sources.first().copied().unwrap_or_default();
            let old = product.decoded.conversation.messages.get(first).ok_or("a replaced message is missing")?;
            let new = again.conversation.messages.get(position).ok_or("a message is missing in its record")?;
            let (fields, changes) = self.changes(old.raw, new.raw)?;
            out.push(Fresh { base: start + first, fields, changes });
        }
        Ok(())
    }

    /// A message of which only one text changes, as most do.
    fn simple(&self, product: &Product<'_>, place: ProvenancePlace, start: usize, new: &Replacement) -> Option<Fresh> {
        let first = *new.sources.first()?;
        let message = product.decoded.conversation.messages.get(first)?;
        let (NewBody::Text(text), Content::Text(_), ProvenancePlace::Sidecar) = (&new.body, &message.content, place)
        else {
            return None;
        };
        let base = start + first;
        let mut contents = self.contents.iter().filter(|(_, texts)| texts.get(base).is_some());
        let (at, _) = contents.next()?;
        if contents.next().is_some() {
            return None;
        }
        let changes = format!("{{{}:{}}}", quoted(self.fields[*at].name()), quoted(text));
        Some(Fresh { base, fields: vec![*at], changes })
    }

    /// The fields that differ between two JSON texts of a message.
    fn changes(&self, old: &str, new: &str) -> Result<(Vec<usize>, String), String> {
        let read = |text| serde_json::from_str::<BTreeMap<String, &RawValue>>(text).map_err(|error| error.to_string());
        let (old, new) = (read(old)?, read(new)?);
        let (mut fields, mut changes) = (Vec::new(), Vec::new());
        for (at, field) in self.fields.iter().enumerate() {
            let Some(value) = new.get(field.name().as_str()).map(|value| value.get()) else { continue };
            if old.get(field.name().as_str()).is_some_and(|old| old.get() == value) {
                continue;
            }
            let value = if !is_text(field.data_type()) {
                // Provenance has no place in a struct with fields of its own: it stands in the sidecar.
                let takes = field.data_type().is_list() || field.name() != "metadata";
                if !(takes && survives_json(field.data_type())) {
                    continue;
                }
                value.to_owned()
            } else if value.starts_with('"') {
                value.to_owned()
            } else {
                quoted(value)
            };
            fields.push(at);
            changes.push(format!("{}:{value}", quoted(field.name())));
        }
        if fields.is_empty() {
            Err("no field takes the new text".to_owned())
        } else {
            Ok((fields, format!("{{{}}}", changes.join(","))))
        }
    }
}

/// The replaced messages as structs like `values`.
pub(super) fn build(values: &StructArray, fresh: &[Fresh]) -> Result<ArrayRef, String> {
    let texts: Vec<&str> = fresh.iter().map(|fresh| fresh.changes.as_str()).collect();
    let mut changed: Vec<usize> = fresh.iter().flat_map(|fresh| fresh.fields.iter().copied()).collect();
    changed.sort_unstable();
    changed.dedup();
    let fields: Fields = changed.iter().filter_map(|&at| values.fields().get(at)).cloned().collect();
    let parsed = parse::structs(&texts, &nullable(&DataType::Struct(fields)))?;
    let parsed = parsed.as_struct();
    let bases: UInt64Array = fresh.iter().map(|fresh| fresh.base as u64).collect();
    let columns = values.columns().iter().enumerate().map(|(at, column)| {
        let Ok(nth) = changed.binary_search(&at) else { return take(column, &bases, None) };
        let new = cast(parsed.column(nth), column.data_type())?;
        let choose =
            |(nth, fresh): (usize, &Fresh)| if fresh.fields.contains(&at) { (1, nth) } else { (0, fresh.base) };
        let indices: Vec<(usize, usize)> = fresh.iter().enumerate().map(choose).collect();
        interleave(&[column.as_ref(), new.as_ref()], &indices)
    });
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let built = StructArray::try_new(values.fields().clone(), columns, None).map_err(|error| error.to_string())?;
    Ok(Arc::new(built))
}
