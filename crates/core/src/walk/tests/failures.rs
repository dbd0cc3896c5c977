//! What programs say of how they ended, and what only looks like it.

use super::filling;
use super::readers::{reads, shown};

/// What is shown of the output of a build that prints `line`.
fn built(line: &str) -> String {
    let step = |at: usize| format!("compiling unit {at} of module m{at} into out/o{at}.bin\n");
    let (before, behind): (String, String) = ((0..60).map(step).collect(), (60..120).map(step).collect());
    shown(&reads(&format!("{before}{line}\n{behind}")), 2)
}

#[test]
fn a_mark_of_what_passed_tells_what_failed() {
    let both = |at: usize| format!("--- PASS: TestOf{at}x (0.00s)\n--- FAIL: TestOf{at}y (0.00s)\n");
    let text = format!("=== go\n{}ok all 3 files\nend of it\n", (0..14).map(both).collect::<String>());
    let shown = shown(&reads(&text), 2);
    assert!(shown.contains("passed, ") && shown.contains(" failed #"), "{shown}");
}

#[test]
fn totals_of_one_template_are_one_and_leave_room_for_others() {
    let checked = |at: usize| format!("Checked {at} files in {at}ms.\n");
    let text = format!(
        "check\nFound 1 warning.\n{}0 issues.\n{}{}",
        filling(20),
        checked(7),
        (8..14).map(checked).collect::<String>()
    );
    let shown = shown(&reads(&text), 2);
    assert!(shown.contains("Found 1 warning.") && shown.contains("0 issues."), "{shown}");
    assert_eq!(shown.matches("Checked").count(), 1, "{shown}");
}

#[test]
fn a_word_inside_a_name_is_no_error() {
    let text = format!("start\n{}error_page.html  ErrorHandler  .error {{\nexit code: 1\n", filling(20));
    let all = filling(12);
    let shown = shown(&reads(&format!("{text}{all}FAILED\n")), 2);
    assert!(!shown.contains("error_page"), "{shown}");
}

#[test]
fn an_error_is_told_in_all_its_sentences() {
    let error = "FieldError: Cannot resolve keyword 'books' into field. Choices are: author, id, isbn, name, pages, price, \
                 publisher, rating, title, year and many more of them";
    let shown = shown(&reads(&format!("begin\n{}{error}\n{}Exit code 1\n", filling(20), filling(20))), 2);
    assert!(shown.contains(error), "{shown}");
}

#[test]
fn programs_say_in_many_ways_how_they_ended() {
    for line in [
        "src/net.c:77:12: error: 'AF_INET6' undeclared (first use in this function)",
        "src/a.ts(8,49): error TS2307: Cannot find module '../shell.js'.",
        "make: *** [Makefile:31: obj/net.o] Error 1",
        "[INFO] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0",
        "[INFO] BUILD FAILURE",
        "Tests: 34, Assertions: 120, Failures: 2.",
        "# fail 2",
        "not ok 7 - handles utf8",
        "E: Unable to locate package foo",
        "psql: error: connection to server failed",
        "curl: (7) Failed to connect to localhost port 80",
        "bash: foo: command not found",
        "rm: cannot remove 'x': No such file or directory",
        "main.go:12:3: undefined: foo",
        "undefined reference to `foo'",
        "permission denied: ./run.sh",
        "assertion failed: x == y",
        "CONFLICT (content): Merge conflict in src/a.rs",
        " ! [rejected]        main -> main (non-fast-forward)",
        "ERROR 1064 (42000): You have an error in your SQL syntax",
        "npm ERR! code ERESOLVE",
        "npm error code ERESOLVE",
        "src/a.ts:3:5 - error TS2304: Cannot find name 'foo'.",
        "thread 'main' panicked at src/main.rs:4:5:",
        "Automatic merge failed; fix conflicts and then commit the result.",
        "rsync error: some files were not transferred (code 23)",
        "Segmentation fault (core dumped)",
        "Killed",
        "Command timed out after 120s",
        "return code: 2",
        "rc=5",
        "TOTAL                 1203    240    80%",
        "Successfully installed foo-1.2.3 bar-2.0",
        "added 389 packages, and audited 399 packages in 44s",
        "3 vulnerabilities (1 moderate, 2 high)",
        "BUILD SUCCESSFUL in 3s",
        "Build succeeded.",
    ] {
        let shown = built(line);
        assert!(shown.contains(line) && shown.contains('⋯'), "{line}:\n{shown}");
    }
}

#[test]
fn code_and_data_that_speak_of_errors_are_no_failure() {
    for line in [
        "   104\t  raise Wrong(f'ERROR: table {name} not found')",
        "  437\t            # an exception!",
        "auth_test.go:29:\t\tname: \"token with error\"",
        "-rw-rw-r-- 1 root root   347 Dec  4 20:35 package.json",
        "0% [10 Packages store 0 B] [14 Packages 53.2 kB]",
        "Success: '1:23:45' -> 1:23:45",
        "#traceback { background: #eee; }",
    ] {
        let shown = built(line);
        assert!(!shown.contains(line), "{line}:\n{shown}");
    }
}

#[test]
fn a_failure_says_first_what_is_sure() {
    let log = |at: usize| format!("    scenario_{at}_test.go:19: Step of {}\n", "x".repeat(at));
    let failed = |at: usize| {
        let name = "x".repeat(at);
        format!("--- FAIL: Test{name}Of (0.00s)\n    a row of it\n    {{\n    a_test.go:12: {name} is wrong\n")
    };
    let text = format!(
        "=== RUN\n{}{}{}FAIL\nExit code 1\n",
        (0..20).map(log).collect::<String>(),
        (1..7).map(failed).collect::<String>(),
        filling(20)
    );
    let shown = shown(&reads(&text), 2);
    assert_eq!(shown.matches("--- FAIL").count(), 6, "{shown}");
    assert_eq!(shown.matches(" is wrong").count(), 6, "{shown}");
}

#[test]
fn an_error_is_told_up_to_its_end() {
    let error = format!("error: push target refs: {}: use of closed network connection", "target of it ".repeat(24));
    let shown = shown(&reads(&format!("begin\n{}{error}\n{}Exit code 1\n", filling(20), filling(20))), 2);
    assert!(shown.contains(&error), "{shown}");
}

#[test]
fn tests_are_counted_and_not_their_files() {
    let file = |at: usize| format!("PASS src/{at}.test.ts\n{}", format!("  ✓ holds {at} (1 ms)\n").repeat(3));
    let text = format!("begin\n{}end of all\n", (0..20).map(file).collect::<String>());
    assert!(shown(&reads(&text), 2).contains(" 57 passed #"), "{}", shown(&reads(&text), 2));
}

#[test]
fn an_error_stands_under_its_file() {
    let warning = |at: usize| format!("  {at}:1  warning  Unexpected {}  no-x\n", "x".repeat(at % 9));
    let warnings: String = (1..60).map(warning).collect();
    let text = format!(
        "/w/src/a.ts\n{warnings}\n/w/src/zz.ts\n{warnings}  14:3  error  'fetchUser' is not defined  no-undef\n{warnings}\nExit code 1\n"
    );
    let shown = shown(&reads(&text), 2);
    let (before, _) = shown.split_once("'fetchUser' is not defined").expect("it is shown");
    assert!(before.contains("/w/src/zz.ts"), "{shown}");
}

#[test]
fn what_a_user_says_who_refuses_a_tool_stays_whole() {
    let words = "Could we first look at which gates the other crews already open by hand, and write down who holds a key?\n\
                 And after that oil the hinges of the old one, but do not paint it before the heron has left";
    for between in ["\n", " "] {
        let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected, nothing was written. \
                       To tell you how to proceed, the user said:";
        let text = format!("{refused}{between}{words}");
        let shown = shown(&reads(&text), 2);
        assert!(shown.ends_with(words), "{shown}");
    }
}
