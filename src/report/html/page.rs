//! Views as pages: a head with the policy that nothing is fetched, cards, sections with links to them, tables that can be
//! sorted and held against the JSON, charts with their numbers. Knows views, no document.

use super::charts::{Room, draw, remark, steps};
use super::writer::Html;
use crate::report::numbers;
use crate::report::view::{
    Block, Blocks, Card, Cell, Chart, Column, Drawing, KEY, Kind, Piece, Seen, Table, Tone, View, Words, pieces,
};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// SHA-256 of [`STYLE`] and of [`SCRIPT`] in Base64: the browser applies and runs nothing else. A test computes them.
const STYLE_HASH: &str = "HV/zy7q0Jym31rM37MQg1TPsOlU0ooNR8LBugHm8Xlc=";
const SCRIPT_HASH: &str = "ni7ERi8u1pC9u3v+8eHFq4hGlGu1sMpHspuCJMZlNRk=";

/// A view as a page, with what `end` writes below it.
pub(super) fn page(view: &View<'_>, end: impl FnOnce(&mut Html)) -> String {
    let title = format!("{}: {}", view.heading, view.about.join(view.between));
    let header = |html: &mut Html| {
        html.leaf("h1", &[], &view.heading);
        html.tag("p", &[("class", "about")], |html| {
            for (at, name) in view.about.iter().enumerate() {
                html.text(if at == 0 { "" } else { view.between });
                html.leaf("bdi", &[("class", "path")], name);
            }
            for fact in &view.facts {
                html.text(" · ");
                html.leaf("bdi", &[], fact);
            }
        });
        if !view.lead.is_empty() {
            html.leaf("p", &[("class", "lead")], &view.lead);
        }
        blocks(&view.warnings, html);
    };
    frame(&title, header, |html| {
        write_cards("cards", &view.cards, html);
        html.tag("div", &[("class", "first")], |html| blocks(&view.sums, html));
        sections(view, html);
        end(html);
    })
}

/// A page: what its title says, and what stands in header and body.
pub(super) fn frame(title: &str, header: impl FnOnce(&mut Html), body: impl FnOnce(&mut Html)) -> String {
    let mut html = Html::default();
    html.fixed("<!DOCTYPE html>\n");
    html.tag("html", &[("lang", "en")], |html| {
        html.tag("head", &[], |html| head(title, html));
        html.tag("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the content");
            html.tag("header", &[("class", "page")], header);
            html.tag("main", &[("id", "main")], body);
            html.tag("footer", &[], |html| {
                let made = concat!("Made by condenser ", env!("CARGO_PKG_VERSION"), ". This page fetches nothing.");
                html.leaf("p", &[], made);
            });
            html.tag("script", &[], |html| html.fixed(SCRIPT));
        });
    });
    html.finish() + "\n"
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

/// The sections that are there, after a list of links to them.
fn sections(view: &View<'_>, html: &mut Html) {
    let there = || view.sections.iter().filter(|section| section.blocks.iter().any(|(seen, _)| is_shown(*seen)));
    html.tag("nav", &[("aria-label", "Sections")], |html| {
        html.tag("ul", &[], |html| {
            for section in there() {
                let target = format!("#{}", section.id);
                html.tag("li", &[], |html| html.leaf("a", &[("href", &target)], section.heading));
            }
        });
    });
    for section in there() {
        let heading = format!("{}-heading", section.id);
        html.tag("section", &[("id", section.id), ("aria-labelledby", &heading)], |html| {
            html.leaf("h2", &[("id", &heading)], section.heading);
            let inside = |html: &mut Html| {
                if !section.remark.is_empty() {
                    html.leaf("p", &[("class", "note")], &section.remark);
                }
                blocks(&section.blocks, html);
            };
            if !section.is_folded {
                return inside(html);
            }
            html.tag("details", &[("class", "folded")], |html| {
                html.leaf("summary", &[], "Show");
                inside(html);
            });
        });
    }
}

fn is_shown(seen: Seen) -> bool {
    seen != Seen::Terminal
}

/// Numbers that a page is opened for.
pub(super) fn write_cards(class: &str, cards: &[Card], html: &mut Html) {
    html.tag("dl", &[("class", class)], |html| {
        for Card { name, place, number, beside } in cards {
            html.tag("div", &[], |html| {
                html.leaf("dt", &[], name);
                let mut attributes = vec![("class", "value")];
                if !place.is_empty() {
                    attributes.extend([("data-at", *place), ("data-value", &*number.value)]);
                }
                html.leaf("dd", &attributes, &number.shown);
                if !beside.is_empty() {
                    html.leaf("dd", &[("class", "beside")], beside);
                }
            });
        }
    });
}

fn blocks(blocks: &Blocks<'_>, html: &mut Html) {
    for (_, block) in blocks.iter().filter(|(seen, _)| is_shown(*seen)) {
        match block {
            Block::Heading { id, text, remark } => {
                let attributes: &[_] = if id.is_empty() { &[] } else { &[("id", *id)] };
                html.leaf("h3", attributes, text);
                if !remark.is_empty() {
                    html.leaf("p", &[("class", "note")], remark);
                }
            }
            Block::Said(said, tone) => {
                let attributes: &[_] = match tone {
                    Tone::Faint => &[("class", "note")],
                    Tone::Bad => &[("class", "warning")],
                    Tone::Good => &[("class", "good")],
                    Tone::Strong => &[("class", "strong")],
                    Tone::Plain => &[],
                };
                html.tag("p", attributes, |html| words(said, html));
            }
            Block::List(list) => html.tag("ul", &[("class", "prose")], |html| {
                for said in list {
                    html.tag("li", &[], |html| words(said, html));
                }
            }),
            Block::Facts(facts) => html.tag("dl", &[("class", "facts")], |html| {
                for (name, value) in facts {
                    html.leaf("dt", &[], name);
                    html.leaf("dd", &[], value);
                }
            }),
            Block::Options(options) => {
                html.leaf("p", &[("class", "note")], "Options that differ from the defaults:");
                html.leaf("pre", &[("class", "options")], &options.join("\n"));
            }
            Block::Command(what, command) => html.tag("p", &[("class", "note")], |html| {
                html.text(&format!("{what}: "));
                html.leaf("code", &[], command);
            }),
            Block::Table(table) => write_table(table, html),
            Block::Cards(cards) => write_cards("cards small", cards, html),
            Block::Drawings(drawings, is_uneven) => {
                let class = if *is_uneven { "columns" } else { "charts" };
                html.tag("div", &[("class", class)], |html| {
                    let shown = drawings.iter().filter(|(seen, _)| is_shown(*seen));
                    shown.for_each(|(_, drawing)| write_drawing(drawing, html));
                });
            }
        }
    }
}

fn words(words: &Words, html: &mut Html) {
    let words = match words {
        Words::Told(words) => return html.text(words),
        Words::Fixed(words) => words,
    };
    for piece in pieces(words) {
        match piece {
            Piece::Text(text) => html.text(text),
            Piece::Strong(text) => html.leaf("strong", &[], text),
            Piece::Code(text) => html.leaf("code", &[], text),
            Piece::Key(name) => html.leaf("i", &[("class", &format!("key {name}"))], ""),
        }
    }
}

/// A drawing for a page and for a phone, with its numbers beneath.
fn write_drawing(drawing: &Drawing<'_>, html: &mut Html) {
    let Drawing { name, note, alternative, chart, is_wide, table } = drawing;
    let remark = remark(chart);
    html.tag("figure", &[], |html| {
        html.tag("figcaption", &[], |html| {
            html.leaf("strong", &[], name);
            for note in [note, &remark].into_iter().filter(|note| !note.is_empty()) {
                html.text(" ");
                html.leaf("span", &[], note);
            }
        });
        let room = if *is_wide { Room::Wide } else { Room::Half };
        for (class, room) in [("chart wide", room), ("chart narrow", Room::Narrow)] {
            let Some(svg) = draw(chart, room) else { continue };
            let attributes = [("class", class), ("role", "img"), ("aria-label", &**alternative)];
            html.tag("div", &attributes, |html| html.svg(&svg));
        }
        if let Chart::Density(facts) = chart {
            legend(&steps(facts), html);
        }
        if let Some(table) = table {
            write_folded(table, html);
        }
    });
}

fn legend(steps: &[u64], html: &mut Html) {
    html.tag("ul", &[("class", "legend")], |html| {
        for (at, least) in steps.iter().enumerate() {
            let least_shown = numbers::count(*least);
            let text = match steps.get(at + 1) {
                Some(next) if next - 1 > *least => format!("{least_shown}–{}", numbers::count(next - 1)),
                Some(_) => least_shown,
                None => format!("{least_shown} or more"),
            };
            html.tag("li", &[], |html| {
                html.leaf("i", &[("class", &format!("h{}", at.min(5)))], "");
                html.text(&text);
            });
        }
        html.leaf("li", &[], "conversations");
    });
}

fn write_table(table: &Table, html: &mut Html) {
    if table.is_folded { write_folded(table, html) } else { write_open(table, html) }
}

fn write_folded(table: &Table, html: &mut Html) {
    html.tag("details", &[("class", "numbers")], |html| {
        html.tag("summary", &[], |html| {
            html.text("Numbers");
            html.leaf("span", &[("class", "aside")], &format!(": {}", table.caption));
        });
        write_open(table, html);
    });
}

/// Writes a table in a box of its own, which scrolls where it is wider than the page.
fn write_open(table: &Table, html: &mut Html) {
    let region = [("class", "scroll"), ("role", "region"), ("tabindex", "0"), ("aria-label", &*table.caption)];
    let shown = || table.columns.iter().enumerate().filter(|(_, column)| is_shown(column.seen));
    html.tag("div", &region, |html| {
        html.tag("table", &[("class", "sortable")], |html| {
            html.leaf("caption", &[], &table.caption);
            html.tag("thead", &[], |html| {
                html.tag("tr", &[], |html| shown().for_each(|(_, column)| write_heading(column, html)));
            });
            html.tag("tbody", &[], |html| {
                for row in table.rows.iter().filter(|row| is_shown(row.seen)) {
                    html.tag("tr", &[("data-at", &row.place)], |html| {
                        for (at, column) in shown() {
                            if let Some(cell) = row.cells.get(at) {
                                write_cell(cell, at, column.show.kind(), html);
                            }
                        }
                    });
                }
            });
        });
    });
}

fn write_heading(column: &Column, html: &mut Html) {
    let mut attributes = vec![("scope", "col")];
    let is_field = !column.field.is_empty() && column.field != KEY;
    attributes.extend(is_field.then_some(("data-column", &*column.field)));
    attributes.extend((column.show.kind() == Kind::Number).then_some(("class", "number")));
    html.leaf("th", &attributes, column.heading);
}

fn write_cell(cell: &Cell, at: usize, kind: Kind, html: &mut Html) {
    let (name, mut attributes) = if at == 0 { ("th", vec![("scope", "row")]) } else { ("td", Vec::new()) };
    match kind {
        Kind::Number => attributes.extend([("class", "number"), ("data-value", &*cell.value)]),
        Kind::Long => attributes.push(("class", "long")),
        Kind::Text | Kind::Picture => {}
    }
    html.tag(name, &attributes, |html| match &cell.target {
        Some(target) => html.leaf("a", &[("href", &format!("#{target}"))], &cell.shown),
        None if kind == Kind::Number => html.text(&cell.shown),
        None => html.leaf("bdi", &[], &cell.shown),
    });
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
