//! The `dialogue` shape: talk between people or with a system, as dialogue research writes it down: turns with a speaker
//! and an utterance under many names (SGD, Topical-Chat and their kin).

use crate::model::ShapeName;

use super::member::Field;
use super::spec::{Glimpse, Spec};

const SPEAKERS: [&str; 4] = ["speaker", "interlocutor_id", "agent", "user_id"];

pub(super) const SPEC: Spec = Spec {
    name: ShapeName::Dialogue,
    lists: &["turns", "utterances", "meeting_transcripts", "dialogue", "dialog", "content", "messages"],
    bare: false,
    keys: &[
        ("speaker", Field::Role),
        ("interlocutor_id", Field::Role),
        ("agent", Field::Role),
        ("user_id", Field::Role),
        ("utterance", Field::Content),
        ("text", Field::Content),
        ("message", Field::Content),
        ("content", Field::Content),
        ("metadata", Field::Metadata),
        ("utterance_id", Field::Id),
        ("turn_id", Field::Id),
        ("id", Field::Id),
    ],
    // In task-oriented dialogues the system is the one who answers.
    roles: &[("USER", "user"), ("SYSTEM", "assistant")],
    call_role: None,
    fits,
    events: None,
};

fn fits(list: &Glimpse<'_>) -> bool {
    let speaks = SPEAKERS.iter().any(|key| list.has(key));
    list.has("utterance") || list.has("message") || speaks && (list.has("text") || list.has("content"))
}
