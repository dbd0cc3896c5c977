//! JSON as a tree of places in the buffer: which member stands where. Knows the syntax; changes nothing and
//! unescapes nothing.

/// Levels of objects and arrays.
const MAX_DEPTH: u32 = 64;
const NONE: u32 = u32::MAX;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    /// A number, a boolean or null.
    Literal,
}

impl Kind {
    /// True for what has no members.
    pub(super) fn is_scalar(self) -> bool {
        matches!(self, Self::String | Self::Literal)
    }
}

/// A value, with its key when it is the member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The first byte of the member: its key's, or the value's.
    pub(super) from: u32,
    /// The first byte of the value.
    pub(super) value: u32,
    /// The byte behind the value.
    pub(super) to: u32,
    /// The bytes of the key, without quotes; empty without one.
    pub(super) key: (u32, u32),
    /// Its members: the first, and for each the next.
    pub(super) first: u32,
    pub(super) next: u32,
    pub(super) n_members: u32,
    /// Objects and arrays around it.
    pub(super) depth: u32,
}

/// The values of some texts; the first of each text is its root.
#[derive(Debug, Default)]
pub(super) struct Json {
    pub(super) nodes: Vec<Node>,
}

impl Json {
    /// Adds the value at `from`, which ends before `to`, when `fits` holds for its root and the byte behind it, and gives
    /// these.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        (from, to): (usize, usize),
        fits: impl FnOnce(&Node, usize) -> bool,
    ) -> Option<(u32, usize)> {
        let n_nodes = self.nodes.len();
        let mut reader = Reader { bytes: bytes.get(..to)?, nodes: &mut self.nodes };
        let found = reader.value(from, 0);
        let found = found.filter(|&(root, end)| fits(&self.nodes[root as usize], end));
        if found.is_none() {
            self.nodes.truncate(n_nodes);
        }
        found
    }

    pub(super) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    /// The members of a value.
    pub(super) fn members(&self, number: u32) -> impl Iterator<Item = u32> {
        let is_there = |member: u32| (member != NONE).then_some(member);
        std::iter::successors(is_there(self.node(number).first), move |&member| is_there(self.node(member).next))
    }
}

struct Reader<'b, 'n> {
    bytes: &'b [u8],
    nodes: &'n mut Vec<Node>,
}

impl Reader<'_, '_> {
    fn at(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn skip(&self, mut at: usize) -> usize {
        while self.at(at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            at += 1;
        }
        at
    }

    fn value(&mut self, from: usize, depth: u32) -> Option<(u32, usize)> {
        let (kind, close) = match self.at(from)? {
            b'{' => (Kind::Object, b'}'),
            b'[' => (Kind::Array, b']'),
            b'"' => (Kind::String, 0),
            _ => (Kind::Literal, 0),
        };
        let number = self.nodes.len() as u32;
        let value = from as u32;
        let none = (value, value);
        self.nodes.push(Node {
            kind,
            from: value,
            value,
            to: value,
            key: none,
            first: NONE,
            next: NONE,
            n_members: 0,
            depth,
        });
        let to = match kind {
            Kind::String => self.string(from)?,
            Kind::Literal => self.literal(from)?,
            Kind::Object | Kind::Array => self.members(number, from, close, depth)?,
        };
        self.nodes[number as usize].to = to as u32;
        Some((number, to))
    }

    fn members(&mut self, number: u32, from: usize, close: u8, depth: u32) -> Option<usize> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let mut at = self.skip(from + 1);
        let mut last = NONE;
        while self.at(at)? != close {
            let begin = at;
            let mut key = None;
            if close == b'}' {
                let end = self.string(begin).filter(|_| self.bytes[begin] == b'"')?;
                key = Some((begin as u32 + 1, end as u32 - 1));
                at = self.skip(end);
                if self.at(at)? != b':' {
                    return None;
                }
                at = self.skip(at + 1);
            }
            let (member, end) = self.value(at, depth + 1)?;
            let node = &mut self.nodes[member as usize];
            node.from = begin as u32;
            node.key = key.unwrap_or(node.key);
            match last {
                NONE => self.nodes[number as usize].first = member,
                before => self.nodes[before as usize].next = member,
            }
            last = member;
            self.nodes[number as usize].n_members += 1;
            at = self.skip(end);
            if self.at(at)? == b',' {
                at = self.skip(at + 1);
                if self.at(at)? == close {
                    return None;
                }
            } else if self.at(at)? != close {
                return None;
            }
        }
        Some(at + 1)
    }

    fn string(&self, from: usize) -> Option<usize> {
        let mut at = from + 1;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.bytes.get(at..)?)?;
            if self.bytes[at] == b'"' {
                return Some(at + 1);
            }
            at += 2;
        }
    }

    fn literal(&self, from: usize) -> Option<usize> {
        let text = self.bytes.get(from..)?;
        let len = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        let is_word = matches!(text.get(..len)?, b"true" | b"false" | b"null" | b"NaN" | b"Infinity" | b"-Infinity");
        let is_number = || text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
        (len > 0 && (is_word || is_number())).then_some(from + len)
    }
}
