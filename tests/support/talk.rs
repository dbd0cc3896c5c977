//! Conversations as text in, compressed conversations as text out; every use proves the restore both ways.

use std::collections::HashSet;

use condenser::engine::{Engine, Scratch};
use condenser::model::{
    Action, Answers, Ask, Condensed, Consult, Content, Conversation, Decision, EngineOptions, Message, Metrics,
    NewBody, Output, Part, Preset, ProvenancePlace, Reason, Replacement, Role, ShapeName, Spot, marker,
};
use condenser::shape;
use condenser::stage::Stage;

use super::whims;

/// What came out, with the restore proven.
#[derive(Debug)]
pub struct Done {
    /// The compressed record.
    pub record: String,
    /// The texts of the output messages, empty for messages without text.
    pub texts: Vec<String>,
    /// Per input message.
    pub decisions: Vec<(Action, Reason)>,
    pub details: Vec<Vec<Reason>>,
    pub sources: Vec<Vec<usize>>,
    pub metrics: Metrics,
}

impl Done {
    /// Everything that the reader still sees.
    pub fn visible(&self) -> String {
        self.texts.join("\n")
    }
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Self {
        assert!(self.visible().contains(words), "{words:?} is not visible in\n{}", self.visible());
        self
    }
    #[track_caller]
    pub fn hides(&self, words: &str) -> &Self {
        assert!(!self.visible().contains(words), "{words:?} is visible in\n{}", self.visible());
        self
    }
    #[track_caller]
    pub fn is(&self, index: usize, action: Action) -> &Self {
        assert_eq!(self.decisions[index].0, action, "message {index}: {:?}\n{}", self.decisions[index], self.visible());
        self
    }
    #[track_caller]
    pub fn because(&self, index: usize, reason: Reason) -> &Self {
        assert_eq!(
            self.decisions[index].1,
            reason,
            "message {index}: details {:?}\n{}",
            self.details[index],
            self.visible()
        );
        self
    }
}

/// A record of the `openai` shape from roles and texts.
pub fn record(messages: &[(&str, &str)]) -> String {
    let messages: Vec<serde_json::Value> =
        messages.iter().map(|(role, text)| serde_json::json!({"role": role, "content": text})).collect();
    serde_json::json!({"id": "talk", "messages": messages}).to_string()
}

/// A record from message values.
pub fn record_of(messages: &[serde_json::Value]) -> String {
    serde_json::json!({"id": "talk", "messages": messages}).to_string()
}

/// No recency window, and the limits of the documented engine: everything may be compressed, so that short texts show
/// what a rule does.
pub fn all() -> EngineOptions {
    EngineOptions { recency_window: 0, ..classic() }
}

/// The documented engine.
pub fn classic() -> EngineOptions {
    Preset::Classic.options().over(EngineOptions::default())
}

/// Compresses the messages with `options` and proves the restore.
#[track_caller]
pub fn compress(messages: &[(&str, &str)], options: &EngineOptions) -> Done {
    compress_record(&record(messages), options)
}

#[track_caller]
pub fn compress_record(record: &str, options: &EngineOptions) -> Done {
    compress_with(record, &Engine::new(options.clone()).expect("the options are right"))
}

/// With stages of the test's own.
#[track_caller]
pub fn compress_staged(record: &str, stages: Vec<Box<dyn Stage>>) -> Done {
    compress_with(record, &Engine::with_stages(all(), stages))
}

/// A model with whims answers where the options ask one.
#[track_caller]
pub fn compress_with(record: &str, engine: &Engine) -> Done {
    done(record, engine, |conversation, scratch| whims::consult(engine, conversation, scratch, &whims::whim).0)
}

/// With the answers of a model; what is open goes to `asks`.
#[track_caller]
pub fn compress_consulted(record: &str, engine: &Engine, answers: &Answers, asks: &mut Vec<Ask>) -> Done {
    done(record, engine, |conversation, scratch| {
        engine.consult(conversation, scratch, &mut Consult::new(answers, asks))
    })
}

#[track_caller]
fn done(record: &str, engine: &Engine, condense: impl FnOnce(&Conversation<'_>, &mut Scratch) -> Condensed) -> Done {
    let shape = shape::detect(record).unwrap_or(ShapeName::Openai);
    let decoded = shape::decode(record, shape, "talk").unwrap_or_else(|reject| panic!("{reject:?}: {record}"));
    let condensed = condense(&decoded.conversation, &mut Scratch::default());
    let provenance = engine.options().provenance;
    check_invariants(&decoded, &condensed, provenance);
    check_budget(&condensed.metrics, engine.options());
    let written = decoded.condensed_record(&condensed, provenance);
    let texts = texts_of(&decoded, &condensed);
    Done {
        texts,
        decisions: condensed.decisions.iter().map(|decision| (decision.action, decision.reason)).collect(),
        details: condensed.decisions.iter().map(|decision| decision.details.clone()).collect(),
        sources: condensed.messages.iter().map(sources).collect(),
        metrics: condensed.metrics.clone(),
        record: written,
    }
}

/// The invariants of the engine on one conversation: restored, partitioned, not larger, structure valid.
#[track_caller]
pub fn check_invariants(decoded: &shape::Decoded<'_>, condensed: &Condensed, provenance: ProvenancePlace) {
    let n_messages = decoded.conversation.messages.len();
    let mut all: Vec<usize> = condensed.messages.iter().flat_map(sources).collect();
    all.sort_unstable();
    assert_eq!(all, (0..n_messages).collect::<Vec<_>>(), "every message is in exactly one output message");
    assert_eq!(condensed.decisions.iter().map(|d| d.index).collect::<Vec<_>>(), all, "one decision per message");
    let counts = condensed.metrics.counts;
    let kept = counts.preserved + counts.compressed + counts.code_split;
    let sum = kept + counts.deduped + counts.fuzzy_deduped + counts.contradicted + counts.truncated;
    assert_eq!(sum, n_messages, "the actions add up");
    assert!(condensed.metrics.chars_out <= condensed.metrics.chars_in, "{:?}", condensed.metrics);
    assert!(condensed.metrics.tokens_out <= condensed.metrics.tokens_in, "{:?}", condensed.metrics);

    let originals = decoded.originals(condensed);
    let written = decoded.condensed_record(condensed, provenance);
    let back = shape::restore_record(&written, decoded.record_layout(condensed).as_deref(), &originals);
    assert_eq!(back.as_deref(), Ok(decoded.record), "restored from the compressed record");
    let row = decoded.row(condensed, provenance);
    let back = shape::restore_row(&decoded.conversation.id, &row, &decoded.row_layout(condensed), &originals);
    assert_eq!(back.as_deref(), Ok(decoded.record), "restored from the row");
    check_structure(decoded, condensed);
}

/// A message that is left out takes so many tokens at most: `[message omitted]`, or a shorter text.
const LEFT_OUT: usize = 24;

/// What is said of a token budget is true, and force-converge meets it whenever the protected messages do and there is room
/// to say that the others were left out.
#[track_caller]
pub fn check_budget(metrics: &Metrics, options: &EngineOptions) {
    assert_eq!(metrics.budget.is_some(), options.token_budget.is_some());
    let (Some(outcome), Some(max_tokens)) = (metrics.budget, options.token_budget) else { return };
    assert_eq!(outcome.token_count, metrics.tokens_out);
    assert_eq!(outcome.fits, outcome.token_count <= max_tokens);
    // Provenance inside a message is paid for, however short the text becomes.
    let is_bare = options.provenance == ProvenancePlace::Sidecar && metrics.counts.preserved < metrics.messages_in;
    if options.force_converge && is_bare && outcome.protected_tokens + LEFT_OUT * metrics.messages_in <= max_tokens {
        assert!(outcome.fits, "the protected messages fit {max_tokens}: {outcome:?}");
    }
}

/// Roles, calls and references stay valid.
fn check_structure(decoded: &shape::Decoded<'_>, condensed: &Condensed) {
    let messages = &decoded.conversation.messages;
    let firsts: Vec<usize> = condensed.messages.iter().map(|output| sources(output)[0]).collect();
    for pair in firsts.windows(2) {
        let (a, b) = (&messages[pair[0]], &messages[pair[1]]);
        if a.role == b.role {
            let was = (pair[0] + 1..=pair[1]).any(|index| messages[index - 1].role == messages[index].role);
            assert!(was, "messages {} and {} of one role are new neighbours", pair[0], pair[1]);
        }
    }
    assert!(firsts.is_sorted(), "output messages stand in the order of the input");
    let text_of = |index: usize| messages[index].texts().collect::<Vec<_>>().concat();
    let is_kept = |decision: &&Decision| decision.action == Action::Preserved;
    let kept: HashSet<String> =
        condensed.decisions.iter().filter(is_kept).map(|decision| text_of(decision.index)).collect();
    for decision in condensed.decisions.iter().filter(|decision| decision.reason == Reason::ExactDuplicate) {
        assert!(
            kept.contains(&text_of(decision.index)),
            "message {} refers to one that is not visible",
            decision.index
        );
    }
    for decision in condensed.decisions.iter().filter(|decision| decision.reason == Reason::Contradicted) {
        let Output::Replaced(replacement) = &condensed.messages[decision.position] else { continue };
        let NewBody::Text(text) = &replacement.body else { continue };
        let Some(name) = marker::superseded_by(text) else { continue };
        // A message without an id of its own is called by its index, with `_` where that is the id of another.
        let by_index = name.trim_end_matches('_');
        let is_meant = |index: &usize| messages[*index].id.as_deref() == Some(name) || format!("m{index}") == by_index;
        let correction = (decision.index + 1..messages.len()).find(is_meant).expect("a later message is referred to");
        assert!(
            matches!(condensed.decisions[correction].action, Action::Preserved | Action::Truncated),
            "message {} refers to {correction}, which is {:?}",
            decision.index,
            condensed.decisions[correction]
        );
    }
    // Where nothing is shown of what was said, it does not matter who said it.
    let is_left_out = |output: &Output| match output {
        Output::Replaced(replaced) => {
            matches!(&replaced.body, NewBody::Text(text) if text.ends_with(" messages omitted]"))
        }
        Output::Kept { .. } => false,
    };
    for output in &condensed.messages {
        let of = sources(output);
        if condensed.decisions[of[0]].reason == Reason::Compacted {
            check_archive(messages, condensed, &of);
            continue;
        }
        if of.len() > 1 {
            assert!(of.iter().all(|&index| messages[index].tool_call_id.is_none()), "tool results are never merged");
            if !is_left_out(output) && of.iter().any(|&index| messages[index].name != messages[of[0]].name) {
                check_speakers(messages, condensed, output);
            }
        }
        if let Output::Replaced(replaced) = output {
            let has_calls = of.iter().any(|&index| !messages[index].tool_calls.is_empty());
            assert!(!has_calls || keeps_calls(replaced), "calls are never replaced: {replaced:?}");
        }
    }
}

/// What several say together names each of them before his words, and nobody beside them.
fn check_speakers(messages: &[Message<'_>], condensed: &Condensed, output: &Output) {
    let Output::Replaced(Replacement { sources, is_by_several, body: NewBody::Text(text), .. }) = output else {
        panic!("several become one text: {output:?}");
    };
    assert!(is_by_several, "the first speaker says it all: {text}");
    let is_by_model = sources.iter().any(|&index| condensed.decisions[index].details.contains(&Reason::LlmSummary));
    let cut = || text.strip_prefix("[truncated")?.split_once(" chars: ").map(|(_, said)| said);
    let Some(inner) = marker::inner_summary(text).or_else(cut).filter(|_| !is_by_model) else { return };
    let inner = inner
        .strip_suffix(" messages merged)]")
        .and_then(|inner| inner.rsplit_once(" ("))
        .map_or(inner, |(said, _)| said);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in inner.lines() {
        let says = |&&index: &&usize| {
            let words = line
                .strip_prefix(&spaced(messages[index].name.as_deref().unwrap_or_default()))
                .and_then(|line| line.strip_prefix(": "));
            words.is_some_and(|words| {
                let is_same = |other: &&usize| messages[**other].name == messages[index].name;
                let said: String =
                    sources.iter().filter(is_same).flat_map(|&other| messages[other].texts().map(letters)).collect();
                words.trim_end_matches(']').split(" ... ").all(|words| said.contains(&letters(words)))
            })
        };
        assert!(sources.iter().any(|index| says(&index)), "nobody says {line:?} in {text}");
    }
}

/// True where nothing changes but that marks stand in arguments of calls and in the texts beside them.
fn keeps_calls(replaced: &Replacement) -> bool {
    let is_call = |(spot, _): &(Spot, String)| matches!(spot, Spot::Call(_));
    let n_texts = match &replaced.body {
        NewBody::Text(_) => 1,
        NewBody::Parts(parts) => parts.len(),
    };
    let n_changed = n_texts + replaced.spots.len();
    n_changed > 0
        && replaced.sources.len() == 1
        && replaced.spots.iter().all(is_call)
        && replaced.views.len() == n_changed
}

/// What stands for the archive of a compacted conversation: one user message behind the head, followed by whole pairs.
fn check_archive(messages: &[Message<'_>], condensed: &Condensed, archived: &[usize]) {
    let (first, end) = (archived[0], archived[archived.len() - 1] + 1);
    assert_eq!(archived, (first..end).collect::<Vec<_>>(), "the archive is one stretch");
    assert_eq!(condensed.messages.len(), messages.len() - archived.len() + 1, "all others stay");
    assert_eq!(messages[first].role, Role::User, "a user message stands for the archive");
    let is_system = |message: &Message<'_>| matches!(message.role, Role::System | Role::Developer);
    let n_systems = |part: &[Message<'_>]| part.iter().filter(|message| is_system(message)).count();
    if n_systems(&messages[..first]) <= 1 && n_systems(&messages[end..]) == 0 {
        // Other roles that are preserved belong to the head too, such as a first result with `preserve = ["tool"]`.
        let is_head = condensed.decisions[..first].iter().all(|decision| decision.reason == Reason::PreservedRole);
        assert!(first <= 1 || !is_system(&messages[0]) || is_head, "the summary stands right behind the head");
    }
    let Some(next) = messages.get(end) else { return };
    assert_ne!(next.role, Role::User, "no two users in a row");
    assert!(!matches!(next.role, Role::Tool | Role::Function), "a result without its call");
    for (index, message) in messages.iter().enumerate().skip(end) {
        let Some(id) = message.tool_call_id.as_deref() else { continue };
        let calls = |other: &Message<'_>| other.tool_calls.iter().any(|call| call.id.as_deref() == Some(id));
        if let Some(caller) = messages[..index].iter().rposition(calls) {
            assert!(caller >= end, "result {index} stays, its call {caller} is archived");
        }
    }
}

fn sources(output: &Output) -> Vec<usize> {
    match output {
        Output::Kept { index } => vec![*index],
        Output::Replaced(replacement) => replacement.sources.clone(),
    }
}

fn texts_of(decoded: &shape::Decoded<'_>, condensed: &Condensed) -> Vec<String> {
    let original = |index: usize| decoded.conversation.messages[index].texts().collect::<Vec<_>>().join("\n");
    condensed
        .messages
        .iter()
        .map(|output| match output {
            Output::Kept { index } => original(*index),
            Output::Replaced(replacement) => match &replacement.body {
                NewBody::Text(text) => text.clone(),
                NewBody::Parts(parts) if parts.is_empty() => original(replacement.sources[0]),
                NewBody::Parts(parts) => parts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"),
            },
        })
        .collect()
}

/// `n` characters of neutral prose with full stops.
pub fn prose(n: usize) -> String {
    let sentences = [
        "The garden behind the house was quiet in the morning and the birds came back one after the other.",
        "Somebody asked how long the old bench had been standing there under the apple tree.",
        "People liked to walk along the river when the weather was mild and the water was low.",
        "On some evenings a band played in the park and children danced around the fountain.",
    ];
    let mut text = String::new();
    for sentence in sentences.iter().cycle() {
        if text.len() >= n {
            break;
        }
        text.push_str(sentence);
        text.push(' ');
    }
    text.truncate(n.max(1));
    text.trim_end().to_owned()
}

/// One line per message: role, id, name, content, calls, answered call, provenance.
pub(crate) fn describe(message: &Message<'_>) -> String {
    let role = match &message.role {
        Role::Other(role) => format!("other:{role}"),
        Role::Missing => "missing".to_owned(),
        role => role.as_str().to_owned(),
    };
    let mut line = vec![role];
    line.extend(message.id.iter().map(|id| format!("#{id}")));
    line.extend(message.name.iter().map(|name| format!("({name})")));
    line.push(match &message.content {
        Content::Text(text) => format!("{text:?}"),
        Content::Parts(parts) => {
            let part = |part: &Part<'_>| match part {
                Part::Text(text) => format!("{text:?}"),
                Part::Media(_) | Part::Opaque => "_".to_owned(),
            };
            format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" "))
        }
        other => format!("{other:?}").to_lowercase(),
    });
    for call in &message.tool_calls {
        let (id, name) = (call.id.as_deref().unwrap_or("-"), call.name.as_deref().unwrap_or("-"));
        line.push(format!("{id}:{name}({})", call.arguments));
    }
    line.extend(message.tool_call_id.iter().map(|id| format!("->{id}")));
    line.extend(message.provenance.iter().map(|found| format!("{:?} {}", found.ids, found.summary_id)));
    line.join(" ")
}
