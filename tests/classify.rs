//! What must stay as it is and what must not: labelled snippets, examples of single behaviours, and prose of
//! real conversations.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use condenser::model::Reason;
use condenser::stage::classify::{Depth, judge};
use condenser::text::{Lexer, LineKind, Severity};

use crate::support::corpora;
use crate::support::growth::check_pieces;

const STRUCTURE: &str = include_str!("data/snippets/structure.txt");
const PROSE: &str = include_str!("data/snippets/prose.txt");

/// Kinds of snippets that are summarised as output, not as prose, once they are long.
const OUTPUT_KINDS: [&str; 4] = ["terminal", "grep", "testrun", "log"];

struct Snippet {
    kind: String,
    title: String,
    text: String,
}

fn snippets(data: &str) -> Vec<Snippet> {
    let mut all: Vec<Snippet> = Vec::new();
    for line in data.lines() {
        if let Some(head) = line.strip_prefix("%%%% ") {
            let (kind, title) = head.split_once(' ').unwrap_or((head, ""));
            all.push(Snippet { kind: kind.to_owned(), title: title.to_owned(), text: String::new() });
        } else if let Some(snippet) = all.last_mut() {
            if !snippet.text.is_empty() {
                snippet.text.push('\n');
            }
            snippet.text.push_str(line);
        }
    }
    all
}

fn reasons(text: &str) -> Vec<Reason> {
    let mut lexer = Lexer::default();
    let found = lexer.lex(text);
    judge(&lexer.view(text, &found), Depth::Explain).reasons
}

fn hard(text: &str) -> Vec<Reason> {
    reasons(text).into_iter().filter(|reason| reason.is_hard()).collect()
}

/// The lines that `write` gives for each number.
fn numbered(numbers: Range<u32>, write: impl Fn(u32, &mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    for n in numbers {
        write(n, &mut text).expect("a string takes everything");
    }
    text
}

fn is_output(text: &str) -> bool {
    let mut lexer = Lexer::default();
    let found = lexer.lex(text);
    judge(&lexer.view(text, &found), Depth::Explain).is_output
}

#[test]
fn labelled_structure_is_recognised() {
    let all = snippets(STRUCTURE);
    assert!(all.len() >= 300, "only {} snippets", all.len());
    let mut missed = Vec::new();
    for snippet in &all {
        let n_lines = snippet.text.lines().filter(|line| !line.trim().is_empty()).count();
        let as_output = OUTPUT_KINDS.contains(&snippet.kind.as_str()) && n_lines >= 12 && is_output(&snippet.text);
        if hard(&snippet.text).is_empty() && !as_output {
            missed.push(format!("{} {}", snippet.kind, snippet.title));
        }
    }
    let recall = 1.0 - missed.len() as f64 / all.len() as f64;
    assert!(recall >= 0.98, "recall {recall:.3}; missed:\n{}", missed.join("\n"));
}

#[test]
fn labelled_prose_is_not_taken_for_structure() {
    let all = snippets(PROSE);
    assert!(all.len() >= 150, "only {} snippets", all.len());
    let mut wrong = Vec::new();
    for snippet in &all {
        let found = hard(&snippet.text);
        if !found.is_empty() || is_output(&snippet.text) {
            wrong.push(format!("{} {}: {found:?}", snippet.kind, snippet.title));
        }
    }
    let share = wrong.len() as f64 / all.len() as f64;
    assert!(share <= 0.03, "false positives {share:.3}:\n{}", wrong.join("\n"));
}

/// A generator whose numbers are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Code and formulas that stand in the corpora without a fence.
fn is_formal(line: &str) -> bool {
    let signs = ['`', '\\', '√', '∈', '⊆', '∀', '∃', '∑', '⁻'];
    line.contains(signs)
        || [" = ", " == ", "();", "\": "].iter().any(|sign| line.contains(sign))
        || [";", "{", "}", "):"].iter().any(|end| line.ends_with(end)) && !line.contains(" {")
}

/// Lines of prose of the named corpus: no code, no table, no list, no heading.
fn prose_lines(folder: &Path, corpus: &str) -> Vec<String> {
    let file = fs::File::open(folder.join(format!("{corpus}.jsonl.zst"))).expect("the corpus opens");
    let mut text = String::new();
    zstd::Decoder::new(file).and_then(|mut reader| reader.read_to_string(&mut text)).expect("the corpus unpacks");
    let mut lines = Vec::new();
    for record in text.lines() {
        let record: serde_json::Value = serde_json::from_str(record).expect("the corpus is JSON");
        for message in record["messages"].as_array().into_iter().flatten() {
            let Some(content) = message["content"].as_str() else { continue };
            let mut fenced = false;
            for line in content.lines() {
                let bare = line.trim();
                let marker = bare.starts_with(['#', '|', '-', '*', '+', '•', '>', '=', '<']);
                let numbered =
                    bare.split_once(['.', ')']).is_some_and(|(head, _)| head.len() <= 2 && !head.contains(' '));
                if bare.starts_with("```") {
                    fenced = !fenced;
                } else if !fenced
                    && !marker
                    && !numbered
                    && !line.starts_with("    ")
                    && !is_formal(bare)
                    && bare.len() >= 20
                {
                    lines.push(bare.to_owned());
                }
            }
        }
    }
    lines
}

#[test]
fn plain_prose_of_the_corpora_is_hardly_ever_hard_whatever_its_length() {
    let Some(folder) = corpora::folder() else { return };
    let sources: Vec<Vec<String>> = ["mtbench_arena", "topicalchat", "qmsum_academic_product"]
        .iter()
        .map(|name| prose_lines(&folder, name))
        .collect();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut report = String::new();
    let mut shares = Vec::new();
    for size in [300, 1_200, 2_400, 4_800] {
        let mut n_hard = 0;
        for _ in 0..400 {
            let source = &sources[dice.below(sources.len())];
            let mut text = String::new();
            while text.chars().count() < size {
                // Whole paragraphs in their order, a few at a time.
                let start = dice.below(source.len());
                for line in source.iter().skip(start).take(3) {
                    text.push_str(line);
                    text.push_str(if dice.below(3) == 0 { "\n\n" } else { " " });
                }
            }
            let text: String = text.chars().take(size).collect();
            let found = hard(&text);
            if !found.is_empty() {
                n_hard += 1;
                writeln!(report, "---- {size} {found:?}\n{text}").expect("a string takes everything");
            }
        }
        let share = f64::from(n_hard) / 400.0;
        shares.push(share);
    }
    assert!(shares[0] <= 0.02 && shares[3] <= 0.05, "hard at 300, 1,200, 2,400, 4,800: {shares:?}\n{report}");
}

#[track_caller]
fn check_prose(text: &str) {
    assert_eq!(hard(text), [], "taken for structure:\n{text}");
}

#[track_caller]
fn check_hard(reason: Reason, text: &str) {
    let found = hard(text);
    assert!(found.contains(&reason), "{} not found, only {found:?} in:\n{text}", reason.as_str());
}

/// Words of SQL as a text about databases uses them.
const ABOUT_DATABASES: &str = "\
The importer reads every row from the upload and keeps the values where they fit. A foreign key is a constraint that \
the database checks for you, and a delete can cascade into the tables that point at the row. The settings page lets \
you select a default view, set the schema of the export, and update the limit from the menu. Returning to the topic of \
types: an integer column takes less space than text, a boolean takes a single byte, and a column declared not null \
must have a value before you insert into it. You can group by region and order by date in the report. A left join keeps \
the rows without a partner, an inner join drops them, and an upsert does either. When a message is too long we truncate \
it, and where the union of both lists is needed we create table views of the two. Grant access to the group from the \
admin screen, revoke it on the same page, and drop the index cards into the box. Declare a cursor only when you have to \
fetch more than fits into memory, having tried the simple way first.";

#[test]
fn prose_about_databases_is_not_sql() {
    check_prose(ABOUT_DATABASES);
    check_prose(&ABOUT_DATABASES.repeat(5));
    for sentence in ABOUT_DATABASES.split(". ") {
        check_prose(sentence);
    }
}

#[test]
fn statements_of_sql_are_found_in_any_case_and_amid_prose() {
    for statement in [
        "SELECT id, name FROM users WHERE active = 1 ORDER BY name;",
        "select u.id, count(*) from users u join orders o on o.user_id = u.id group by u.id",
        "select * from events where kind = 'click' limit 10;",
        "INSERT INTO plots (id, owner) VALUES (4, 'Ama');",
        "insert into plots values (4, 'Ama')",
        "UPDATE members SET town = 'Corvane' WHERE id = 118;",
        "update members set town = 'Corvane' where id = 118",
        "DELETE FROM sessions WHERE expires_at < now()",
        "CREATE TABLE plots (id BIGINT PRIMARY KEY, owner VARCHAR(80) NOT NULL)",
        "create unique index plots_owner on plots (owner)",
        "ALTER TABLE plots ADD COLUMN area INTEGER",
        "DROP TABLE IF EXISTS plots_old;",
        "WITH recent AS (SELECT * FROM visits WHERE day > '2031-01-01') SELECT count(*) FROM recent",
        "SELECT `shop`.`id`, `shop`.`town` FROM `shop` WHERE `shop`.`town` = 'Aldmere'",
        "GRANT SELECT, INSERT ON plots TO warden;",
    ] {
        check_hard(Reason::SqlContent, statement);
        let amid =
            format!("We talked about the report for a long time. In the end I ran {statement}\n\nIt took a minute.");
        check_hard(Reason::SqlContent, &amid);
    }
}

#[test]
fn prices_are_not_latex() {
    check_prose("The basic plan costs $20 per month and the pro plan costs $45, and both include $5 of credit.");
    check_prose("Set $HOME and $PATH first; $HOME/bin has to come before $PATH there.");
    check_hard(
        Reason::LatexMath,
        "Let $x_i$ be the weight and let $\\alpha = 0.5$ be the rate, so that $y = \\alpha x_i$ holds.",
    );
    check_hard(Reason::LatexMath, "Then \\[ a^2 + b^2 = c^2 \\] as required.");
}

#[test]
fn notes_and_reminders_are_not_yaml() {
    check_prose("Note: the gate is locked on weekdays now.\nReminder: bring your own mug, the kitchen has none left.");
    check_hard(Reason::YamlStructure, "name: deploy\nreplicas: 3\nimage: web:2.3\nports:\n  - 8080\n  - 8443");
}

#[test]
fn paths_and_hashes_are_not_base64() {
    check_prose(
        "The chart lives in src/components/dashboard/widgets/analytics/charts and nowhere else, as far as I know.",
    );
    check_prose(
        "It broke with 9c4f1e7a2b6d8035f1ce47ab90d2e6c8b1a7f354 and nobody noticed for a week, which is a pity.",
    );
    check_prose(
        "Run TestSourceFetchRequestIncludesTagForTagSyncAndPrunesAnnotatedTags again after the change, please.",
    );
}

#[test]
fn tolerances_and_arrows_are_not_mathematics() {
    check_prose("The temperature rose ±2 degrees, the room is 3 × 4 metres, and you need ≥ 60 points to pass.");
    check_prose("Go to Settings → Privacy → Location. A plant turns CO₂ and H₂O into sugar, as everybody learns.");
    check_hard(Reason::UnicodeMath, "For every set A we have ∀x ∈ A ∃y ∈ B: x ≤ y, hence A ⊆ B.");
}

#[test]
fn a_status_code_in_a_sentence_is_no_http_error() {
    check_prose("The page shows status 404 once and loads fine afterwards. We had a handful of 500 errors last night.");
    check_hard(Reason::HttpError, "HTTP/1.1 503 Service Unavailable\nRetry-After: 30");
    check_hard(Reason::HttpError, "Error: the response status code is 500");
}

#[test]
fn a_failure_in_a_sentence_is_no_failure_report() {
    check_prose(
        "Yesterday the execution failed twice and the connection was refused, but permission denied is a new one to me.",
    );
    check_hard(Reason::FailureSignature, "cp: cannot create regular file '/srv/box/a.txt': Permission denied");
    check_hard(Reason::FailureSignature, "ModuleNotFoundError: No module named 'heron'");
}

#[test]
fn an_essay_in_order_is_no_chain_of_reasoning() {
    check_prose(
        "First we had a long lunch. Second, after a nap, there was dinner. In summary, it was a day of eating.",
    );
    check_prose(
        "The town lost its railway and, therefore, its visitors. Hence the look of the high street; thus the closed shops.",
    );
    check_hard(Reason::ReasoningChain, "Proof. Assume that n is even, so n = 2k. Then n² = 4k², hence n² is even. ∎");
}

#[test]
fn lists_of_things_are_no_verse() {
    check_prose("Shopping\nApples and pears\nBread and butter\nMilk\nA bag of flour\nSomething nice for Sunday");
    check_prose("Ilse Marwood\nThe Old Granary\nFourteen Tarn Row\nAldmere near Corvane\nNorth of the river");
    check_hard(
        Reason::VersePattern,
        "The kettle sings upon the stove,\nThe cat is dreaming by the door,\nA wind is walking in the grove,\n\
         And summer will be here no more.",
    );
}

#[test]
fn headings_and_blank_lines_do_not_make_a_layout() {
    let paragraph = "It took us a while to see that the old pump was not broken but only blocked, and by then the cellar \
                     was full of water and of neighbours who had come to help us carry the books upstairs.";
    check_prose(&format!(
        "# Pump\n\n{paragraph}\n\n## What we learned\n\nCheck.\n\n{paragraph}\n\n- Buckets\n- A torch\n\n{paragraph}"
    ));
}

#[test]
fn hard_structure_is_found_from_the_text_alone() {
    // No option and no second classifier can switch this off.
    check_hard(Reason::SqlContent, "SELECT name FROM members WHERE town = 'Aldmere';");
}

#[test]
fn prose_of_other_languages_is_prose() {
    check_prose(
        "Sehr geehrte Damen und Herren, der Ausschuss empfiehlt die Annahme des Antrags auf Drucksache 17/9612: Wer stimmt \
         dafür? Wer stimmt dagegen? – Enthaltungen? – Das ist so beschlossen. Außerdem müssen wir über die Straße reden.",
    );
    check_prose(
        "这个周末我们打算去植物园走走。听说樱花刚刚开放，游客还不算太多。如果天气好，我们会在湖边野餐，下午去小镇喝茶。",
    );
    check_prose(
        "Вчера мы долго говорили о переезде библиотеки, и решили, что торопиться некуда: сначала спросим читателей.",
    );
    check_prose(
        "昨日は図書館の引っ越しについて話し合いました。まず読者に聞いてから、来月もう一度決めることにしました。",
    );
    check_prose("تحدثنا أمس عن نقل المكتبة وقررنا أن نسأل القراء أولا، ثم نعود إلى الموضوع في الشهر القادم.");
}

#[test]
fn classical_chinese_verse_is_verse() {
    check_hard(Reason::VersePattern, "床前明月光，疑是地上霜。\n举头望明月，低头思故乡。");
}

#[test]
fn one_line_of_code_in_long_prose_stays_prose_but_a_secret_never_does() {
    let prose = "We went through the settings together and found nothing that would explain it. ".repeat(8);
    check_prose(&format!("{prose}\nmax_retries: 5\n{prose}"));
    check_prose(&format!("{prose}\nlet total = sum(&rows);\n{prose}"));
    check_hard(Reason::ApiKey, &format!("{prose}\nThe key is AKIAQ7T5WZ3K9XB2LM4N by the way.\n{prose}"));
    check_hard(Reason::ApiKey, &format!("{prose}\nUse postgres://app:s3cr3tPw@db.example.test/app there.\n{prose}"));
}

#[test]
fn names_of_models_branches_and_files_are_no_secrets() {
    check_prose(
        "We compared claude-3-5-sonnet-20241022 with gpt-4o-mini-2024-07-18 on the branch fix-login-redirect-after-timeout-2.",
    );
    check_prose(
        "The log is in build-artifacts-2031-04-11-nightly.tar.gz and the id is 3f2b8c1e-9d47-4a6b-8e21-7c5d0f9a1b34, I believe.",
    );
    check_prose(
        "The class card-header__title--with-icon-and-badge-2 and the file invoice_template_final_version_3.docx are the old ones.",
    );
}

#[test]
fn a_view_of_a_file_is_code_wherever_it_begins() {
    let lines = numbered(1459..1475, |n, lines| match n % 2 {
        0 => writeln!(lines, "{n}:        if precision not in units[{n}]:"),
        _ => writeln!(lines, "{n}:            raise ValueError(msg)"),
    });
    check_hard(
        Reason::SourceCode,
        &format!("[File: /srv/box/fields.py (1997 lines total)]\n(1458 more lines above)\n{lines}"),
    );
}

#[test]
fn the_end_of_a_view_is_code_and_two_neighbours_of_a_search_are_no_view() {
    let end = "   770→\n   771→\tt.Log(\"all checkpoints are there\")\n   772→}\n   773→\n";
    assert_eq!(hard(end), [Reason::SourceCode]);
    let matches = "353:        if isinstance(rows, tuple):\n354:            rows = [rows]\n420:        rows.sort()\n";
    assert!(lines(matches).iter().filter(|(kind, _)| *kind == LineKind::Grep).count() >= 2);
}

#[test]
fn what_a_runner_of_tasks_prints_is_no_code() {
    let tasks =
        numbered(0..6, |n, out| writeln!(out, "[lint:go{n}] $ ~/tasks/lint/go{n}\n[lint:go{n}] Finished in 9{n}.2ms"));
    assert!(is_output(&tasks));
    assert_eq!(hard(&tasks), []);
}

#[test]
fn prose_in_chinese_with_a_colon_is_no_log() {
    check_prose(
        "是的，蒙提霍尔问题是一个经典的概率谜题。以下是它的运作方式：\n假设你参加一个游戏节目，节目中有三扇门。\n\n\
        答案是肯定的，你应该切换。数学表明，如果你切换，你赢得车的几率是2/3，如果你不切换，几率只有1/3。",
    );
}

#[test]
fn long_output_is_summarised_by_its_lines_and_short_output_is_kept() {
    let log =
        numbered(10..40, |n, log| writeln!(log, "2031-04-11T08:14:{n}Z INFO [main] step {n} of the sync is done"));
    assert!(is_output(&log));
    assert_eq!(hard(&log), []);
    let short: String = log.lines().take(5).collect::<Vec<_>>().join("\n");
    check_hard(Reason::LogLines, &short);
    assert!(!is_output(ABOUT_DATABASES));
}

#[test]
fn a_refused_connection_that_names_the_other_side_is_a_failure_report() {
    for text in [
        "Connection refused to db.internal:5432",
        "connection refused by 10.0.0.7:8080",
        "Access denied for user 'root'@'localhost'",
        "Permission denied to /srv/box.",
    ] {
        check_hard(Reason::FailureSignature, text);
    }
    assert_eq!(hard("Connection refused by the committee, so we took the bus."), []);
    assert_eq!(hard("Access denied for all of them."), []);
}

/// What every line looks like and reports.
fn lines(text: &str) -> Vec<(LineKind, Severity)> {
    let mut lexer = Lexer::default();
    let found = lexer.lex(text);
    lexer.view(text, &found).lines.iter().map(|line| (line.kind, line.severity)).collect()
}

#[test]
fn drawn_trees_are_listings_and_no_tables() {
    let drawn = ".\n├── node_modules/x\n│   └── index.js\n|-- docs\n|   `-- a.md\n`-- readme.md\n+-- src";
    let kinds: Vec<LineKind> = lines(drawn).into_iter().skip(1).map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [LineKind::Listing; 6]);
    let many = format!(".\n{}", numbered(0..40, |n, out| writeln!(out, "|   |-- part{n}.rs")));
    assert!(is_output(&many));
    assert_eq!(hard(&many), []);
    for row in ["| a | b |", "|---|---|", "├────┼────┤", "+----+----+"] {
        assert!(lines(row)[0].0.is_row(), "{row}");
    }
}

#[test]
fn what_people_say_with_ok_is_no_log_line() {
    assert_eq!(lines("OK, done."), [(LineKind::Prose, Severity::None)]);
    assert_eq!(lines("OK: done"), [(LineKind::Status, Severity::Success)]);
}

#[test]
fn soft_reasons_are_reported_and_do_not_make_hard() {
    let found =
        reasons("See https://docs.example.test/api, write to ama@example.test, and open src/db/pool.ts afterwards.");
    assert!(
        found.contains(&Reason::Url) && found.contains(&Reason::Email) && found.contains(&Reason::FilePath),
        "{found:?}"
    );
    assert!(found.iter().all(|reason| reason.is_soft()), "{found:?}");
}

#[test]
fn hostile_lines_take_linear_time() {
    let pieces = [
        "ab-",
        "7",
        " ",
        "\n",
        "a ",
        "SELECT ",
        "select a, ",
        "$a ",
        "[",
        "{\"",
        "\\[ ",
        "://a:",
        "他说这是一个",
        "sk-",
        "eyJ",
        "| a ",
        "∀x ",
        "a: b\n",
        "{\n",
        "insert into x ",
        "create table x ",
        "update a set ",
        "'",
        "select '",
        "a\t",
        "JOIN a ",
        "  x",
        "\"a\":",
        "1. a\n",
        "<a",
        "`",
        "-",
        "=",
        "\u{301}",
    ];
    check_pieces(&pieces, |text| {
        std::hint::black_box(reasons(text));
    });
}
