//! Which line of an event log belongs to which session. Knows lines by their place in a buffer; holds none of them.

use std::ops::Range;

use foldhash::{HashMap, HashSet};

use super::stream::BOM;
use crate::model::ShapeName;
use crate::shape::{SessionOf, session_id};

/// The session of lines that belong to the one that comes next.
const NEXT: usize = usize::MAX;

/// Lines that follow each other and belong to one session.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) bytes: Range<usize>,
    /// Number of the first line.
    pub(super) number: u64,
    pub(super) session: usize,
}

impl Run {
    /// True when it belongs to the session that comes next.
    pub(super) fn is_open(&self) -> bool {
        self.session == NEXT
    }
}

/// Sessions are numbered as they come.
#[derive(Debug)]
pub(super) struct Sessions {
    kind: ShapeName,
    /// The lines so far; only the last run may be open.
    pub(super) runs: Vec<Run>,
    ids: HashMap<String, usize>,
    next: usize,
    /// The session of the last line that belongs to one.
    current: Option<usize>,
}

impl Sessions {
    /// A log of `codex` or `pi` is one session, number 0.
    pub(super) fn new(kind: ShapeName) -> Self {
        Self { kind, runs: Vec::new(), ids: HashMap::default(), next: 1, current: None }
    }

    /// Adds a line, or what follows the beginning of one that `goes_on` in its session.
    pub(super) fn file(&mut self, line: &[u8], bytes: Range<usize>, number: u64, goes_on: Option<usize>) {
        let session = goes_on.unwrap_or_else(|| self.session_of(line));
        if session != NEXT && self.runs.last().is_some_and(Run::is_open) {
            self.give(session);
        }
        match self.runs.last_mut() {
            Some(last) if last.session == session => last.bytes.end = bytes.end,
            _ => self.runs.push(Run { bytes, number, session }),
        }
    }

    /// No line comes for now: the last ones belong to the session before them.
    pub(super) fn close(&mut self) {
        if self.runs.last().is_some_and(Run::is_open) {
            let session = self.current.unwrap_or_else(|| self.new_session());
            self.current = Some(session);
            self.give(session);
        }
    }

    /// Sessions without lines are over, `long` excepted: an id that comes again is a new one, and the ids do not grow
    /// with the stream.
    pub(super) fn retain(&mut self, long: Option<usize>) {
        let mut held: HashSet<usize> = self.runs.iter().map(|run| run.session).collect();
        held.extend(self.current.into_iter().chain(long));
        self.ids.retain(|_, session| held.contains(session));
    }

    /// The first bytes of the buffer are gone.
    pub(super) fn forget(&mut self, n_bytes: usize) {
        for run in &mut self.runs {
            run.bytes = run.bytes.start - n_bytes..run.bytes.end - n_bytes;
        }
    }

    /// Gives the last lines, which belong to nobody yet, to `session`.
    fn give(&mut self, session: usize) {
        let Some(last) = self.runs.pop() else { return };
        match self.runs.last_mut() {
            Some(before) if before.session == session => before.bytes.end = last.bytes.end,
            _ => self.runs.push(Run { session, ..last }),
        }
    }

    fn session_of(&mut self, line: &[u8]) -> usize {
        let line = line.strip_prefix(BOM).unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return self.current.unwrap_or(NEXT);
        }
        // A line that is no text is a record of its own, so that its session need not be rejected with it.
        let Ok(text) = std::str::from_utf8(line) else { return self.new_session() };
        if self.kind != ShapeName::ClaudeCode {
            self.current = Some(0);
            return 0;
        }
        let id = match session_id(text) {
            SessionOf::Id(id) => id,
            // Snapshots and summaries are written before the events that they belong to.
            SessionOf::Nobody => return NEXT,
            SessionOf::Broken => return self.current.unwrap_or(NEXT),
        };
        let session = if let Some(&session) = self.ids.get(id.as_ref()) {
            session
        } else {
            let id = id.into_owned();
            let session = self.new_session();
            self.ids.insert(id, session);
            session
        };
        self.current = Some(session);
        session
    }

    fn new_session(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}

/// The smallest ranges of runs from `from` on that hold all lines of their sessions.
pub(super) fn blocks(runs: &[Run], from: usize) -> Vec<Range<usize>> {
    let last: HashMap<usize, usize> = runs.iter().enumerate().map(|(at, run)| (run.session, at)).collect();
    let (mut start, mut reach, mut found) = (from, from, Vec::new());
    for (at, run) in runs.iter().enumerate().skip(from) {
        reach = reach.max(last.get(&run.session).copied().unwrap_or(at));
        if reach == at {
            found.push(start..at + 1);
            start = at + 1;
        }
    }
    found
}

/// The bytes of runs that follow each other.
pub(super) fn span(runs: &[Run]) -> Range<usize> {
    match (runs.first(), runs.last()) {
        (Some(first), Some(last)) => first.bytes.start..last.bytes.end,
        _ => 0..0,
    }
}
