//! What every page has: its head with the policy that nothing is fetched, the style, the script, title and footer. Knows
//! no report.

use super::writer::Html;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of [`STYLE`] and of [`SCRIPT`] in Base64: the browser applies and runs nothing else. A test computes them.
const STYLE_HASH: &str = "1ipDs1hGyCHO+bEZJPLw4rGe8usFgj7b9RsPtOkq9Rg=";
const SCRIPT_HASH: &str = "ni7ERi8u1pC9u3v+8eHFq4hGlGu1sMpHspuCJMZlNRk=";

/// A page: what its title says, and what stands in header and body.
pub(super) fn page(title: &str, header: impl FnOnce(&mut Html), body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.fixed("<!DOCTYPE html>\n");
    html.tag("html", &[("lang", "en")], |html| {
        html.tag("head", &[], |html| head(title, html));
        html.tag("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the content");
            html.tag("header", &[("class", "page")], header);
            html.tag("main", &[("id", "main")], body);
            html.tag("footer", &[], |html| {
                html.leaf(
                    "p",
                    &[],
                    concat!("Made by condenser ", env!("CARGO_PKG_VERSION"), ". This page fetches nothing."),
                );
            });
            html.tag("script", &[], |html| html.fixed(SCRIPT));
        });
    });
    html.finish() + "\n"
}

/// Sections that are there, each with its id and heading, after a list of links to them.
pub(super) fn sections(
    sections: &[(&'static str, &'static str, bool)],
    html: &mut Html,
    mut write: impl FnMut(&str, &mut Html),
) {
    let there = || sections.iter().filter(|(_, _, is_there)| *is_there);
    html.tag("nav", &[("aria-label", "Sections")], |html| {
        html.tag("ul", &[], |html| {
            for (id, heading, _) in there() {
                html.tag("li", &[], |html| html.leaf("a", &[("href", &format!("#{id}"))], heading));
            }
        });
    });
    for (id, heading, _) in there() {
        html.tag("section", &[("id", id), ("aria-labelledby", &format!("{id}-heading"))], |html| {
            html.leaf("h2", &[("id", &format!("{id}-heading"))], heading);
            write(id, html);
        });
    }
}

fn head(title: &str, html: &mut Html) {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    );
    html.void("meta", &[("charset", "utf-8")]);
    html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
    // Without an icon of its own a browser asks the server of the page for one.
    html.void("link", &[("rel", "icon"), ("href", "data:,")]);
    html.leaf("title", &[], title);
    html.tag("style", &[], |html| html.fixed(STYLE));
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::{SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};

    #[test]
    fn the_policy_names_this_style_and_this_script() {
        let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
        assert_eq!((STYLE_HASH, SCRIPT_HASH), (&*hash(STYLE), &*hash(SCRIPT)));
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
    }
}
