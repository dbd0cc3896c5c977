//! Rule 7, near: texts that share most of their lines become references to one of them, which stays, with the
//! lines that differ. Memory and time are linear: a text is compared with a few representatives only.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::dedup::{Alone, REFERENCE_CHARS, is_eligible};
use super::{Claim, Plan, Stage, View};
use crate::model::{KeepCopy, Reason};
use crate::text::similarity::jaccard;
use crate::text::{TextView, fold_key};

/// Leading lines by which candidates are found.
const FINGERPRINT_LINES: usize = 5;
/// Of those, as many must be shared; all, when a text has fewer.
const MIN_SHARED: usize = 3;
/// Shorter over longer text, in characters.
const MIN_LENGTH_RATIO: f64 = 0.7;
/// Representatives remembered per line, the latest ones: keeps similar logs by the thousand linear.
const MAX_PER_LINE: usize = 8;

/// Claims near duplicates and pins the message that they refer to, where that is shorter than compressing each by itself.
#[derive(Debug)]
pub struct NearDedup(pub Alone);

/// A message that is like another.
struct Similar {
    target: usize,
    index: usize,
    similarity: f64,
}

struct Representative {
    index: usize,
    n_chars: usize,
    /// Sorted.
    lines: Vec<u64>,
}

impl Stage for NearDedup {
    fn claim(&self, view: &View<'_>, plan: &mut Plan) {
        let mut found: Vec<Representative> = Vec::new();
        let mut by_line: HashMap<u64, Vec<usize>, FixedState> = HashMap::default();
        let mut similar: Vec<Similar> = Vec::new();
        let mut order: Vec<usize> = (0..view.len()).filter(|&index| is_eligible(view, plan, index)).collect();
        if view.options.keep_copy == KeepCopy::Last {
            order.reverse();
        }
        for index in order {
            let Some(text) = view.text(index) else { continue };
            let keys: Vec<u64> = line_keys(&text);
            if keys.len() < 2 {
                continue;
            }
            let mut fingerprint: Vec<u64> = keys.iter().copied().take(FINGERPRINT_LINES).collect();
            let needed = MIN_SHARED.min(fingerprint.len());
            fingerprint.sort_unstable();
            fingerprint.dedup();
            let mut lines = keys;
            lines.sort_unstable();
            let this = Representative { index, n_chars: text.counts.chars as usize, lines };
            if plan.is_free(index)
                && let Some((target, similarity)) =
                    best(&this, &fingerprint, needed, &found, &by_line, view.options.fuzzy_threshold)
            {
                similar.push(Similar { target, index, similarity });
                continue;
            }
            for &key in &fingerprint {
                let bucket = by_line.entry(key).or_default();
                if bucket.len() == MAX_PER_LINE {
                    bucket.remove(0);
                }
                bucket.push(found.len());
            }
            found.push(this);
        }
        similar.sort_by_key(|pair| (pair.target, pair.index));
        for same in similar.chunk_by(|a, b| a.target == b.target) {
            self.claim_all(view, plan, same);
        }
    }
}

impl NearDedup {
    /// What is like one message refers to it, or does not: what takes fewer characters.
    fn claim_all(&self, view: &View<'_>, plan: &mut Plan, same: &[Similar]) {
        let target = same[0].target;
        let alone = |index: usize| self.0.chars(view, index);
        let (whole, shortened) = if plan.is_free(target) { (view.chars(target), alone(target)) } else { (0, 0) };
        let with: usize = same.iter().map(|pair| reference_chars(view, pair)).sum();
        let without: usize = same.iter().map(|pair| alone(pair.index)).sum();
        if whole + with >= shortened + without {
            return;
        }
        plan.keep(target, Reason::DuplicateTarget);
        for &Similar { index, similarity, .. } in same {
            plan.set(index, Claim::SimilarTo { target, similarity });
        }
    }
}

/// Characters of a reference with the lines that differ; all of the message where that would save too little.
fn reference_chars(view: &View<'_>, pair: &Similar) -> usize {
    let n_chars = view.chars(pair.index);
    let (Some(text), Some(other)) = (view.text(pair.index), view.text(pair.target)) else { return n_chars };
    let (own, others) = line_changes(&text, &other);
    let lines = own.iter().chain(&others).map(|line| line.trim_end().chars().count() + 3);
    let length = REFERENCE_CHARS + lines.sum::<usize>();
    if n_chars < length + view.options.min_saving { n_chars } else { length }
}

fn best(
    this: &Representative,
    fingerprint: &[u64],
    needed: usize,
    found: &[Representative],
    by_line: &HashMap<u64, Vec<usize>, FixedState>,
    threshold: f64,
) -> Option<(usize, f64)> {
    let mut candidates: Vec<usize> = fingerprint.iter().filter_map(|key| by_line.get(key)).flatten().copied().collect();
    candidates.sort_unstable();
    candidates
        .chunk_by(|a, b| a == b)
        .filter(|same| same.len() >= needed.min(fingerprint.len()))
        .map(|same| &found[same[0]])
        .filter(|other| length_ratio(this.n_chars, other.n_chars) >= MIN_LENGTH_RATIO)
        .map(|other| (other.index, jaccard(&this.lines, &other.lines)))
        .filter(|&(_, similarity)| similarity >= threshold)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

fn length_ratio(a: usize, b: usize) -> f64 {
    a.min(b) as f64 / a.max(b).max(1) as f64
}

fn line_keys(text: &TextView<'_>) -> Vec<u64> {
    text.lines.iter().map(|line| line.span.of(text.text).trim()).filter(|line| !line.is_empty()).map(fold_key).collect()
}

/// The lines of `text` that `target` has not and those of `target` that `text` has not, in their own order;
/// lines are equal when they are so after trimming.
#[must_use]
pub fn line_changes<'a>(text: &TextView<'a>, target: &TextView<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    (lines_beyond(text, target), lines_beyond(target, text))
}

fn lines_beyond<'a>(text: &TextView<'a>, other: &TextView<'a>) -> Vec<&'a str> {
    let mut counts: HashMap<&str, usize, FixedState> = HashMap::default();
    for line in other.lines {
        *counts.entry(line.span.of(other.text).trim()).or_default() += 1;
    }
    let is_beyond = |line: &&str| match counts.get_mut(line.trim()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => !line.trim().is_empty(),
    };
    text.lines.iter().map(|line| line.span.of(text.text)).filter(is_beyond).collect()
}
