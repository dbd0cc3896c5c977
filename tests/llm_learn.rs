//! Learning from outcomes, and pairs to train a model with.

use serde_json::{Value, json};

use crate::support::command::{Told, condenser};
use crate::support::dir::TestDir;
use crate::support::llm_server::{LlmServer, Play};

const PAIRS: &str = "{\"original\": \"the port is 8080\", \"compressed\": \"a port\", \"outcome\": {\"success\": false, \
    \"error\": \"wrong port\"}}\n\n{\"original\": [\"hello\", \"thanks\"], \"compressed\": [\"hello\"], \"outcome\": \
    {\"success\": true}}\n";

fn learn(server: &LlmServer, more: &[&str], code: i32) -> Told {
    let dir = TestDir::new();
    let url = server.base_url();
    dir.write(
        "job.toml",
        format!(
            "inputs = [\"in.jsonl\"]\noutput = \"run\"\n[engine]\npreserve_terms = [\"ports\"]\n[llm]\nmodel = \"m\"\n\
             base_url = \"{url}\"\n"
        ),
    );
    dir.write("pairs.jsonl", PAIRS);
    condenser(dir.root(), &[&["llm", "learn", "job.toml", "pairs.jsonl"], more].concat()).exits(code)
}

fn text(told: &Told) -> String {
    String::from_utf8(told.stdout.clone()).unwrap()
}

#[test]
fn findings_become_a_table_for_the_job() {
    let server = LlmServer::start(|asked| {
        assert!(asked.prompt.contains("It failed: wrong port"), "{}", asked.prompt);
        Play::text(
            "```json\n{\"lostPatterns\": [\"numbers of\\nports\"], \"suggestedTerms\": [\"port numbers\"], \
             \"guidelines\": [\"Keep every number.\"]}\n```",
        )
    });
    let told = text(&learn(&server, &[], 0));
    assert!(told.starts_with("# numbers of ports\n"), "{told}");
    let table: toml::Table = told.parse().unwrap();
    assert_eq!(table["engine"]["preserve_terms"], toml::Value::try_from(["ports", "port numbers"]).unwrap());
    assert_eq!(table["engine"]["system_prompt"].as_str(), Some("- Keep every number."));
}

#[test]
fn what_is_kept_in_vain_is_taken_away() {
    let server = LlmServer::start(|asked| {
        assert!(
            !asked.prompt.contains("wrong port") && asked.prompt.contains("hello\n---\nthanks"),
            "{}",
            asked.prompt
        );
        Play::text("{\"removableTerms\": [\"ports\"], \"tighteningGuidelines\": [\"Leave greetings out.\"]}")
    });
    let table: toml::Table = text(&learn(&server, &["--tighten"], 0)).parse().unwrap();
    assert_eq!(table["engine"]["preserve_terms"].as_array().map(Vec::len), Some(0));
    assert_eq!(table["engine"]["system_prompt"].as_str(), Some("- Leave greetings out."));
}

#[test]
fn candidates_are_so_many_as_wanted() {
    let server = LlmServer::start(|asked| {
        let is_second = asked.system.contains("Propose 2 different");
        Play::text(if is_second {
            "[{\"preserveTerms\": [\"a\"]}, {\"preserveTerms\": [\"b\"]}, {\"preserveTerms\": [\"c\"]}]"
        } else {
            "{\"lostPatterns\": [\"ports\"]}"
        })
    });
    let told = text(&learn(&server, &["--candidates", "2"], 0));
    assert!(told.contains("# candidate 2\n[engine]\n") && !told.contains("# candidate 3"), "{told}");
}

#[test]
fn an_answer_that_is_no_json_is_an_error_that_says_so() {
    let server = LlmServer::start(|_| Play::text("I am sorry."));
    let told = learn(&server, &[], 1);
    assert!(told.stderr.contains("expected a JSON object from the model"), "{}", told.stderr);
    assert!(told.stdout.is_empty());
}

#[test]
fn a_run_gives_pairs_to_train_with() {
    let long = |topic: &str| {
        let talk = ["first", "second", "third", "fourth", "fifth"].map(|time| {
            format!(" By the way, somebody said for the {time} time that the coffee in the kitchen is cold again.")
        });
        format!(
            "We talked about {topic} for a long time, and it seems that everybody has an opinion. The team decided to \
             move {topic} to another region in March. There was more talk about lunch, about the weather and about \
             many other things that nobody will ever need again.{}",
            talk.concat()
        )
    };
    let again = |topic: &str| format!("Once more. {}", long(topic));
    let said = |role: &str, content: Value| json!({ "role": role, "content": content });
    let record = |topic: &str| {
        let parts = json!([{ "type": "text", "text": again(topic) }]);
        json!({ "id": topic, "messages": [
            said("user", json!("Go on.")), said("assistant", json!(long(topic))), said("user", json!("And?")),
            said("assistant", parts), said("user", json!("Thanks."))
        ] })
        .to_string()
    };
    let input = format!("{}\nno record\n{}\n{}\n", record("storage"), "{\"messages\": []}", record("billing"));
    let mut all = Vec::new();
    for format in ["jsonl", "parquet", "arrow"] {
        let dir = TestDir::new();
        dir.write("in.jsonl", &input);
        let args =
            ["compress", "in.jsonl", "-o", "run", "--recency-window", "0", "--hide-by", "look", "--format", format];
        condenser(dir.root(), &args).exits(3);
        let told = condenser(dir.root(), &["llm", "distill", "run", "-o", "pairs.jsonl"]).ok();
        let pairs: Vec<Value> = String::from_utf8(dir.read("pairs.jsonl"))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(told.stderr.contains(&format!("{} pairs written", pairs.len())), "{}", told.stderr);
        for pair in &pairs {
            let (input, output) = (pair["input"].as_str().unwrap(), pair["output"].as_str().unwrap());
            assert!(
                ["storage", "billing"].iter().any(|topic| input == long(topic) || input == again(topic)),
                "{input}"
            );
            assert!(!output.is_empty() && output.len() < input.len(), "{output}");
        }
        assert_eq!(pairs.len(), 4, "{format}: {pairs:?}");
        condenser(dir.root(), &["llm", "distill", "run", "-o", "pairs.jsonl"]).exits(2);
        all.push(pairs);
    }
    assert!(all.iter().all(|pairs| *pairs == all[0]), "the same from every format");
}
