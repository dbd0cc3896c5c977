//! Adapters and the prepass inside the engine: nothing is lost, protections hold, every combination is restored.

use condenser::model::{Action, AdapterName, EngineOptions, PreservePattern, ProvenancePlace, Reason};
use serde_json::json;

use crate::support::talk::{all, compress, compress_record, prose, record_of};

const ALL: [AdapterName; 7] = [
    AdapterName::Diff,
    AdapterName::JsonLines,
    AdapterName::Csv,
    AdapterName::Log,
    AdapterName::Xml,
    AdapterName::Yaml,
    AdapterName::Markdown,
];

fn adapting(adapters: &[AdapterName]) -> EngineOptions {
    EngineOptions { adapters: adapters.to_vec(), ..all() }
}

fn yaml() -> String {
    format!("service: billing\nreplicas: 3\ndescription: {}\ndatabase:\n  host: db-7.example.net\n", prose(600))
}

fn xml() -> String {
    format!("<config>\n  <service port=\"8080\"/>\n  <!-- {} -->\n  <text>{}</text>\n</config>", prose(300), prose(300))
}

fn checks() -> String {
    (0..40).map(|n| format!("✓ check number {n} has passed\n")).collect()
}

#[test]
fn yaml_and_xml_are_compressed_instead_of_kept_for_their_structure() {
    let (yaml, xml) = (yaml(), xml());
    let messages = [("user", yaml.as_str()), ("assistant", xml.as_str())];
    compress(&messages, &all()).because(0, Reason::HardT0).because(1, Reason::HardT0);
    let done = compress(&messages, &adapting(&ALL));
    done.because(0, Reason::AdapterYaml).because(1, Reason::AdapterXml);
    done.shows("replicas: 3")
        .shows("host: db-7.example.net")
        .shows("<service port=\"8080\"/>")
        .shows("<!-- [summary: ");
    compress(&messages, &adapting(&[AdapterName::Csv])).is(0, Action::Preserved).is(1, Action::Preserved);
}

#[test]
fn a_document_with_a_secret_or_without_prose_stays() {
    let with_key = yaml().replace("replicas: 3", "token: ghp_0123456789abcdefABCDEF0123456789abcd");
    compress(&[("user", &with_key)], &adapting(&ALL)).is(0, Action::Preserved);
    let plain: String = (0..20).map(|n| format!("key{n}: value{n}\n")).collect();
    compress(&[("user", &plain)], &adapting(&ALL)).is(0, Action::Preserved).because(0, Reason::HardT0);
}

#[test]
fn the_prepass_loses_nothing_and_respects_every_protection() {
    let noise = checks();
    let record = record_of(&[
        json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": noise}),
        json!({"role": "user", "content": "Good."}),
    ]);
    let on = EngineOptions { agent_tool_prepass: true, ..all() };
    let done = compress_record(&record, &on);
    done.is(1, Action::Compressed).because(1, Reason::ToolPrepass).shows("[... 40 passing test lines omitted ...]");
    for options in [
        EngineOptions { preserve: vec!["tool".into()], ..on.clone() },
        EngineOptions { recency_window: 10, ..on.clone() },
        EngineOptions { compression_threshold: 100_000, ..on.clone() },
    ] {
        compress_record(&record, &options).is(1, Action::Preserved).shows("✓ check number 17");
    }
    let metadata = EngineOptions { provenance: ProvenancePlace::Metadata, ..on };
    compress_record(&record, &metadata).because(1, Reason::ToolPrepass);
}

#[test]
fn preserve_patterns_are_stronger_than_adapters_and_the_prepass() {
    let (noise, yaml) = (checks(), yaml());
    let messages = [("tool", noise.as_str()), ("user", yaml.as_str())];
    let pattern = |re: &str| PreservePattern { label: "fixed".into(), re: re.into() };
    let options = EngineOptions {
        agent_tool_prepass: true,
        preserve_patterns: vec![pattern("number 17"), pattern("db-7")],
        ..adapting(&ALL)
    };
    compress(&messages, &options).because(0, Reason::Pattern).because(1, Reason::Pattern);
}
