//! All shapes: which there are, in which order they are tried, and how a record of each is cut. Adding a shape is one file
//! with one `Spec`, and its lines here; `docs/shapes.md` says how.

use crate::model::{Reject, ShapeName};

use super::index::Index;
use super::spec::Spec;
use super::{anthropic, cce, dialogue, events, gemini, openai, openhands, sharegpt, swe_agent};

/// In the order in which they are tried: the first that fits wins.
pub(super) const SPECS: [&Spec; 8] = [
    &cce::SPEC,
    &anthropic::SPEC,
    &sharegpt::SPEC,
    &openai::SPEC,
    &openhands::SPEC,
    &swe_agent::SPEC,
    &gemini::SPEC,
    &dialogue::SPEC,
];

/// Cuts `record`, or says why it is no conversation of this shape.
pub(super) fn cut(record: &str, shape: ShapeName) -> Result<Index<'_>, Reject> {
    let spec = of(shape);
    match spec.events {
        Some(events) => events::cut(record, spec, events),
        None => Index::new(record, spec),
    }
}

/// The spec of a shape.
fn of(name: ShapeName) -> &'static Spec {
    match name {
        ShapeName::Openai => &openai::SPEC,
        ShapeName::Anthropic => &anthropic::SPEC,
        ShapeName::Cce => &cce::SPEC,
        ShapeName::Sharegpt => &sharegpt::SPEC,
        ShapeName::ClaudeCode => &events::CLAUDE_CODE,
        ShapeName::Codex => &events::CODEX,
        ShapeName::Pi => &events::PI,
        ShapeName::SweAgent => &swe_agent::SPEC,
        ShapeName::GeminiCli => &gemini::SPEC,
        ShapeName::Openhands => &openhands::SPEC,
        ShapeName::Dialogue => &dialogue::SPEC,
    }
}

/// How likely it is that the list under this key is the one with the messages, whatever the shape; 0 when no shape
/// knows the key.
pub(super) fn likelihood(key: &str) -> usize {
    let is_list = |spec: &Spec| spec.lists.first() == Some(&key);
    match SPECS.iter().flat_map(|spec| spec.lists).position(|list| *list == key) {
        _ if is_list(&openai::SPEC) => usize::MAX,
        _ if is_list(&sharegpt::SPEC) => usize::MAX - 1,
        Some(at) => usize::MAX - 2 - at,
        None => 0,
    }
}
