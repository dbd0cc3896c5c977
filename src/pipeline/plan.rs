//! What a job is going to do: its inputs, and the slices of them that become parts. A plan depends on the inputs and
//! the options only, never on workers or machines; it is written before the first part and held against the next
//! call of the same job. Knows no file.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::slice::Slice;
use super::split::PlannedSplit;
use super::stored::{AgedRow, KeptLog};
use super::{FORMAT_VERSION, JobOptions};
use crate::error::{Error, Result};

/// So many options that differ are named; more would bury the first.
const MAX_OPTIONS: usize = 3;

/// An input as it was when the job began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlannedInput {
    /// The name as given; stands in every table.
    pub source: String,
    /// Bytes as stored; `null` for stdin. No more than these are read, so that a file may grow meanwhile.
    pub bytes: Option<u64>,
    /// What tells that the input was changed: the time of its last change in nanoseconds since 1970, or the entity
    /// tag of a store; `null` when there is none.
    pub mark: Option<String>,
    /// The beginning of the log that a store holds already and that is not read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<KeptLog>,
    /// The store has a log of this name already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub comes_again: bool,
    /// The night before in which the log was a beginning of what it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// When it was last written to, in milliseconds since 1970, where the age of conversations counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_at: Option<u64>,
    /// Records of the store that are looked at again, since they are older by now, each with when it was last written to; nothing of a log
    /// is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks_again: Vec<AgedRow>,
}

impl PlannedInput {
    /// An input that is read from its beginning.
    pub fn new(source: impl Into<String>, bytes: Option<u64>, mark: Option<String>) -> Self {
        Self {
            source: source.into(),
            bytes,
            mark,
            keeps: None,
            comes_again: false,
            extends: None,
            written_at: None,
            looks_again: Vec::new(),
        }
    }

    /// Bytes as stored that are read.
    pub fn bytes_to_read(&self) -> Option<u64> {
        self.bytes.map(|bytes| bytes - bytes.min(self.keeps.as_ref().map_or(0, |kept| kept.stored_bytes)))
    }
}

/// So many inputs share a part at most: a part is done again as a whole, and its commit names all.
const MAX_SHARING: usize = 4096;

/// What becomes a part: a slice of an input, or several whole inputs that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlannedPart {
    /// Place of the input among the inputs; of several, the first.
    pub input: usize,
    /// How many inputs share the part.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub n_inputs: usize,
    /// The slice.
    pub slice: Slice,
}

pub(super) fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_one(count: &usize) -> bool {
    *count == 1
}

impl PlannedPart {
    /// A part of one input.
    pub fn of(input: usize, slice: Slice) -> Self {
        Self { input, n_inputs: 1, slice }
    }

    /// The places of its inputs among the inputs.
    pub fn inputs(&self) -> Range<usize> {
        self.input..self.input + self.n_inputs
    }
}

/// Every n-th part, for one of several machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl Shard {
    /// True when `part` is for this machine.
    pub fn takes(&self, part: usize) -> bool {
        part % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parsed {
            Some((index, count)) if index < count => Ok(Self { index, count }),
            Some((_, count)) if count > 0 => Err(format!("shards are counted from 0 to {}", count - 1)),
            _ => Err("expected I/N, such as 0/4 for the first of four machines".to_owned()),
        }
    }
}

/// The document `plan.json.zst` of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "Plan"))]
pub struct RunPlan {
    /// See [`FORMAT_VERSION`].
    pub format_version: u32,
    /// Version of condenser.
    pub engine_version: String,
    /// What decides about the bytes of the output.
    pub options: JobOptions,
    /// BLAKE3 of the options as JSON, in hex.
    pub config_blake3: String,
    /// The inputs in order.
    pub inputs: Vec<PlannedInput>,
    /// The parts in order.
    pub parts: Vec<PlannedPart>,
    /// Of a data set: what was decided about its conversations before the first part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<PlannedSplit>,
}

impl RunPlan {
    /// The plan for `inputs`, each with its slices in order.
    pub fn new(options: JobOptions, inputs: Vec<(PlannedInput, Vec<Slice>)>) -> Result<Self> {
        let text = serde_json::to_string(&options)
            .map_err(|error| Error::internal("", "the options cannot be written as JSON").because(error))?;
        let mut parts = Vec::new();
        let mut planned = Vec::with_capacity(inputs.len());
        for (input, slices) in inputs {
            parts.extend(slices.into_iter().map(|slice| PlannedPart::of(planned.len(), slice)));
            planned.push(input);
        }
        Ok(Self {
            format_version: FORMAT_VERSION,
            engine_version: env!("CARGO_PKG_VERSION").to_owned(),
            config_blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
            options,
            inputs: planned,
            parts,
            split: None,
        })
    }

    /// The same plan where inputs that follow each other and may share a part do so: as many as `split_bytes` has room for.
    /// Those of one name do not.
    pub fn sharing(mut self, may_share: impl Fn(usize) -> bool) -> Self {
        let mut parts: Vec<PlannedPart> = Vec::with_capacity(self.parts.len());
        let (mut room, mut names) = (None, HashSet::new());
        for part in std::mem::take(&mut self.parts) {
            let input = &self.inputs[part.input];
            let bytes = input.bytes_to_read().filter(|_| part.slice == Slice::Whole && may_share(part.input));
            let before = parts.last_mut().filter(|before| before.n_inputs < MAX_SHARING);
            match (bytes, before) {
                (Some(bytes), Some(before))
                    if room.is_some_and(|room| bytes <= room) && !names.contains(&*input.source) =>
                {
                    before.n_inputs += 1;
                    room = room.map(|room: u64| room - bytes);
                }
                _ => {
                    // What may not be shared leaves no room.
                    room = bytes.map(|bytes| self.options.split_bytes.saturating_sub(bytes));
                    names.clear();
                    parts.push(part);
                }
            }
            names.insert(&*input.source);
        }
        self.parts = parts;
        self
    }

    /// The same plan with the parts and the split with which the job `began`, where it is the same: what nobody may read for a while has a
    /// part of its own, then and later.
    pub fn as_begun(self, began: Option<Self>) -> Self {
        match began.filter(|began| began.inputs == self.inputs && began.config_blake3 == self.config_blake3) {
            Some(began) => Self { parts: began.parts, split: began.split, ..self },
            None => self,
        }
    }

    /// The inputs of a part.
    pub fn inputs_of(&self, part: usize) -> &[PlannedInput] {
        self.parts.get(part).and_then(|part| self.inputs.get(part.inputs())).unwrap_or_default()
    }

    /// Bytes of all inputs as stored that are read; `None` when one is not known.
    pub fn total_bytes(&self) -> Option<u64> {
        self.inputs.iter().map(PlannedInput::bytes_to_read).sum()
    }

    /// What is different in `later`, a few words for each way; empty when a job may go on with what this plan began.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.engine_version != later.engine_version {
            found.push(format!("condenser {} → {}", self.engine_version, later.engine_version));
        }
        if self.config_blake3 != later.config_blake3 {
            let value = |options: &JobOptions| serde_json::to_value(options).unwrap_or_default();
            let mut options = Vec::new();
            option_differences("", &value(&self.options), &value(&later.options), &mut options);
            let n_more = options.len().saturating_sub(MAX_OPTIONS);
            found.extend(options.into_iter().take(MAX_OPTIONS));
            match n_more {
                0 if found.is_empty() => found.push("options that are no longer there".to_owned()),
                0 => {}
                n => found.push(format!("{n} more option{}", if n == 1 { "" } else { "s" })),
            }
        }
        self.input_differences(later, &mut found);
        if found.is_empty() && (self.inputs != later.inputs || self.parts != later.parts) {
            found.push("the order or the cuts of the inputs".to_owned());
        }
        found
    }

    /// A line for each way in which inputs differ, with one of them.
    fn input_differences(&self, later: &Self, found: &mut Vec<String>) {
        // A log may be read, and records of it looked at again.
        let key = |input: &'_ PlannedInput| (input.source.clone(), input.looks_again.is_empty());
        let before: HashSet<(String, bool)> = self.inputs.iter().map(key).collect();
        let after: HashMap<(String, bool), &PlannedInput> =
            later.inputs.iter().map(|input| (key(input), input)).collect();
        let (mut gone, mut other_size, mut rewritten) = (Vec::new(), Vec::new(), Vec::new());
        for input in &self.inputs {
            let name = input.source.clone();
            match after.get(&key(input)) {
                None => gone.push(name),
                Some(now) if now.bytes != input.bytes => {
                    let size = |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), |bytes| bytes.to_string());
                    other_size.push(format!("{name}: {} bytes → {} bytes", size(input.bytes), size(now.bytes)));
                }
                Some(now) if now.mark != input.mark => rewritten.push(name),
                Some(_) => {}
            }
        }
        let is_new = |input: &&PlannedInput| !before.contains(&key(input));
        let new: Vec<String> = later.inputs.iter().filter(is_new).map(|input| input.source.clone()).collect();
        let ways = [
            (gone, " is gone", "are gone"),
            (other_size, "", "have another size"),
            (rewritten, " was written again", "were written again"),
            (new, " is new", "are new"),
        ];
        for (inputs, one, many) in ways {
            match &*inputs {
                [] => {}
                [input] => found.push(format!("input {input}{one}")),
                [first, ..] => found.push(format!("{} inputs {many}, such as {first}", inputs.len())),
            }
        }
    }
}

fn option_differences(name: &str, before: &Value, after: &Value, found: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let value = |options: &'_ Map<String, Value>, key: &str| options.get(key).cloned().unwrap_or_default();
            // Options without a value are not written, so that either side may have keys that the other has not.
            for key in before.keys().chain(after.keys().filter(|key| !before.contains_key(*key))) {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                option_differences(&name, &value(before, key), &value(after, key), found);
            }
        }
        _ if before == after => {}
        (Value::String(_), Value::String(_)) if let Some(option) = name.strip_suffix("_blake3") => {
            found.push(format!("the file that the option engine.{option} names has changed"));
        }
        // Then the option itself is another one, which is told already.
        _ if name.ends_with("_blake3") => {}
        _ => {
            let said = |value: &Value| if value.is_null() { "unset".to_owned() } else { value.to_string() };
            found.push(format!("option {name}: {} → {}", said(before), said(after)));
        }
    }
}
