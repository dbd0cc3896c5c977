//! Where records have their conversation, as somebody says it who knows them: the path of the list, the keys of a message,
//! who is called what. Knows no record.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ShapeName;

const EXPECTED: &str =
    "NAME=PATH, several with commas between them, such as messages=state.turns,role=speaker,content=text";
const NAMES: &str = "messages, role, content, id, name, tool_calls, tool_call_id, user and assistant";
/// Keys of a path into a message: one of the message itself, and one of an object in it.
const MAX_KEYS: usize = 2;
/// Keys of a path to a list.
const MAX_LIST_KEYS: usize = 32;
/// The path of a record that is the list itself.
const ITSELF: &str = ".";
/// Signs that mean something in a map; a key with one of them has a backslash before it.
const SIGNS: [char; 4] = ['\\', '.', ',', '='];

/// What of a message a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MappedField {
    /// Who speaks.
    Role,
    /// What is said.
    Content,
    /// What the message is called.
    Id,
    /// The name of the speaker.
    Name,
    /// The calls that are made.
    ToolCalls,
    /// The call that is answered.
    ToolCallId,
}

const FIELDS: [(&str, MappedField); 6] = [
    ("role", MappedField::Role),
    ("content", MappedField::Content),
    ("id", MappedField::Id),
    ("name", MappedField::Name),
    ("tool_calls", MappedField::ToolCalls),
    ("tool_call_id", MappedField::ToolCallId),
];

/// Where records have their conversation: `messages=state.turns,role=speaker,content=text`. Equal for maps that say the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldMap {
    messages: Option<Vec<String>>,
    fields: Vec<(MappedField, Vec<String>)>,
    users: Vec<String>,
    assistants: Vec<String>,
}

impl FieldMap {
    /// The keys that lead from a record to its messages: none where the record is their list. `None` where the map does not say.
    #[must_use]
    pub fn messages(&self) -> Option<&[String]> {
        self.messages.as_deref()
    }

    /// What a key of a message holds, or of an object that stands in it under `parent`, which is empty for the message itself.
    #[must_use]
    pub fn field(&self, parent: &str, key: &str) -> Option<MappedField> {
        let leads_here = |path: &[String]| match path {
            [own] => parent.is_empty() && own == key,
            [outer, inner] => outer == parent && inner == key,
            _ => false,
        };
        self.fields.iter().find(|(_, path)| leads_here(path)).map(|&(field, _)| field)
    }

    /// The key that leads to a field, or to the object that it is in.
    #[must_use]
    pub fn key(&self, field: MappedField) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == field)?.1.last().map(String::as_str)
    }

    /// The key as the map has it, where fields are looked for inside of what stands under it.
    #[must_use]
    pub fn parent(&self, key: &str) -> Option<&str> {
        self.fields.iter().find_map(|(_, path)| match path.as_slice() {
            [outer, _] if outer == key => Some(outer.as_str()),
            _ => None,
        })
    }

    /// The usual name of who is called `name`.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&'static str> {
        let is_in = |names: &[String]| names.iter().any(|known| known == name);
        if is_in(&self.users) {
            return Some("user");
        }
        is_in(&self.assistants).then_some("assistant")
    }
}

/// As what a record is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs<'m> {
    /// As a record of this shape.
    Shape(ShapeName),
    /// As this map says.
    Map(&'m FieldMap),
}

impl From<ShapeName> for ReadAs<'_> {
    fn from(shape: ShapeName) -> Self {
        Self::Shape(shape)
    }
}

impl<'m> ReadAs<'m> {
    /// What was told beforehand: a map counts more than a shape.
    #[must_use]
    pub fn told(map: Option<&'m FieldMap>, shape: Option<ShapeName>) -> Option<Self> {
        map.map(Self::Map).or(shape.map(Self::Shape))
    }

    /// The shape; `None` for a map.
    #[must_use]
    pub fn shape(self) -> Option<ShapeName> {
        match self {
            Self::Shape(shape) => Some(shape),
            Self::Map(_) => None,
        }
    }
}

/// `keys` as a map has them.
#[must_use]
pub fn path(keys: &[impl AsRef<str>]) -> String {
    if keys.is_empty() {
        return ITSELF.to_owned();
    }
    let quoted = |key: &str| {
        key.chars().fold(String::new(), |mut quoted, char| {
            quoted.extend(SIGNS.contains(&char).then_some('\\'));
            quoted.push(char);
            quoted
        })
    };
    keys.iter().map(|key| quoted(key.as_ref())).collect::<Vec<_>>().join(".")
}

impl fmt::Display for FieldMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pairs: Vec<String> = self.messages.iter().map(|keys| format!("messages={}", path(keys))).collect();
        for (name, field) in FIELDS {
            let found = self.fields.iter().find(|(known, _)| *known == field);
            pairs.extend(found.map(|(_, keys)| format!("{name}={}", path(keys))));
        }
        for (role, names) in [("user", &self.users), ("assistant", &self.assistants)] {
            pairs.extend(names.iter().map(|name| format!("{role}={}", path(&[name]))));
        }
        f.write_str(&pairs.join(","))
    }
}

impl FromStr for FieldMap {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut map = Self::default();
        for pair in split(text, ',') {
            let mut sides = split(pair, '=').into_iter();
            let (Some(name), Some(value), None) = (sides.next(), sides.next(), sides.next()) else {
                return Err(format!("`{pair}` is no NAME=PATH; expected {EXPECTED}"));
            };
            map.add(name.trim(), value.trim())?;
        }
        // In whatever order it is said, it is the same.
        map.fields.sort_by_key(|&(field, _)| field);
        let twice = map.fields.iter().enumerate().find(|(at, (_, path))| {
            map.fields.iter().take(*at).any(|(_, other)| path.starts_with(other) || other.starts_with(path))
        });
        if let Some((_, (_, keys))) = twice {
            return Err(format!("`{}` is said to be two things", path(keys)));
        }
        Ok(map)
    }
}

impl FieldMap {
    fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let empty = || Err(format!("`{name}={value}` has an empty key; expected {EXPECTED}"));
        let again = || Err(format!("`{name}` stands there twice"));
        let names = match name {
            "user" => Some(&mut self.users),
            "assistant" => Some(&mut self.assistants),
            _ => None,
        };
        if let Some(names) = names {
            names.push(unquoted(value));
            return if value.is_empty() { empty() } else { Ok(()) };
        }
        let keys = if value == ITSELF { Vec::new() } else { split(value, '.').into_iter().map(unquoted).collect() };
        if keys.iter().any(String::is_empty) {
            return empty();
        }
        if name == "messages" {
            if keys.len() > MAX_LIST_KEYS {
                return Err(format!("`messages` has a path of more than {MAX_LIST_KEYS} keys"));
            }
            return self.messages.replace(keys).map_or(Ok(()), |_| again());
        }
        let Some(&(_, field)) = FIELDS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("unknown name `{name}`; known are {NAMES}"));
        };
        // A name may be taken out of a message, with what stands beside it.
        let most = if field == MappedField::Name { 1 } else { MAX_KEYS };
        if keys.is_empty() || keys.len() > most {
            let keys = if most == 1 { "one key" } else { "one or two keys" };
            return Err(format!("`{name}={value}`: the path of a {name} has {keys}"));
        }
        if self.fields.iter().any(|(known, _)| *known == field) {
            return again();
        }
        self.fields.push((field, keys));
        Ok(())
    }
}

/// The parts of `text` between signs that have no backslash before them.
fn split(text: &str, sign: char) -> Vec<&str> {
    let (mut parts, mut from, mut is_quoted) = (Vec::new(), 0, false);
    for (at, char) in text.char_indices() {
        if char == sign && !is_quoted {
            parts.extend(text.get(from..at));
            from = at + sign.len_utf8();
        }
        is_quoted = char == '\\' && !is_quoted;
    }
    parts.extend(text.get(from..));
    parts
}

fn unquoted(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    plain
}

impl Serialize for FieldMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for FieldMap {
    fn schema_name() -> Cow<'static, str> {
        "FieldMap".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": EXPECTED, "type": "string", "pattern": "^[^=]+=" })
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldMap, MappedField};

    fn read(text: &str) -> FieldMap {
        text.parse().map_err(|error| format!("{text}: {error}")).expect("a map")
    }

    #[test]
    fn a_map_says_where_things_are() {
        let map = read("content=body.text, messages=a.b\\.c,role=who,user=Ada,user=Dr. Li,assistant=the\\, bot");
        assert_eq!(map.messages(), Some(&["a".to_owned(), "b.c".to_owned()][..]));
        assert_eq!(map.field("", "who"), Some(MappedField::Role));
        assert_eq!(map.field("body", "text"), Some(MappedField::Content));
        assert_eq!((map.field("", "text"), map.field("who", "text"), map.field("", "body")), (None, None, None));
        assert_eq!((map.parent("body"), map.parent("who")), (Some("body"), None));
        assert_eq!(map.key(MappedField::Content), Some("text"));
        let names = ["Ada", "Dr. Li", "the, bot", "nobody"].map(|name| map.role(name));
        assert_eq!(names, [Some("user"), Some("user"), Some("assistant"), None]);
        let text = "messages=a.b\\.c,role=who,content=body.text,user=Ada,user=Dr\\. Li,assistant=the\\, bot";
        assert_eq!(map.to_string(), text);
        assert_eq!(read(text), map);
        assert_eq!(read("messages=.").messages(), Some(&[][..]));
        assert_eq!(read("role=a").messages(), None);
    }

    #[test]
    fn what_is_no_map_is_refused() {
        let check = |text: &str, why: &str| {
            let error = text.parse::<FieldMap>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        };
        check("", "no NAME=PATH");
        check("messages", "`messages` is no NAME=PATH");
        check("messages=a=b", "no NAME=PATH");
        check("mesages=a", "unknown name `mesages`; known are messages, role");
        check("messages=a..b", "an empty key");
        check("role=", "an empty key");
        check("role=a,role=b", "`role` stands there twice");
        check("messages=a,messages=a", "twice");
        check("role=a.b.c", "one or two keys");
        check("name=a.b", "has one key");
        check("role=a,content=a", "`a` is said to be two things");
        check("role=a,content=a.b", "two things");
    }
}
