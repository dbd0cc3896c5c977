//! What a user's files say: job files, chat templates, models of uses. They are read or refused with a reason, in a bounded time. The
//! first line says which: `job`, `template`, `uses`.
#![no_main]

use condenser::app::settle;
use condenser::pipeline::{ChatTemplate, read_job};
use condenser_core::UseModel;
use condenser_fuzz::head_and_body;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fn job(text: &str) {
    let args = match read_job("job.toml", text, &[]) {
        Ok(args) => args,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // Files that an option names are of this machine.
    let names_files = ["tokenizer", "use_model", "chat_template", "://"].iter().any(|key| text.contains(key));
    if !names_files && let Ok(settings) = settle(args, &|_| None) {
        let written = serde_json::to_string(&settings.options).expect("options are JSON");
        let read = serde_json::from_str(&written).expect("what was written is read");
        assert_eq!(settings.options, read);
    }
}

fn template(text: &str) {
    let Ok(template) = ChatTemplate::read("template.jinja", text.as_bytes()) else { return };
    let messages = [json!({"role": "user", "content": "Why?"}), json!({"role": "assistant", "content": "So."})];
    let tools = json!([{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]);
    let rendered = template.render(&messages, Some(&tools));
    assert_eq!(rendered, template.render(&messages, Some(&tools)), "equal chats are equal texts");
}

fn uses(text: &str) {
    if let Ok(model) = text.parse::<UseModel>() {
        assert_eq!(model.to_string().parse::<UseModel>().as_ref(), Ok(&model), "a model is read as it is written");
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((head, body)) = head_and_body(data) else { return };
    match head {
        "job" => job(body),
        "template" => template(body),
        "uses" => uses(body),
        _ => {}
    }
});
