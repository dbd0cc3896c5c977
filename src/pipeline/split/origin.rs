//! Where a conversation comes from, as far as its record tells: the repository that was worked on, and the task. Knows the keys
//! under which programs and data sets write it; refuses to know what it is good for.

use serde::Deserialize;
use serde_json::Value;

use crate::shape::Decoded;

/// Under which names records say what was worked on, and what was asked.
const REPOSITORIES: [&str; 6] = ["repo", "repository", "repo_name", "repository_url", "repo_url", "cwd"];
const TASKS: [&str; 6] = ["instance_id", "task_id", "problem_id", "question_id", "example_id", "task"];
/// Objects beside the messages that hold such names.
const AROUND: [&str; 5] = ["metadata", "extra_info", "info", "kwargs", "instance"];
/// So many events of a log are looked at: programs write it at the beginning.
const MOST_EVENTS: usize = 64;
/// A longer text is no name.
const LONGEST: usize = 400;

/// What a record says of where it comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) repository: Option<String>,
    pub(super) task: Option<String>,
}

/// What an event may say of it.
#[derive(Deserialize)]
struct Event {
    cwd: Option<String>,
    payload: Option<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    cwd: Option<String>,
    git: Option<Git>,
}

#[derive(Deserialize)]
struct Git {
    repository_url: Option<String>,
}

impl Event {
    fn repository(self) -> Option<String> {
        let payload = self.payload.map(|payload| payload.git.and_then(|git| git.repository_url).or(payload.cwd));
        payload.flatten().or(self.cwd)
    }
}

impl Origin {
    /// Looks at what stands beside the messages, and of a log at its first events.
    pub(super) fn of(decoded: &Decoded<'_>) -> Self {
        if decoded.shape().is_event_log() {
            let messages = decoded.conversation.messages.iter().map(|message| message.raw);
            let events = decoded.passed().map(|(_, raw)| raw).take(MOST_EVENTS).chain(messages.take(MOST_EVENTS));
            let found = events.filter_map(|raw| serde_json::from_str::<Event>(raw).ok()?.repository());
            let repository = found.map(|name| plain(&name)).find(|name| !name.is_empty());
            return Self { repository, task: None };
        }
        let around: Vec<Value> =
            AROUND.iter().filter_map(|key| serde_json::from_str(decoded.beside(key)?).ok()).collect();
        let named = |names: &[&str]| {
            let beside = |name: &&str| serde_json::from_str(decoded.beside(name)?).ok().and_then(|value| text(&value));
            let inside = |name: &&str| around.iter().find_map(|value| text(value.get(name)?));
            names.iter().find_map(|name| beside(name).or_else(|| inside(name)))
        };
        let task = named(&TASKS);
        let repository =
            named(&REPOSITORIES).map(|name| plain(&name)).or_else(|| task.as_deref().and_then(of_instance));
        Self { repository, task }
    }
}

/// A name or a number.
fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}

/// `https://github.com/Owner/Name.git`, `git@github.com:Owner/Name` and `Owner/Name` are one repository; of a folder all of its path.
fn plain(name: &str) -> String {
    let name = name.trim().trim_end_matches('/').trim_end_matches(".git").to_lowercase();
    if name.starts_with('/') || !(name.contains("://") || name.contains('@')) {
        return name;
    }
    let parts: Vec<&str> = name.split(['/', ':']).filter(|part| !part.is_empty()).collect();
    match *parts {
        [.., owner, name] => format!("{owner}/{name}"),
        _ => name,
    }
}

/// `astropy__astropy-12907`, as tasks of SWE-bench are named, is one of `astropy/astropy`.
fn of_instance(task: &str) -> Option<String> {
    let (repository, number) = task.rsplit_once('-')?;
    let (owner, name) = repository.split_once("__")?;
    let is_one = number.bytes().all(|byte| byte.is_ascii_digit()) && !owner.is_empty() && !name.is_empty();
    is_one.then(|| format!("{owner}/{name}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{Origin, plain};
    use crate::pipeline::decode_record;

    #[test]
    fn repositories_are_known_by_any_of_their_names() {
        for name in ["https://github.com/Owner/Name.git", "git@github.com:owner/name.git", "owner/name", "Owner/name/"]
        {
            assert_eq!(plain(name), "owner/name");
        }
        assert_eq!(plain("/srv/project/"), "/srv/project");
    }

    #[test]
    fn records_tell_beside_their_messages() {
        let of = |beside: &str| {
            let record = format!("{{\"id\":\"a\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]{beside}}}");
            Origin::of(&decode_record(&record, None, false, "f#0").expect("a record"))
        };
        let told = |repository: Option<&str>, task: Option<&str>| Origin {
            repository: repository.map(str::to_owned),
            task: task.map(str::to_owned),
        };
        assert_eq!(of(""), told(None, None));
        assert_eq!(of(",\"task_id\":7"), told(None, Some("7")));
        assert_eq!(of(",\"metadata\":{\"repo\":\"A/b\",\"task\":\"t\"}"), told(Some("a/b"), Some("t")));
        let swe = told(Some("astropy/astropy"), Some("astropy__astropy-12907"));
        assert_eq!(of(",\"instance_id\":\"astropy__astropy-12907\""), swe);
    }
}
