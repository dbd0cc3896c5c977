//! Where everything stands in a record: one validating pass that cuts it into the list of messages, the messages
//! and their members. Knows keys, not their meaning.

use crate::model::{Reject, RejectReason};

use super::escape::{Marks, Style};
use super::events::{Form, Log};
use super::json::{Bad, Key, Kind, Raw, Scanner, between, offset_in};
use super::member::{Field, Member, N_FIELDS};
use super::spec::{RECORD_IDS, Spec};

/// A record cut into slices.
#[derive(Debug)]
pub(super) struct Index<'r> {
    pub record: &'r str,
    pub spec: &'static Spec,
    /// How the record writes its strings.
    pub style: Style,
    /// The list of messages, brackets included.
    pub list: &'r str,
    /// The key of the list; meaningless for a bare list.
    pub list_key: &'static str,
    /// The messages.
    pub messages: Vec<&'r str>,
    /// The members of the record without the list itself; a bare list has none.
    pub head: Vec<Member<'r>>,
    /// Which member of `head` is the id.
    pub id: Option<usize>,
    pub members: Vec<Member<'r>>,
    /// `bounds[i]..bounds[i + 1]` are the members of message `i`.
    pub bounds: Vec<usize>,
    /// What passes through, when the record is an event log; then the whole record is its list.
    pub log: Option<Log<'r>>,
}

impl<'r> Index<'r> {
    /// Nothing of `record` is found yet.
    pub(super) fn empty(record: &'r str, spec: &'static Spec) -> Self {
        Self {
            record,
            spec,
            style: Style::MINIMAL,
            list: record,
            list_key: "",
            messages: Vec::new(),
            head: Vec::new(),
            id: None,
            members: Vec::new(),
            bounds: vec![0],
            log: None,
        }
    }

    /// Cuts `record`, which is no event log, or says why it is no conversation of this shape.
    pub(super) fn new(record: &'r str, spec: &'static Spec) -> Result<Self, Reject> {
        let mut scanner = Scanner::new(record);
        let mut cutter = Cutter { found: Self::empty(record, spec), list: None, place: None, reject: None };
        let outcome = cutter.record(&mut scanner).and_then(|()| scanner.end());
        outcome.map_err(|bad| invalid(record, bad))?;
        if let Some(reject) = cutter.reject {
            return Err(reject);
        }
        let list_key = cutter.key();
        let Some(list) = cutter.list else {
            let detail =
                format!("the record has no list `{list_key}`; check the shape or choose another one with --shape");
            return Err(Reject { reason: RejectReason::NoMessages, detail });
        };
        let id = record_id(&cutter.found.head);
        Ok(Self { style: Style::of(record, scanner.seen), list, list_key, id, ..cutter.found })
    }

    /// The members of message `index` in the order of the record.
    pub(super) fn members(&self, index: usize) -> &[Member<'r>] {
        match self.bounds.get(index..index + 2) {
            Some(&[start, end]) => self.members.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The member of message `index` that holds `field`.
    pub(super) fn member(&self, index: usize, field: Field) -> Option<&Member<'r>> {
        self.members(index).iter().find(|member| member.field == field)
    }

    /// The form of message `index` of an event log.
    pub(super) fn form(&self, index: usize) -> Option<&'static Form> {
        self.log.as_ref()?.forms.get(index).copied()
    }

    /// What stands between message `index` and the one before it.
    pub(super) fn separator(&self, index: usize) -> Option<&'r str> {
        let right = self.messages.get(index)?;
        let left = self.messages.get(index.checked_sub(1)?)?;
        Some(between(self.record, left, right))
    }
}

/// The state of the pass.
struct Cutter<'r> {
    found: Index<'r>,
    list: Option<&'r str>,
    /// The rank of the key of the list, the key as written, and how many members of the head stand before it.
    place: Option<(usize, &'r str, usize)>,
    reject: Option<Reject>,
}

impl<'r> Cutter<'r> {
    fn record(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        match scanner.peek()? {
            Kind::Object => {
                scanner.object(|scanner, key| self.member(scanner, &key))?;
            }
            Kind::List if self.found.spec.bare => self.list(scanner)?,
            kind => {
                scanner.value()?;
                let advice = if kind == Kind::List { "; a bare list of messages is the shape `cce`" } else { "" };
                let detail = format!("the record is {}, not an object{advice}", describe(kind));
                self.reject = Some(Reject { reason: RejectReason::UnknownShape, detail });
            }
        }
        Ok(())
    }

    /// The list under the best key is the one that counts; the others are members like any other.
    fn member(&mut self, scanner: &mut Scanner<'r>, key: &Key<'r>) -> Result<(), Bad> {
        let Some(rank) = self.found.spec.list_rank(&key.name) else { return self.other(scanner, key) };
        let best = self.place.map(|(rank, ..)| rank);
        if best.is_some_and(|best| best < rank) || best != Some(rank) && scanner.peek()? != Kind::List {
            return self.other(scanner, key);
        }
        if let (Some((worse, key, at)), Some(list)) = (self.place, self.list)
            && worse != rank
        {
            let value = Raw { text: list, kind: Kind::List, marks: Marks::NONE };
            self.found.head.insert(at, Member { key, value, field: Field::Other, parent: "" });
        }
        self.place = Some((rank, key.text, self.found.head.len()));
        self.list(scanner)
    }

    fn key(&self) -> &'static str {
        let rank = self.place.map_or(0, |(rank, ..)| rank);
        self.found.spec.lists.get(rank).copied().unwrap_or_default()
    }

    fn other(&mut self, scanner: &mut Scanner<'r>, key: &Key<'r>) -> Result<(), Bad> {
        let value = scanner.value()?;
        self.found.head.push(Member { key: key.text, value, field: Field::Other, parent: "" });
        Ok(())
    }

    /// The list of messages; when the key comes twice, the later list counts.
    fn list(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        self.found.messages.clear();
        self.found.members.clear();
        self.found.bounds.truncate(1);
        self.reject = None;
        self.list = None;
        if scanner.peek()? == Kind::List {
            self.list = Some(scanner.list(|scanner| self.message(scanner))?);
        } else {
            scanner.value()?;
        }
        Ok(())
    }

    fn message(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        let kind = scanner.peek()?;
        if kind != Kind::Object {
            let value = scanner.value()?;
            let detail = format!(
                "message {} (byte {}) is {}, not an object; correct or remove it",
                self.found.messages.len() + 1,
                offset_in(self.found.record, value.text) + 1,
                describe(kind),
            );
            self.reject.get_or_insert(Reject { reason: RejectReason::MessageNotObject, detail });
            return Ok(());
        }
        // The member that counts for each field, and the rank of its key.
        let mut counting: [Option<(usize, usize)>; N_FIELDS] = [None; N_FIELDS];
        let text = scanner.object(|scanner, key| {
            let (mut field, rank) = self.found.spec.field(&key.name);
            if let Some(counting) = counting.get_mut(field as usize).filter(|_| field != Field::Other) {
                match *counting {
                    Some((_, better)) if better < rank => field = Field::Other,
                    earlier => {
                        if let Some((member, worse)) =
                            earlier.and_then(|(at, rank)| Some((self.found.members.get_mut(at)?, rank)))
                        {
                            member.field = if worse == rank { Field::Shadowed } else { Field::Other };
                        }
                        *counting = Some((self.found.members.len(), rank));
                    }
                }
            }
            self.found.members.push(Member { key: key.text, value: scanner.value()?, field, parent: "" });
            Ok(())
        })?;
        self.found.messages.push(text);
        self.found.bounds.push(self.found.members.len());
        Ok(())
    }
}

/// The member that names the conversation: the last one of the best key that has a usable value.
fn record_id(head: &[Member<'_>]) -> Option<usize> {
    RECORD_IDS.into_iter().find_map(|name| {
        let last = head.iter().rposition(|member| key_is(member.key, name))?;
        head.get(last)?.value.id().filter(|id| !id.is_empty()).map(|_| last)
    })
}

fn key_is(key: &str, name: &str) -> bool {
    key.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name)
}

/// The sentence for a record that is not JSON.
pub(super) fn invalid(record: &str, bad: Bad) -> Reject {
    let place = bad.at + 1;
    let expected = bad.expected;
    let detail = if bad.at >= record.len() {
        format!("not JSON: expected {expected} at byte {place}, where the record ends; is it cut off?")
    } else {
        let found = record.get(bad.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "a broken character".to_owned(), |char| format!("{char:?}"));
        format!("not JSON: expected {expected} at byte {place}, found {found}; correct the record")
    };
    Reject { reason: RejectReason::InvalidJson, detail }
}

fn describe(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::Text => "a string",
        Kind::List => "a list",
        Kind::Object => "an object",
    }
}
