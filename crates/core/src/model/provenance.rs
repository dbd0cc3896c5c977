//! The `metadata._cce_original` object: which messages a compressed one stands for. Knows its JSON form and
//! the summary-id algorithm, since both are part of the published format.

use serde::{Deserialize, Serialize};

/// The key under `metadata` that carries the provenance.
pub const PROVENANCE_KEY: &str = "_cce_original";

/// What a compressed message stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The ids of the replaced messages in order; keys into a verbatim map.
    pub ids: Vec<String>,
    /// See [`summary_id`].
    #[serde(default)]
    pub summary_id: String,
    /// The summary ids of replaced messages that were themselves summaries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parent_ids: Vec<String>,
    /// The caller's `source_version`.
    #[serde(default)]
    pub version: u64,
    /// True for the summary of a compaction: what it stands for is an archive of turns.
    #[serde(default, skip_serializing_if = "is_false")]
    pub compaction: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Provenance {
    /// The object as compact JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always serialize")
    }
}

/// `cce_sum_` + base36 of a 32-bit djb2 over the UTF-16 units of the ids, sorted by UTF-16 units and joined by
/// NUL. Depends on the ids only; two sets of ids may collide, so it is advice, never a key.
#[must_use]
pub fn summary_id<S: AsRef<str>>(ids: &[S]) -> String {
    let mut keys: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    keys.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    let mut hash: u32 = 5381;
    let mut add = |unit: u16| hash = hash.wrapping_mul(33).wrapping_add(u32::from(unit));
    for (i, key) in keys.iter().enumerate() {
        if i > 0 {
            add(0);
        }
        key.encode_utf16().for_each(&mut add);
    }
    format!("cce_sum_{}", base36(hash))
}

fn base36(mut n: u32) -> String {
    let (mut digits, mut first) = ([0; 7], 7);
    while n > 0 || first == digits.len() {
        first -= 1;
        digits[first] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(n % 36) as usize];
        n /= 36;
    }
    String::from_utf8_lossy(&digits[first..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::summary_id;

    #[test]
    fn summary_ids_have_the_published_check_values() {
        let check = |ids: &[&str], id: &str| assert_eq!(summary_id(ids), format!("cce_sum_{id}"));
        check(&["m0"], "3hoci");
        check(&["ab"], "3ho2w");
        check(&["msg_5"], "4fd074");
        check(&["msg_3", "msg_4", "msg_5"], "1j6n56b");
        check(&["b", "a"], "377088");
        check(&["10", "9"], "yjb8fz");
        check(&["é"], "3t72");
        check(&["😀"], "4lyxu");
        check(&["a\u{10000}", "a\u{FFFF}"], "1ago2fa");
        check(&["123e4567-e89b-12d3-a456-426614174000"], "1ncjn7j");
    }
}
