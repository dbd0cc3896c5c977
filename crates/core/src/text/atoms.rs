//! Says what a run of letters, digits and joining signs is: an identifier, a path, a host, a version, … Knows
//! shapes, extensions, domains and the signs between their parts; refuses to know the words around it.

use super::classes::byte_table;
use super::lexed::FactKind;
use super::numbers;
use super::words::{self, Table, word_table};

word_table!(PARTS: Table<256, true>, "atoms": ROOTS HIDDEN DOMAINS OBJECTS INNER);

/// A run longer than this is data, not a fact; a path or host may be twice as long.
pub(super) const MAX_ATOM: usize = 128;

/// How often which class of byte occurs.
#[derive(Debug, Default, Clone, Copy)]
struct Shape {
    lower: usize,
    upper: usize,
    digit: usize,
    ext: usize,
    dot: usize,
    dash: usize,
    under: usize,
    slash: usize,
    colon: usize,
    at: usize,
    hash: usize,
    other: usize,
}

/// One, at the place of each byte's count in the sum over a word.
static PLACES: [u128; 256] = byte_table!(u128:
    b'a'..=b'z' => 1,
    b'A'..=b'Z' => 1 << 8,
    b'0'..=b'9' => 1 << 16,
    128.. => 1 << 24,
    b'.' => 1 << 32,
    b'-' => 1 << 40,
    b'_' => 1 << 48,
    b'/' | b'\\' => 1 << 56,
    b':' => 1 << 64,
    b'@' => 1 << 72,
    b'#' => 1 << 80,
    _ => 1 << 88,
);

impl Shape {
    /// The shape of a word of up to 255 bytes.
    fn of(word: &[u8]) -> Self {
        let sum = word.iter().fold(0_u128, |sum, &byte| sum.wrapping_add(PLACES[usize::from(byte)]));
        let [lower, upper, digit, ext, dot, dash, under, slash, colon, at, hash, other, ..] =
            sum.to_le_bytes().map(usize::from);
        Self { lower, upper, digit, ext, dot, dash, under, slash, colon, at, hash, other }
    }
    fn letters(&self) -> usize {
        self.lower + self.upper + self.ext
    }
}

/// Calls `found` for every fact in `word`, with its place in the word.
pub(super) fn find(word: &[u8], found: &mut impl FnMut(usize, usize, FactKind)) {
    if word.len() >= 2 * MAX_ATOM {
        return;
    }
    part(word, 0, word.len(), found);
}

fn part(word: &[u8], mut start: usize, mut end: usize, found: &mut impl FnMut(usize, usize, FactKind)) {
    while start < end && matches!(word[end - 1], b'.' | b':' | b'-' | b',' | b'+' | b'~' | b'@') {
        end -= 1;
    }
    while start < end
        && (matches!(word[start], b':' | b'-' | b',' | b'~')
            && word.get(start + 1) != Some(&b'/')
            && !word[start..end].starts_with(b"::")
            || word[start] == b'.' && !matches!(word.get(start + 1), Some(b'/' | b'.' | b'a'..=b'z'))
            || word[start] == b'+' && !word.get(start + 1).is_some_and(u8::is_ascii_digit))
    {
        start += 1;
    }
    if start >= end {
        return;
    }
    let inner = &word[start..end];
    let shape = Shape::of(inner);
    if let Some(kind) = whole(inner, &shape) {
        found(start, end, kind);
        return;
    }
    let separator: &[u8] = if shape.at > 0 {
        b"@"
    } else if shape.hash > 0 {
        b"#"
    } else if shape.other > 0 {
        b"%$+~,"
    } else if shape.slash > 0 {
        b"/\\"
    } else if shape.colon > 0 {
        b":"
    } else if shape.dot > 0 {
        b"."
    } else if shape.dash > 0 {
        b"-"
    } else {
        return;
    };
    let mut from = start;
    for at in start..=end {
        if at == end || separator.contains(&word[at]) {
            if at > from && at - from < end - start {
                part(word, from, at, found);
            }
            from = at + 1;
        }
    }
}

/// What the whole of `word` is.
fn whole(word: &[u8], shape: &Shape) -> Option<FactKind> {
    let first = *word.first()?;
    if shape.at > 0 {
        return is_email(word, shape).then_some(FactKind::Email);
    }
    if word.len() > MAX_ATOM && shape.slash == 0 {
        return None;
    }
    if shape.hash > 0 {
        return is_ticket_number(word, shape).then_some(FactKind::Ticket);
    }
    if shape.digit > 0 && (first.is_ascii_digit() || first == b'+') {
        if shape.letters() == 0 && shape.under == 0 {
            return numbers::of_digits(word).or_else(|| digits_with_more(word, shape));
        }
        if let Some(kind) = numbers::with_suffix(word) {
            return Some(kind);
        }
        if shape.colon > 0 && numbers::is_clock(word) {
            return Some(FactKind::Time);
        }
        if shape.dash >= 2 && numbers::is_date(word) {
            return Some(FactKind::Date);
        }
    }
    if shape.slash > 0 || shape.colon > 0 {
        return with_slash_or_colon(word, shape);
    }
    if shape.dot > 0 {
        return dotted(word, shape);
    }
    if shape.other > 0 {
        return None;
    }
    if shape.dash > 0 {
        return hyphenated(word, shape);
    }
    if shape.under > 0 {
        return underscored(word, shape);
    }
    plain(word, shape)
}

/// `#142`, `owner/repo#142`
fn is_ticket_number(word: &[u8], shape: &Shape) -> bool {
    let Some(at) = memchr::memchr(b'#', word) else { return false };
    let number = &word[at + 1..];
    shape.hash == 1
        && !number.is_empty()
        && number.len() <= 9
        && number.iter().all(u8::is_ascii_digit)
        && (at == 0 || shape.slash == 1)
}

fn hyphenated(word: &[u8], shape: &Shape) -> Option<FactKind> {
    let n_parts = shape.dash + 1;
    if shape.ext > 0 || shape.under > 0 && shape.digit == 0 {
        return None;
    }
    if word.len() == 36 && shape.dash == 4 && word.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return Some(FactKind::Hash);
    }
    if memchr::memmem::find(word, b"--").is_some() {
        return None;
    }
    let dash = memchr::memchr(b'-', word)?;
    let (head, tail) = (&word[..dash], &word[dash + 1..]);
    if head.len() >= 2
        && head.iter().all(u8::is_ascii_uppercase)
        && !tail.is_empty()
        && tail.iter().all(u8::is_ascii_digit)
    {
        return Some(FactKind::Ticket);
    }
    if shape.letters() == 0 {
        return None;
    }
    if shape.upper == 0 {
        if n_parts >= 3 || shape.digit > 0 {
            let has_function =
                word.split(|&byte| byte == b'-').any(|part| words::flags_of(part) & words::FUNCTION != 0);
            // `3-day`, `10-year-old` are words.
            let is_word = head.iter().all(u8::is_ascii_digit)
                && tail.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-');
            return (!has_function && !is_word && shape.lower >= 2).then_some(FactKind::Kebab);
        }
        return None;
    }
    if shape.digit > 0 && shape.under == 0 {
        return Some(FactKind::Alphanumeric);
    }
    None
}

fn underscored(word: &[u8], shape: &Shape) -> Option<FactKind> {
    let inner = word.iter().skip_while(|&&byte| byte == b'_').count();
    let trailing = word.iter().rev().take_while(|&&byte| byte == b'_').count();
    let has_inner =
        inner > trailing && memchr::memchr(b'_', &word[word.len() - inner..word.len() - trailing]).is_some();
    let is_dunder = word.len() > 4 && word.starts_with(b"__") && word.ends_with(b"__");
    if shape.letters() == 0 || !(has_inner || is_dunder || (word[0] == b'_' && trailing == 0 && word.len() > 2)) {
        return None;
    }
    Some(if shape.lower == 0 && shape.ext == 0 { FactKind::Screaming } else { FactKind::Snake })
}

/// Letters and digits only.
fn plain(word: &[u8], shape: &Shape) -> Option<FactKind> {
    let first = word[0];
    if shape.digit == 0 {
        return of_letters(word, shape);
    }
    if shape.letters() == 0 {
        return Some(FactKind::Number);
    }
    if shape.ext > 0 {
        return None;
    }
    let is_hex = word.iter().all(u8::is_ascii_hexdigit) && (shape.upper == 0 || shape.lower == 0);
    if word.starts_with(b"0x") && word.len() > 2 && word[2..].iter().all(u8::is_ascii_hexdigit) {
        return Some(FactKind::Hash);
    }
    if is_hex && word.len() >= 7 && shape.digit >= 2 {
        return Some(FactKind::Hash);
    }
    if matches!(word, [b'v' | b'V', digits @ ..] if digits.iter().all(u8::is_ascii_digit) && digits.len() <= 3) {
        return Some(FactKind::Version);
    }
    let n_humps = word
        .windows(2)
        .filter(|pair| (pair[0].is_ascii_lowercase() || pair[0].is_ascii_digit()) && pair[1].is_ascii_uppercase())
        .count();
    let is_mixed = shape.lower >= 2 && shape.upper >= 1 && word.len() <= 64;
    if is_mixed && n_humps > 0 && first.is_ascii_lowercase() {
        return Some(FactKind::Camel);
    }
    if is_mixed && n_humps > 0 && first.is_ascii_uppercase() {
        return Some(FactKind::Pascal);
    }
    let is_ordinal = first.is_ascii_digit()
        && matches!(word, [.., b's', b't'] | [.., b'n' | b'r', b'd'] | [.., b't', b'h'])
        && shape.lower == 2;
    (!is_ordinal && word.len() <= 40).then_some(FactKind::Alphanumeric)
}

fn of_letters(word: &[u8], shape: &Shape) -> Option<FactKind> {
    let first = word[0];
    if shape.upper == 0 {
        return is_vowelless(word).then_some(FactKind::Vowelless);
    }
    if word.len() > 64 || shape.ext > 0 {
        return None;
    }
    if shape.lower == 0 {
        return ((2..=8).contains(&word.len()) && words::flags_of(word) & !ACRONYM_TOO == 0)
            .then_some(FactKind::Acronym);
    }
    if first.is_ascii_lowercase() {
        return (shape.lower >= 2 || shape.upper >= 2).then_some(FactKind::Camel);
    }
    if shape.lower == 1 && word.ends_with(b"s") && shape.upper >= 2 {
        return Some(FactKind::Acronym);
    }
    (shape.upper >= 2 && shape.lower >= 1 && word.len() >= 4).then_some(FactKind::Pascal)
}

/// Words of the list that in capitals are acronyms all the same: file types, domains, units.
const ACRONYM_TOO: u32 =
    words::EXTENSION | words::DOMAIN | words::UNIT | words::TICKET | words::CURRENCY | words::SOUND | words::SCALE;

/// Three to eight small consonants, not all the same, that are no interjection.
pub(super) fn is_vowelless(word: &[u8]) -> bool {
    (3..=8).contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_lowercase() && !b"aeiouy".contains(byte))
        && word.iter().any(|&byte| byte != word[0])
        && words::flags_of(word) & (words::SOUND | words::UNIT | words::ABBREVIATION | words::FILLER) == 0
}

/// `10.0.0.1:80`, `10.0.0.0/8`
fn digits_with_more(word: &[u8], shape: &Shape) -> Option<FactKind> {
    if shape.dot == 3 && (shape.colon == 1 || shape.slash == 1) {
        let head = word.split(|&byte| byte == b':' || byte == b'/').next()?;
        return (numbers::of_digits(head) == Some(FactKind::Ip)).then_some(FactKind::Ip);
    }
    None
}

fn is_email(word: &[u8], shape: &Shape) -> bool {
    if shape.at != 1 || shape.slash + shape.colon + shape.hash > 0 || word.len() > MAX_ATOM {
        return false;
    }
    let Some(at) = memchr::memchr(b'@', word) else { return false };
    let domain = &word[at + 1..];
    let last = domain.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    at > 0 && domain.len() > last.len() + 1 && last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic)
}

fn with_slash_or_colon(word: &[u8], shape: &Shape) -> Option<FactKind> {
    if shape.colon > 0 {
        if is_ipv6(word, shape) {
            return Some(FactKind::Ip);
        }
        let is_drive = matches!(word, [letter, b':', b'\\' | b'/', _, ..] if letter.is_ascii_alphabetic());
        if is_drive && shape.colon == 1 {
            return Some(FactKind::Path);
        }
        // `path:12`, `path:12:7`, `host:80`
        let colon = memchr::memchr(b':', word)?;
        let (head, tail) = (&word[..colon], &word[colon + 1..]);
        let is_place =
            shape.colon <= 2 && !tail.is_empty() && tail.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        if !is_place {
            return None;
        }
        return match whole(head, &Shape::of(head))? {
            FactKind::Path => Some(FactKind::FileRef),
            FactKind::Host => Some(FactKind::Host),
            _ if shape.slash == 0 && shape.dot > 0 && shape.colon == 1 && tail.len() >= 2 && is_host_name(head) => {
                Some(FactKind::Host)
            }
            _ => None,
        };
    }
    is_path(word, shape).then_some(FactKind::Path)
}

fn is_ipv6(word: &[u8], shape: &Shape) -> bool {
    (2..=7).contains(&shape.colon)
        && shape.digit > 0
        && word.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
        && (memchr::memmem::find(word, b"::").is_some() || shape.colon == 7)
        && word.split(|&byte| byte == b':').all(|group| group.len() <= 4)
}

fn is_path(word: &[u8], shape: &Shape) -> bool {
    let last = word.rsplit(|&byte| byte == b'/' || byte == b'\\').next().unwrap_or_default();
    let has_extension = is_file(last);
    if word.starts_with(b"./") || word.starts_with(b"../") || word.starts_with(b"~/") {
        return word.len() > 3;
    }
    if shape.letters() == 0 || memchr::memmem::find(word, b"//").is_some() {
        return false;
    }
    if word[0] == b'/' {
        return shape.lower + shape.upper >= 2;
    }
    if has_extension {
        return true;
    }
    let first = word.split(|&byte| byte == b'/' || byte == b'\\').next().unwrap_or_default();
    let is_root = PARTS.of(first) & ROOTS != 0;
    let n_slashes = shape.slash - usize::from(word.ends_with(b"/"));
    match n_slashes {
        0 => is_root || shape.under + shape.dash + shape.dot > 0 && shape.lower > 2,
        1 => is_root || shape.under + shape.dot > 0,
        _ => {
            shape.ext == 0
                && (is_root || shape.under + shape.dash + shape.dot + shape.digit > 0 || n_slashes >= 3)
                && shape.lower > shape.upper
        }
    }
}

/// `name.ext` with a known extension.
fn is_file(word: &[u8]) -> bool {
    let Some(dot) = memchr::memrchr(b'.', word) else { return false };
    let (stem, extension) = (&word[..dot], &word[dot + 1..]);
    !stem.is_empty() && extension.len() <= 11 && words::flags_of(extension) & words::EXTENSION != 0
}

fn is_host_name(word: &[u8]) -> bool {
    word.split(|&byte| byte == b'.').all(|label| {
        !label.is_empty() && label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

fn dotted(word: &[u8], shape: &Shape) -> Option<FactKind> {
    if is_version(word, shape) {
        return Some(FactKind::Version);
    }
    if shape.other > 0 || shape.letters() < 2 || memchr::memmem::find(word, b"..").is_some() {
        return None;
    }
    let last = &word[memchr::memrchr(b'.', word)? + 1..];
    let first = word.split(|&byte| byte == b'.').next().unwrap_or_default();
    let flags = words::flags_of(last);
    let is_lower = last.iter().all(u8::is_ascii_lowercase);
    if flags & words::DOMAIN != 0 && is_lower && !first.is_empty() && is_host_name(word) {
        let is_both = flags & words::EXTENSION != 0;
        if !is_both || shape.dot >= 2 && !is_file_stem(word) {
            let is_sure = shape.dot >= 2 || PARTS.of(last) & DOMAINS != 0;
            if is_sure && shape.under == 0 {
                return Some(FactKind::Host);
            }
        }
    }
    let is_call = PARTS.of(first) & OBJECTS != 0;
    if flags & words::EXTENSION != 0
        && !is_call
        && (is_lower || last.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()))
        || last.iter().any(u8::is_ascii_digit) && flags & words::EXTENSION != 0
    {
        let stem = &word[..word.len() - last.len() - 1];
        if !stem.is_empty() && (stem.len() > 1 || last.len() > 1) {
            return Some(FactKind::Path);
        }
    }
    (PARTS.of(word) & HIDDEN != 0).then_some(FactKind::Path)
}

fn is_file_stem(word: &[u8]) -> bool {
    // `foo.test.ts`, `libfoo.so`
    word.rsplit(|&byte| byte == b'.').nth(1).is_some_and(|part| PARTS.of(part) & INNER != 0)
}

/// `v22.3.0`, `1.4.2-beta.1`, `3.11.0rc1`
fn is_version(word: &[u8], shape: &Shape) -> bool {
    let has_v = matches!(word, [b'v' | b'V', digit, ..] if digit.is_ascii_digit());
    let rest = if has_v { &word[1..] } else { word };
    if !rest.first().is_some_and(u8::is_ascii_digit) || shape.under > 0 || shape.slash > 0 {
        return false;
    }
    let head = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let n_dots = memchr::memchr_iter(b'.', &rest[..head]).count();
    let is_plain = rest.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'));
    is_plain
        && shape.lower + shape.upper <= 16
        && ((has_v && n_dots >= 1) || n_dots >= 2)
        && memchr::memmem::find(rest, b"..").is_none()
}
