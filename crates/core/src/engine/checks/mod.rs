//! Whether a text that a model wrote may stand for others: not empty, no call of a tool, in the language of the source,
//! and with no identifier or number that the source does not have. What the engine's own text says is granted too. Knows
//! texts; refuses to know who asked and how long an answer may be.

mod amounts;
mod calls;
mod clean;
mod granted;
mod language;
mod moments;
mod words;

use crate::model::{Reason, marker};

pub(super) use clean::clean;
use granted::{Granted, flat};

/// Why `answer`, which is [`clean`], may not stand for `source`; `draft` is what the engine itself would say.
pub(super) fn objection(answer: &str, source: &[&str], draft: &str) -> Option<Reason> {
    if answer.trim().is_empty() {
        return Some(Reason::LlmEmpty);
    }
    if answer.trim() == draft.trim() {
        return None;
    }
    if calls::calls_a_tool(answer) && !calls::calls_a_tool(draft) {
        return Some(Reason::LlmToolCall);
    }
    if calls::refuses(answer) && !calls::refuses(draft) {
        return Some(Reason::LlmEmpty);
    }
    if marker::stands_for_others(answer) {
        return Some(Reason::LlmUnreadable);
    }
    if language::is_another(answer, source, draft) {
        return Some(Reason::LlmLanguage);
    }
    if !granted::has_facts(answer) {
        return None;
    }
    let known = flat(&format!("{}\n{draft}", source.join("\n"))).to_lowercase();
    Granted::of(&known).first_invention(answer).map(|_| Reason::LlmInvented)
}
#[cfg(test)]
mod tests {
    use super::calls::calls_a_tool;
    use super::objection;
    use crate::model::Reason;

    const SOURCE: &str = "The pool in src/db/pool.ts was raised from 20 to 1,200 connections after the outage on \
        March 3, since fetchUser() timed out after 30.50 seconds. Three retries did not help; see KMS-7781.";

    fn check(answer: &str) -> Option<Reason> {
        objection(answer, &[SOURCE], "The pool was raised. 12 lines.")
    }

    #[test]
    fn what_the_source_says_may_be_said_in_other_words() {
        for fine in [
            "Raised the pool from 20 to 1200 connections (pool.ts) because fetchUser timed out at 30.5 seconds.",
            "After the March 3 outage: pool 20 → 1,200; 3 retries were of no help (KMS-7781).",
            "1. The pool was raised.\n2. Retries did not help.",
            "12 lines about the \"pool size\".",
            "(1) `fetchUser` timed out end-to-end (30.5 s); (2) KMS-7781 is open since 3 March.",
            "**Step 1:** _fetchUser_'s pool, db/pool.ts, has 1.2k connections.",
            "The fetchUsers calls of src/db/pool.ts, as GitHub's KMS 7781 says, timed out after 30500 ms.",
        ] {
            assert_eq!(check(fine), None, "{fine}");
        }
    }

    #[test]
    fn what_the_source_does_not_say_is_invented() {
        for wrong in [
            "Raised the pool from 20 to 2000 connections.",
            "The change is in src/db/client.ts.",
            "fetchUser timed out, so retryPolicy was added.",
            "fetchUse() timed out.",
            "fetchUser() timed out after 30.50 minutes.",
            "Raised the pool to 200 connections.",
            "See KMS-778.",
            "The outage on March 4 was caused by the pool.",
            "The pool was raised by 15%.",
            "See https://example.com/outage for more.",
        ] {
            assert_eq!(check(wrong), Some(Reason::LlmInvented), "{wrong}");
        }
    }

    #[test]
    fn names_go_on_with_their_versions() {
        let source = "create refs/heads/release-0.10 and release-1.9 in /workspace/django__django__3.0/django";
        let check = |answer: &str| objection(answer, &[source], "");
        for fine in ["branches release-0.10 to release-1.9.", "the tree of django__django__3.0, with release-1.9"] {
            assert_eq!(check(fine), None, "{fine}");
        }
        for wrong in ["the branch release-0.11", "the tree of django__django__3.1", "release-1.9.2 is there"] {
            assert_eq!(check(wrong), Some(Reason::LlmInvented), "{wrong}");
        }
    }

    #[test]
    fn calls_and_other_languages_are_no_summaries() {
        assert_eq!(check("<tool_call>{\"name\": \"read\"}</tool_call>"), Some(Reason::LlmToolCall));
        assert_eq!(check("{\"name\": \"read\", \"arguments\": {}}"), Some(Reason::LlmToolCall));
        assert!(!calls_a_tool("The function read takes a name and arguments."));
        let german = "Der Pool wurde nach dem Ausfall vergrößert, weil die Abfragen zu lange dauerten und die Versuche \
            davor nicht geholfen haben.";
        assert_eq!(check(german), Some(Reason::LlmLanguage));
        let chinese = "连接池在故障之后被扩大了，因为查询花费的时间太长，而且之前的重试没有任何帮助。".repeat(2);
        assert_eq!(check(&chinese), Some(Reason::LlmLanguage));
        assert_eq!(check("  \n"), Some(Reason::LlmEmpty));
        assert_eq!(check("[summary: The pool was raised.]"), Some(Reason::LlmUnreadable));
        assert_eq!(check("The pool was raised. 12 lines."), None, "what the engine itself would say");
    }
}
