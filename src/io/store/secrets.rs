//! What an address must not show: user and password before `@`, and the query, which may be a signature. Knows texts.

use std::borrow::Cow;

const MARK: &str = "://";

/// `text` without the secrets of the addresses in it.
pub fn without_secrets(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(MARK) {
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
        let end = after.find(ends).unwrap_or(after.len());
        let (address, behind) = after.split_at(end);
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        out.extend([before, MARK, public_part(scheme, address)]);
        if address.contains(['?', '#']) {
            out.push_str("?…");
        }
        rest = behind;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What follows `scheme://`, without user, password and query.
pub(super) fn public_part<'a>(scheme: &str, address: &'a str) -> &'a str {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    let host = shown.split('/').next().unwrap_or_default();
    // A password with `/` in it ends further on than it should.
    let is_cut = host.split_once(':').is_some_and(|(_, port)| !port.bytes().all(|byte| byte.is_ascii_digit()));
    let searched = if is_cut && !host.contains('@') { shown } else { host };
    match searched.rfind('@') {
        // `container@account` of Azure names no user.
        Some(at) if is_azure(scheme) && !searched.get(..at).is_some_and(|user| user.contains(':')) => shown,
        Some(at) => shown.get(at + 1..).unwrap_or_default(),
        None => shown,
    }
}

fn is_azure(scheme: &str) -> bool {
    ["ab", "az"].iter().any(|begin| scheme.get(..2).is_some_and(|scheme| scheme.eq_ignore_ascii_case(begin)))
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn texts_lose_what_their_addresses_keep_secret_and_nothing_else() {
        for (text, expected) in [
            ("no address at all: a@b?c", "no address at all: a@b?c"),
            ("http://host:80/a@b is there", "http://host:80/a@b is there"),
            ("`https://me:pw@host/a?sig=x` and 'http://you@h'", "`https://host/a?…` and 'http://h'"),
            ("http://me:p/w@host/a, then b@c", "http://host/a, then b@c"),
            ("abfs://box@account/k, abfs://a:b@c/k", "abfs://box@account/k, abfs://c/k"),
            ("x://y", "x://y"),
            ("://", "://"),
            ("s3://id:key@bucket/größe#x", "s3://bucket/größe?…"),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }
}
