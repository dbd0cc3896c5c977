//! The examples of nightly jobs: what a timer, a cron line and a cluster would call is called.

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::TestDir;

fn example(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs/nightly").join(name);
    std::fs::read_to_string(path).expect("an example")
}

/// The arguments of each call of the program in a line.
fn calls(line: &str) -> Vec<Vec<&str>> {
    let calls = line.split("/usr/local/bin/condenser").skip(1);
    let is_end = |word: &&str| !matches!(*word, "&&" | "|" | "2>&1");
    calls.map(|call| call.split_whitespace().take_while(is_end).collect()).collect()
}

#[test]
fn the_examples_of_nightly_jobs_do_what_they_say() {
    let service = example("condenser-nightly.service");
    let of_service = service.lines().find_map(|line| line.strip_prefix("ExecStart=")).map(calls).expect("a call");
    assert!(example("condenser-nightly.timer").contains("\nOnCalendar="));
    let crontab = example("crontab");
    let of_cron: Vec<Vec<&str>> = crontab.lines().filter(|line| !line.starts_with('#')).flat_map(calls).collect();
    let cluster = example("cronjob.yaml");
    let list = |key: &str| -> Vec<&str> {
        let line = cluster.lines().find_map(|line| line.trim().strip_prefix(key)).expect("a list");
        line.trim().trim_matches(['[', ']']).split(", ").map(|item| item.trim_matches('"')).collect()
    };
    assert_eq!(list("command:"), ["/usr/local/bin/condenser"]);
    assert_eq!(of_service, [["run", "/etc/condenser/nightly.toml"]]);
    assert_eq!((&of_cron[0], of_cron.len()), (&of_service[0], 3));
    for calls in [of_service.clone(), of_cron, vec![list("args:")]] {
        let dir = TestDir::new();
        let job = example("../nightly-compaction.toml");
        let job = job.replace("jobs/sample/*.jsonl", "logs/*.jsonl").replace("target/nightly-compaction", "store");
        dir.write("nightly.toml", job);
        dir.write("logs/a.jsonl", jsonl(9, 1));
        for args in [&of_service, &calls].into_iter().flatten() {
            let args: Vec<&str> = args
                .iter()
                .map(|&arg| match arg {
                    "/etc/condenser/nightly.toml" => "nightly.toml",
                    "/srv/archive/chats" => "store",
                    arg => arg,
                })
                .collect();
            condenser(dir.root(), &args).ok();
            dir.write("logs/b.jsonl", jsonl(3, 2));
        }
        condenser(dir.root(), &["verify", "store"]).ok();
    }
}
