//! The leaves of the arguments of a call: strings and numbers with the keys that they stand under. Knows JSON as a stream;
//! arguments that are no JSON are one leaf.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Calls `each` with key and text of every leaf of `arguments`.
pub(super) fn leaves(arguments: &str, each: &mut dyn FnMut(&str, &str)) {
    // What is no JSON is found at its end: leaves are given only when all is well.
    let (mut found, mut lengths) = (String::with_capacity(arguments.len()), Vec::new());
    let mut reader = serde_json::Deserializer::from_str(arguments);
    let mut take = |key: &str, text: &str| {
        found.push_str(key);
        found.push_str(text);
        lengths.push((key.len(), text.len()));
    };
    let read = Leaves { key: "", each: &mut take }.deserialize(&mut reader).and_then(|()| reader.end());
    if read.is_err() {
        return each("", arguments);
    }
    let mut rest = found.as_str();
    for (of_key, of_text) in lengths {
        let (key, behind) = rest.split_at(of_key);
        let (text, behind) = behind.split_at(of_text);
        each(key, text);
        rest = behind;
    }
}

struct Leaves<'k, 'e> {
    key: &'k str,
    each: &'e mut dyn FnMut(&str, &str),
}

impl<'de> DeserializeSeed<'de> for Leaves<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Leaves<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        (self.each)(self.key, &number.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        (self.each)(self.key, &number.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        (self.each)(self.key, &number.to_string());
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.each)(self.key, text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Leaves { key: self.key, each: self.each })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key_seed(Key)? {
            members.next_value_seed(Leaves { key: &key, each: self.each })?;
        }
        Ok(())
    }
}

/// The key of a member, from the text where it stands there as it is.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_with_their_keys_in_order() {
        let of = |arguments: &str| {
            let mut found = Vec::new();
            leaves(arguments, &mut |key, text| found.push(format!("{key}={text}")));
            found
        };
        assert_eq!(
            of(r#"{"a": "x\ny", "b": [1, -2, {"c": 1.5}], "d": true, "e": null}"#),
            ["a=x\ny", "b=1", "b=-2", "c=1.5"]
        );
        assert_eq!(of("ls -l {"), ["=ls -l {"]);
        assert_eq!(of(r#"{"a": "x"} and more"#), [r#"={"a": "x"} and more"#]);
    }
}
