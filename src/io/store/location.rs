//! Names of files and folders, on local disk, in object stores and on web servers. Knows how names are written and
//! put together; touches nothing.

use std::fmt;
use std::path::{Path, PathBuf};

use super::secrets::public_part;
use crate::error::{Error, Result};

/// Schemes of object stores.
const OBJECT_SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl"];
const KNOWN: &str = "file://, s3://, gs://, az://, abfs://, http:// and https://";
/// What stands between the parts of a name everywhere but in local paths.
const SEPARATOR: char = '/';

/// Where a file or a folder is. `Display` gives its name as typed, but never credentials: what a web address has
/// before `@` or after `?` is left out, and a `file://` address shows as its path.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(pub(super) Name);

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Name {
    Local(PathBuf),
    Object {
        /// Scheme and bucket: `s3://bucket`.
        bucket: String,
        /// What follows, without a separator at either end; empty for the bucket itself.
        key: String,
    },
    /// The whole address.
    Web(String),
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Where it is.
    pub location: Location,
    /// Its length in bytes; `None` on a web server that does not tell.
    pub bytes: Option<u64>,
    /// See [`Blob::mark`](super::Blob::mark); the same as that of the open file.
    pub mark: String,
}

impl Location {
    /// Reads a name: a local path, `file:///path`, `s3://bucket/key`, `gs://bucket/key`, `az://container/key`,
    /// `abfs://container@account.dfs.core.windows.net/key`, or a web address. Keys are taken literally, with no
    /// percent decoding, as the command line tools of the stores do.
    ///
    /// # Errors
    /// `Usage` for an unknown scheme, an impossible key, credentials in the name of a bucket, and for every URL but
    /// `file://` when condenser was built without the feature `remote`.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((scheme, rest)) = scheme_of(text) else { return Ok(Self(Name::Local(PathBuf::from(text)))) };
        let scheme = scheme.to_ascii_lowercase();
        let usage = |message: String| Err(Error::usage(redacted(text), message));
        if scheme == "file" {
            // An address of a file names its machine first, mostly none.
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            if path.starts_with(SEPARATOR) {
                return Ok(Self(Name::Local(PathBuf::from(percent_decoded(path)))));
            }
            return usage("a file:// address has three slashes and an absolute path: file:///data/logs".to_owned());
        }
        let is_object = OBJECT_SCHEMES.contains(&&*scheme);
        if !is_object && scheme != "http" && scheme != "https" {
            return usage(format!("the scheme {scheme}:// is not known; known are local paths, {KNOWN}"));
        }
        if !cfg!(feature = "remote") {
            return usage("this condenser was built without remote stores (feature `remote`): it reads and writes local files only".to_owned());
        }
        let (host, key) = rest.split_once(SEPARATOR).unwrap_or((rest, ""));
        if host.is_empty() {
            return usage("the address names no bucket or server".to_owned());
        }
        if !is_object && has_wrong_port(rest) {
            let message =
                "the port of the address is no number; in a user or a password write `/` as %2F and `@` as %40";
            return usage(message.to_owned());
        }
        if !is_object {
            return Ok(Self(Name::Web(format!("{scheme}://{rest}"))));
        }
        if host.split_once('@').is_some_and(|(user, _)| user.contains(':')) {
            return usage("credentials do not belong into a name; set them in the environment".to_owned());
        }
        let key = key.strip_suffix(SEPARATOR).unwrap_or(key);
        let is_odd = |part: &str| matches!(part, "" | "." | "..") || part.chars().any(char::is_control);
        if !key.is_empty() && key.split(SEPARATOR).any(is_odd) {
            return usage("the key has an empty part, a part `.` or `..`, or a control character".to_owned());
        }
        Ok(Self(Name::Object { bucket: format!("{scheme}://{host}"), key: key.to_owned() }))
    }

    /// The place `relative` below this one; `relative` is separated by `/`.
    pub fn join(&self, relative: &str) -> Self {
        let below = |name: &str| {
            let separator = if name.is_empty() || name.ends_with(SEPARATOR) { "" } else { "/" };
            format!("{name}{separator}{relative}")
        };
        Self(match &self.0 {
            Name::Local(path) => Name::Local(path.join(relative)),
            Name::Object { bucket, key } => Name::Object { bucket: bucket.clone(), key: below(key) },
            Name::Web(url) => Name::Web(match url.split_once('?') {
                Some((path, query)) => format!("{}?{query}", below(path)),
                None => below(url),
            }),
        })
    }

    /// The folder that it is in; a bucket is in itself.
    pub fn folder(&self) -> Self {
        let above = |name: &str| {
            let name = name.trim_end_matches(SEPARATOR);
            name.rsplit_once(SEPARATOR).map_or("", |(folder, _)| folder).to_owned()
        };
        Self(match &self.0 {
            Name::Local(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                Name::Local(path.parent().map_or_else(|| path.clone(), Path::to_owned))
            }
            Name::Object { bucket, key } => Name::Object { bucket: bucket.clone(), key: above(key) },
            Name::Web(url) => Name::Web(match url.split_once('?') {
                Some((path, query)) => format!("{}?{query}", above(path)),
                None => above(url),
            }),
        })
    }

    /// The path of a local place.
    pub fn as_local(&self) -> Option<&Path> {
        match &self.0 {
            Name::Local(path) => Some(path),
            _ => None,
        }
    }

    /// True when this is `folder` or lies below it; local paths are compared as absolute paths.
    pub fn is_within(&self, folder: &Self) -> bool {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let follows = |name: &str, folder: &str| {
            let folder = folder.trim_end_matches(SEPARATOR);
            name.strip_prefix(folder)
                .is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with(SEPARATOR))
        };
        match (&self.0, &folder.0) {
            (Name::Local(path), Name::Local(folder)) => absolute(path).starts_with(absolute(folder)),
            (Name::Object { bucket, key }, Name::Object { bucket: other, key: folder }) => {
                bucket == other && follows(key, folder)
            }
            (Name::Web(url), Name::Web(folder)) => follows(without_query(url), without_query(folder)),
            _ => false,
        }
    }

    /// The last part of the name; empty when there is none.
    pub fn file_name(&self) -> String {
        let last = |name: &str| name.rsplit(SEPARATOR).next().unwrap_or_default().to_owned();
        match &self.0 {
            Name::Local(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Name::Object { key, .. } => last(key),
            Name::Web(url) => last(without_query(url)),
        }
    }

    /// True for an address on a web server, which gives files but lists none.
    pub fn is_web(&self) -> bool {
        matches!(self.0, Name::Web(_))
    }

    /// True when the path or key holds a pattern: `*`, `?` or `[`. An address on a web server never does.
    pub fn has_pattern(&self) -> bool {
        let name = match &self.0 {
            Name::Local(path) => path.to_string_lossy(),
            Name::Object { key, .. } => key.as_str().into(),
            Name::Web(_) => return false,
        };
        name.contains(['*', '?', '['])
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self(Name::Local(path))
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self(Name::Local(path.to_owned()))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Name::Local(path) => path.display().fmt(f),
            Name::Object { bucket, key } if key.is_empty() => f.write_str(bucket),
            Name::Object { bucket, key } => write!(f, "{bucket}/{key}"),
            Name::Web(url) => f.write_str(&redacted(url)),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

/// Scheme and rest of an address; a single letter is a drive of Windows.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

/// The address without what may be secret: user, password and query.
fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = scheme_of(url) else { return without_query(url).to_owned() };
    format!("{scheme}://{}", public_part(scheme, rest))
}

/// True when what follows the host of an address cannot be a port; the client of web servers takes it for granted.
fn has_wrong_port(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // The colons of `[::1]` are none of a port.
    let behind = host.rsplit(']').next().unwrap_or_default();
    behind.split_once(':').is_some_and(|(_, port)| !port.is_empty() && port.parse::<u16>().is_err())
}

fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// `%41` stands for `A`; what does not decode to UTF-8 stays as it is.
pub(super) fn percent_decoded(text: &str) -> String {
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let (bytes, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        if let (b'%', Some(high), Some(low)) = (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            decoded.push((high * 16 + low) as u8);
            at += 3;
        } else {
            decoded.push(byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Location;
    use crate::error::ErrorKind;

    #[test]
    fn local_names_are_paths() {
        for (text, path) in [
            ("logs/a.jsonl", "logs/a.jsonl"),
            ("/data", "/data"),
            ("file:///data/a%20b", "/data/a b"),
            ("file://localhost/x", "/x"),
        ] {
            let location = Location::parse(text).expect("a local name");
            assert_eq!(location.as_local(), Some(Path::new(path)));
            assert_eq!(location.to_string(), path);
        }
        assert_eq!(Location::parse("file://data/a").expect_err("relative").kind, ErrorKind::Usage);
        let error = Location::parse("ftp://host/a").expect_err("unknown");
        assert!(error.kind == ErrorKind::Usage && error.message.contains("s3://"), "{error}");
    }

    #[cfg(feature = "remote")]
    #[test]
    fn addresses_show_as_typed_without_secrets() {
        let shown = |text: &str| Location::parse(text).expect("an address").to_string();
        assert_eq!(shown("s3://bucket/a/b*.jsonl"), "s3://bucket/a/b*.jsonl");
        assert_eq!(shown("s3://bucket/dir/"), "s3://bucket/dir");
        assert_eq!(shown("gs://bucket"), "gs://bucket");
        assert_eq!(shown("abfs://box@account.dfs.core.windows.net/k"), "abfs://box@account.dfs.core.windows.net/k");
        assert_eq!(shown("https://user:pw@host/a.jsonl?sig=secret"), "https://host/a.jsonl");
        for right in ["http://[::1]:80/a", "http://[::1]/a", "http://host:/a", "http://me:pw@host:8080/a@b:c"] {
            assert!(Location::parse(right).is_ok(), "{right}");
        }
        let wrong_ports = ["http://me:se/secret@host/a", "http://host:99999/a", "http://[::1]:x/"];
        for wrong in
            ["s3:///key", "s3://", "s3://b//k", "s3://b/../k", "s3://key:secret@b/k"].iter().chain(&wrong_ports)
        {
            let error = Location::parse(wrong).expect_err(wrong);
            assert!(error.kind == ErrorKind::Usage && !error.to_string().contains("secret"), "{error}");
        }
    }

    #[cfg(feature = "remote")]
    #[test]
    fn names_are_put_together_and_compared() {
        let at = |text: &str| Location::parse(text).expect("a name");
        assert_eq!(at("s3://bucket").join("a/b").to_string(), "s3://bucket/a/b");
        assert_eq!(at("s3://bucket/run/").join("manifest.json").to_string(), "s3://bucket/run/manifest.json");
        assert_eq!(at("http://host/run?token=1").join("x"), at("http://host/run/x?token=1"));
        assert_eq!(at("run").join("x").to_string(), Path::new("run").join("x").to_string_lossy());
        assert!(at("s3://bucket/run/a").is_within(&at("s3://bucket/run")));
        assert!(at("s3://bucket/run").is_within(&at("s3://bucket")));
        assert!(!at("s3://bucket/runs/a").is_within(&at("s3://bucket/run")));
        assert!(!at("s3://other/run/a").is_within(&at("s3://bucket/run")));
        assert!(at("run/a").is_within(&at("./run")) && !at("runs").is_within(&at("run")));
        assert_eq!(at("https://host/dir/a.jsonl?x=/y").file_name(), "a.jsonl");
    }
}
