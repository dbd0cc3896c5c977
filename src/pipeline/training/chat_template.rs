//! How a model reads a chat: a Jinja template as Hugging Face's tokenizers have it, and how many tokens it comes to. Knows the
//! dialect of such templates; refuses to know where they are kept.

use std::borrow::Cow;
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{Environment, ErrorKind as JinjaKind, State, Value as JinjaValue, context};
use serde_json::Value;

use super::marks::{minding_train, without_marks};
use crate::error::{Error, Result};
use crate::text::tokens::TokenCounter;

/// The name under which the template stands in its environment.
const NAME: &str = "chat_template";

/// Steps of a template for each message: some tens are usual, a few hundred where tools have formats of their own. A template comes from
/// whoever published the model, and must not keep a job for ever.
const STEPS_PER_MESSAGE: u64 = 2_000;
/// Chats of up to so many messages have the steps of so many.
const USUAL_MESSAGES: usize = 250;
/// What is said of a template that has not ended by then.
const ENDLESS: &str = "the chat template takes more steps than a chat of this length needs";

/// A chat template.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    environment: Arc<Environment<'static>>,
    /// The same for trainers, which learn the turns that `train` says alone.
    minds_train: Option<Arc<str>>,
    bos: String,
    eos: String,
}

impl ChatTemplate {
    /// Reads a template, or the `tokenizer_config.json` that holds one; `place` names the file in errors.
    ///
    /// # Errors
    /// `Usage` when it is no template, or none that can be read.
    pub fn read(place: &str, bytes: &[u8]) -> Result<Self> {
        let template = Self::read_unseen(place, bytes)?;
        template.check_that_it_shows_texts(place)?;
        Ok(template)
    }

    fn read_unseen(place: &str, bytes: &[u8]) -> Result<Self> {
        let wrong = |why: String| Error::usage(place, format!("this is no chat template: {why}"));
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is no text".to_owned()))?;
        let config: Option<Value> =
            text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
        let Some(config) = config else { return Self::of(place, text, "", "") };
        let token = |key: &str| {
            let value = &config[key];
            value.as_str().or_else(|| value["content"].as_str()).unwrap_or_default()
        };
        let named = |list: &Vec<Value>| {
            let found = list.iter().find(|template| template["name"] == "default").or_else(|| list.first());
            found.and_then(|template| template["template"].as_str()).map(str::to_owned)
        };
        let template = match &config["chat_template"] {
            Value::String(template) => Some(template.clone()),
            Value::Array(list) => named(list),
            _ => None,
        };
        let template = template.ok_or_else(|| wrong("the file has no `chat_template`".to_owned()))?;
        Self::of(place, &template, token("bos_token"), token("eos_token"))
    }

    fn of(place: &str, template: &str, bos: &str, eos: &str) -> Result<Self> {
        let template = template.replace("\r\n", "\n");
        let of = |text: &str| Self::with_text(place, text, (bos, eos));
        let minds_train = minding_train(&template, |text, messages| of(text).ok()?.render(messages, None).ok());
        Ok(Self { minds_train: minds_train.map(Arc::from), ..of(&without_marks(&template))? })
    }

    /// Templates that ask for lists of parts, and empty ones, make nothing of texts and say no word about it.
    fn check_that_it_shows_texts(&self, place: &str) -> Result<()> {
        let turns = [("user", "a question"), ("assistant", "an answer")];
        let messages: Vec<Value> =
            turns.iter().map(|(role, text)| serde_json::json!({"role": role, "content": text})).collect();
        let rendered = self.render(&messages, None);
        if rendered.as_ref().is_err_and(|why| why == ENDLESS) {
            return Err(Error::usage(place, ENDLESS));
        }
        match turns.iter().find(|(_, text)| rendered.as_ref().is_ok_and(|rendered| !rendered.contains(text))) {
            Some((role, _)) => Err(Error::usage(
                place,
                format!(
                    "the chat template leaves out what `{role}` says; one for texts is needed, not for lists of parts with images"
                ),
            )),
            None => Ok(()),
        }
    }

    /// A template without marks.
    fn with_text(place: &str, template: &str, (bos, eos): (&str, &str)) -> Result<Self> {
        let mut environment = Environment::new();
        // As transformers sets it up.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment
            .set_syntax(syntax.map_err(|error| Error::internal(place, "the syntax of templates").because(error))?);
        environment.set_fuel(Some(STEPS_PER_MESSAGE * USUAL_MESSAGES as u64));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function(
            "raise_exception",
            |message: String| -> std::result::Result<String, minijinja::Error> {
                Err(minijinja::Error::new(JinjaKind::InvalidOperation, message))
            },
        );
        // A date that is the same on every day: output depends on nothing but its input.
        environment.add_function("strftime_now", |_: String| "2024-07-26".to_owned());
        environment.add_filter("tojson", to_json);
        add_what_differs(&mut environment);
        environment
            .add_template_owned(NAME, template.to_owned())
            .map_err(|error| Error::usage(place, format!("the chat template cannot be read: {error:#}")))?;
        let (bos, eos) = (bos.to_owned(), eos.to_owned());
        Ok(Self { environment: Arc::new(environment), minds_train: None, bos, eos })
    }

    /// The template that marks for learning those turns only whose `train` is not false; `None` where it marks none.
    pub fn minds_train(&self) -> Option<&str> {
        self.minds_train.as_deref()
    }

    /// The text that a model reads.
    ///
    /// # Errors
    /// What the template says against the chat.
    pub fn render(&self, messages: &[Value], tools: Option<&Value>) -> std::result::Result<String, String> {
        let mut environment = Cow::Borrowed(&*self.environment);
        if messages.len() > USUAL_MESSAGES {
            environment.to_mut().set_fuel(Some(STEPS_PER_MESSAGE * messages.len() as u64));
        }
        let template = environment.get_template(NAME).map_err(|error| error.to_string())?;
        // As transformers does for templates that read another name of it.
        let messages: Vec<Value> = messages.iter().map(with_thinking).collect();
        let values = context! {
            messages => JinjaValue::from(Serde(&messages)),
            tools => JinjaValue::from(Serde(tools)),
            bos_token => &self.bos,
            eos_token => &self.eos,
            add_generation_prompt => false,
        };
        template.render(values).map_err(|error| match error.kind() {
            JinjaKind::OutOfFuel => ENDLESS.to_owned(),
            _ => error.detail().map_or_else(|| error.to_string(), str::to_owned),
        })
    }
}

/// What minijinja answers otherwise than Jinja does: nothing is no list, a text is a sequence, what is undefined has no length.
fn add_what_differs(environment: &mut Environment<'_>) {
    let is_sequence = |value: &JinjaValue| matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map);
    let is_iterable = move |value: &JinjaValue| {
        is_sequence(value) || matches!(value.kind(), ValueKind::Iterable | ValueKind::Undefined)
    };
    let length = |value: &JinjaValue| match value.kind() {
        ValueKind::Undefined => Ok(0),
        kind => value.len().ok_or_else(|| {
            minijinja::Error::new(JinjaKind::InvalidOperation, format!("object of type {kind} has no length"))
        }),
    };
    environment.add_test("sequence", is_sequence);
    environment.add_test("iterable", is_iterable);
    environment.add_filter("length", length);
    environment.add_filter("count", length);
}

fn with_thinking(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(message) = message.as_object_mut()
        && let Some(thought) = message.get("reasoning_content").cloned()
    {
        message.entry("thinking").or_insert(thought);
    }
    message
}

/// The tokens of what `template` makes of a chat; without one those of all its texts.
pub(super) fn count(
    template: Option<&ChatTemplate>,
    counter: &dyn TokenCounter,
    messages: &[Value],
    tools: Option<&Value>,
) -> std::result::Result<usize, String> {
    let text = match template {
        Some(template) => template.render(messages, tools)?,
        None => return Ok(messages.iter().chain(tools).map(|value| counter.count(&value.to_string())).sum()),
    };
    Ok(counter.count_rendered(&text))
}

/// JSON as Python writes it: `, ` and `: ` between things, and letters as they are.
#[expect(clippy::needless_pass_by_value, reason = "as filters are called")]
fn to_json(
    _: &State<'_, '_>,
    value: &JinjaValue,
    options: Kwargs,
) -> std::result::Result<JinjaValue, minijinja::Error> {
    let indent: Option<usize> = options.get("indent")?;
    // `ensure_ascii`, `separators` and `sort_keys` change how it looks, not how long it is by much.
    let value: Value = serde_json::to_value(value)
        .map_err(|error| minijinja::Error::new(JinjaKind::BadSerialization, error.to_string()))?;
    let mut text = String::new();
    write_json(&value, indent, 0, &mut text);
    Ok(JinjaValue::from_safe_string(text))
}

fn write_json(value: &Value, indent: Option<usize>, depth: usize, out: &mut String) {
    let line = |depth: usize, out: &mut String| {
        if let Some(indent) = indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    };
    let comma = if indent.is_some() { "," } else { ", " };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { comma } else { "" });
                line(depth + 1, out);
                write_json(item, indent, depth + 1, out);
            }
            line(depth, out);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (at, (key, item)) in members.iter().enumerate() {
                out.push_str(if at > 0 { comma } else { "" });
                line(depth + 1, out);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                write_json(item, indent, depth + 1, out);
            }
            line(depth, out);
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ChatTemplate;

    fn render(
        template: &str,
        messages: &serde_json::Value,
        tools: Option<&serde_json::Value>,
    ) -> Result<String, String> {
        let template = ChatTemplate::read_unseen("t.jinja", template.as_bytes()).expect("a template");
        template.render(messages.as_array().expect("messages"), tools)
    }

    #[test]
    fn what_templates_of_hugging_face_use_is_there() {
        let messages = json!([{"role": "user", "content": " a\n"}, {"role": "tool", "content": "b"}, {"role": "tool", "content": "c"}]);
        let template = "{% set ns = namespace(n=0) %}{% for m in messages %}\r\n\
            {# {% generation %} #}{%- if m.role == 'tool' and loop.previtem and loop.previtem.role != 'tool' %}<{% endif %}\n\
            {% generation %}{{ m.content.strip() }}{% endgeneration %}{% set ns.n = ns.n + 1 %}\n\
            {% if loop.nextitem is defined and ns.n == 2 %}{% continue %}{% endif %};{% endfor %}{{ ns.n }}";
        assert_eq!(render(template, &messages, None), Ok("a;<bc;3".to_owned()));
        let tools = json!([{"name": "f", "parameters": {"b": 1, "a": ["ä", null]}}]);
        let template = "{{ tools | tojson }} {{ tools[0].parameters | tojson(indent=2) }}{% for k, v in tools[0].items() %} {{ k }}{% endfor %}";
        let expected = "[{\"name\": \"f\", \"parameters\": {\"b\": 1, \"a\": [\"ä\", null]}}] \
                        {\n  \"b\": 1,\n  \"a\": [\n    \"ä\",\n    null\n  ]\n} name parameters";
        assert_eq!(render(template, &messages, Some(&tools)), Ok(expected.to_owned()));
        let what_differs = "{{ tools is iterable }}{{ tools is sequence }}{{ 'a' is sequence }}{{ gone | length }}{{ gone is iterable }}";
        assert_eq!(render(what_differs, &messages, None), Ok("FalseFalseTrue0True".to_owned()));
        assert!(render("{{ tools | length }}", &messages, None).is_err());
        assert_eq!(render("{{ raise_exception('no such role') }}", &messages, None), Err("no such role".to_owned()));
        assert!(render("{{ strftime_now('%Y') }}{{ bos_token }}", &messages, None).is_ok_and(|text| !text.is_empty()));
    }

    #[test]
    fn a_template_has_so_many_steps_for_each_message() {
        let each = "{% for m in messages %}{% for i in range(150) %}{{ m.content }}{% endfor %}{% endfor %}";
        let chat = |n: usize| json!(vec![json!({"role": "user", "content": "a"}); n]);
        assert!(render(each, &chat(600), None).is_ok_and(|text| text.len() == 90_000));
        let endless = format!("{{% for i in range(99999) %}}{each}{{% endfor %}}");
        assert!(render(&endless, &chat(1), None).is_err_and(|why| why == super::ENDLESS));
        let refused = ChatTemplate::read("t.jinja", endless.as_bytes()).expect_err("it does not end");
        assert!(refused.to_string().contains("takes more steps"), "{refused}");
    }

    #[test]
    fn marks_hold_for_what_is_to_be_learned() {
        let minds = |template: &str| {
            let template = ChatTemplate::read_unseen("t.jinja", template.as_bytes()).expect("a template");
            template.minds_train().map(str::to_owned)
        };
        let turn = "{{ m.role }}{% generation %}{{ m.content }}{% endgeneration %}";
        let told = minds(&format!("{{% for m in messages %}}{turn}{{% endfor %}}")).expect("marks");
        assert!(
            told.contains(
                "{% if (message is mapping and message.train is defined and message.train == false) or (m is mapping"
            ),
            "{told}"
        );
        for right in [
            format!("{{% for message in messages %}}{{% for m in [message] %}}{turn}{{% endfor %}}{{% endfor %}}"),
            format!(
                "{{% macro say(m) %}}{turn}{{% endmacro %}}{{% for x in messages %}}{{{{ say(x) }}}}{{% endfor %}}"
            ),
            format!(
                "{{# {{% generation %}} #}}{{% for m in messages %}}\r\n{{%- if m.role == 'assistant' -%}} {turn} {{%- endif %}}\r\n{{% endfor %}}"
            ),
            "{% for m in messages %}{% generation %}{% set seen = 1 %}{{ m.content }}{% endgeneration %}{{ seen is defined }}{% endfor %}".to_owned(),
            format!(
                "{{% raw %}}{{% generation %}}{{% endgeneration %}}{{% endraw %}}{{% for m in messages %}}{turn}{{% endfor %}}"
            ),
        ] {
            assert!(minds(&right).is_some(), "{right}");
        }
        for wrong in [
            "{% for m in messages %}{{ m.content }}{% endfor %}".to_owned(),
            "{% generation %}{% for m in messages %}{{ m.content }}{% endfor %}{% endgeneration %}".to_owned(),
            "{% for i in range(messages | length) %}{% generation %}{{ messages[i].content }}{% endgeneration %}{% endfor %}".to_owned(),
        ] {
            assert_eq!(minds(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_configuration_holds_a_template_and_its_tokens() {
        let named = json!({"bos_token": {"content": "<s>"}, "eos_token": "</s>",
            "chat_template": [{"name": "rag", "template": "no"}, {"name": "default", "template": "{{ bos_token }}{{ eos_token }}"}]});
        assert_eq!(render(&named.to_string(), &json!([]), None), Ok("<s></s>".to_owned()));
        for silent in ["", "{% for m in messages %}{{ m.role }}{{ m.content[0].text }}{% endfor %}"] {
            let silent = ChatTemplate::read("t.jinja", silent.as_bytes()).expect_err("no text");
            assert!(silent.to_string().contains("leaves out what `user` says"), "{silent}");
        }
        let none = ChatTemplate::read("c.json", b"{\"eos_token\": \"x\"}").expect_err("no template");
        assert!(none.to_string().contains("no `chat_template`"), "{none}");
    }
}
