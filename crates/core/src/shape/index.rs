//! Where everything stands in a record: one validating pass that cuts it into the list of messages, the messages
//! and their members. Knows keys, not their meaning.

use std::borrow::Cow;

use crate::model::{Reject, RejectReason, ShapeName, mapped_path};

use super::escape::{Marks, Style};
use super::events::{Form, Log};
use super::json::{Bad, Key, Kind, Raw, Scanner, between, offset_in, unquoted};
use super::member::{Field, Member, N_FIELDS};
use super::rules::Rules;
use super::spec::RECORD_IDS;
use super::talk;

/// A record cut into slices.
#[derive(Debug)]
pub(super) struct Index<'r> {
    pub record: &'r str,
    /// By what it is read.
    pub rules: Rules<'r>,
    /// How the record writes its strings.
    pub style: Style,
    /// The list of messages, brackets included.
    pub list: &'r str,
    /// The keys that lead to the list; none where the record is the list.
    pub path: Vec<Cow<'r, str>>,
    /// The messages.
    pub messages: Vec<&'r str>,
    /// The members of the record without the list itself, those of the objects that it stands in too; a bare list has none.
    pub head: Vec<Member<'r>>,
    /// Which member of `head` is the id.
    pub id: Option<usize>,
    pub members: Vec<Member<'r>>,
    /// `bounds[i]..bounds[i + 1]` are the members of message `i`.
    pub bounds: Vec<usize>,
    /// Who speaks in each message, where messages do not say it; nothing where they do.
    pub implied: Vec<&'static str>,
    /// What passes through, when the record is an event log; then the whole record is its list.
    pub log: Option<Log<'r>>,
}

impl<'r> Index<'r> {
    /// Nothing of `record` is found yet.
    pub(super) fn empty(record: &'r str, rules: Rules<'r>) -> Self {
        Self {
            record,
            rules,
            style: Style::MINIMAL,
            list: record,
            path: Vec::new(),
            messages: Vec::new(),
            head: Vec::new(),
            id: None,
            members: Vec::new(),
            bounds: vec![0],
            implied: Vec::new(),
            log: None,
        }
    }

    /// Cuts `record`, which is no event log and has its list under a key of its own, or says why it is no conversation of this
    /// shape.
    pub(super) fn new(record: &'r str, rules: Rules<'r>) -> Result<Self, Reject> {
        Self::cut(record, rules, None, Cutter::record)
    }

    /// Cuts `record`, an object that has its list where `path` leads.
    pub(super) fn at(record: &'r str, rules: Rules<'r>, path: &[impl AsRef<str>]) -> Result<Self, Reject> {
        let owned = path.iter().map(|key| Cow::Owned(key.as_ref().to_owned())).collect();
        Self::cut(record, rules, Some(owned), |cutter, scanner| match scanner.peek()? {
            Kind::Object => cutter.descend(scanner, path, ""),
            kind => cutter.refuse(scanner, kind, ""),
        })
    }

    fn cut(
        record: &'r str,
        rules: Rules<'r>,
        path: Option<Vec<Cow<'r, str>>>,
        read: impl FnOnce(&mut Cutter<'r>, &mut Scanner<'r>) -> Result<(), Bad>,
    ) -> Result<Self, Reject> {
        let mut scanner = Scanner::new(record);
        let mut cutter =
            Cutter { found: Self::empty(record, rules), list: None, place: None, is_talk: false, reject: None };
        let outcome = read(&mut cutter, &mut scanner).and_then(|()| scanner.end());
        outcome.map_err(|bad| invalid(record, bad))?;
        if let Some(reject) = cutter.reject {
            return Err(reject);
        }
        let key = cutter.key();
        let Some(list) = cutter.list else {
            let detail = match path {
                Some(path) => format!("the record has no list `{}`", mapped_path(&path)),
                None => format!("the record has no list `{key}`"),
            };
            return Err(Reject { reason: RejectReason::NoMessages, detail });
        };
        let is_bare = cutter.place.is_none() && path.is_none();
        let path = path.unwrap_or_else(|| if is_bare { Vec::new() } else { vec![Cow::Borrowed(key)] });
        let id = record_id(&cutter.found.head);
        // Where nobody's name stands at what is said, two speak in turn.
        let is_said = cutter.found.members.iter().any(|member| member.field == Field::Role);
        let n_implied = if cutter.is_talk && !is_said { cutter.found.messages.len() } else { 0 };
        let implied = (0..n_implied).map(talk::speaker).collect();
        Ok(Self { style: Style::of(record, scanner.seen), list, path, id, implied, ..cutter.found })
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

    /// Who speaks in message `index` when it does not say so itself.
    pub(super) fn implied_role(&self, index: usize) -> Option<&'static str> {
        let by_form = self.form(index).and_then(|form| form.role);
        by_form.or_else(|| self.implied.get(index).copied())
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
    /// What is said may stand there without a name.
    is_talk: bool,
    reject: Option<Reject>,
}

impl<'r> Cutter<'r> {
    fn record(&mut self, scanner: &mut Scanner<'r>) -> Result<(), Bad> {
        match scanner.peek()? {
            Kind::Object => {
                scanner.object(|scanner, key| self.member(scanner, &key))?;
            }
            Kind::List if self.found.rules.spec.bare => {
                self.is_talk = self.found.rules.map.is_some();
                self.list(scanner)?;
            }
            kind => {
                let advice = if kind == Kind::List { "; a bare list of messages is the shape `cce`" } else { "" };
                self.refuse(scanner, kind, advice)?;
            }
        }
        Ok(())
    }

    fn refuse(&mut self, scanner: &mut Scanner<'r>, kind: Kind, advice: &str) -> Result<(), Bad> {
        scanner.value()?;
        let detail = format!("the record is {}, not an object{advice}", describe(kind));
        self.reject = Some(Reject { reason: RejectReason::UnknownShape, detail });
        Ok(())
    }

    /// The list to which `path` leads, the last one where a key comes twice.
    fn descend(&mut self, scanner: &mut Scanner<'r>, path: &[impl AsRef<str>], parent: &'r str) -> Result<(), Bad> {
        let (wanted, rest) = path.split_first().map_or((None, path), |(wanted, rest)| (Some(wanted.as_ref()), rest));
        scanner.object(|scanner, key| {
            let kind = scanner.peek()?;
            match (wanted.is_some_and(|wanted| key.name == wanted), rest.is_empty(), kind) {
                (true, true, Kind::List) => {
                    self.is_talk = self.may_be_talk(&key.name);
                    self.list(scanner)
                }
                (true, false, Kind::Object) => self.descend(scanner, rest, unquoted(key.text)),
                _ => self.other(scanner, &key, parent),
            }
        })?;
        Ok(())
    }

    /// The list under the best key is the one that counts; the others are members like any other.
    fn member(&mut self, scanner: &mut Scanner<'r>, key: &Key<'r>) -> Result<(), Bad> {
        let Some(rank) = self.found.rules.spec.list_rank(&key.name) else { return self.other(scanner, key, "") };
        let best = self.place.map(|(rank, ..)| rank);
        if best.is_some_and(|best| best < rank) || best != Some(rank) && scanner.peek()? != Kind::List {
            return self.other(scanner, key, "");
        }
        if let (Some((worse, key, at)), Some(list)) = (self.place, self.list)
            && worse != rank
        {
            let value = Raw { text: list, kind: Kind::List, marks: Marks::NONE };
            self.found.head.insert(at, Member { key, value, field: Field::Other, parent: "" });
        }
        self.place = Some((rank, key.text, self.found.head.len()));
        self.is_talk = self.may_be_talk(&key.name);
        self.list(scanner)
    }

    /// True where what is said may stand without a name: under keys known for that, and where somebody says that it is there.
    fn may_be_talk(&self, key: &str) -> bool {
        let rules = self.found.rules;
        rules.map.is_some() || rules.spec.name == ShapeName::Dialogue && talk::is_key(key)
    }

    fn key(&self) -> &'static str {
        let rank = self.place.map_or(0, |(rank, ..)| rank);
        self.found.rules.spec.lists.get(rank).copied().unwrap_or_default()
    }

    fn other(&mut self, scanner: &mut Scanner<'r>, key: &Key<'r>, parent: &'r str) -> Result<(), Bad> {
        let value = scanner.value()?;
        self.found.head.push(Member { key: key.text, value, field: Field::Other, parent });
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
            if kind == Kind::Text && self.is_talk {
                // It has no key, which is written so before its first byte.
                let key = value.text.get(..0).unwrap_or_default();
                self.found.messages.push(value.text);
                self.found.members.push(Member { key, value, field: Field::Content, parent: "" });
                self.found.bounds.push(self.found.members.len());
                return Ok(());
            }
            let detail = format!(
                "message {} (byte {}) is {}, not an object; correct or remove it",
                self.found.messages.len() + 1,
                offset_in(self.found.record, value.text) + 1,
                describe(kind),
            );
            self.reject.get_or_insert(Reject { reason: RejectReason::MessageNotObject, detail });
            return Ok(());
        }
        let mut counting = Counting::default();
        let text = scanner.object(|scanner, key| match self.found.rules.parent(&key.name) {
            Some(parent) if scanner.peek()? == Kind::Object => {
                scanner.object(|scanner, key| self.own(scanner, &key, parent, &mut counting))?;
                Ok(())
            }
            _ => self.own(scanner, &key, "", &mut counting),
        })?;
        self.found.messages.push(text);
        self.found.bounds.push(self.found.members.len());
        Ok(())
    }

    /// A member of a message, or of an object in it.
    fn own(
        &mut self,
        scanner: &mut Scanner<'r>,
        key: &Key<'r>,
        parent: &'r str,
        counting: &mut Counting,
    ) -> Result<(), Bad> {
        let (mut field, rank) = self.found.rules.field(parent, &key.name);
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
        self.found.members.push(Member { key: key.text, value: scanner.value()?, field, parent });
        Ok(())
    }
}

/// The member that counts for each field, and the rank of its key.
type Counting = [Option<(usize, usize)>; N_FIELDS];

/// The member that names the conversation: the last one of the best key that has a usable value.
fn record_id(head: &[Member<'_>]) -> Option<usize> {
    let id_in = |is_own: bool| {
        RECORD_IDS.into_iter().find_map(|name| {
            let is_id = |member: &Member<'_>| key_is(member.key, name) && member.parent.is_empty() == is_own;
            let last = head.iter().rposition(is_id)?;
            head.get(last)?.value.id().filter(|id| !id.is_empty()).map(|_| last)
        })
    };
    // What stands beside the list names the conversation as well.
    id_in(true).or_else(|| id_in(false))
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
        Kind::Text | Kind::Plain => "a string",
        Kind::List => "a list",
        Kind::Object => "an object",
    }
}
