//! Pages in a real Chromium, when there is one: they fetch nothing, run nothing of a transcript, sort, link, print, and
//! show the numbers of the JSON.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::browser::{Browser, chromium};
use crate::support::command::condenser;
use crate::support::dir::TestDir;

/// What a transcript may hold. Any of it that runs sets `window.hit`.
const HOSTILE: &str = "<script>window.hit=1;alert(1)</script><img src=x onerror=\"window.hit=1\">\"><svg onload='window.hit=1'>\
    </pre></script><!-- ]]> javascript:window.hit=1 \u{1b}[31mred\u{1b}]0;title\u{7} \u{202e}dlrow \u{0}";

/// A run of the sample corpus and of a hostile transcript, its report as JSON, and its pages.
struct Pages {
    dir: TestDir,
    report: Value,
}

impl Pages {
    fn new() -> Self {
        let dir = TestDir::new();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/sample");
        let mut inputs: Vec<PathBuf> = std::fs::read_dir(sample)
            .expect("the sample corpus")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        inputs.sort();
        inputs.push(dir.write("in/<script>window.hit=1<!--.jsonl", hostile()));
        let inputs: Vec<&str> = inputs.iter().map(|path| path.to_str().expect("UTF-8")).collect();
        let args = [&["compress"], &inputs[..], &["--output", "run", "--trace", "--quiet"]].concat();
        condenser(dir.root(), &args).ok();
        let args = ["report", "run", "--price-per-million", "2.5", "--json", "--html", "report.html"];
        let told = condenser(dir.root(), &args).ok();
        let report = serde_json::from_slice(&told.stdout).expect("the report is JSON");
        condenser(dir.root(), &["show", "run", HOSTILE_ID, "--html", "show.html"]).ok();
        let other = [&["compress"], &inputs[..], &["--output", "other", "--preset", "ratio", "--quiet"]].concat();
        condenser(dir.root(), &other).ok();
        condenser(dir.root(), &["report", "other", "run", "--html", "drift.html"]).ok();
        let sweep = [&["sweep"], &inputs[..], &["--sample", "12", "--html", "sweep.html", "--quiet"]].concat();
        condenser(dir.root(), &sweep).ok();
        Self { dir, report }
    }
}

/// The pages that there are.
const PAGES: [&str; 4] = ["report", "drift", "sweep", "show"];

const HOSTILE_ID: &str = "\"><img src=x onerror=window.hit=1>'&amp;";

/// Conversations whose every string is hostile, long enough to be compressed.
fn hostile() -> String {
    let prose = |about: &str| {
        format!(
            "{HOSTILE} The {about} of the gateway at 10.1.2.3 must not be restarted before 14:30, it failed 37 times. "
        )
    };
    let messages: Vec<Value> = (0..12)
        .map(|at| {
            let text = ["server", "cache", "queue", "index"].map(prose).concat().repeat(3);
            let role = ["user", "assistant"][at % 2];
            json!({ "id": format!("{HOSTILE}{at}"), "role": role, "content": format!("{at}: {text}") })
        })
        .collect();
    let tools = json!([
        { "role": "user", "content": "look" },
        { "role": "assistant", "content": "", "tool_calls": [{ "id": HOSTILE, "type": "function",
          "function": { "name": HOSTILE, "arguments": json!({ "path": HOSTILE }).to_string() } }] },
        { "role": "tool", "tool_call_id": HOSTILE, "name": HOSTILE, "content": HOSTILE.repeat(40) },
        { "role": "assistant", "content": "done" },
    ]);
    let lines = [json!({ "id": HOSTILE_ID, "messages": messages }), json!({ "id": HOSTILE, "messages": tools })];
    lines.map(|line| line.to_string() + "\n").concat()
}

/// Runs `test` in a browser, unless there is none.
fn in_browser(test: impl AsyncFnOnce(&mut Browser)) {
    let Some(program) = chromium() else {
        println!("skipped: there is no Chromium; CONDENSER_CHROMIUM names one");
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut browser = Browser::start(&program).await;
        test(&mut browser).await;
    });
}

/// Nothing was fetched but the page, nothing complained, nothing of a transcript ran.
async fn is_quiet(browser: &mut Browser, file: &Path) {
    assert_eq!(browser.ask("typeof window.hit").await, "undefined", "something of a transcript ran");
    assert_eq!(browser.ask("document.querySelectorAll('script').length").await, 1);
    assert_eq!(browser.ask("document.querySelectorAll('img, iframe, object, embed, form, input').length").await, 0);
    let address = browser.ask("location.href.split('#')[0]").await;
    let mut n_requests = 0;
    for event in &browser.events {
        let (method, parameters) = (event["method"].as_str().unwrap_or_default(), &event["params"]);
        match method {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" | "Runtime.consoleAPICalled" => {
                panic!("{}: {method}: {parameters}", file.display())
            }
            "Log.entryAdded" => assert_ne!(parameters["entry"]["level"], "error", "{parameters}"),
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                if !url.starts_with("data:") {
                    assert_eq!(json!(url), address);
                    n_requests += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(n_requests, 1, "the page itself and nothing else");
}

/// Texts whose contrast with what is behind them is below that of WCAG AA.
const FAINT: &str = r"
(() => {
  const parse = (color) => color.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = parse(getComputedStyle(element).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  for (const element of document.body.querySelectorAll('*')) {
    const speaks = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!speaks || !element.getClientRects().length || element.tagName === 'SCRIPT') continue;
    const style = getComputedStyle(element);
    const color = parse(element instanceof SVGElement ? style.fill : style.color);
    const [high, low] = [light(color), light(behind(element))].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) faint.add(element.tagName + '.' + element.className);
  }
  return [...faint];
})()";

/// Texts of charts that leave their drawing.
const CLIPPED: &str = r"
(() => {
  const clipped = [];
  for (const svg of document.querySelectorAll('.chart svg')) {
    const box = svg.getBoundingClientRect();
    if (!box.width) continue;
    for (const text of svg.querySelectorAll('text')) {
      const own = text.getBoundingClientRect();
      if (own.left < box.left - 1 || own.right > box.right + 1 || own.top < box.top - 2 || own.bottom > box.bottom + 2) {
        clipped.push(svg.parentElement.ariaLabel + ': ' + text.textContent.trim());
      }
    }
  }
  return clipped;
})()";

/// Sorts every table by every column, both ways, and names columns that are out of order afterwards.
const UNSORTED: &str = r"
(() => {
  const wrong = [];
  for (const table of document.querySelectorAll('table')) {
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const rows = table.tBodies[0].rows.length;
      for (let click = 0; click < 2; click++) {
        head.querySelector('button').click();
        const isUp = head.getAttribute('aria-sort') === 'ascending';
        let cells = [...table.tBodies[0].rows].map((row) => row.cells[at]);
        const isNumber = head.classList.contains('number');
        const values = cells.map((cell) => isNumber ? cell.dataset.value : cell.textContent);
        const there = isNumber ? values.filter((value) => value !== '').map(Number) : values;
        const compare = (a, b) => isNumber ? a - b : a.localeCompare(b);
        const isSorted = there.every((value, index) =>
          index === 0 || (isUp ? compare(there[index - 1], value) <= 0 : compare(there[index - 1], value) >= 0));
        const emptyLast = !isNumber || values.slice(there.length).every((value) => value === '');
        const others = table.querySelectorAll('[aria-sort]').length;
        if (!isSorted || !emptyLast || cells.length !== rows || others !== 1) {
          wrong.push(table.caption.textContent + ': ' + head.textContent + (isUp ? ' up' : ' down'));
        }
      }
    });
  }
  return wrong;
})()";

/// Every number of the page with its place in the document.
const NUMBERS: &str = r"
(() => {
  const found = [];
  for (const element of document.querySelectorAll('dd[data-at]')) {
    found.push([element.dataset.at, element.dataset.value]);
  }
  for (const table of document.querySelectorAll('table')) {
    const fields = [...table.tHead.rows[0].cells].map((head) => head.dataset.column);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].forEach((cell, at) => {
        if (cell.dataset.value === undefined) return;
        if (fields[at]) found.push([row.dataset.at + '/' + fields[at], cell.dataset.value]);
        else if (row.cells.length === 2) found.push([row.dataset.at, cell.dataset.value]);
      });
    }
  }
  return found;
})()";

#[test]
fn a_report_is_quiet_sorts_links_prints_and_shows_the_numbers_of_the_json() {
    in_browser(async |browser| {
        let Pages { dir, report } = Pages::new();
        let file = dir.path("report.html");
        browser.open(&file, 1280).await;
        is_quiet(browser, &file).await;

        // The hostile transcript is among what is shown, as text.
        let shown =
            browser.ask("document.body.textContent.includes('<script>window.hit=1;alert(1)</script><img src=x')").await;
        assert_eq!(shown, true);

        let charts = "[...document.querySelectorAll('.chart.wide svg')].map((svg) => svg.getBoundingClientRect())\
            .map((box) => Math.min(box.width, box.height))";
        let charts = browser.ask(charts).await;
        let charts = charts.as_array().expect("charts");
        assert!(charts.len() >= 15, "{} charts", charts.len());
        assert!(charts.iter().all(|size| size.as_f64().unwrap_or_default() > 40.0), "{charts:?}");

        let numbers = browser.ask(NUMBERS).await;
        let numbers = numbers.as_array().expect("numbers");
        assert!(numbers.len() > 500, "{} numbers", numbers.len());
        for number in numbers {
            let (place, shown) = (number[0].as_str().expect("a place"), number[1].as_str().expect("a value"));
            let value = report.pointer(place).unwrap_or_else(|| panic!("the document has no {place}"));
            assert_eq!(shown.parse::<f64>().ok(), value.as_f64(), "{place}: {shown} and {value}");
        }

        assert_eq!(browser.ask(UNSORTED).await, json!([]));
        // By keys as well.
        browser.ask("document.querySelector('#losses ~ .scroll th:nth-child(3) button').focus()").await;
        for kind in ["keyDown", "keyUp"] {
            let key =
                json!({ "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r" });
            browser.call("Input.dispatchKeyEvent", key).await;
        }
        let sorted = browser.ask("document.querySelector('#losses ~ .scroll th:nth-child(3)').ariaSort").await;
        assert_eq!(sorted, "descending");

        links_lead_to_texts(browser, &dir).await;

        let printed = browser.call("Page.printToPDF", json!({ "printBackground": true })).await;
        let printed = printed["data"].as_str().expect("a document");
        assert!(printed.starts_with("JVBER") && printed.len() > 50_000, "{} characters", printed.len());
        is_quiet(browser, &file).await;
    });
}

#[test]
fn the_first_screen_answers_and_every_page_begins_with_a_sentence() {
    in_browser(async |browser| {
        let Pages { dir, report } = Pages::new();
        for name in PAGES {
            let file = dir.path(&format!("{name}.html"));
            browser.open(&file, 1280).await;
            is_quiet(browser, &file).await;
            if name != "show" {
                let lead = browser.ask("document.querySelector('header .lead').textContent").await;
                assert!(lead.as_str().is_some_and(|lead| lead.len() > 40), "{name}: {lead}");
                assert_eq!(browser.ask("document.querySelectorAll('main > .cards > div').length").await, 3, "{name}");
            }
        }
        browser.open(&dir.path("report.html"), 1280).await;
        // Sentence, three figures, how originals come back and where the characters went are seen without scrolling.
        let seen = "(text) => [...document.querySelectorAll('header, main > .cards, .first > *')].filter((part) => \
            part.textContent.includes(text)).some((part) => part.getBoundingClientRect().top < 800)";
        for text in
            ["times shorter", "Bytes stored", "Nothing is lost", "condenser restore", "Where the characters went"]
        {
            assert_eq!(browser.ask(&format!("({seen})({text:?})")).await, true, "{text}");
        }
        let saved = report["money"]["saved"].as_f64().expect("a number");
        let says = format!("{} USD", condenser::report::numbers::money(saved));
        assert_eq!(browser.ask(&format!("document.querySelector('.lead').textContent.includes({says:?})")).await, true);
        // One chart and one recommendation; the rest of a sweep is folded.
        browser.open(&dir.path("sweep.html"), 1280).await;
        let shown = "[...document.querySelectorAll('figure')].filter((figure) => figure.checkVisibility()).length";
        assert_eq!(browser.ask(shown).await, 1);
        // Of what changed, the words that vanished are marked, and no others.
        browser.open(&dir.path("show.html"), 1280).await;
        let marked = "[document.querySelectorAll('.before mark').length, document.querySelectorAll('.after mark, .kept mark').length]";
        let marked = browser.ask(marked).await;
        assert!(marked[0].as_u64().is_some_and(|n| n > 0) && marked[1] == 0, "{marked}");
        // A table that is wider than a phone shows that it goes on.
        browser.open(&dir.path("report.html"), 375).await;
        let wide = "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1)\
            .every((box) => getComputedStyle(box).backgroundImage.includes('gradient') && getComputedStyle(box).overflowX === 'auto')";
        assert_eq!(browser.ask(wide).await, true);
    });
}

/// Every link of the worst losses opens the text of its conversation.
async fn links_lead_to_texts(browser: &mut Browser, dir: &TestDir) {
    let ids =
        browser.ask("[...document.querySelectorAll('#losses ~ .scroll tbody a')].map((a) => a.textContent)").await;
    let ids = ids.as_array().expect("links").clone();
    assert!(ids.len() > 3, "{ids:?}");
    let mut n_compared = 0;
    for (at, shown) in ids.iter().enumerate() {
        let link = format!("document.querySelectorAll('#losses ~ .scroll tbody a')[{at}]");
        let place = browser
            .ask(&format!(
                "(() => {{ const a = {link}; a.scrollIntoView({{ block: 'center' }}); \
                const box = a.getClientRects()[0]; return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
            ))
            .await;
        for kind in ["mousePressed", "mouseReleased"] {
            let mouse = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            browser.call("Input.dispatchMouseEvent", mouse).await;
        }
        let told = browser
            .ask(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { \
                 const text = document.getElementById(location.hash.slice(1)); \
                 const box = text.getBoundingClientRect(); \
                 done({ seen: box.height > 0 && box.top < innerHeight && box.bottom > 0, \
                   name: text.closest('details').querySelector('.name').textContent, \
                   before: [...text.querySelectorAll('.before pre')].map((pre) => pre.textContent) }); })))",
            )
            .await;
        assert_eq!(told["seen"], true, "{shown}: {told}");
        let name = told["name"].as_str().expect("a name");
        let begin: String = name.chars().take(20).collect();
        assert!(shown.as_str().expect("a name").starts_with(&begin), "{shown} leads to {name}");
        if !name.is_ascii() || name.contains("\\u") || name.contains("\\0") {
            continue;
        }
        // Columns and records alike: every string that the original holds.
        let original = condenser(dir.root(), &["get", "run", name]).ok().stdout;
        let mut strings = Vec::new();
        for line in String::from_utf8(original).expect("UTF-8").lines() {
            strings_of(&serde_json::from_str(line).expect("a record is JSON"), &mut strings);
        }
        n_compared += 1;
        let before = told["before"].as_array().expect("texts");
        assert!(!before.is_empty(), "{name} shows nothing of what it was");
        for text in before.iter().filter_map(Value::as_str).filter(|text| !text.starts_with("(calls")) {
            let line = text.lines().next().unwrap_or_default();
            let is_there = strings.iter().any(|string| string.contains(line)) || line.contains("\\u{");
            assert!(is_there, "{name} does not say {line}");
        }
    }
    assert!(n_compared > 3, "{n_compared} texts were held against their originals");
}

fn strings_of(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings_of(item, out)),
        Value::Object(entries) => entries.values().for_each(|item| strings_of(item, out)),
        _ => {}
    }
}

#[test]
fn pages_are_readable_in_light_dark_and_on_a_phone() {
    in_browser(async |browser| {
        let Pages { dir, .. } = Pages::new();
        for name in PAGES.map(|name| format!("{name}.html")) {
            let name = &*name;
            let file = dir.path(name);
            let mut backgrounds = Vec::new();
            for scheme in ["light", "dark"] {
                browser.prefer(scheme).await;
                for width in [1280, 375] {
                    browser.open(&file, width).await;
                    browser.ask("document.querySelectorAll('details').forEach((box) => { box.open = true; })").await;
                    is_quiet(browser, &file).await;
                    let over = browser.ask("document.documentElement.scrollWidth - innerWidth").await;
                    assert!(over.as_i64().unwrap_or(1) <= 0, "{name} at {width}: {over} too wide");
                    assert_eq!(browser.ask(FAINT).await, json!([]), "{name}, {scheme}, {width}");
                    let faint = "document.querySelector('h1').attributeStyleMap.set('color', 'rgb(120, 120, 120)')";
                    browser.ask(&format!("{faint}; 0")).await;
                    assert_eq!(browser.ask(FAINT).await, json!(["H1."]), "what is faint is found");
                    // A piece of a chart or a text that is cut at the edge of its drawing cannot be read either.
                    assert_eq!(browser.ask(CLIPPED).await, json!([]), "{name}, {scheme}, {width}");
                }
                let color = "getComputedStyle(document.body).backgroundColor";
                backgrounds.push(browser.ask(color).await);
                browser.ask("document.querySelector('.theme').click()").await;
                backgrounds.push(browser.ask(color).await);
            }
            assert_ne!(backgrounds[0], backgrounds[2], "dark is not light");
            assert_eq!(
                (&backgrounds[0], &backgrounds[2]),
                (&backgrounds[3], &backgrounds[1]),
                "the switch turns it round"
            );
        }
        browser.prefer("light").await;
        let show = dir.path("show.html");
        browser.open(&show, 375).await;
        let columns = "getComputedStyle(document.querySelector('.step')).gridTemplateColumns.split(' ').length";
        assert_eq!(browser.ask(columns).await, 1, "both sides are stacked on a phone");
        browser.resize(1280).await;
        assert_eq!(browser.ask(columns).await, 2);
        if let Some(to) = std::env::var_os("CONDENSER_PICTURES") {
            pictures(browser, &dir, Path::new(&to)).await;
        }
    });
}

/// Pictures for people to look at, in the folder that `CONDENSER_PICTURES` names.
async fn pictures(browser: &mut Browser, dir: &TestDir, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder for pictures");
    for name in PAGES {
        for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 375), ("dark", 375)] {
            browser.prefer(scheme).await;
            browser.open(&dir.path(&format!("{name}.html")), width).await;
            browser.picture(&to.join(format!("{name}-{scheme}-{width}.png")), 0, 2400).await;
        }
    }
}
