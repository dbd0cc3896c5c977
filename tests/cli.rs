//! The program from outside: commands, exit codes, what they print, and bad inputs.

use std::collections::BTreeSet;
use std::path::Path;

use condenser::report::{generated, schema, schema_names};

use crate::originals::sessions;
use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::{TestDir, files};

fn manifest_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn reason_of(line: &str) -> String {
    let reject: serde_json::Value = serde_json::from_str(line).expect("a reject is JSON");
    for key in ["source", "detail"] {
        assert!(reject[key].as_str().is_some_and(|text| !text.is_empty()), "{line}");
    }
    for key in ["source_row", "line", "offset"] {
        assert!(reject[key].is_u64(), "{line}");
    }
    reject["reason"].as_str().expect("a reason").to_owned()
}

#[test]
fn a_flipped_byte_in_any_file_of_a_run_is_found() {
    let input = jsonl(40, 11) + "{\"broken\n" + &jsonl(3, 12) + &sessions(2, 12);
    // A map wants whole originals.
    for (format, map) in [("parquet", None), ("jsonl", Some("--verbatim-map")), ("jsonl", None)] {
        let dir = TestDir::new();
        dir.write("in.jsonl", &input);
        let mut args =
            vec!["compress", "in.jsonl", "-o", "run", "--trace", "--recency-window", "0", "--format", format];
        args.extend(map);
        condenser(dir.root(), &args).exits(3);
        condenser(dir.root(), &["verify", "run"]).ok();
        let run = files(&dir.path("run"));
        assert!(run.len() >= 7, "{:?}", run.keys());
        for (name, bytes) in &run {
            for at in [0, bytes.len() / 3, bytes.len() / 2, bytes.len().saturating_sub(2)] {
                if at < bytes.len() {
                    let mut flipped = bytes.clone();
                    flipped[at] ^= 0x10;
                    dir.write(&format!("run/{name}"), &flipped);
                    let told = condenser(dir.root(), &["verify", "run"]).exits(4);
                    assert!(
                        ["part-00000", "manifest", "plan"].iter().any(|name| told.stderr.contains(name)),
                        "{}",
                        told.stderr
                    );
                }
            }
            std::fs::remove_file(dir.path(&format!("run/{name}"))).expect("it was there");
            // Without a manifest there is a run that was not finished; that is said too.
            condenser(dir.root(), &["verify", "run"]).exits(if name == "manifest.json" { 6 } else { 4 });
            dir.write(&format!("run/{name}"), bytes);
        }
        condenser(dir.root(), &["verify", "run"]).ok();
    }
}

#[test]
fn damage_is_named_by_table_part_and_rows() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(20, 13));
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run"]).ok();
    let mut bytes = dir.read("run/metrics/part-00000.parquet");
    bytes[50] ^= 1;
    dir.write("run/metrics/part-00000.parquet", bytes);
    let told = condenser(dir.root(), &["verify", "run"]).exits(4);
    assert!(told.stderr.contains("table metrics, part 0, rows 0 to 19"), "{}", told.stderr);
}

#[test]
fn a_run_is_never_overwritten_and_stdin_ends_up_in_a_run_too() {
    let dir = TestDir::new();
    let text = jsonl(5, 14);
    condenser(dir.root(), &["compress", "-", "-o", "run"]).input(text.clone()).ok();
    let told = condenser(dir.root(), &["compress", "-", "-o", "run"]).input(text.clone()).exits(2);
    assert!(told.stderr.contains("hint: choose another directory"), "{}", told.stderr);
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert_eq!(dir.read("out/stdin.jsonl"), text.as_bytes());
    // What is there already is no obstacle; anything else under its name is.
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    dir.write("out/stdin.jsonl", "mine");
    condenser(dir.root(), &["restore", "run", "-o", "out"]).exits(2);
    assert_eq!(dir.read("out/stdin.jsonl"), b"mine");
}

#[cfg(unix)]
#[test]
fn a_name_that_is_no_utf8_is_told_as_what_it_becomes() {
    use std::os::unix::ffi::OsStrExt;
    let dir = TestDir::new();
    let text = jsonl(3, 17);
    dir.write("in/good.jsonl", &text);
    let name = std::ffi::OsStr::from_bytes(b"bad\xff.jsonl");
    std::fs::write(dir.path("in").join(name), &text).expect("a file");
    let told = condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    let says = "in/bad\u{fffd}.jsonl: the name is not UTF-8; the file comes back under the name as it is shown here";
    assert_eq!(told.stderr.matches(says).count(), 1, "{}", told.stderr);
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert_eq!(dir.read("out/bad\u{fffd}.jsonl"), text.as_bytes());
}

#[test]
fn folders_patterns_and_codecs_keep_their_names() {
    let dir = TestDir::new();
    let (a, b) = (jsonl(3, 15), jsonl(4, 16));
    dir.write("in/deep/a.jsonl", &a);
    dir.write("in/b.jsonl.zst", zstd::encode_all(b.as_bytes(), 1).expect("memory takes all"));
    dir.write("in/README.md", "no data");
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    condenser(dir.root(), &["restore", "run"]).exits(2);
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    assert_eq!(
        (dir.read("out/deep/a.jsonl"), dir.read("out/b.jsonl")),
        (a.clone().into_bytes(), b.clone().into_bytes())
    );
    condenser(dir.root(), &["verify", "run", "--against", "in"]).ok();
    // The order is that of the run: b, then what lies deeper.
    condenser(dir.root(), &["verify", "run", "--against", "out/b.jsonl", "in/deep/a.jsonl"]).ok();
    let told = condenser(dir.root(), &["verify", "run", "--against", "in/deep/a.jsonl", "out/b.jsonl"]).exits(4);
    let says = "error: part 0 (in/b.jsonl.zst): in/deep/a.jsonl differs from the restored stream at byte ";
    assert!(told.stderr.contains(says) && told.stderr.contains("in the order of the run"), "{}", told.stderr);
    dir.write("out/long.jsonl", b.clone() + "{}");
    let told = condenser(dir.root(), &["verify", "run", "--against", "out/long.jsonl", "in/deep/a.jsonl"]).exits(4);
    assert!(told.stderr.contains("out/long.jsonl goes on where the restored stream ends"), "{}", told.stderr);
    let told = condenser(dir.root(), &["verify", "run", "--against", "in/deep"]).exits(4);
    assert!(told.stderr.contains("; in the run alone: in/b.jsonl.zst"), "{}", told.stderr);
    dir.write("in/c.jsonl", "{}");
    let told = condenser(dir.root(), &["verify", "run", "--against", "in"]).exits(4);
    assert!(told.stderr.contains("; not in the run: in/c.jsonl"), "{}", told.stderr);
    std::fs::remove_file(dir.path("in/c.jsonl")).expect("it is there");
    condenser(dir.root(), &["compress", "in/*/a.*", "-o", "run2"]).ok();
    assert_eq!(condenser(dir.root(), &["restore", "run2"]).ok().stdout, a.as_bytes());
}

#[test]
fn the_filter_and_its_sidecar_give_the_exact_stream() {
    let text =
        "\u{feff}".to_owned() + &jsonl(200, 17).replace("}\n{", "}\r\n\n{") + "junk \u{0}\n" + jsonl(2, 18).trim_end();
    let dir = TestDir::new();
    let args = ["compress", "-", "--sidecar", "side", "--recency-window", "0"];
    let out = condenser(dir.root(), &args).input(text.clone()).exits(3).stdout;
    assert!(memchr::memchr_iter(b'\n', &out).count() == 202);
    let restored = condenser(dir.root(), &["restore", "--sidecar", "side"]).input(out.clone()).ok().stdout;
    assert!(restored == text.as_bytes());
    condenser(dir.root(), &["compress", "-", "--sidecar", "side"]).input(text).exits(2);
    let mut changed = out.clone();
    changed.truncate(out.len() - 10);
    condenser(dir.root(), &["restore", "--sidecar", "side"]).input(changed).exits(4);
    let side = dir.read("side");
    for at in (0..side.len()).step_by(side.len() / 40) {
        let mut damaged = side.clone();
        damaged[at] ^= 4;
        dir.write("side", damaged);
        let told = condenser(dir.root(), &["restore", "--sidecar", "side"]).input(out.clone());
        told.exits(4);
    }
}

#[test]
fn several_rounds_are_restored_through_their_runs() {
    let dir = TestDir::new();
    let text = jsonl(120, 19) + "not json\n" + &sessions(3, 19);
    dir.write("in.jsonl", &text);
    let compress = ["--recency-window", "0", "--format", "jsonl"];
    // Each round may store its originals in either form.
    for [one, two, three] in [["hidden"; 3], ["whole"; 3], ["hidden", "whole", "hidden"], ["whole", "hidden", "whole"]]
    {
        let of = |form| ["--originals", form];
        for run in ["r1", "r2", "r3"].map(|run| dir.path(run)).iter().filter(|run| run.exists()) {
            std::fs::remove_dir_all(run).expect("it was there");
        }
        condenser(dir.root(), &[&["compress", "in.jsonl", "-o", "r1"], &compress[..], &of(one)].concat()).exits(3);
        condenser(dir.root(), &[&["compress", "r1/conversations", "-o", "r2"], &compress[..], &of(two)].concat()).ok();
        let last = ["compress", "r2/conversations", "-o", "r3", "--recency-window", "1"];
        condenser(dir.root(), &[&last[..], &of(three)].concat()).ok();
        for run in ["r1", "r2", "r3"] {
            condenser(dir.root(), &["verify", run]).ok();
        }
        std::fs::remove_dir_all(dir.path("r1/conversations")).expect("it is not needed any more");
        let restored = condenser(dir.root(), &["restore", "r3", "--through", "r2", "--through", "r1"]).ok().stdout;
        assert!(restored == text.as_bytes(), "{one} {two} {three}");
    }
    dir.write("other.jsonl", jsonl(3, 26));
    condenser(dir.root(), &[&["compress", "other.jsonl", "-o", "other"], &compress[..]].concat()).ok();
    let told = condenser(dir.root(), &["restore", "r3", "--through", "other"]).exits(4);
    assert!(told.stderr.contains("the run did not write"), "{}", told.stderr);
    condenser(dir.root(), &["compress", "other.jsonl", "-o", "columns"]).ok();
    let told = condenser(dir.root(), &["restore", "r3", "--through", "columns"]).exits(2);
    assert!(told.stderr.contains("only a run with --format jsonl is restored through"), "{}", told.stderr);
}

#[test]
fn runs_among_the_inputs_are_not_inputs_and_equal_names_are_told_apart() {
    let dir = TestDir::new();
    let (a, b) = (jsonl(3, 28), jsonl(4, 29));
    dir.write("in/a.jsonl", &a);
    dir.write("in/a.jsonl.zst", zstd::encode_all(b.as_bytes(), 1).expect("memory takes all"));
    condenser(dir.root(), &["compress", "in/a.jsonl", "-o", "in/run", "--format", "jsonl"]).ok();
    condenser(dir.root(), &["compress", "in", "-o", "run"]).ok();
    condenser(dir.root(), &["restore", "run", "-o", "out"]).ok();
    let restored = files(&dir.path("out"));
    let expected = [("a.jsonl", a.as_bytes()), ("part-00001-a.jsonl", b.as_bytes())];
    assert_eq!(restored.iter().map(|(name, bytes)| (&**name, &**bytes)).collect::<Vec<_>>(), expected);
    condenser(dir.root(), &["compress", "in/run", "-o", "second"]).ok();
    let restored = condenser(dir.root(), &["restore", "second", "--through", "in/run"]).ok().stdout;
    assert_eq!(restored, a.as_bytes());
}

#[test]
fn a_map_written_beside_records_expands_them() {
    let dir = TestDir::new();
    let long = "The deploy failed because the cache was never warmed up before the traffic moved. ".repeat(20);
    let chat = |id: &str, text: &str| {
        format!(
            "{{\"id\":\"{id}\",\"messages\":[{{\"id\":\"x\",\"role\":\"user\",\"content\":\"{text}\"}},{{\"id\":\"y\",\"role\":\"assistant\",\"content\":\"ok\"}}]}}\n"
        )
    };
    dir.write("one.jsonl", chat("c1", &long));
    dir.write("two.jsonl", chat("c1", &long) + &chat("c2", &(long.clone() + "It was retried at 14:05.")));
    for (input, map) in [
        ("one.jsonl", "verbatim-map/part-00000.jsonl"),
        ("one.jsonl", "verbatim-map.json"),
        ("two.jsonl", "verbatim-map/part-00000.jsonl"),
    ] {
        let run = format!("{input}-{}", map.len());
        condenser(
            dir.root(),
            &["compress", input, "-o", &run, "--format", "jsonl", "--verbatim-map", "--recency-window", "0"],
        )
        .ok();
        condenser(dir.root(), &["verify", &run]).ok();
        let map = format!("{run}/{map}");
        if dir.path(&map).exists() {
            let conversations = format!("{run}/conversations/part-00000.jsonl.zst");
            let restored = condenser(dir.root(), &["restore", "--verbatim", &map, &conversations]).ok().stdout;
            assert_eq!(String::from_utf8_lossy(&restored), String::from_utf8_lossy(&dir.read(input)));
        }
    }
}

#[test]
fn single_conversations_come_back_alone() {
    let dir = TestDir::new();
    let text = jsonl(60, 20);
    dir.write("in.jsonl", &text);
    for format in ["parquet", "jsonl"] {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", format, "--format", format, "--recency-window", "0"])
            .ok();
        let out = condenser(dir.root(), &["restore", format, "--conversation", "chat/42"]).ok().stdout;
        assert_eq!(String::from_utf8_lossy(&out).trim_end(), text.lines().nth(42).expect("60 lines"));
        condenser(dir.root(), &["restore", format, "--conversation", "chat/60"]).exits(1);
    }
}

#[test]
fn a_map_of_originals_expands_what_the_reference_compacted() {
    let dir = TestDir::new();
    let original = "{\"id\":\"m0\",\"index\":0,\"role\":\"user\",\"content\":\"the  whole\\u0020story\"}";
    let summary = "{\"id\":\"m0\",\"index\":0,\"role\":\"user\",\"content\":\"[summary: story]\",\"metadata\":{\"_cce_original\":{\"ids\":[\"m0\"],\"version\":0}}}";
    dir.write("map.json", format!("{{\"m0\":{original}}}"));
    dir.write("log.json", format!("[{summary}]\n"));
    let out = condenser(dir.root(), &["restore", "--verbatim", "map.json", "log.json"]).ok().stdout;
    assert_eq!(String::from_utf8_lossy(&out), format!("[{original}]\n"));
    dir.write("maps.jsonl", format!("{{\"conversation_id\":\"c\",\"verbatim\":{{\"m0\":{original}}}}}\n"));
    dir.write(
        "log.jsonl",
        format!("{{\"id\":\"c\",\"messages\":[{summary}]}}\n{{\"id\":\"d\",\"messages\":[{summary}]}}\n"),
    );
    let told = condenser(dir.root(), &["restore", "--verbatim", "maps.jsonl", "log.jsonl", "-o", "out.jsonl"]).exits(3);
    assert!(told.stderr.contains("1 id has no original in the map; its summary was kept"), "{}", told.stderr);
    let expected = format!("{{\"id\":\"c\",\"messages\":[{original}]}}\n{{\"id\":\"d\",\"messages\":[{summary}]}}\n");
    assert_eq!(String::from_utf8_lossy(&dir.read("out.jsonl")), expected);
}

#[test]
fn a_defect_in_the_engine_costs_one_record() {
    let dir = TestDir::new();
    let text = jsonl(30, 21);
    dir.write("in.jsonl", &text);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--drill-panic", "chat/3"]).exits(3);
    let rejects = String::from_utf8(dir.read("run/rejects/part-00000.jsonl")).expect("it is text");
    assert_eq!(rejects.lines().map(reason_of).collect::<Vec<_>>(), ["internal"]);
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_with_130_and_leaves_no_half_part() {
    for signal in ["-INT", "-TERM"] {
        interrupt(signal);
    }
}

#[cfg(unix)]
fn interrupt(signal: &str) {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    let dir = TestDir::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_condenser"))
        .args(["compress", "-", "-o", "run", "--progress", "json"])
        .current_dir(dir.root())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin was piped");
    stdin.write_all(jsonl(10_000, 27).as_bytes()).expect("the program reads");
    let mut told = BufReader::new(child.stderr.take().expect("stderr was piped"));
    let mut line = String::new();
    while !line.contains("\"source\"") {
        assert!(told.read_line(&mut line).expect("the program tells") > 0, "{line}");
    }
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let status = child.wait().expect("the program ends while its input is still open");
    assert_eq!(status.code(), Some(130));
    drop(stdin);
    assert_eq!(files(&dir.path("run")).into_keys().collect::<Vec<_>>(), ["plan.json.zst"]);
    // Nothing of it was committed: the same command begins again.
    condenser(dir.root(), &["compress", "-", "-o", "run"]).input(jsonl(5, 1)).ok();
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(8_000, 22));
    let run = |threads: &str| {
        condenser(dir.root(), &["compress", "in.jsonl", "-o", threads, "--threads", threads, "--trace"]).ok();
        files(&dir.path(threads))
    };
    let one = run("1");
    assert!(one == run("2") && one == run("8"));
}

#[test]
fn lines_beyond_the_limit_come_back_too() {
    let dir = TestDir::new();
    let long =
        format!("{{\"id\":\"long\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}", "x".repeat(5 << 20));
    let text = format!("{}{long}\n{}", jsonl(2, 23), jsonl(2, 24));
    dir.write("in.jsonl", &text);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "run", "--max-record-bytes", "1MiB"]).exits(3);
    condenser(dir.root(), &["verify", "run", "--against", "in.jsonl"]).ok();
    assert!(condenser(dir.root(), &["restore", "run"]).ok().stdout == text.as_bytes());
    let rejects = String::from_utf8(dir.read("run/rejects/part-00000.jsonl")).expect("it is text");
    assert_eq!(rejects.matches("\"too_long\"").count(), 1);
    condenser(dir.root(), &["compress", "in.jsonl", "-o", "whole", "--memory", "1MiB"]).ok();
    condenser(dir.root(), &["verify", "whole", "--against", "in.jsonl"]).ok();
}

#[test]
fn published_schemas_are_those_of_the_code() {
    let published = files(&manifest_dir().join("schemas"));
    let published: BTreeSet<&str> =
        published.keys().filter(|name| !name.contains('/')).map(|name| name.trim_end_matches(".json")).collect();
    assert_eq!(published, schema_names().collect());
    for name in schema_names() {
        assert!(
            generated(name).as_deref() == schema(name),
            "{name}: run `cargo run -p condenser-benches --bin schemas`"
        );
    }
}

#[test]
fn what_is_typed_wrong_is_said() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(1, 25));
    dir.write("in.parquet", b"PAR1 and more");
    for (args, code, says) in [
        (&["compress", "in.jsonl"] as &[&str], 2, "--output"),
        (&["compress", "nothing.jsonl", "-o", "run"], 2, "nothing.jsonl: there is no such file"),
        (&["compress", "in.jsonl", "-o", "run", "--max-rejects", "lots"], 2, "--max-rejects"),
        (&["compress", "in.jsonl", "-o", "run", "--sidecar", "x"], 2, "--sidecar"),
        (&["compress", "in.jsonl", "-o", "run", "--verbatim-map"], 2, "--format jsonl"),
        (&["compress", "in.parquet", "-o", "run"], 1, "Parquet"),
        (&["verify", "."], 2, "there is no run here"),
        (&["restore"], 2, "no run"),
        (&["schema", "wheel"], 2, "there is no schema"),
        (&["frobnicate"], 2, "frobnicate"),
        (&["explain", "in.jsonl", "--conversation", "nobody"], 1, "nobody"),
    ] {
        let told = condenser(dir.root(), args).exits(code);
        assert!(told.stderr.contains(says), "{args:?} says\n{}", told.stderr);
        assert!(told.stderr.starts_with("error: "), "{args:?} says\n{}", told.stderr);
    }
    assert!(String::from_utf8_lossy(&condenser(dir.root(), &["schema"]).ok().stdout).contains("conversations\n"));
    assert!(!condenser(dir.root(), &["completions", "bash"]).ok().stdout.is_empty());
    let told = condenser(dir.root(), &["explain", "in.jsonl"]).ok();
    assert!(String::from_utf8_lossy(&told.stdout).contains("chat/0: "));
}

/// Runs that released formats wrote are read for ever; the folders are never written again.
#[test]
fn runs_of_every_released_format_are_verified_and_restored() {
    let compat = manifest_dir().join("tests/data/compat");
    let mut n_runs = 0;
    for version in std::fs::read_dir(&compat).expect("the folder of old runs") {
        let version = version.expect("an entry").path();
        let input = std::fs::read(version.join("input.jsonl")).expect("the input of its runs");
        for run in ["parquet", "jsonl"] {
            condenser(&version, &["verify", run, "--quiet"]).ok();
            let restored = condenser(&version, &["restore", run, "-o", "-", "--quiet"]).ok().stdout;
            assert!(restored == input, "{} {run} gives something else", version.display());
            n_runs += 1;
        }
    }
    assert!(n_runs >= 2);
}
