//! Verbatim maps and the records that they belong to. A line that condenser wrote names its record by what is seen of it,
//! and is used for no other. A map of another tool names ids at most under the id of a conversation: it is used as long as
//! nothing else could be meant. Where two texts could stand in one place, neither does.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, Result};
use crate::model::{ReadAs, Reject};
use crate::pipeline::{MapLine, label};
use crate::shape::{self, Found, Lookup, Summary, VerbatimMap, value_hash};

/// What to do where a map says too little.
const HINT: &str = "restore from the run or sidecar with `condenser restore RUN`, or give each conversation a file and a \
                    map of its own; maps that `--verbatim-map` writes name their records";

/// A verbatim map: one for everything, or lines for conversations.
#[derive(Debug, Default)]
pub(super) struct Maps<'m> {
    name: String,
    entries: Vec<Entry<'m>>,
    /// Entries that name their records, by the hashes of what is seen of them.
    by_summary: BTreeMap<String, Vec<usize>>,
    by_record: BTreeMap<String, Vec<usize>>,
    /// All others, by the id of the conversation; `None` for a map of everything.
    loose: BTreeMap<Option<String>, Vec<usize>>,
}

#[derive(Debug)]
struct Entry<'m> {
    /// Where it stands: `maps.jsonl: line 2`.
    place: String,
    conversation: Option<String>,
    messages: VerbatimMap<'m>,
}

impl<'m> Maps<'m> {
    /// Reads `{id: message, …}`, or lines of `{"conversation_id", "verbatim": {id: message, …}}`.
    pub(super) fn read(text: &'m str, name: &str) -> Result<Self> {
        let mut maps = Self { name: name.to_owned(), ..Self::default() };
        let wrong = |place: &str, message: String| Error::input(place, message);
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("{name}: line {}", index + 1);
            match serde_json::from_str::<MapLine<'m>>(line) {
                Ok(line) => {
                    let messages = VerbatimMap::read(line.verbatim.get());
                    let messages = messages.map_err(|error| wrong(&place, error.to_string()))?;
                    maps.push(line, place, messages);
                }
                Err(_) if maps.entries.is_empty() => {
                    let messages = VerbatimMap::read(text);
                    let messages =
                        messages.map_err(|error| wrong(name, format!("this is no verbatim map: {error}")))?;
                    maps.loose.insert(None, vec![0]);
                    maps.entries.push(Entry { place: name.to_owned(), conversation: None, messages });
                    return Ok(maps);
                }
                Err(error) => return Err(wrong(&place, "this is no line of a verbatim map".to_owned()).because(error)),
            }
        }
        Ok(maps)
    }

    fn push(&mut self, line: MapLine<'m>, place: String, messages: VerbatimMap<'m>) {
        let at = self.entries.len();
        let id = line.conversation_id;
        if let Some(record) = line.record_hash {
            self.by_record.entry(record).or_default().push(at);
        }
        // A line that names summaries is used for these and for nothing else.
        match line.summary_hashes {
            Some(summaries) => {
                for summary in summaries.into_iter().collect::<BTreeSet<_>>() {
                    self.by_summary.entry(summary).or_default().push(at);
                }
            }
            None => self.loose.entry(Some(id.clone())).or_default().push(at),
        }
        self.entries.push(Entry { place, conversation: Some(id), messages });
    }

    /// The entries for a summary of a record that name it, and those that may be meant when none of these knows an id.
    fn entries_for(&self, summary: &str, record: &Record) -> (Vec<usize>, Vec<usize>) {
        let is_its_own =
            |at: &usize| match (self.entries.get(*at).and_then(|entry| entry.conversation.as_ref()), &record.id) {
                // Without an id of its own a record is named by what is seen of it alone.
                (_, None) => true,
                (known, id) => known == id.as_ref(),
            };
        let bound = self.by_summary.get(&value_hash(summary)).into_iter().flatten().copied().filter(is_its_own);
        let everything = self.loose.get(&None).into_iter();
        let loose = record.id.as_ref().and_then(|id| self.loose.get(&Some(id.clone()))).into_iter();
        (bound.collect(), everything.chain(loose).flatten().copied().collect())
    }

    fn find(&self, entries: &[usize], id: &str) -> Found<'m> {
        let mut texts = entries.iter().filter_map(|&at| self.entries.get(at)?.messages.message(id));
        let Some(first) = texts.next() else { return Found::Nothing };
        if texts.all(|text| text == first) { Found::Message(first) } else { Found::Several }
    }
}

/// What is seen of a record.
#[derive(Debug, Clone)]
struct Record {
    /// The id of its conversation as it stands in maps; `None` when it has none.
    id: Option<String>,
    hash: String,
}

/// The records of a file, looked at before the first of them is restored.
#[derive(Debug, Default)]
pub(super) struct Seen {
    records: Vec<Record>,
    /// Which summary an id of a loose entry stands for, and where.
    claims: BTreeMap<(usize, String), Claim>,
    contested: Option<Error>,
}

#[derive(Debug)]
struct Claim {
    record: Record,
    summary: String,
    place: String,
}

impl Claim {
    /// True when both stand for the same: in one record or a copy of it, or in two states of one conversation.
    fn agrees(&self, other: &Self) -> bool {
        self.record.hash == other.record.hash
            || self.record.id.is_some() && self.record.id == other.record.id && self.summary == other.summary
    }
}

impl Seen {
    /// Takes the next record.
    pub(super) fn push(
        &mut self,
        maps: &Maps<'_>,
        record: &str,
        read_as: ReadAs<'_>,
        place: &str,
    ) -> std::result::Result<(), Reject> {
        let decoded = shape::decode(record, read_as, "")?;
        let id = Some(&*decoded.conversation.id).filter(|id| !id.is_empty()).map(|id| label(id).into_owned());
        let seen = Record { id, hash: value_hash(record) };
        for Summary { json, ids } in shape::summaries(record, read_as)? {
            let (bound, loose) = maps.entries_for(json, &seen);
            for id in ids.iter().filter(|id| maps.find(&bound, id) == Found::Nothing) {
                for &entry in loose.iter().filter(|&&at| maps.find(&[at], id) != Found::Nothing) {
                    self.claim(maps, entry, id, &seen, json, place);
                }
            }
        }
        self.records.push(seen);
        Ok(())
    }

    /// A text of a map that names no records belongs to one summary of one conversation.
    fn claim(&mut self, maps: &Maps<'_>, entry: usize, id: &str, record: &Record, json: &str, place: &str) {
        let claim = || Claim { record: record.clone(), summary: value_hash(json), place: place.to_owned() };
        let first = self.claims.entry((entry, id.to_owned())).or_insert_with(claim);
        if !first.agrees(&claim()) {
            let message = format!(
                "the map {} has one text for the id {id:?}, and another summary stands for this id too, in {}; nothing \
                 says which of them is meant",
                maps.name, first.place
            );
            self.contested.get_or_insert_with(|| Error::input(place, message).hinting(HINT));
        }
    }

    /// Each record with what belongs to it, in order.
    pub(super) fn places<'a, 'm>(self, maps: &'a Maps<'m>) -> Result<Vec<Place<'a, 'm>>> {
        if let Some(error) = self.contested {
            return Err(error);
        }
        let mut n_alike: BTreeMap<String, usize> = BTreeMap::new();
        for record in &self.records {
            *n_alike.entry(record.hash.clone()).or_default() += 1;
        }
        let mut n_before: BTreeMap<String, usize> = BTreeMap::new();
        let place = |record: Record| {
            let nth = n_before.entry(record.hash.clone()).or_default();
            let entries = maps.by_record.get(&record.hash).map(Vec::as_slice).unwrap_or_default();
            // Records that are the same to the last byte are told apart by their order, when all of them are there.
            let all_there = n_alike.get(&record.hash) == Some(&entries.len());
            let own = entries.get(*nth).copied().filter(|_| all_there);
            *nth += 1;
            Place { maps, record, own }
        };
        Ok(self.records.into_iter().map(place).collect())
    }
}

/// A record and what belongs to it.
#[derive(Debug)]
pub(super) struct Place<'a, 'm> {
    maps: &'a Maps<'m>,
    record: Record,
    /// The entry that was written with exactly this record.
    own: Option<usize>,
}

impl Place<'_, '_> {
    /// Why an id has no original although there are some.
    pub(super) fn ambiguous(&self, id: &str, place: &str) -> Error {
        let has_it = |entry: &&Entry<'_>| {
            entry.messages.message(id).is_some() && (self.record.id.is_none() || entry.conversation == self.record.id)
        };
        let entries = self.maps.entries.iter().filter(has_it).map(|entry| &*entry.place);
        let message = format!(
            "two different texts have the id {id:?} ({}), and nothing says which of them stood here",
            entries.collect::<Vec<_>>().join(" and ")
        );
        Error::input(place, message).hinting(HINT)
    }
}

impl Lookup for Place<'_, '_> {
    fn originals<'f>(&'f self, summary: &str, ids: &[String]) -> Vec<Found<'f>> {
        let (bound, loose) = self.maps.entries_for(summary, &self.record);
        let own: Vec<usize> = bound.iter().copied().filter(|at| Some(*at) == self.own).collect();
        let find = |id: &String| {
            let tried = [&own, &bound, &loose].into_iter().map(|entries| self.maps.find(entries, id));
            tried.into_iter().find(|found| *found != Found::Nothing).unwrap_or(Found::Nothing)
        };
        ids.iter().map(find).collect()
    }
}
