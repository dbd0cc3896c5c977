//! Says which atoms are paths, places in files, hosts, addresses and versions. Knows extensions, domains and the
//! signs between their parts; refuses to know identifiers.

use super::atoms::{MAX_ATOM, Shape, whole};
use super::lexed::FactKind;
use super::numbers;
use super::words;

/// `10.0.0.1:80`, `10.0.0.0/8`
pub(super) fn digits_with_more(word: &[u8], shape: &Shape) -> Option<FactKind> {
    if shape.dot == 3 && (shape.colon == 1 || shape.slash == 1) {
        let head = word.split(|&byte| byte == b':' || byte == b'/').next()?;
        return (numbers::of_digits(head) == Some(FactKind::Ip)).then_some(FactKind::Ip);
    }
    None
}

pub(super) fn is_email(word: &[u8], shape: &Shape) -> bool {
    if shape.at != 1 || shape.slash + shape.colon + shape.hash > 0 || word.len() > MAX_ATOM {
        return false;
    }
    let Some(at) = memchr::memchr(b'@', word) else { return false };
    let domain = &word[at + 1..];
    let last = domain.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    at > 0 && domain.len() > last.len() + 1 && last.len() >= 2 && last.iter().all(u8::is_ascii_alphabetic)
}

pub(super) fn with_slash_or_colon(word: &[u8], shape: &Shape) -> Option<FactKind> {
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
    let is_root = matches!(
        first,
        b"src"
            | b"lib"
            | b"test"
            | b"tests"
            | b"docs"
            | b"doc"
            | b"app"
            | b"apps"
            | b"bin"
            | b"etc"
            | b"usr"
            | b"var"
            | b"tmp"
            | b"home"
            | b"node_modules"
            | b"pkg"
            | b"cmd"
            | b"internal"
            | b"packages"
            | b"origin"
            | b"build"
            | b"dist"
            | b"target"
            | b"scripts"
            | b"config"
            | b"include"
            | b"assets"
            | b"public"
            | b"feature"
            | b"fix"
            | b".git"
            | b".github"
    );
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

pub(super) fn dotted(word: &[u8], shape: &Shape) -> Option<FactKind> {
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
            let is_sure = shape.dot >= 2
                || matches!(
                    last,
                    b"com"
                        | b"org"
                        | b"net"
                        | b"io"
                        | b"dev"
                        | b"ai"
                        | b"edu"
                        | b"gov"
                        | b"de"
                        | b"uk"
                        | b"app"
                        | b"local"
                        | b"internal"
                );
            if is_sure && shape.under == 0 {
                return Some(FactKind::Host);
            }
        }
    }
    let is_call = matches!(first, b"self" | b"this" | b"console" | b"os" | b"np" | b"pd" | b"math" | b"re" | b"module");
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
    let is_hidden = matches!(
        word,
        b".env"
            | b".git"
            | b".github"
            | b".gitignore"
            | b".gitattributes"
            | b".gitmodules"
            | b".npmrc"
            | b".nvmrc"
            | b".bashrc"
            | b".zshrc"
            | b".profile"
            | b".ssh"
            | b".config"
            | b".cargo"
            | b".vscode"
            | b".idea"
            | b".dockerignore"
            | b".editorconfig"
            | b".eslintrc"
            | b".prettierrc"
            | b".babelrc"
            | b".htaccess"
    );
    is_hidden.then_some(FactKind::Path)
}

fn is_file_stem(word: &[u8]) -> bool {
    // `foo.test.ts`, `libfoo.so`
    matches!(word.rsplit(|&byte| byte == b'.').nth(1), Some(b"test" | b"spec" | b"d" | b"min" | b"config" | b"module"))
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
