//! When a conversation is compacted. Knows sums and options; refuses to know what is in the messages.

use crate::model::{CompactionTrigger, EngineOptions};

/// An idle session is not compacted below this: a summary would hide more than it saves.
pub(super) const MIN_FORCED_TOKENS: usize = 20_000;
/// The archived part is at least this share of the tokens, or tokens are no reason to archive it.
const MIN_REDUCTION: f64 = 0.10;

/// What a conversation weighs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) n_messages: usize,
    pub(super) n_tokens: usize,
}

/// Why the conversation is compacted, if it is. Both thresholds are inclusive.
pub(super) fn trigger(size: Size, options: &EngineOptions) -> Option<CompactionTrigger> {
    let min_forced = MIN_FORCED_TOKENS.min(options.compaction_tokens);
    let is_idle = options.compaction_forced
        && size.n_messages > options.compaction_recent.saturating_add(1)
        && size.n_tokens >= min_forced;
    if size.n_messages == 0 || size.n_tokens < options.compression_threshold {
        None
    } else if is_idle {
        Some(CompactionTrigger::Forced)
    } else if size.n_tokens >= options.compaction_tokens {
        Some(CompactionTrigger::Tokens)
    } else {
        (size.n_messages >= options.compaction_messages).then_some(CompactionTrigger::Count)
    }
}

/// False when the conversation is too long for its last messages, and to archive the others would not help.
pub(super) fn reduces(trigger: CompactionTrigger, n_archived_tokens: usize, size: Size) -> bool {
    trigger != CompactionTrigger::Tokens || n_archived_tokens as f64 >= size.n_tokens as f64 * MIN_REDUCTION
}

#[cfg(test)]
mod tests {
    use super::{Size, reduces, trigger};
    use crate::model::{CompactionTrigger, EngineOptions};

    fn check(n_messages: usize, n_tokens: usize, forced: bool) -> Option<CompactionTrigger> {
        let options = EngineOptions { compaction_forced: forced, ..EngineOptions::default() };
        trigger(Size { n_messages, n_tokens }, &options)
    }

    #[test]
    fn thresholds_are_inclusive() {
        assert_eq!(check(199, 149_999, false), None);
        assert_eq!(check(200, 10, false), Some(CompactionTrigger::Count));
        assert_eq!(check(30, 150_000, false), Some(CompactionTrigger::Tokens));
        assert_eq!(check(200, 150_000, false), Some(CompactionTrigger::Tokens));
        assert_eq!(check(22, 20_000, false), None);
    }

    #[test]
    fn an_idle_session_needs_more_than_its_recent_messages_and_20_000_tokens() {
        assert_eq!(check(22, 20_000, true), Some(CompactionTrigger::Forced));
        assert_eq!(check(21, 20_000, true), None);
        assert_eq!(check(22, 19_999, true), None);
        assert_eq!(check(200, 19_999, true), Some(CompactionTrigger::Count));
        let low = EngineOptions { compaction_forced: true, compaction_tokens: 50, ..EngineOptions::default() };
        let size = Size { n_messages: 22, n_tokens: 50 };
        assert_eq!(trigger(size, &low), Some(CompactionTrigger::Forced), "a lower threshold lowers the least as well");
    }

    #[test]
    fn tokens_are_a_reason_only_where_a_tenth_of_them_can_go() {
        let size = Size { n_messages: 9, n_tokens: 1_000 };
        assert!(reduces(CompactionTrigger::Tokens, 100, size) && !reduces(CompactionTrigger::Tokens, 99, size));
        assert!(reduces(CompactionTrigger::Count, 1, size) && reduces(CompactionTrigger::Forced, 1, size));
    }
}
