//! No shorter form of a log contradicts it: totals and exit statuses stand as they are stated, errors come before usage
//! texts, warnings and progress. Logs of the usual test runners and build tools, green and red, through every way in
//! which the engine shortens them.

use condenser::model::{AdapterName, BudgetStrategy, CompressionDepth, EngineOptions};

use crate::support::talk;

/// A program that tests or builds. In its texts `{p}` is how many succeed, `{f}` how many fail, `{t}` both, `{i}` a number.
struct Tool {
    name: &'static str,
    head: &'static str,
    pass: &'static str,
    fail: &'static str,
    /// Lines of totals when all is well, and when something fails.
    green: &'static str,
    red: &'static str,
}

const TOOLS: [Tool; 22] = [
    Tool {
        name: "pytest",
        head: "============ test session starts ============\ncollected {t} items\n",
        pass: "tests/test_cart.py::test_adds_item_{i} PASSED [ {i}%]",
        fail: "tests/test_pay.py::test_charges_{i} FAILED\nE       AssertionError: card {i} was declined",
        green: "============ {p} passed in 1.31s ============",
        red: "============ {f} failed, {p} passed in 1.31s ============",
    },
    Tool {
        name: "unittest",
        head: "",
        pass: "test_adds_item_{i} (tests.CartTest) ... ok",
        fail: "FAIL: test_charges_{i} (tests.PayTest)\nAssertionError: {i} != 0",
        green: "Ran {t} tests in 0.031s\n\nOK",
        red: "Ran {t} tests in 0.031s\n\nFAILED (failures={f})",
    },
    Tool {
        name: "jest",
        head: "",
        pass: "  ✓ adds item {i} (3 ms)",
        fail: "  ✕ charges card {i} (5 ms)\n    TypeError: card {i} is undefined",
        green: "Test Suites: 4 passed, 4 total\nTests:       {p} passed, {t} total\nTime:        2.31 s",
        red: "Test Suites: 1 failed, 3 passed, 4 total\nTests:       {f} failed, {p} passed, {t} total\nTime:        2.31 s",
    },
    Tool {
        name: "vitest",
        head: " RUN  v1.6.0 /repo\n",
        pass: " ✓ src/cart{i}.test.ts (4 tests) 12ms",
        fail: " FAIL  src/pay{i}.test.ts > charges\nAssertionError: expected {i} to be 0",
        green: " Test Files  4 passed (4)\n      Tests  {p} passed ({t})",
        red: " Test Files  1 failed | 3 passed (4)\n      Tests  {f} failed | {p} passed ({t})",
    },
    Tool {
        name: "mocha",
        head: "  Cart\n",
        pass: "    ✔ adds item {i}",
        fail: "     Error: card {i} was declined\n      at charge (src/pay.js:{i}:9)",
        green: "  {p} passing (30ms)",
        red: "  {p} passing (30ms)\n  {f} failing",
    },
    Tool {
        name: "go test",
        head: "",
        pass: "--- PASS: TestAdds{i} (0.00s)",
        fail: "--- FAIL: TestCharges{i} (0.01s)\n    pay_test.go:{i}: got 1, want 2",
        green: "PASS",
        red: "FAIL",
    },
    Tool {
        name: "cargo test",
        head: "   Compiling pay v0.1.0 (/repo)\nrunning {t} tests\n",
        pass: "test cart::adds_item_{i} ... ok",
        fail: "test pay::charges_{i} ... FAILED\nthread 'pay::charges_{i}' panicked at src/pay.rs:{i}:9:",
        green: "test result: ok. {p} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        red: "test result: FAILED. {p} passed; {f} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
    },
    Tool {
        name: "bun test",
        head: "bun test v1.1.8\n",
        pass: "(pass) cart > adds item {i} [0.42ms]",
        fail: "error: card {i} was declined\n(fail) pay > charges {i} [0.51ms]",
        green: " {p} pass\n 0 fail\nRan {t} tests across 80 files. [12.30s]",
        red: " {p} pass\n {f} fail\nRan {t} tests across 80 files. [12.30s]",
    },
    Tool {
        name: "tap",
        head: "TAP version 13\n",
        pass: "ok {i} - adds item",
        fail: "not ok {i} - charges the card\nError: card {i} was declined",
        green: "# tests {t}\n# pass {p}\n# fail 0",
        red: "# tests {t}\n# pass {p}\n# fail {f}",
    },
    Tool {
        name: "rspec",
        head: "Randomized with seed 5\n",
        pass: "  adds item {i} to the cart of the user",
        fail: "  charges card {i} (FAILED - {i})\n     Failure/Error: expect(pay).to be_done",
        green: "{t} examples, 0 failures",
        red: "{t} examples, {f} failures",
    },
    Tool {
        name: "phpunit",
        head: "PHPUnit 10.5.2 by Sebastian Bergmann and contributors.\n",
        pass: " ✔ Adds item {i}",
        fail: " ✘ Charges card {i}\n   Failed asserting that {i} is 0.",
        green: "OK ({t} tests, 90 assertions)",
        red: "FAILURES!\nTests: {t}, Assertions: 90, Failures: {f}.",
    },
    Tool {
        name: "maven",
        head: "[INFO] --- surefire:3.1.2:test ---\n",
        pass: "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.{i} s -- in CartTest",
        fail: "[ERROR] PayTest.charges{i}:40 expected: <{i}> but was: <0>",
        green: "[INFO] Tests run: {t}, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
        red: "[ERROR] Tests run: {t}, Failures: {f}, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    },
    Tool {
        name: "gradle",
        head: "> Task :compileJava UP-TO-DATE\n",
        pass: "CartTest > adds item {i} PASSED",
        fail: "PayTest > charges {i} FAILED\n    java.lang.AssertionError: expected {i}",
        green: "BUILD SUCCESSFUL in 12s",
        red: "{t} tests completed, {f} failed\nBUILD FAILED in 12s",
    },
    Tool {
        name: "dotnet test",
        head: "Starting test execution, please wait...\n",
        pass: "  Passed Cart.AddsItem{i} [12 ms]",
        fail: "  Failed Pay.Charges{i} [14 ms]\n  Error Message: Assert.Equal() Failure",
        green: "Passed!  - Failed:     0, Passed:     {p}, Skipped:     0, Total:     {t}, Duration: 30 ms - pay.dll (net8.0)",
        red: "Failed!  - Failed:     {f}, Passed:     {p}, Skipped:     0, Total:     {t}, Duration: 30 ms - pay.dll (net8.0)",
    },
    Tool {
        name: "ctest",
        head: "Test project /repo/build\n",
        pass: "{i}/99 Test #{i}: cart_{i} ................   Passed    0.01 sec",
        fail: "{i}/99 Test #{i}: pay_{i} ................***Failed    0.01 sec",
        green: "100% tests passed, 0 tests failed out of {t}",
        red: "83% tests passed, {f} tests failed out of {t}",
    },
    Tool {
        name: "tsc",
        head: "> web@1.0.0 build\n> tsc --noEmit\n",
        pass: "[12:00:{i}] File change detected. Starting incremental compilation...",
        fail: "src/pay{i}.ts({i},5): error TS2304: Cannot find name 'card'.",
        green: "Found 0 errors. Watching for file changes.",
        red: "Found {f} errors in {f} files.",
    },
    Tool {
        name: "eslint",
        head: "/repo/src/pay.ts\n",
        pass: "  {i}:7  warning  Unexpected any. Specify a different type  no-explicit-any",
        fail: "  {i}:9  error  'card' is not defined  no-undef",
        green: "✖ {p} problems (0 errors, {p} warnings)",
        red: "✖ {t} problems ({f} errors, {p} warnings)",
    },
    Tool {
        name: "gcc and make",
        head: "make: Entering directory '/repo'\n",
        pass: "gcc -O2 -c -o build/cart{i}.o src/cart{i}.c",
        fail: "src/pay{i}.c:{i}:9: error: 'card' undeclared (first use in this function)\nmake: *** [Makefile:{i}: all] Error 2",
        green: "",
        red: "",
    },
    Tool {
        name: "npm",
        head: "npm warn deprecated inflight@1.0.6: leaks memory\n",
        pass: "npm http fetch GET 200 https://registry.npmjs.org/cart{i} 12ms (cache hit)",
        fail: "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/pay{i}",
        green: "found 0 vulnerabilities",
        red: "",
    },
    Tool {
        name: "docker build",
        head: "#0 building with \"default\" instance using docker driver\n",
        pass: "#{i} [builder {i}/99] RUN apt-get install -y lib{i}",
        fail: "ERROR: failed to solve: process \"/bin/sh -c make pay{i}\" did not complete successfully",
        green: "",
        red: "",
    },
    Tool {
        name: "webpack",
        head: "asset main.js 1.2 MiB [emitted] (name: main)\n",
        pass: "  ./src/cart{i}.js 1.2 KiB [built] [code generated]",
        fail: "ERROR in ./src/pay{i}.js 3:4\nModule not found: Error: Can't resolve './card{i}'",
        green: "webpack 5.91.0 compiled with 0 errors in 900 ms",
        red: "webpack 5.91.0 compiled with {f} errors in 900 ms",
    },
    Tool {
        name: "swift test",
        head: "Building for debugging...\n",
        pass: "Test Case 'CartTests.testAdds{i}' passed (0.001 seconds)",
        fail: "/repo/Tests/PayTests.swift:{i}: error: PayTests.testCharges : XCTAssertEqual failed",
        green: "Executed {t} tests, with 0 failures (0 unexpected) in 0.5 (0.6) seconds",
        red: "Executed {t} tests, with {f} failures (0 unexpected) in 0.5 (0.6) seconds",
    },
];

/// How agent programs say the exit status `{c}`: before the output, and behind it.
const HARNESSES: [(&str, &str); 7] = [
    ("", ""),
    ("Chunk ID: 1a1ea2\nWall time: 2.6780 seconds\nProcess exited with code {c}\nOutput:\n", ""),
    ("", "\n[Command finished with exit code {c}]"),
    ("Exit code {c}\n", ""),
    ("", "\n\nCommand exited with code {c}"),
    ("", "\n=== exit: {c} ==="),
    ("<returncode>{c}</returncode>\n<output>\n", "\n</output>"),
];

/// What stands around it: progress, words that look like failures in a green run, usage texts.
const PROGRESS: &str = "Downloading crates ...\nwarning: the lock file is old\n";
const LOOKS_BAD: &str = "error: this is what the fixture prints\nlevel=ERROR msg=\"expected by the test\"\n";
const USAGE: &str = "\nUsage: tool [options] <file>\n  -v, --verbose   say more of what is done\n  -q, --quiet     say nothing at all\n\
    \x20 -j, --jobs N    how many at once\nSee tool help for the names of all commands.\n";

struct Log {
    text: String,
    /// Lines that every shorter form must show.
    stated: Vec<String>,
    error: Option<String>,
}

fn log(tool: &Tool, (before, behind): (&str, &str), (n_pass, n_fail): (usize, usize)) -> Log {
    let is_red = n_fail > 0;
    let numbered = |text: &str, i: usize| text.replace("{i}", &i.to_string());
    let filled = |text: &str| {
        let total = n_pass + n_fail;
        let code = usize::from(is_red).to_string();
        let text = text.replace("{p}", &n_pass.to_string()).replace("{f}", &n_fail.to_string());
        text.replace("{t}", &total.to_string()).replace("{c}", &code)
    };
    let mut text = filled(before) + PROGRESS + &filled(tool.head);
    for i in 1..=n_pass {
        text += &(numbered(tool.pass, i) + "\n");
        if i == n_pass / 2 && !is_red {
            text += LOOKS_BAD;
        }
    }
    for i in 1..=n_fail {
        text += &(numbered(tool.fail, i) + "\n");
    }
    let totals = filled(if is_red { tool.red } else { tool.green });
    text += &totals;
    if is_red {
        text += USAGE;
    }
    text += &filled(behind);
    let lines = |text: &str| text.lines().map(flat).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let is_duration = |line: &String| line.starts_with("Time:");
    let mut stated = lines(&totals);
    stated.retain(|line| !is_duration(line));
    let codes = [filled(before), filled(behind)].concat();
    stated.extend(lines(&codes).into_iter().filter(|line| line.contains("exit") || line.contains("returncode")));
    let error = is_red.then(|| numbered(tool.fail, 1).lines().map(flat).collect::<Vec<_>>().remove(0));
    Log { text, stated, error }
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All ways in which the engine makes a log shorter.
fn ways() -> Vec<(&'static str, EngineOptions)> {
    let budget = |strategy| EngineOptions { token_budget: Some(150), budget_strategy: strategy, ..talk::all() };
    vec![
        ("digest", talk::all()),
        ("moderate", EngineOptions { compression_depth: CompressionDepth::Moderate, ..talk::all() }),
        ("aggressive", EngineOptions { compression_depth: CompressionDepth::Aggressive, ..talk::all() }),
        ("prepass", EngineOptions { agent_tool_prepass: true, ..talk::all() }),
        ("adapter", EngineOptions { adapters: vec![AdapterName::Log], ..talk::all() }),
        ("tiered", budget(BudgetStrategy::Tiered)),
        ("window", budget(BudgetStrategy::BinarySearch)),
        ("relevance", EngineOptions { relevance_threshold: Some(9.0), ..talk::all() }),
    ]
}

/// Why `shown` contradicts `log`.
fn contradiction(log: &Log, is_red: bool, shown: &str) -> Option<String> {
    let flat = flat(shown);
    if let Some(line) = log.stated.iter().find(|line| !flat.contains(line.as_str())) {
        return Some(format!("{line:?} is not shown"));
    }
    let own = flat.strip_prefix("[summary: ").and_then(|rest| rest.split(" | ").next()).unwrap_or_default();
    if own.contains(" lines") && !log.stated.is_empty() && !is_red && own.contains("failure") {
        return Some(format!("{own:?} of a green run"));
    }
    if own.contains(" lines") && is_red && log.stated.is_empty() && !own.contains("failure") {
        return Some(format!("{own:?} of a red run"));
    }
    let error = log.error.as_ref().map(|line| line.chars().take(60).collect::<String>());
    error.filter(|error| !flat.contains(error.as_str())).map(|error| format!("the error {error:?} is not shown"))
}

#[test]
fn no_shorter_form_of_a_log_contradicts_it() {
    let mut wrong: Vec<String> = Vec::new();
    let mut n_shorter = [0; 8];
    for (n_tool, tool) in TOOLS.iter().enumerate() {
        for (n_counts, counts) in [(14, 0), (40, 0), (9, 3), (40, 1), (60, 14)].into_iter().enumerate() {
            // Each tool meets each harness, not with all counts.
            for n_harness in [(n_tool + n_counts) % HARNESSES.len(), (n_tool + 2 * n_counts + 3) % HARNESSES.len()] {
                let harness = HARNESSES[n_harness];
                let log = log(tool, harness, counts);
                let talk = [("user", "Run the tests."), ("tool", log.text.as_str())];
                for (at, (way, options)) in ways().into_iter().enumerate() {
                    let done = talk::compress(&talk, &options);
                    let shown = done.texts.last().expect("there is a message");
                    n_shorter[at] += usize::from(*shown != log.text);
                    if let Some(why) = contradiction(&log, counts.1 > 0, shown) {
                        wrong.push(format!("{} {counts:?} harness {n_harness} {way}: {why}\n{shown}\n", tool.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.iter().take(12).cloned().collect::<String>());
    assert!(n_shorter.iter().all(|n| *n > 100), "each way makes logs shorter: {n_shorter:?}");
}
