//! Which lines of system prompts an earlier conversation of a part shows: a line is known by the first that has it, in the order
//! of the part, so that threads make no difference. Knows texts; refuses to know what becomes of them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::FixedState;

use crate::model::{Conversation, EngineOptions, Held, HideBy, Message, Role, SystemPrompts};

/// A run is at least so many lines and bytes, or so many bytes.
const RUN: (usize, usize) = (3, 40);
const LONG_RUN: usize = 200;
/// Between runs of lines that are new.
const GAP: u64 = 0;

/// Characters of the id of a conversation that others refer to.
const MAX_ID: usize = 256;

/// A conversation with its system prompts, line by line.
#[derive(Debug)]
pub(super) struct PromptLines {
    id: String,
    hashes: Vec<Vec<u64>>,
}

/// Lines by the first conversation that has them.
#[derive(Debug)]
pub(crate) struct Earlier {
    /// Roles that stay: what others say may be shown in other words.
    roles: Vec<String>,
    recency_window: usize,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Where each line stands in `lines`.
    places: HashMap<u64, usize, FixedState>,
    /// Lines that are new in their conversation, in its order, with gaps where others stand between them.
    lines: Vec<u64>,
    /// Where the lines of each conversation begin that has new ones, and its id where others may refer to it.
    holders: Vec<(usize, String)>,
    /// Ids so far: of several conversations with one id a reader finds the first.
    ids: HashSet<u64, FixedState>,
}

impl Earlier {
    /// What is known of earlier conversations, where these options ask for it.
    pub(super) fn asked(options: &EngineOptions) -> Option<Self> {
        (options.prompts == SystemPrompts::Once && options.hide_by == HideBy::Use).then(|| Self {
            roles: options.preserve.clone(),
            recency_window: options.recency_window,
            known: RwLock::default(),
        })
    }

    /// What the part learns from a conversation.
    pub(super) fn read(&self, conversation: &Conversation<'_>) -> PromptLines {
        let of = |text: &str| lines(text).map(|line| hash(text.get(line).unwrap_or_default())).collect();
        let hashes = self.prompts(conversation).map(|(_, _, text)| of(text)).collect();
        PromptLines { id: conversation.id.to_string(), hashes }
    }

    /// Takes the system prompts of the next batch of the part.
    pub(super) fn take(&self, batch: Vec<PromptLines>) {
        let known = &mut *self.known.write().unwrap_or_else(PoisonError::into_inner);
        for PromptLines { id, hashes } in batch {
            // Nobody refers to lines that such a conversation was the first to have.
            let name = if known.ids.insert(hash(&id)) && is_name(&id) { id } else { String::new() };
            let first = known.lines.len();
            for hash in hashes.iter().flat_map(|text| text.iter().copied().chain([GAP])) {
                let place = *known.places.entry(hash).or_insert(known.lines.len());
                // What this conversation says several times stands in each of the places.
                if hash != GAP && place >= first {
                    known.lines.push(hash);
                } else if known.lines.len() > first && known.lines.last() != Some(&GAP) {
                    known.lines.push(GAP);
                }
            }
            if known.lines.len() > first {
                known.holders.push((first, name));
            }
        }
    }

    /// Notes what of the system prompts of a conversation, whose batch was taken, an earlier one shows.
    pub(super) fn note(&self, conversation: &mut Conversation<'_>) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Held> = Vec::new();
        // A prompt that comes late is one of the last messages like any other.
        let messages = &conversation.messages;
        let n_lead = messages.iter().take_while(|message| is_prompt(&message.role)).count();
        let may_change = |at: usize| at < n_lead || at + self.recency_window < messages.len();
        for (message, part, text) in self.prompts(conversation).filter(|&(at, _, _)| may_change(at)) {
            let lines: Vec<Range<usize>> = lines(text).collect();
            let hashes: Vec<u64> = lines.iter().map(|line| hash(text.get(line.clone()).unwrap_or_default())).collect();
            let mut at = 0;
            while at < lines.len() {
                let Some((n, by)) = known.run(&hashes[at..]) else {
                    at += 1;
                    continue;
                };
                let bytes = lines[at].start..lines[at + n - 1].end;
                let is_held = !by.is_empty() && *by != conversation.id;
                if is_held && (bytes.len() >= LONG_RUN || n >= RUN.0 && bytes.len() >= RUN.1) {
                    all.push(Held { message, part, bytes, by: by.clone() });
                }
                at += n;
            }
        }
        conversation.held = all;
    }

    /// The texts that are system prompts, with their places; a conversation that a run shows already has none.
    fn prompts<'c>(&self, conversation: &'c Conversation<'_>) -> impl Iterator<Item = (usize, usize, &'c str)> {
        let is_common = |message: &Message<'_>| {
            is_prompt(&message.role)
                && message.provenance.is_none()
                && self.roles.iter().any(|role| role == message.role.as_str())
        };
        let n = if conversation.is_compacted { 0 } else { usize::MAX };
        let messages = conversation.messages.iter().enumerate().filter(move |(_, message)| is_common(message)).take(n);
        messages.flat_map(|(at, message)| message.text_parts().map(move |(part, text)| (at, part, text)))
    }
}

fn is_prompt(role: &Role<'_>) -> bool {
    matches!(role, Role::System | Role::Developer)
}

impl Known {
    /// How many lines of these stand one after the other in the conversation that was the first to have the first of them, and
    /// the name of that, if others may refer to it.
    fn run(&self, hashes: &[u64]) -> Option<(usize, &String)> {
        let place = *self.places.get(hashes.first().filter(|&&hash| hash != GAP)?)?;
        let behind = self.holders.partition_point(|&(first, _)| first <= place);
        let (_, id) = self.holders.get(behind.checked_sub(1)?)?;
        let both = self.lines[place..].iter().zip(hashes);
        let n = both.take_while(|(known, hash)| known == hash && **hash != GAP).count();
        Some((n, id))
    }
}

/// Where the lines of a text stand that are not blank.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    text.split('\n').filter_map(move |line| {
        let start = end;
        end += line.len() + 1;
        (!is_blank(line)).then_some(start..start + line.len())
    })
}

fn is_blank(text: &str) -> bool {
    text.trim_ascii().is_empty()
}

/// True for an id that a reader can find again: short, and of characters that show.
fn is_name(id: &str) -> bool {
    let shows = |c: char| {
        !c.is_control()
            && c != '⋯'
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    !id.is_empty() && id.len() <= MAX_ID && id.trim() == id && id.chars().all(shows)
}

/// Never [`GAP`], but for a line with a mark, which refers to something itself, and for one of which half a character was lost:
/// others look the same.
fn hash(line: &str) -> u64 {
    if line.contains(['\u{fffd}', '⋯']) {
        return GAP;
    }
    let hash = blake3::hash(line.as_bytes());
    u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("thirty-two bytes")) | 1
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::model::{Content, ShapeName};

    fn conversation(id: &'static str, prompt: &'static str) -> Conversation<'static> {
        let record = format!(r#"{{"messages": [{{"role": "system", "content": {}}}]}}"#, serde_json::json!(prompt));
        let decoded = crate::shape::decode(record.leak(), ShapeName::Openai, id).expect("a conversation");
        assert!(matches!(decoded.conversation.messages[0].content, Content::Text(_)));
        decoded.conversation
    }

    fn earlier() -> Earlier {
        let options = EngineOptions { prompts: SystemPrompts::Once, ..EngineOptions::default() };
        Earlier::asked(&options).expect("it is asked for")
    }

    #[test]
    fn runs_of_lines_are_held_by_the_first_conversation_that_has_them() {
        let rules = "You mend the tills of the shop in Elm Street.\n\n# Rules\n- Never open the drawer.\n- Ask before you pay.\n";
        let mut all = [
            conversation("a", rules),
            conversation(
                "b",
                "Today is Monday.\nYou mend the tills of the shop in Elm Street.\n\n# Rules\n- Never open the drawer.\n- Ask before you pay.",
            ),
            conversation("c", "# Rules\n- Be kind.\n- Never open the drawer.\n- Today is Monday."),
            conversation("d", "# Rules\n- Be kind.\n- Never open the drawer.\n- Today is Monday.\nToday is Monday."),
            conversation(
                "e",
                "# Rules\n- Ask before you pay.\n- Never open the drawer.\nYou mend the tills of the shop in Elm Street.",
            ),
            conversation("f", "# Rules\n- Ask before you pay.\nYou mend the tills of the shop in Elm Street."),
        ];
        let earlier = earlier();
        earlier.take(all.iter().map(|conversation| earlier.read(conversation)).collect());
        let held: Vec<Vec<(Range<usize>, String)>> = all
            .iter_mut()
            .map(|conversation| {
                earlier.note(conversation);
                conversation.held.iter().map(|held| (held.bytes.clone(), held.by.clone())).collect()
            })
            .collect();
        assert_eq!(held[0], [], "it is the first");
        assert_eq!(held[1], [(17..17 + rules.len() - 1, "a".to_owned())]);
        assert_eq!(held[2], [], "single lines are no run");
        assert_eq!(held[3], [], "those of `c` do not follow each other");
        assert_eq!(held[4], [], "in another order they are other rules");
        assert_eq!(held[5], [], "and so they are where some are left out");
        // Half a character is lost where a line is read: others look the same.
        let lost = "Mend what is broken in the first till of the shop.\nhalf a \u{fffd}\nMend what is broken in the second till.";
        let mut all = [conversation("g", lost), conversation("h", lost)];
        earlier.take(all.iter().map(|conversation| earlier.read(conversation)).collect());
        earlier.note(&mut all[1]);
        assert_eq!(all[1].held, []);
    }

    #[test]
    fn a_prompt_is_read_in_one_pass_however_long_it_is() {
        let took = |n: usize| {
            let prompt: String = (0..n).map(|at| format!("rule {at} keep it\n")).collect();
            let mut all = [conversation("a", prompt.clone().leak()), conversation("b", prompt.leak())];
            let began = Instant::now();
            let earlier = earlier();
            earlier.take(all.iter().map(|conversation| earlier.read(conversation)).collect());
            for conversation in &mut all {
                earlier.note(conversation);
            }
            assert_eq!((all[0].held.len(), all[1].held.len()), (0, 1));
            began.elapsed()
        };
        let (few, many) = ((0..3).map(|_| took(5_000)).min().expect("three"), took(80_000));
        assert!(many <= 64 * few, "{many:?} for sixteen times as many lines as in {few:?}");
    }
}
