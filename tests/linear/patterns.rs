//! What texts are repeated: units of one to four lines of every kind that a scanner may stumble over. A unit is text in
//! which `{n}` is its number, `{x}` sixteen hex digits drawn from it and `{i}` as many blanks.

use std::borrow::Cow;

use crate::support::options::Dice;

/// A text that is put together from units.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// What it has in common with its neighbours.
    pub kind: &'static str,
    head: &'static str,
    /// Repeated until the text is long enough.
    pub unit: &'static str,
    /// Comes as often as the unit, behind all of them.
    close: &'static str,
}

impl Pattern {
    /// At least `n_bytes` of it.
    pub fn text(&self, n_bytes: usize) -> String {
        let mut text = self.head.to_owned();
        let mut n = 0;
        while text.len() + n * self.close.len() < n_bytes {
            n += 1;
            text.push_str(&numbered(self.unit, n));
        }
        text + &self.close.repeat(n)
    }
}

fn numbered(unit: &str, n: usize) -> Cow<'_, str> {
    if !["{n}", "{x}", "{i}"].iter().any(|mark| unit.contains(mark)) {
        return Cow::Borrowed(unit);
    }
    let dice = &mut Dice::new(n as u64);
    let digits = format!("{:08x}{:08x}", dice.below(1 << 32), dice.below(1 << 32));
    let blanks = if unit.contains("{i}") { " ".repeat(n) } else { String::new() };
    Cow::Owned(unit.replace("{n}", &n.to_string()).replace("{x}", &digits).replace("{i}", &blanks))
}

/// All patterns, kind by kind.
pub fn all() -> Vec<Pattern> {
    let plain =
        PLAIN.iter().flat_map(|(kind, units)| units.iter().map(|unit| Pattern { kind, head: "", unit, close: "" }));
    let framed = FRAMED.iter().map(|&(kind, head, unit, close)| Pattern { kind, head, unit, close });
    let mut all: Vec<Pattern> = plain.chain(framed).collect();
    all.sort_by_key(|pattern| pattern.kind);
    all
}

/// Kinds with their units.
const PLAIN: [(&str, &[&str]); 16] = [
    (
        "blank",
        &[
            "\n",
            "\r\n",
            "\r",
            " ",
            "\t",
            " \n",
            "\u{a0}",
            "\u{3000}\n",
            "   \n\n\t\n",
            "x\n\n\n\n\n\n\n\n",
            "1\n\n\n\n",
        ],
    ),
    ("bracket", &["(", "{", "](", "[a](", "![a](b)", "{[(<"]),
    ("quote", &["\"", "`", "\"word ", "“word ", "> > words\n", "**a ", "`a` "]),
    (
        "outcome",
        &[
            "--- PASS: TestOf{n}a (0.00s)\n--- FAIL: TestOf{n}b (0.00s)\n",
            "error truncated updated 3 issues ",
            "   [File {n} updated. Found {n} warnings.]\n",
            "--- part {n} ---\nrow {x}\n",
            "<system-reminder>\nthink {n}\n</system-reminder>\n",
            "{n}-let a\n{n}:let b\n",
            "src/a{n}.c:{n}:3: error: not found: no such file\n",
            "  {n}:3  error  'f{x}' is not defined\n",
            "make: *** [Makefile:{n}: all] Error {n}\n[INFO] BUILD FAILURE, Failures: {n}\n",
            "error not found no such failure: {n} failed timed out ",
            "PASS src/{x}.test.ts\n  ✓ holds {n}\n",
            "Please change only {x} and nothing else.\n    value = f({n});\n",
        ],
    ),
    ("time", &["at 07:00 PM ", "{n}:30:00 is 0x{x}, ", "lines {n}-{n}, "]),
    (
        "fence",
        &[
            "```\n",
            "````\n```\n",
            "```\ncode();\n~~~\n",
            "```rust\nfn f{n}() {}\n```\nSome words on it.\n",
            "> ```\n",
            "- ```\n  code\n",
            "\n\n```\n\n\n```\n",
            "The first words on it.\n```sh\nmake {n}\n```\n",
        ],
    ),
    ("table", &["|", "| a | b |\n", "a\tb\tc\n", "a,b,{n}\n", "│ a │\n", "{n};\"a \"\"b\"\"\";c\n"]),
    (
        "indent",
        &[
            "    let x{n} = {n};\n",
            "- a\n  - b\n    - c\n",
            "k{n}:\n  v: {n}\n",
            "{i}k{n}:\n",
            "a{n}: |\n  words of it\n  and more\n",
            "        \n    a\n",
            "- id: {n}\n  name: \"x\n",
        ],
    ),
    (
        "number",
        &[
            "{n}. item\n",
            "{n}\tcode();\n",
            "   {n}→\tlet x;\n",
            "1. ",
            "{n}\n",
            "0123456789",
            "1,",
            "10:00 ",
            "2024-05-01 ",
            "10.0.0.{n} ",
            "1 234 567 ",
            "-",
        ],
    ),
    (
        "sign",
        &[
            "\u{feff}",
            "e\u{301}\u{327}",
            "👩‍👩‍👧‍👦",
            "\u{0}",
            "\u{1b}[31m",
            "今天我们去公园散步",
            "今天去。",
            "مرحبا ",
            "!",
            ". ",
            ", ",
            "#",
            "\\",
            "/",
        ],
    ),
    ("word", &["a", "word ", "Abc ", "ab-", "a.b.", "CamelCase{n} ", "No. ", "e.g. ", "Ada Byron and "]),
    (
        "place",
        &["https://example.com/{n}/a?b=c#d ", "://", "https://a.b/(", "file:///x/y{n}.rs:12:3\n", "src/a{n}.rs "],
    ),
    (
        "output",
        &[
            "@@ -{n},3 +{n},4 @@\n a\n-old{n}\n+new{n}\n",
            "diff --git a/x{n} b/x{n}\n--- a/x{n}\n+++ b/x{n}\n",
            "src/a{n}.rs:{n}:let x = {n};\n",
            "2024-05-01 10:00:01 INFO worker {n} took job {x}\n",
            "\tat a.b.C{n}(D.java:{n})\n",
            "-rw-r--r-- 1 root root {n} May  1 10:00 file{n}\n",
            "✓ test {n}\n",
            "test a{n} ... ok\n",
            "│   ├── a{n}.rs\n",
            "- link \"a{n}\" [ref=e{n}]\n",
            "<cell id=\"{n}\">x{n}</cell>\n",
            "---- t{n} stdout ----\nx\n",
            "   Compiling a{n} v0.1\n",
            "[{n}/900000] Building\n",
            "error[E0308]: no\n --> src/a.rs:{n}:1\n",
            "├── node_modules\n│   ├── a{n}\n",
            "$ ls\n",
        ],
    ),
    (
        "data",
        &[
            "{x}",
            "{x}{x}{x}{x}\n",
            "{\"a\":1},",
            "{\"k{n}\": [1, {n}]}\n",
            "<p>words {n}</p>\n",
            "<!--",
            "<a b=\"",
            "KEY_{n}=value\n",
            "password={x}\n",
            "SELECT a FROM t{n} WHERE x = 1;\n",
            "INSERT INTO t VALUES (",
            "$x^{n}$ ",
            "fn f{n}() { g(); }\n",
            "eyJ{x}.{x} ",
        ],
    ),
    (
        "talk",
        &[
            "Actually, use Redis{n} instead. ",
            "You must keep order {n}. ",
            "Because it rains, I stay; but he goes. ",
            "Could you do {n}? ",
            "Ada: hi\n",
            "The invoiceRenderer{n} of KMS-{n} fails because the sessionStore is full. ",
            "If a then b, which c, although d. ",
        ],
    ),
    (
        "marker",
        &[
            "[summary: x] ",
            "[cce:dup of m{n} — 545 chars]\n",
            "[truncated — 5 chars: ",
            " | entities: a",
            "[context: a] [summary: b] ",
            "[... 3 build steps omitted ...]\n",
        ],
    ),
];

/// The same with something before all units, and something behind them for each.
const FRAMED: [(&str, &str, &str, &str); 25] = [
    ("data", "", "[", "]"),
    ("data", "", "{\"a\":", "}"),
    ("data", "{\"a\":[", "{\"k{n}\":[", "]}"),
    ("data", "", "<a{n}>\n", "</a>\n"),
    ("data", "[", "{\"id\":{n},\"ok\":true},", ""),
    ("data", "<?xml version=\"1.0\"?>\n<doc>\n", "<!-- a note --><b c=\"{n}\">words of it</b>\n", ""),
    ("data", "id,name,amount\n", "{n},Ada,20\n", ""),
    ("bracket", "", "(", ")"),
    ("quote", "He said: \"", "and then he went on ", ""),
    ("word", "On Friday they ", "will and will ", ""),
    ("quote", "Look: `", "code of it ", ""),
    ("fence", "Look at this:\n```rust\n", "let sum = sum + {n};\n", ""),
    ("fence", "Look:\n```", "`", ""),
    ("output", "Traceback (most recent call last):\n", "  File \"a{n}.py\", line {n}, in f\n    g()\n", ""),
    ("output", "diff --git a/x b/x\n--- a/x\n+++ b/x\n", "@@ -{n} +{n} @@\n-a\n+b\n", ""),
    ("output", "*** Begin Patch\n", "*** Update File: a{n}\n+x\n", ""),
    ("output", "thread 'main' panicked at a.rs:1\nstack backtrace:\n", "  {n}: a::b\n      at a.rs:{n}\n", ""),
    ("marker", "[cce:superseded by ", "x) — ", "]"),
    ("marker", "[cce:superseded by a — retraction]\n", "\n```\nx\n```\n", ""),
    ("marker", "[summary: ", "words of it (", "]"),
    ("marker", "[summary: ", " | entities: ", "]"),
    ("marker", "[Compressed conversation summary, level 1, chunk 1: earlier turns are archived]\n", "Chunk {n}\n", ""),
    ("indent", "list:\n", "  - name: a{n}\n    value: >\n      words\n", ""),
    ("talk", "Here is the plan:\n", "{n}) You must not do {n}, because of a;\n   but b is fine.\n", ""),
    ("number", "     1→", "x\n     {n}→", ""),
];
