//! Tools as their calls tell them, where no log does. Knows calls; refuses to know whose they are.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::Conversation;

/// Tools that are called, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CalledTools(BTreeMap<String, Called>);

/// What is known of a tool by its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Called {
    n_calls: u64,
    /// Under each argument how often it was given, and the type of its value, where it is always the same.
    arguments: BTreeMap<String, (u64, Option<&'static str>)>,
}

impl CalledTools {
    /// The tools that are called in a conversation.
    #[must_use]
    pub fn of(conversation: &Conversation<'_>) -> Self {
        let mut called: BTreeMap<String, Called> = BTreeMap::new();
        for call in conversation.messages.iter().flat_map(|message| &message.tool_calls) {
            let Some(name) = &call.name else { continue };
            let known = called.entry(name.to_string()).or_default();
            known.n_calls += 1;
            let arguments = match serde_json::from_str(&call.arguments) {
                Ok(Value::Object(arguments)) => arguments,
                _ if call.arguments.trim().is_empty() => continue,
                // As rows write what is no JSON.
                _ => Map::from_iter([("input".to_owned(), json!(call.arguments))]),
            };
            for (key, value) in arguments {
                known.argument(key, 1, Some(type_of(&value)));
            }
        }
        Self(called)
    }

    /// Adds calls of another conversation, of at most `most` tools in all.
    pub fn absorb(&mut self, other: &Self, most: usize) {
        for (name, called) in &other.0 {
            if self.0.len() >= most && !self.0.contains_key(name) {
                continue;
            }
            let known = self.0.entry(name.clone()).or_default();
            known.n_calls += called.n_calls;
            for (key, (n, kind)) in &called.arguments {
                known.argument(key.clone(), *n, *kind);
            }
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when nothing is called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when a tool of this name is called.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// In the words of OpenAI: what every call gave is required.
    #[must_use]
    pub fn list(&self) -> Vec<Value> {
        self.0.iter().map(|(name, called)| called.tool(name)).collect()
    }
}

impl Called {
    fn argument(&mut self, key: String, n: u64, kind: Option<&'static str>) {
        let known = self.arguments.entry(key).or_insert((0, kind));
        known.0 += n;
        known.1 = known.1.filter(|known| kind == Some(known));
    }

    fn tool(&self, name: &str) -> Value {
        let required: Vec<&String> =
            self.arguments.iter().filter(|(_, (n, _))| *n == self.n_calls).map(|(key, _)| key).collect();
        let properties: Map<String, Value> = self
            .arguments
            .iter()
            .map(|(key, (_, kind))| (key.clone(), kind.map_or_else(|| json!({}), |kind| json!({"type": kind}))))
            .collect();
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "description": "", "parameters": parameters}})
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
