//! Clocks that stand in 1970 or in 2262, or jump forwards and backwards by years: no byte of an output knows of it.

use super::shim::shimmed;
use super::{call_with, difference, files_of, store_files, write_inputs, write_store};
use crate::support::dir::TestDir;

const CLOCKS: [&str; 3] = ["1970", "2262", "jumps"];

#[test]
fn no_clock_changes_a_byte() {
    let dir = TestDir::new();
    write_inputs(&dir, "in", 60, 111);
    let mut n_calls = 0;
    let mut under = |clock: Option<&str>, args: &[&str], code: i32| {
        let environment = clock.map(|clock| shimmed(&[("CLOCK", clock)])).unwrap_or_default();
        let ended = call_with(dir.root(), args, &environment, "");
        assert_eq!(ended.code, code, "{clock:?} {args:?}\n{}", ended.stderr);
        n_calls += 1;
        ended.stdout
    };
    for format in ["parquet", "jsonl", "arrow"] {
        let mut of = |clock: Option<&str>| {
            let run = format!("{format}-{}", clock.unwrap_or("usual"));
            let args = ["compress", "in", "-o", &run, "--format", format, "--split-size", "20k", "--trace", "--quiet"];
            under(clock, &args, 3);
            under(clock, &["verify", &run, "--against", "in"], 0);
            let report = under(clock, &["report", &run, "--json"], 0);
            let page = format!("{run}.html");
            under(clock, &["report", &run, "--html", &page], 0);
            let back = format!("back-{run}");
            under(clock, &["restore", &run, "-o", &back, "--quiet"], 0);
            // The day on which a report was made is all that a clock changes.
            let made: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
            let made = made["made"].as_str().expect("a day").to_owned();
            let name =
                |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace(&run, "RUN").replace(&made, "DAY");
            (files_of(&dir, &run), files_of(&dir, &back), name(report), name(dir.read(&page)))
        };
        let usual = of(None);
        for clock in CLOCKS {
            let found = of(Some(clock));
            assert_eq!(difference(&found.0, &usual.0), None, "{format} under the clock {clock}");
            assert_eq!(difference(&found.1, &usual.1), None, "{format} under the clock {clock}");
            assert!((found.2, found.3) == (usual.2.clone(), usual.3.clone()), "a report under the clock {clock}");
        }
    }
    let dir = TestDir::new();
    write_store(&dir);
    let usual = store_files(&dir, "store");
    for clock in CLOCKS {
        for _ in 0..2 {
            let args = ["run", "job.toml", "--set", "output=\"other\""];
            let ended = call_with(dir.root(), &args, &shimmed(&[("CLOCK", clock)]), "");
            assert_eq!(ended.code, 0, "{clock}\n{}", ended.stderr);
        }
        let night = |files: &std::collections::BTreeMap<String, Vec<u8>>| files.get("nights/00001.json.zst").cloned();
        assert!(night(&store_files(&dir, "other")).is_some() && night(&usual).is_some());
        // Nothing is old when the clock stands at its beginning, and what the store restores may go under any other.
        let args = ["expire", "store", "--older-than", "30d"];
        let ended = call_with(dir.root(), &args, &shimmed(&[("CLOCK", clock)]), "");
        assert_eq!(ended.code, 0, "{clock}\n{}", ended.stderr);
        let n_old = String::from_utf8_lossy(&ended.stdout).lines().count();
        assert_eq!(n_old == 0, clock == "1970", "{clock}: {}", ended.stderr);
        assert_eq!(difference(&store_files(&dir, "store"), &usual), None, "{clock}");
        std::fs::remove_dir_all(dir.path("other")).expect("it is there");
    }
    println!("attack: {n_calls} calls under clocks of {CLOCKS:?}: no byte of an output is another");
}
