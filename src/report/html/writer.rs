//! Writes markup. Names of elements and attributes are constants of the program, and everything else goes through the one
//! escape there is, so that nothing of a transcript can become markup. Knows HTML, no report.

use super::charts::Svg;
use crate::report::plain;

/// The name of an attribute and its value.
pub(super) type Attribute<'a> = (&'static str, &'a str);

/// A page in the making.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// An element with what `inside` writes in it.
    pub(super) fn tag(&mut self, name: &'static str, attributes: &[Attribute<'_>], inside: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        inside(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// An element with a text in it.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: &[Attribute<'_>], text: &str) {
        self.tag(name, attributes, |html| html.text(text));
    }

    /// An element that has no inside.
    pub(super) fn void(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.open(name, attributes);
    }

    /// A text; what could hide or turn text around is written out as an escape.
    pub(super) fn text(&mut self, text: &str) {
        self.escape(&plain::lines(text));
    }

    /// Markup that the program itself holds.
    pub(super) fn fixed(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// A chart.
    pub(super) fn svg(&mut self, svg: &Svg) {
        self.out.push_str(svg.markup());
    }

    /// The whole page.
    pub(super) fn finish(self) -> String {
        self.out
    }

    fn open(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.escape(&plain::line(value));
            self.out.push('"');
        }
        self.out.push('>');
    }

    fn escape(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                _ => self.out.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn nothing_becomes_markup() {
        let mut html = Html::default();
        html.tag("p", &[("title", "\"><img onerror='x'>\n\u{202e}")], |html| {
            html.text("</p><script>&amp;\0\u{1b}[31m\tx\ny");
        });
        assert_eq!(
            html.finish(),
            "<p title=\"&quot;&gt;&lt;img onerror=&#39;x&#39;&gt;\\n\\u{202e}\">&lt;/p&gt;&lt;script&gt;&amp;amp;\\0\\u{1b}[31m\tx\ny</p>"
        );
    }
}
