//! By what a record is read: the table of its shape, with what somebody says about the record over it. Knows keys and names;
//! refuses to know a record.

use super::member::Field;
use super::spec::Spec;
use crate::model::{FieldMap, MappedField};

/// By what a record is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'m> {
    pub spec: &'static Spec,
    /// What is said about records of no known shape; it counts more.
    pub map: Option<&'m FieldMap>,
}

impl<'m> Rules<'m> {
    pub(super) fn of(spec: &'static Spec) -> Self {
        Self { spec, map: None }
    }

    /// What a key holds, in the message itself or in the object under `parent`, and its rank: of two keys for one field the
    /// one with the lower rank counts.
    pub(super) fn field(&self, parent: &str, key: &str) -> (Field, usize) {
        let Some(map) = self.map else { return self.spec.field(key) };
        if let Some(field) = map.field(parent, key) {
            return (field_of(field), 0);
        }
        let (field, rank) = if parent.is_empty() { self.spec.field(key) } else { (Field::Other, 0) };
        // Where the map says what holds a field, no other key does.
        let is_said = MAPPED.iter().any(|&(mapped, known)| known == field && map.key(mapped).is_some());
        (if is_said { Field::Other } else { field }, rank + 1)
    }

    /// The key as the map has it, when what stands under it is looked into.
    pub(super) fn parent(&self, key: &str) -> Option<&'m str> {
        self.map?.parent(key)
    }

    /// The key as the record writes it when nothing tells otherwise.
    pub(super) fn key_of(&self, field: Field) -> &'m str {
        let mapped = MAPPED.iter().find(|(_, known)| *known == field).map(|&(mapped, _)| mapped);
        let said = mapped.and_then(|field| self.map?.key(field));
        said.unwrap_or_else(|| self.spec.key_of(field))
    }

    /// The usual name of who is called `name`, where only these rules know it.
    pub(super) fn role(&self, name: &str) -> Option<&'static str> {
        let said = self.map.and_then(|map| map.role(name));
        said.or_else(|| self.spec.roles.iter().find(|(known, _)| *known == name).map(|&(_, usual)| usual))
    }
}

const MAPPED: [(MappedField, Field); 6] = [
    (MappedField::Role, Field::Role),
    (MappedField::Content, Field::Content),
    (MappedField::Id, Field::Id),
    (MappedField::Name, Field::Name),
    (MappedField::ToolCalls, Field::ToolCalls),
    (MappedField::ToolCallId, Field::ToolCallId),
];

fn field_of(field: MappedField) -> Field {
    MAPPED.iter().find(|(known, _)| *known == field).map_or(Field::Other, |&(_, field)| field)
}
