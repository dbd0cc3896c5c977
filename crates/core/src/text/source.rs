//! Says which lines are source code, shell prompts, configuration and rows of values. Knows first words, last signs
//! and what joins them; refuses to know logs, lists and prose.

use super::lexed::LineKind;
use super::lines::LineText;
use super::scan;
use super::words;

pub(super) fn is_prompt(first: &[u8], n_pieces: usize) -> bool {
    (n_pieces >= 2 || first.len() > 6)
        && (first.ends_with(b"$") || first.ends_with(b"#"))
        && first.contains(&b'@')
        && first.contains(&b':')
}

/// A bracket counts one, another sign of source code 256.
static SIGNS_OF_CODE: [u16; 256] = signs_of_code();

const fn signs_of_code() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'(' | b')' | b'{' | b'}' | b'[' | b']' => 1,
            b'=' | b'+' | b'*' | b'&' | b'|' | b'^' | b';' | b'<' | b'>' => 256,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Source code, by its first word together with its signs, or by its last sign.
pub(super) fn is_code(line: &LineText<'_>, trimmed: &[u8], first: &[u8], previous: LineKind) -> bool {
    const SIGNS: u32 =
        scan::BRACKET | scan::SIGN | scan::UNDER | scan::ANGLE | scan::QUOTE | scan::COMMA | scan::COLON | scan::DOT;
    if line.mask & SIGNS == 0 && !(previous == LineKind::Code && line.indent >= 2) {
        return line.pieces.len() <= 3
            && matches!(first, b"import" | b"package" | b"using")
            && line.mask & scan::CAPITAL == 0;
    }
    let last = trimmed.last().copied().unwrap_or(b' ');
    let (mut brackets, mut signs) = (0, 0);
    if line.mask & (scan::BRACKET | scan::SIGN) != 0 {
        let head = trimmed.get(..160.min(trimmed.len())).unwrap_or_default();
        let sum = head.iter().fold(0, |sum, &byte| sum + u32::from(SIGNS_OF_CODE[usize::from(byte)]));
        (brackets, signs) = (sum & 0xff, sum >> 8);
    }
    let is_keyword = line.flags(0) & words::CODE != 0 && first.first().is_some_and(u8::is_ascii_lowercase);
    if is_keyword {
        let is_strong = matches!(
            first,
            b"def"
                | b"const"
                | b"fn"
                | b"pub"
                | b"elif"
                | b"elseif"
                | b"func"
                | b"void"
                | b"namespace"
                | b"struct"
                | b"typedef"
        );
        let is_import = matches!(first, b"import")
            || first == b"from" && line.pieces.iter().take(4).any(|piece| piece.of(line.bytes) == b"import");
        if is_import && last != b'.' || is_strong && brackets + signs > 0 {
            return true;
        }
        if (last == b';' || last == b'{' || last == b':')
            && (brackets + signs > 0
                || matches!(
                    trimmed,
                    b"else:"
                        | b"try:"
                        | b"finally:"
                        | b"except:"
                        | b"break;"
                        | b"continue;"
                        | b"return;"
                        | b"do {"
                        | b"else {"
                        | b"try {"
                ))
        {
            return true;
        }
        if signs > 0 && (brackets >= 2 || line.pieces.iter().any(|piece| piece.of(line.bytes) == b"=")) {
            return true;
        }
        if first == b"return" && line.indent > 0 && !matches!(last, b'.' | b'!' | b'?') {
            return true;
        }
    }
    match last {
        b';' if signs > 1 || brackets >= 2 || first.contains(&b'.') || first.contains(&b'-') => return true,
        b'{' if brackets >= 1 => return true,
        b'}' | b')' | b']' | b',' | b':' if line.indent >= 2 && previous == LineKind::Code => return true,
        b')' if first.contains(&b'(')
            && memchr::memchr(b' ', trimmed).is_none()
            && first.len() > 3
            && first[0] != b'(' =>
        {
            return true;
        }
        _ => {}
    }
    let has_assignment = line
        .pieces
        .iter()
        .take(4)
        .skip(1)
        .any(|piece| matches!(piece.of(line.bytes), b"=" | b"+=" | b":=" | b"=>" | b"=="));
    if has_assignment && (brackets >= 2 || line.indent >= 2 || previous == LineKind::Code) {
        return true;
    }
    line.indent >= 2
        && previous == LineKind::Code
        && !matches!(last, b'.' | b'!' | b'?')
        && (brackets + signs > 0 || is_keyword)
}

/// `key: value`, `key = value`, `KEY=value` with a key like an identifier and a short value.
pub(super) fn is_key_value(line: &LineText<'_>, trimmed: &[u8], first: &[u8], previous: LineKind) -> bool {
    let n_pieces = line.pieces.len();
    let last = trimmed.last().copied().unwrap_or(b' ');
    let is_name = |name: &[u8]| {
        !name.is_empty()
            && name.len() <= 60
            && name.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    };
    if let [name @ .., b':'] = first {
        let is_technical =
            name.iter().any(|byte| b"_-./".contains(byte)) || !name.first().is_some_and(u8::is_ascii_uppercase);
        return is_name(name)
            && is_technical
            && (n_pieces <= 3 || n_pieces <= 6 && (line.indent > 0 || previous == LineKind::KeyValue))
            && !matches!(last, b'!' | b'?')
            && (last != b'.' || n_pieces <= 2)
            && n_pieces > 1;
    }
    if line.piece(1) == b"=" || line.piece(1) == b":" {
        return is_name(first) && n_pieces <= 8 && last != b'.';
    }
    match memchr::memchr(b'=', first) {
        Some(at) if at > 0 => is_name(&first[..at]) && n_pieces <= 4 && !matches!(last, b'.' | b'!' | b'?' | b','),
        _ => false,
    }
}

/// Values separated by tabs, bars or commas.
pub(super) fn is_row(trimmed: &[u8], line: &LineText<'_>, previous: LineKind) -> bool {
    if line.mask & scan::BOX != 0 {
        return true;
    }
    let head = trimmed.get(..400.min(trimmed.len())).unwrap_or_default();
    if line.mask & scan::CONTROL != 0 && memchr::memchr_iter(b'\t', head).count() >= 2 {
        return true;
    }
    if line.mask & scan::SIGN != 0 && memchr::memmem::find_iter(head, b" | ").count() >= 2 {
        return true;
    }
    if line.mask & scan::COMMA == 0 || matches!(trimmed.last(), Some(b'.' | b'!' | b'?')) {
        return false;
    }
    let n_commas = memchr::memchr_iter(b',', head).count();
    let n_spaced = memchr::memmem::find_iter(head, b", ").count();
    n_commas >= 2 && n_spaced == 0 && (line.pieces.len() <= 2 * n_commas || previous == LineKind::TableRow)
}
