//! Every shape, every map and Markdown: what is read as a record is written again byte for byte, from the record and from columns.
//! The first line names a shape, holds a map (`messages=state.turns,role=speaker`), or says nothing, and the shape is found; the rest
//! is the record.
#![no_main]

use condenser::chat;
use condenser::model::{Condensed, FieldMap, Metrics, Output, ProvenancePlace, ReadAs, ShapeName};
use condenser::shape::{self, Decoded};
use condenser_fuzz::{head_and_body, record_of};
use libfuzzer_sys::fuzz_target;

fn look(record: &str) {
    let _ = shape::is_document(record.as_bytes());
    let _ = shape::detect_markdown(record);
    let _ = shape::detect_events(record);
    for line in record.lines() {
        let _ = shape::session_id(line);
    }
    assert!(!shape::advice(record).is_empty());
}

fn comes_back(decoded: &Decoded<'_>) {
    let n_messages = decoded.conversation.messages.len();
    let messages = (0..n_messages).map(|index| Output::Kept { index }).collect();
    let whole = Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() };
    let record = decoded.record;
    let (written, layout) = decoded.condensed_record_and_layout(&whole, ProvenancePlace::Sidecar);
    if layout.is_none() {
        assert_eq!(written, record, "nothing was replaced");
    }
    let back = shape::restore_record(&written, layout.as_deref(), &[]);
    assert_eq!(back.as_deref(), Ok(record));
    let row = decoded.row(&whole, ProvenancePlace::Sidecar);
    let row_layout = decoded.row_layout(&whole);
    let back = shape::restore_row(&decoded.conversation.id, &row, &row_layout, &[]);
    assert_eq!(back.as_deref(), Ok(record));
    assert!(shape::restores_row(&decoded.conversation.id, &row, &row_layout, &[], record));
    if let Some(text) = shape::row_text(&row, written, decoded.content_style()) {
        assert_eq!(shape::row_of_text(&text).expect("it was tried"), row);
    }
}

fn walk(decoded: &Decoded<'_>) {
    let n_bytes: usize = decoded.conversation.messages.iter().map(|message| message.raw.len()).sum();
    assert!(n_bytes <= decoded.record.len(), "messages do not overlap");
    assert!(decoded.passed().all(|(before, _)| before <= decoded.conversation.messages.len()));
    let _ = (decoded.times().count(), decoded.beside("tools"));
    for index in 0..=decoded.conversation.messages.len() {
        let _ = decoded.content_at(index);
    }
    assert!(!chat::chats(decoded).is_empty(), "the main conversation is always there");
}

fn check(record: &str, read_as: ReadAs<'_>) {
    match shape::decode(record, read_as, "fallback") {
        Ok(decoded) => {
            walk(&decoded);
            comes_back(&decoded);
        }
        Err(reject) => assert!(!reject.detail.is_empty(), "a reject says why: {reject:?}"),
    }
    let _ = shape::summaries(record, read_as);
}

fuzz_target!(|data: &[u8]| {
    let Some((head, body)) = head_and_body(data) else { return };
    let record = record_of(body);
    look(&record);
    if let Some(shape) = ShapeName::ALL.into_iter().find(|shape| shape.as_str() == head) {
        return check(&record, ReadAs::Shape(shape));
    }
    if let Ok(map) = head.parse::<FieldMap>() {
        assert_eq!(map.to_string().parse::<FieldMap>().as_ref(), Ok(&map), "a map is read as it is written");
        return check(&record, ReadAs::Map(&map));
    }
    if let Some(shape) = shape::detect(&record) {
        check(&record, ReadAs::Shape(shape));
    }
});
