//! Verse: stanzas whose lines begin with capitals and end where prose would go on. Shopping lists, addresses
//! and hard-wrapped prose are none. Knows nothing else.

use crate::text::TextView;

/// What a stanza so far looks like.
#[derive(Debug, Default)]
struct Stanza {
    lines: usize,
    capitals: usize,
    open_ends: usize,
    commas: usize,
    stops: usize,
    rhymes: usize,
    bytes: usize,
    shortest: usize,
    longest: usize,
    endings: [[u8; 2]; 4],
    wide: usize,
}

/// True when at least one stanza of four lines, or one of three with a rhyme, makes up a good part of the text.
pub(super) fn is_verse(view: &TextView<'_>) -> bool {
    let text = view.text;
    let mut stanza = Stanza::default();
    let mut verse_bytes = 0;
    let mut labelled = false;
    for line in view.lines {
        let span = line.span.of(text).trim();
        if is_label(span) {
            labelled = true;
        } else if span.is_empty() || !stanza.add(span) {
            verse_bytes += stanza.close(labelled);
        }
    }
    verse_bytes += stanza.close(labelled);
    verse_bytes * 4 >= view.covered().len()
}

impl Stanza {
    /// Adds a line; false when it cannot be one of a stanza.
    fn add(&mut self, line: &str) -> bool {
        let n_bytes = line.len();
        let first = line.trim_start_matches(['"', '“', '„', '‘', '\'', '—', '«']).chars().next().unwrap_or(' ');
        let wide = is_ideograph(first);
        if wide {
            return self.add_wide(line);
        }
        let n_words = line.split_whitespace().count();
        if !(12..=80).contains(&n_bytes) || !(3..=14).contains(&n_words) || !first.is_alphabetic() {
            return false;
        }
        if line.bytes().any(|byte| byte.is_ascii_digit() || b"{}[]<>|\\=_*#@$`/".contains(&byte)) {
            return false;
        }
        let last = line.chars().next_back().unwrap_or(' ');
        self.lines += 1;
        self.bytes += n_bytes;
        self.shortest = if self.lines == 1 { n_bytes } else { self.shortest.min(n_bytes) };
        self.longest = self.longest.max(n_bytes);
        self.capitals += usize::from(first.is_uppercase());
        self.commas += usize::from(matches!(last, ',' | ';' | '—' | '–' | ':'));
        self.stops += usize::from(matches!(last, '.' | '!' | '?' | '…' | '"' | '”'));
        self.open_ends += usize::from(last.is_alphabetic());
        let ending = ending(line);
        if self.endings.contains(&ending) && ending != [0; 2] {
            self.rhymes += 1;
        }
        let slot = self.lines % 4;
        if let Some(place) = self.endings.get_mut(slot) {
            *place = ending;
        }
        true
    }

    /// Lines of five or seven ideographs, alone or in pairs, as classical verse has them.
    fn add_wide(&mut self, line: &str) -> bool {
        let parts = line.split(['，', '。', '；', '！', '？', ',', '.']).map(str::trim).filter(|part| !part.is_empty());
        let mut length = 0;
        for part in parts {
            let n = part.chars().count();
            if !(n == 5 || n == 7) || (length != 0 && n != length) {
                return false;
            }
            length = n;
            self.wide += 1;
        }
        self.bytes += line.len();
        length != 0
    }

    /// Ends the stanza: its bytes when it is verse, else 0.
    fn close(&mut self, labelled: bool) -> usize {
        let done = std::mem::take(self);
        if labelled && done.lines >= 2 {
            return done.bytes;
        }
        if done.wide >= 4 {
            return done.bytes;
        }
        let n = done.lines;
        if n < 3 || done.capitals * 5 < n * 3 || done.longest > done.shortest * 3 {
            return 0;
        }
        // Prose of one sentence per line ends its lines with full stops, a list with nothing at all.
        let mostly_stops = done.stops * 2 > n;
        let rhymed = done.rhymes >= 1 && (done.rhymes * 3 >= n);
        let enjambed = done.commas + done.open_ends > done.stops && done.commas >= 1 && done.commas * 5 >= n;
        let is_verse = if n == 3 {
            rhymed && done.commas >= 1
        } else {
            !mostly_stops && done.commas * 6 >= n && (enjambed || rhymed) && (rhymed || done.stops >= 1)
        };
        if is_verse { done.bytes } else { 0 }
    }
}

/// The last two letters in lower case.
fn ending(line: &str) -> [u8; 2] {
    let mut letters =
        line.bytes().rev().skip_while(|byte| !byte.is_ascii_alphabetic()).take_while(u8::is_ascii_alphabetic);
    let mut found = [0; 2];
    for slot in found.iter_mut().rev() {
        let Some(letter) = letters.next() else {
            return [0; 2];
        };
        *slot = letter.to_ascii_lowercase();
    }
    found
}

/// `[Verse 1]`, `(Chorus)`, `[Bridge]`.
fn is_label(line: &str) -> bool {
    const LABELS: [&str; 5] = ["verse", "chorus", "bridge", "refrain", "strophe"];
    let bare = line.trim_matches(['[', ']', '(', ')', '*', ':']);
    bare.len() < line.len()
        && bare.len() <= 20
        && LABELS.iter().any(|label| bare.to_ascii_lowercase().starts_with(label))
}

fn is_ideograph(sign: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&sign)
}
