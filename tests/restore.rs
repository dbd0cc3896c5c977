//! The way back: from rows and condensed records to the identical bytes, for records that nobody would write by
//! hand and for replacements that no engine would make.

use std::collections::HashSet;

use condenser::model::{
    Condensed, Content, Metrics, NewBody, Original, Output, Part, Provenance, ProvenancePlace, Replacement, ShapeName,
    Spot,
};
use condenser::shape::{
    Decoded, Row, VerbatimMap, decode, detect, restore_record, restore_row, uncompress, uncompress_record, verbatim_map,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

use crate::support::corpora;

/// A condensed conversation with the given groups; everything else is kept, in the order of first sources.
fn condensed(n: usize, groups: &[(Vec<usize>, NewBody)]) -> Condensed {
    let mut messages: Vec<(usize, Output)> = Vec::new();
    for (sources, body) in groups {
        let ids: Vec<String> = sources.iter().map(|at| format!("m{at}")).collect();
        let provenance = Provenance { ids, summary_id: "cce_sum_é".to_owned(), version: 7, ..Provenance::default() };
        let replacement = Replacement {
            sources: sources.clone(),
            is_by_several: sources.len() > 1,
            body: body.clone(),
            spots: Vec::new(),
            provenance,
            views: Vec::new(),
        };
        messages.push((sources[0], Output::Replaced(replacement)));
    }
    let gone: HashSet<usize> = groups.iter().flat_map(|(sources, _)| sources).copied().collect();
    messages.extend((0..n).filter(|index| !gone.contains(index)).map(|index| (index, Output::Kept { index })));
    messages.sort_by_key(|(first, _)| *first);
    let messages = messages.into_iter().map(|(_, output)| output).collect();
    Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }
}

/// Both ways back give the record, and the condensed record is one of the same shape.
fn check(decoded: &Decoded<'_>, condensed: &Condensed) {
    let originals = decoded.originals(condensed);
    let layout = decoded.record_layout(condensed);
    for place in [ProvenancePlace::Metadata, ProvenancePlace::Sidecar] {
        let row = decoded.row(condensed, place);
        let row_layout = decoded.row_layout(condensed);
        let restored = restore_row(&decoded.conversation.id, &row, &row_layout, &originals);
        assert_eq!(restored.as_deref(), Ok(decoded.record), "row: {row:?}\nlayout: {row_layout}");

        let record = decoded.condensed_record(condensed, place);
        let again = decode(&record, decoded.read_as, "fallback").expect("a condensed record is a record");
        assert_eq!(again.conversation.messages.len(), condensed.messages.len());
        let restored = restore_record(&record, layout.as_deref(), &originals);
        assert_eq!(restored.as_deref(), Ok(decoded.record), "record: {record}\nlayout: {layout:?}");
    }
}

#[test]
fn records_of_the_corpora_come_back() {
    for (name, lines) in corpora::lines() {
        let mut n_layout = 0;
        for (n, record) in lines.iter().enumerate() {
            let shape = detect(record);
            assert!(shape.is_some(), "{name}: line {} has no known shape", n + 1);
            let shape = shape.unwrap_or(ShapeName::Openai);
            let decoded = decode(record, shape, "fallback").expect("a record of the corpora can be read");
            let n_messages = decoded.conversation.messages.len();
            let unchanged = condensed(n_messages, &[]);
            check(&decoded, &unchanged);
            assert_eq!(decoded.condensed_record(&unchanged, ProvenancePlace::Metadata), *record);
            n_layout += decoded.row_layout(&unchanged).len();
            // Every third message alone, and groups of two with a gap between them.
            let text = |n: usize| NewBody::Text(format!("[summary: “{n}” \\ \"quoted\"\n]"));
            let alone: Vec<_> = (0..n_messages).step_by(3).map(|at| (vec![at], text(at))).collect();
            check(&decoded, &condensed(n_messages, &alone));
            let gaps: Vec<_> = (2..n_messages).step_by(3).map(|at| (vec![at - 2, at], text(at))).collect();
            check(&decoded, &condensed(n_messages, &gaps));
            if n_messages > 0 {
                check(&decoded, &condensed(n_messages, &[((0..n_messages).collect(), text(0))]));
            }
        }
        let share = n_layout as f64 / lines.iter().map(String::len).sum::<usize>() as f64;
        assert!(share < 0.07, "{name}: layouts are {share} of the records");
    }
}

/// A string with its escapes, as some writer might write it.
fn string() -> impl Strategy<Value = String> {
    let plain = select(vec![
        "a",
        "b c",
        "/",
        "<b>&",
        "é",
        "日本",
        "😀",
        "$",
        "$M",
        "$$",
        "$n",
        "\u{7f}",
        "\u{2028}",
        "[summary: x]",
        "[cce:dup of m0]",
        "{}",
        ", ",
    ]);
    let escape = select(vec![
        "\\n",
        "\\t",
        "\\\"",
        "\\\\",
        "\\/",
        "\\b",
        "\\u0041",
        "\\u00e9",
        "\\u00E9",
        "\\ud83d\\ude00",
        "\\ud83d",
        "\\udc00x",
        "\\ud83d\\u0041",
        "\\u0000",
        "\\u001b",
        "\\u001B",
        "\\u007f",
        "\\u003c",
        "\\u2028",
        "\\\\u00e9",
        "\\u000a",
    ]);
    let piece = prop_oneof![3 => plain, 1 => escape];
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// The escapes of a character in lower-case hex.
fn hex(char: char) -> impl Iterator<Item = String> {
    let units: Vec<u16> = char.encode_utf16(&mut [0; 2]).to_vec();
    units.into_iter().map(|unit| format!("\\u{unit:04x}"))
}

/// A string of a record whose writer has one style.
fn styled(style: u8) -> BoxedStrategy<String> {
    if style == 0 {
        return string().boxed();
    }
    let write = move |text: String| {
        let mut out = String::from("\"");
        for char in text.chars() {
            match char {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '/' if style == 3 => out.push_str("\\/"),
                '\0'..' ' if style == 4 => out.extend(hex(char).map(|escape| escape.to_uppercase().replace('U', "u"))),
                '\0'..' ' => out.extend(hex(char)),
                char if style == 4 && !(' '..='~').contains(&char) => {
                    out.extend(hex(char).map(|escape| escape.to_uppercase().replace('U', "u")));
                }
                char if style >= 2 && !(' '..='~').contains(&char) => {
                    out.extend(hex(char));
                }
                char => out.push(char),
            }
        }
        out + "\""
    };
    prop_oneof!["[a-z/é日😀\n\t\"\\\\<$]{0,20}", any::<String>()].prop_map(write).boxed()
}

/// Any value, some of them deep.
fn value() -> impl Strategy<Value = String> {
    let scalar = select(vec!["null", "true", "1", "1.0", "-0", "1E+2", "12345678901234567890123", "[]", "{ }"]);
    let leaf = prop_oneof![scalar.prop_map(str::to_owned), string()];
    let deep = (1_usize..2000).prop_map(|depth| "[".repeat(depth) + &"]".repeat(depth));
    prop_oneof![
        8 => leaf.clone(),
        1 => deep,
        2 => proptest::collection::vec(leaf.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
        2 => proptest::collection::vec((string(), leaf), 0..4).prop_map(|members| {
            let members: Vec<_> = members.into_iter().map(|(key, value)| format!("{key} :{value}")).collect();
            format!("{{{}}}", members.join(","))
        }),
    ]
}

/// What a message may say.
fn content(style: u8) -> impl Strategy<Value = String> {
    let text = styled(style).prop_map(|text| format!(r#"{{"type": "text", "text": {text}, "x": 1}}"#));
    let thought = styled(style).prop_map(|text| format!(r#"{{"type": "thinking", "thinking": {text}}}"#));
    let call = styled(style).prop_map(|text| format!(r#"{{"type": "tool_use", "input": {{"a": {text}}}}}"#));
    let image = Just(r#"{"type":"image"}"#.to_owned());
    let part = prop_oneof![text, styled(style), thought, call, image, value()];
    prop_oneof![
        6 => styled(style),
        2 => proptest::collection::vec(part, 0..4).prop_map(|parts| format!("[{}]", parts.join(", "))),
        1 => value(),
    ]
}

/// The members of a message: known keys, unknown keys, keys that come twice, keys with escapes.
fn message(style: u8) -> impl Strategy<Value = Vec<(String, String)>> {
    let pair = |keys: &'static [&'static str], value: BoxedStrategy<String>| {
        (select(keys), value).prop_map(|(key, value)| (format!("\"{key}\""), value))
    };
    let role = select(vec!["\"user\"", "\"assistant\"", "\"human\"", "\"function_call\"", "null", "3"])
        .prop_map(str::to_owned);
    let id =
        select(vec!["\"m0\"", "\"m0\"", "17", "\"\"", "\"__proto__\"", "null", "\"\\u006d\""]).prop_map(str::to_owned);
    let metadata = prop_oneof![
        value(),
        Just(r#"{"_cce_original": {"ids": ["a"], "summary_id": "s", "version": 0}, "k": 1 }"#.to_owned()),
        Just("{ }".to_owned()),
    ];
    let member = prop_oneof![
        4 => pair(&["role", "from", "r\\u006fle"], role.boxed()),
        6 => pair(&["content", "value"], content(style).boxed()),
        1 => pair(&["id"], id.boxed()),
        1 => pair(&["name", "tool_call_id"], prop_oneof![styled(style), value()].boxed()),
        1 => pair(&["tool_calls", "function_call"], value().boxed()),
        1 => pair(&["reasoning", "reasoning_content"], prop_oneof![styled(style), value()].boxed()),
        1 => pair(&["metadata"], metadata.boxed()),
        1 => (string(), value()),
    ];
    proptest::collection::vec(member, 0..6)
}

#[derive(Debug, Clone)]
struct Spacing {
    comma: String,
    colon: String,
    separators: Vec<String>,
    edge: String,
}

fn spacing() -> impl Strategy<Value = Spacing> {
    let space = || select(vec!["", "", " ", "\n  ", "\t", "\r\n"]);
    let separators = prop_oneof![Just(vec![" "]), Just(vec![""]), proptest::collection::vec(space(), 1..3)];
    (space(), space(), separators, space()).prop_map(|(comma, colon, separators, edge)| Spacing {
        comma: format!(",{comma}"),
        colon: format!(":{colon}"),
        separators: separators.into_iter().map(|space| format!(",{space}")).collect(),
        edge: edge.to_owned(),
    })
}

/// A record of some shape.
fn record() -> impl Strategy<Value = (ShapeName, String)> {
    let shape = select(vec![ShapeName::Openai, ShapeName::Cce, ShapeName::Sharegpt]);
    let parts = (0_u8..5).prop_flat_map(|style| {
        let ids = select(vec!["id", "id", "conversation_id", "uuid", "messages", "conversations", "x"]);
        let id_values = prop_oneof![styled(style), value()];
        let head = proptest::collection::vec((ids, id_values), 0..4);
        (proptest::collection::vec(message(style), 0..9), head, any::<Index>(), spacing())
    });
    (shape, parts, any::<bool>()).prop_map(|(shape, (messages, head, at, spacing), bare)| {
        let object = |members: Vec<(String, String)>| {
            let Spacing { colon, comma, edge, .. } = &spacing;
            let members: Vec<_> = members.into_iter().map(|(key, value)| format!("{key}{colon}{value}")).collect();
            format!("{{{edge}{}{edge}}}", members.join(comma))
        };
        let mut list = format!("[{}", spacing.edge);
        for (n, message) in messages.into_iter().enumerate() {
            if n > 0 {
                list.push_str(&spacing.separators[n % spacing.separators.len()]);
            }
            list.push_str(&object(message));
        }
        list = format!("{list}{}]", spacing.edge);
        if shape == ShapeName::Cce && bare {
            return (shape, format!("{}{list}", spacing.edge));
        }
        let mut members: Vec<_> = head.into_iter().map(|(key, value)| (format!("\"{key}\""), value)).collect();
        let key = if shape == ShapeName::Sharegpt { "\"conversations\"" } else { "\"messages\"" };
        // The last list of its name counts.
        let after = members.iter().rposition(|(other, _)| other == key).map_or(0, |last| last + 1);
        members.insert(after + at.index(members.len() + 1 - after), (key.to_owned(), list));
        (shape, object(members))
    })
}

/// Which group a message belongs to, and with which text.
fn grouping() -> impl Strategy<Value = Vec<(u8, String)>> {
    let text = prop_oneof![any::<String>(), Just("[summary: “x” \"y\"\n]".to_owned()), Just(String::new())];
    proptest::collection::vec((0_u8..8, text), 9)
}

/// Groups 0 to 3 are replaced, the others kept.
fn replaced(decoded: &Decoded<'_>, grouping: &[(u8, String)]) -> Condensed {
    let messages = &decoded.conversation.messages;
    let mut groups = Vec::new();
    for group in 0..4 {
        let sources: Vec<usize> = (0..messages.len()).filter(|&at| grouping[at].0 == group).collect();
        let Some(&first) = sources.first() else { continue };
        let text = grouping[first].1.clone();
        let body = match &messages[first].content {
            Content::Parts(parts) if text.len().is_multiple_of(2) => {
                let texts = parts.iter().enumerate().filter(|(_, part)| matches!(part, Part::Text(_)));
                NewBody::Parts(texts.map(|(at, _)| (at, text.clone())).collect())
            }
            _ => NewBody::Text(text),
        };
        groups.push((sources, body));
    }
    let mut condensed = condensed(messages.len(), &groups);
    for output in &mut condensed.messages {
        let Output::Replaced(replacement) = output else { continue };
        let (first, text) = (&messages[replacement.sources[0]], &grouping[replacement.sources[0]].1);
        // Of some turns the content is the arguments.
        let is_said = matches!(first.content, Content::Text(_) | Content::Parts(_));
        let may_change = |is_open: bool| is_said && is_open && text.len() % 3 > 0;
        let thoughts = first.reasoning.iter().enumerate().filter(|(_, thought)| may_change(!thought.places.is_empty()));
        let calls = first.tool_calls.iter().enumerate().filter(|(_, call)| may_change(call.place.is_some()));
        let spots = thoughts.map(|(at, _)| Spot::Thought(at)).chain(calls.map(|(at, _)| Spot::Call(at)));
        // What is not written as a string is JSON.
        replacement.spots = spots.map(|spot| (spot, json!(text).to_string())).collect();
    }
    condensed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_comes_back_from_any_replacement((shape, record) in record(), grouping in grouping(), shuffle in any::<bool>()) {
        let decoded = decode(&record, shape, "fallback").expect("the generator makes valid records");
        let n_messages = decoded.conversation.messages.len();
        let unchanged = condensed(n_messages, &[]);
        prop_assert_eq!(decoded.condensed_record(&unchanged, ProvenancePlace::Metadata), record.as_str());
        prop_assert_eq!(decoded.record_layout(&unchanged), None);
        check(&decoded, &unchanged);
        let mut condensed = replaced(&decoded, &grouping);
        if shuffle {
            condensed.messages.reverse();
        }
        check(&decoded, &condensed);
    }

    #[test]
    fn damaged_tables_are_errors_and_never_panics((shape, record) in record(), grouping in grouping(), at in any::<Index>(), position in 0_usize..12) {
        let decoded = decode(&record, shape, "fallback").expect("the generator makes valid records");
        let condensed = replaced(&decoded, &grouping);
        let row = decoded.row(&condensed, ProvenancePlace::Sidecar);
        let layout = decoded.row_layout(&condensed);
        let mut originals = decoded.originals(&condensed);
        let cut: String = layout.chars().take(at.index(layout.chars().count() + 1)).collect();
        drop(restore_row("id", &row, &cut, &originals));
        drop(restore_record(&record, Some(&cut), &originals));
        originals.push(Original { position, message_index: at.index(12), message: "{}" });
        drop(restore_row("id", &row, &layout, &originals));
        drop(restore_record(&record, None, &originals));
    }

    #[test]
    fn a_verbatim_map_brings_all_messages_back((shape, record) in record(), grouping in grouping()) {
        let decoded = decode(&record, shape, "fallback").expect("the generator makes valid records");
        // Messages that carry provenance of their own would be expanded too.
        let messages = &decoded.conversation.messages;
        prop_assume!(messages.iter().all(|message| message.provenance.is_none()));
        let mut condensed = replaced(&decoded, &grouping);
        condensed.messages.retain(|output| !matches!(output, Output::Replaced(one) if one.sources.windows(2).any(|pair| pair[0] + 1 != pair[1])));
        let mut expected: Vec<usize> = Vec::new();
        for output in &condensed.messages {
            match output {
                Output::Kept { index } => expected.push(*index),
                Output::Replaced(one) => expected.extend(&one.sources),
            }
        }
        let map = verbatim_map(&decoded, &condensed).expect("ids are unique");
        let map = VerbatimMap::read(&map).expect("our map is valid");
        let small = decoded.condensed_record(&condensed, ProvenancePlace::Metadata);
        let (record, back) = uncompress_record(&small, shape, &map, true).expect("a condensed record is a record");
        prop_assert_eq!(&back.missing_ids, &Vec::<String>::new());
        let again = decode(&record, shape, "fallback").expect("a restored record is a record");
        let texts: Vec<_> = again.conversation.messages.iter().map(|message| message.raw).collect();
        let expected: Vec<_> = expected.into_iter().map(|at| messages[at].raw).collect();
        prop_assert_eq!(texts, expected);
    }
}

/// A summary of the messages with these ids.
fn summary(ids: &str) -> String {
    format!(r#"{{"id": "s", "content": "[summary: x]", "metadata": {{"_cce_original": {{"ids": {ids}}}}}}}"#)
}

/// `map` is a list of `id: message`; a message `[a b]` stands for a summary of a and b.
fn check_uncompress(messages: &[&str], map: &[(&str, &str)], recursive: bool, expected: &str) {
    let message = |text: &str| match text.strip_prefix('[').and_then(|ids| ids.strip_suffix(']')) {
        Some(ids) => summary(&format!("{:?}", ids.split(' ').collect::<Vec<_>>())),
        None => format!(r#"{{"content": "{text}"}}"#),
    };
    let entries: Vec<_> = map.iter().map(|(id, text)| format!("{id:?}: {}", message(text))).collect();
    let json = format!("{{{}}}", entries.join(", "));
    let map = VerbatimMap::read(&json).expect("the map is valid");
    let messages: Vec<_> = messages.iter().map(|text| message(text)).collect();
    let messages: Vec<_> = messages.iter().map(String::as_str).collect();
    let (messages, result) = uncompress(&messages, &map, recursive);
    let texts = messages.iter().map(|json| {
        let value: serde_json::Value = serde_json::from_str(json).expect("a message is JSON");
        match value["metadata"]["_cce_original"]["ids"].as_array() {
            Some(ids) => format!("[{}]", ids.iter().filter_map(|id| id.as_str()).collect::<Vec<_>>().join(" ")),
            None => value["content"].as_str().unwrap_or_default().to_owned(),
        }
    });
    let texts: Vec<_> = texts.collect();
    let line =
        format!("{} +{} ={} -{}", texts.join(","), result.expanded, result.passthrough, result.missing_ids.join(","));
    assert_eq!(line, expected);
}

#[test]
fn summaries_are_expanded_from_a_map() {
    check_uncompress(&["x", "[a b]", "y"], &[("b", "B"), ("a", "A")], false, "x,A,B,y +1 =2 -");
    // One round unless recursive.
    let nested = [("a", "[b c]"), ("b", "B"), ("c", "[d]"), ("d", "D")];
    check_uncompress(&["[a]"], &nested, false, "[b c] +1 =0 -");
    check_uncompress(&["[a]"], &nested, true, "B,D +3 =2 -");
}

#[test]
fn a_group_that_is_not_complete_stays() {
    check_uncompress(&["[a b]", "[b c]"], &[("a", "A")], false, "[a b],[b c] +0 =2 -b,c");
    check_uncompress(&["[a]"], &[("a", "[b c]"), ("b", "B")], true, "[b c] +1 =1 -c");
    // An id that is neither text nor number cannot be found: the group stays.
    let message = summary(r#"["a", null]"#);
    let map = VerbatimMap::read(r#"{"a": {}}"#).expect("the map is valid");
    let (messages, result) = uncompress(&[message.as_str()], &map, false);
    assert_eq!((messages, result.missing_ids), (vec![message.as_str()], vec!["null".to_owned()]));
}

#[test]
fn hostile_ids_are_ordinary_keys() {
    check_uncompress(
        &["[__proto__ constructor]"],
        &[("__proto__", "P")],
        false,
        "[__proto__ constructor] +0 =1 -constructor",
    );
    check_uncompress(&["[__proto__ ]"], &[("__proto__", "P"), ("", "E")], false, "P,E +1 =0 -");
}

#[test]
fn an_entry_that_leads_back_to_itself_is_missing() {
    check_uncompress(&["[a]"], &[("a", "[a]")], true, "[a] +1 =1 -a");
    check_uncompress(&["[a]"], &[("a", "[b]"), ("b", "[a]")], true, "[a] +2 =1 -a");
    // The work does not grow beyond the map, however often its entries name each other.
    let map = [("a", "[b b b b]"), ("b", "[c c c c]"), ("c", "[d d d d]"), ("d", "[e e e e]"), ("e", "E")];
    check_uncompress(
        &["[a]"],
        &map,
        true,
        "E,E,E,E,[e e e e],[e e e e],[e e e e],[d d d d],[d d d d],[d d d d],[c c c c],[c c c c],[c c c c] +5 =13 -",
    );
}

#[test]
fn a_map_holds_messages_by_id_in_order() {
    let map = VerbatimMap::read(r#"{"b": {"y": 1.0}, "aA": {}, "b": {"y": 1.0}}"#).expect("the map is valid");
    assert_eq!(map.entries().collect::<Vec<_>>(), vec![("b", r#"{"y": 1.0}"#), ("aA", "{}")]);
    assert_eq!(map.message("b"), Some(r#"{"y": 1.0}"#));
    for (json, detail) in [
        ("[]", "not an object"),
        (r#"{"a": 1}"#, "\"a\""),
        (r#"{"a": {}"#, "byte 9"),
        ("{} x", "byte 4"),
        (r#"{"b": {"x":  1}, "b": {"y": 1.0}}"#, "two different messages under the id \"b\""),
    ] {
        let error = VerbatimMap::read(json).expect_err(json);
        assert!(error.0.contains(detail), "{error}");
    }
}

#[test]
fn a_verbatim_map_never_has_two_messages_under_one_id() {
    let record = r#"{"messages": [{"content": "a"}, {"content": "b"}]}"#;
    let decoded = decode(record, ShapeName::Openai, "fallback").expect("the record is valid");
    let mut condensed =
        condensed(2, &[(vec![0], NewBody::Text(String::new())), (vec![1], NewBody::Text(String::new()))]);
    assert_eq!(verbatim_map(&decoded, &condensed).as_deref(), Ok(r#"{"m0":{"content": "a"},"m1":{"content": "b"}}"#));
    if let Some(Output::Replaced(second)) = condensed.messages.get_mut(1) {
        second.provenance.ids = vec!["m0".to_owned()];
    }
    assert!(verbatim_map(&decoded, &condensed).is_err());
}

#[test]
fn a_record_needs_a_layout_only_when_its_separators_are_unknown() {
    let text = || NewBody::Text("s".to_owned());
    let check = |record: &str, groups: &[(Vec<usize>, NewBody)], expected: Option<&str>| {
        let decoded = decode(record, ShapeName::Openai, "fallback").expect("the record is valid");
        let condensed = condensed(decoded.conversation.messages.len(), groups);
        assert_eq!(decoded.record_layout(&condensed).as_deref(), expected, "{record}");
    };
    check(r#"{"messages": [{}, {}, {}]}"#, &[(vec![0, 1], text())], None);
    check(r#"{"messages": [{}, {}, {}]}"#, &[(vec![0, 1, 2], text())], Some("kmessages\ns, \n"));
    check(r#"{"messages": [{},{},  {}]}"#, &[(vec![0], text())], Some("kmessages\ns,\ns,  \npab\n"));
    check(r#"{"messages": [{}]}"#, &[(vec![0], text())], None);
}

#[test]
fn a_hundred_thousand_of_anything_is_no_more_than_linear() {
    const N: usize = 100_000;
    let many = |item: &dyn Fn(usize) -> String| (0..N).map(item).collect::<Vec<_>>().join(",");
    let check = |record: &str, groups: &[(Vec<usize>, NewBody)]| {
        let decoded = decode(record, ShapeName::Openai, "fallback").expect("the record is valid");
        check(&decoded, &condensed(decoded.conversation.messages.len(), groups));
    };
    let same = many(&|_| r#""role":"user","content":"a","x":1"#.to_owned());
    check(&format!(r#"{{"messages":[{{{same}}}]}}"#), &[]);
    let keys = many(&|n| format!(r#""k{n}":"\u00E9","id":{n}"#));
    check(&format!(r#"{{{keys},"messages":[{{{keys}}}]}}"#), &[]);
    let messages = many(&|n| format!(r#"{{"role":"r{n}","k{n}":1,"content":"é \/ \u00e9 \u00E9"}}"#));
    check(&format!(r#"{{"messages":[{messages}]}}"#), &[((0..N).collect(), NewBody::Text("s".to_owned()))]);
    check(&format!(r#"{{"messages":[{messages}]}}"#), &[]);
    let parts = many(&|n| format!(r#"{{"type":"text","text":"{n}"}}"#));
    let texts = NewBody::Parts((0..N).map(|at| (at, String::new())).collect());
    check(&format!(r#"{{"messages":[{{"content":[{parts}]}}]}}"#), &[(vec![0], texts)]);
    let lists = many(&|_| r#""messages":[{}]"#.to_owned());
    check(&format!("{{{lists}}}"), &[(vec![0], NewBody::Text(String::new()))]);
}

#[test]
fn a_row_whose_other_keys_are_damaged_is_refused_and_never_a_panic() {
    let record = r#"{"a": 1, "b": [2, 3], "messages": [{"role": "user", "content": "Hi", "x": 1, "y": {}}]}"#;
    let decoded = decode(record, ShapeName::Openai, "fallback").expect("the record is valid");
    let condensed = condensed(1, &[]);
    let (mut row, layout) = (decoded.row(&condensed, ProvenancePlace::Sidecar), decoded.row_layout(&condensed));
    let restored = |row: &Row<'_>| restore_row("fallback", row, &layout, &[]);
    assert_eq!(restored(&row).as_deref(), Ok(record));
    let whole = row.extra.clone().expect("there are other keys");
    for (end, _) in whole.char_indices() {
        row.extra = Some(whole.chars().take(end).collect());
        // Where only the last bracket is gone, every value is still there.
        assert!(end + 1 == whole.len() || restored(&row).is_err(), "{:?}", row.extra);
        assert!(restored(&row).is_err() || restored(&row).as_deref() == Ok(record));
    }
    row.extra = Some(whole);
    row.messages[0].extra = Some(r#"{"x": 1, "y": {"#.into());
    assert!(restored(&row).is_err());
}
