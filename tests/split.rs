//! The split of a data set: what goes to one side, what is left out, and what stays as it was when data is added, a job is called
//! again, or several machines share it.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::AsArray;
use condenser::chat::{Chat, chats};
use condenser::model::Role;
use condenser::pipeline::decode_record;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::support::command::{Told, condenser};
use crate::support::corpora;
use crate::support::dir::{TestDir, files};

/// Numbers from a seed.
fn draw(seed: u64, below: u64) -> u64 {
    let hash = blake3::hash(&seed.to_le_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().expect("eight bytes")) % below
}

/// A text of `n` invented words.
fn text(seed: u64, n: u64) -> String {
    let word = |at: u64| {
        let number = draw(seed * 100_003 + at, 20_000);
        let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"];
        let parts: String = (0..4).map(|digit| syllables[(number / 10_u64.pow(digit) % 10) as usize]).collect();
        format!("{parts}{}", number % 7)
    };
    (0..n).map(word).collect::<Vec<_>>().join(" ")
}

/// The same text with every twentieth word exchanged.
fn edited(text: &str, seed: u64) -> String {
    let words = text.split(' ').enumerate();
    let word = |(at, word): (usize, &str)| if at % 20 == 7 { format!("x{seed}y{at}") } else { word.to_owned() };
    words.map(word).collect::<Vec<_>>().join(" ")
}

/// A line with a conversation of these turns, user first.
fn talk(id: &str, turns: &[&str]) -> String {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> =
        turns.iter().enumerate().map(|(at, text)| json!({"role": role(at), "content": text})).collect();
    format!("{}\n", json!({"id": id, "messages": messages}))
}

/// `n` conversations that have nothing in common.
fn talks(n: u64) -> String {
    (0..n).map(|at| talk(&format!("k{at}"), &[&text(2 * at, 12), &text(2 * at + 1, 30)])).collect()
}

const JOB: &str = "kind = \"dataset\"\ninputs = [\"in\"]\noutput = \"run\"\nsplit_size = \"40k\"\n[dataset]\n";

/// A folder with a job over `text` with further lines of the table `[dataset]`.
fn folder(text: &str, lines: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("in/in.jsonl", text);
    dir.write("job.toml", format!("{JOB}{lines}"));
    dir
}

fn run(dir: &TestDir, args: &[&str]) -> Told {
    condenser(dir.root(), &[&["run", "job.toml"], args].concat()).ok()
}

/// The ids of a side.
fn ids(dir: &TestDir, run: &str, side: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files(&dir.path(&format!("{run}/dataset/{side}"))).into_keys() {
        let file = std::fs::File::open(dir.path(&format!("{run}/dataset/{side}/{path}"))).expect("it is there");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
        for batch in reader.expect("Parquet") {
            let batch = batch.expect("rows");
            let ids = batch.column_by_name("id").expect("an id").as_string::<i32>();
            found.extend(ids.iter().flatten().map(str::to_owned));
        }
    }
    found
}

/// The reasons of what was left out, with the twin, by id.
fn dropped(dir: &TestDir) -> BTreeMap<String, (String, String)> {
    let folder = dir.path("run/dataset/dropped");
    let found = if folder.exists() { files(&folder) } else { BTreeMap::new() };
    let lines = found.into_values().map(|bytes| String::from_utf8(bytes).expect("text")).collect::<String>();
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (text("id"), (text("reason"), text("of")))
    };
    lines.lines().map(read).collect()
}

fn left_out(dir: &TestDir, id: &str) -> (String, String) {
    dropped(dir).remove(id).unwrap_or_default()
}

#[test]
fn of_conversations_that_are_alike_the_longest_stays() {
    let (question, answer, more) = (text(901, 30), text(902, 60), text(903, 40));
    let system = json!({"id": "system", "messages": [
        {"role": "system", "content": text(904, 50)},
        {"role": "user", "content": question},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": more},
        {"role": "assistant", "content": "Done."}
    ]});
    let alike = [
        talk("plain", &[&question, &answer, &more, "Done."]),
        talk("loud", &[&question.to_uppercase(), &answer.replace(' ', "  "), &more, "DONE"]),
        format!("{system}\n"),
        talk("edited", &[&edited(&question, 1), &edited(&answer, 2), &edited(&more, 3), "Done."]),
        talk("snapshot", &[&question, &answer]),
        talk("longest", &[&question, &answer, &more, "Done.", "Thanks", "You are welcome."]),
        talk("other", &[&question, &text(905, 60)]),
    ];
    let input = talks(30) + &alike.concat();
    let dir = folder(&input, "");
    let told = run(&dir, &[]).stderr;
    assert!(told.contains("left out: 1 duplicate, 4 near-duplicates, 0 contaminated"), "{told}");
    let near = |of: &str| ("near_duplicate".to_owned(), of.to_owned());
    for id in ["system", "edited", "snapshot"] {
        assert_eq!(left_out(&dir, id), near("longest"), "{id}");
    }
    // Of two that say the same the first is compared further.
    assert_eq!(left_out(&dir, "loud").0, "duplicate");
    assert_eq!(left_out(&dir, "plain"), near("longest"));
    let stays = [ids(&dir, "run", "train"), ids(&dir, "run", "eval")].concat_sets();
    assert!(stays.contains("longest") && stays.contains("other") && stays.len() == 32, "{stays:?}");
    condenser(dir.root(), &["restore", "run", "-o", "back"]).ok();
    let back: Vec<u8> = files(&dir.path("back")).into_values().flatten().collect();
    assert!(back == input.as_bytes(), "every byte comes back");
    condenser(dir.root(), &["verify", "run", "--against", "in"]).ok();

    let dir = folder(&input, "dedup = \"exact\"\n");
    run(&dir, &[]);
    assert_eq!(dropped(&dir).into_keys().collect::<Vec<_>>(), ["loud"]);
    let dir = folder(&input, "dedup = \"none\"\n");
    run(&dir, &[]);
    assert!(dropped(&dir).is_empty());
}

/// All ids of several sides.
trait ConcatSets {
    fn concat_sets(self) -> BTreeSet<String>;
}

impl<const N: usize> ConcatSets for [BTreeSet<String>; N] {
    fn concat_sets(self) -> BTreeSet<String> {
        self.into_iter().flatten().collect()
    }
}

/// True when all conversations whose ids begin so are on one side.
fn are_together(dir: &TestDir, prefix: &str) -> bool {
    let n_of = |side: &str| ids(dir, "run", side).iter().filter(|id| id.starts_with(prefix)).count();
    assert!(n_of("train") + n_of("eval") > 1, "{prefix}");
    n_of("train") == 0 || n_of("eval") == 0
}

#[test]
fn what_belongs_together_goes_to_one_side() {
    // Groups of four with their first prompt, its like, or their task and repository in common.
    let mut input = String::new();
    for group in 0..12_u64 {
        let prompt = text(3_000 + group, 24);
        for at in 0..4 {
            let seed = 5_000 + 10 * group + at;
            input += &talk(&format!("same{group}/{at}"), &[&prompt, &text(seed, 40)]);
            let like = edited(&format!("{prompt} {}", text(7_000 + group, 20)), at);
            input += &talk(&format!("near{group}/{at}"), &[&like, &text(20_000 + seed, 40)]);
            let messages = [
                json!({"role": "user", "content": text(30_000 + seed, 20)}),
                json!({"role": "assistant", "content": text(40_000 + seed, 40)}),
            ];
            let id = format!("task{group}/{at}");
            input += &format!(
                "{}\n",
                json!({"id": id, "messages": messages, "repo": format!("o/{}", group / 2), "task_id": group})
            );
        }
    }
    for seed in 0..4 {
        let dir = folder(&input, &format!("eval_share = 0.5\nseed = {seed}\n"));
        run(&dir, &[]);
        for group in 0..12 {
            for kind in ["same", "near", "task"] {
                assert!(are_together(&dir, &format!("{kind}{group}/")), "{kind}{group} with seed {seed}");
            }
            // With few repositories of few conversations each these count as well.
            assert!(are_together(&dir, &format!("task{}/", group / 2 * 2)));
        }
        let (train, eval) = (ids(&dir, "run", "train").len(), ids(&dir, "run", "eval").len());
        assert!(train > 20 && eval > 20 && train + eval == 144, "{train} {eval}");
    }
    // Asked for, repositories hold two tasks together.
    let dir = folder(&input, "eval_share = 0.5\ngroup_by = \"repository\"\n");
    run(&dir, &[]);
    let eval = ids(&dir, "run", "eval");
    for pair in 0..6 {
        let n = eval.iter().filter(|id| {
            let group = id.strip_prefix("task").and_then(|rest| rest.split('/').next()?.parse::<u64>().ok());
            group.is_some_and(|group| group / 2 == pair)
        });
        assert!(matches!(n.count(), 0 | 8), "repository {pair}");
    }
}

#[test]
fn sides_stay_when_data_is_added_and_with_the_sides_of_an_earlier_run() {
    let (few, many) = (talks(200), talks(400));
    let first = folder(&few, "eval_share = 0.2\n");
    run(&first, &[]);
    let second = folder(&many, "eval_share = 0.2\n");
    run(&second, &[]);
    let (eval, train) = (ids(&first, "run", "eval"), ids(&first, "run", "train"));
    assert!((20..=60).contains(&eval.len()) && eval.len() + train.len() == 200, "{}", eval.len());
    assert!(eval.is_subset(&ids(&second, "run", "eval")) && train.is_subset(&ids(&second, "run", "train")));
    // Another seed, another split.
    let other = folder(&few, "eval_share = 0.2\nseed = 7\n");
    run(&other, &[]);
    assert_ne!(ids(&other, "run", "eval"), eval);
    // With another share and another seed what an earlier run decided stays.
    first.write("in/more.jsonl", &many);
    first.write("job.toml", format!("{JOB}eval_share = 0.6\nseed = 7\n"));
    run(&first, &["-o", "later", "--split-from", "run"]);
    let (later_eval, later_train) = (ids(&first, "later", "eval"), ids(&first, "later", "train"));
    assert!(eval.is_subset(&later_eval) && train.is_subset(&later_train));
    assert!((80..=160).contains(&(later_eval.len() - eval.len())), "{}", later_eval.len());
    let told = condenser(first.root(), &["run", "job.toml", "-o", "x", "--split-from", "nothing"]).exits(2).stderr;
    assert!(told.contains("there is no run here whose sides could be kept"), "{told}");
}

#[test]
fn conversations_that_hold_an_evaluation_item_are_left_out() {
    let (item, short) = (text(800, 40), "Which planet has the most moons of all?");
    let held = [
        talk("verbatim", &[&format!("Hello. {item} Thanks."), "No."]),
        talk("edited", &[&text(801, 30), &format!("{} {}", text(802, 30), edited(&item, 4).to_uppercase())]),
        talk("short", &["which planet has the most moons of all", "Saturn"]),
        talk("clean", &["Which planet has rings?", &text(803, 40)]),
    ];
    let dir = folder(&(talks(20) + &held.concat()), "decontaminate = [\"eval/*\"]\n");
    dir.write(
        "eval/a.jsonl",
        format!("{}\n{}\n", json!({"question": text(850, 30)}), json!({"question": item, "answer": "7"})),
    );
    dir.write("eval/b.txt", format!("\n{short}\n"));
    let told = run(&dir, &[]).stderr;
    assert!(told.contains("3 texts of 2 evaluation files must stand in no conversation"), "{told}");
    let by = |place: &str| ("contaminated".to_owned(), place.to_owned());
    assert_eq!(left_out(&dir, "verbatim"), by("eval/a.jsonl: line 2"));
    assert_eq!(left_out(&dir, "edited"), by("eval/a.jsonl: line 2"));
    assert_eq!(left_out(&dir, "short"), by("eval/b.txt: line 2"));
    assert_eq!(dropped(&dir).len(), 3);
}

#[test]
fn the_split_is_the_same_on_any_number_of_threads_of_shards_and_calls() {
    let input = talks(300)
        + &talks(40)
            .to_uppercase()
            .replace("\"ID\"", "\"id\"")
            .replace("\"MESSAGES\"", "\"messages\"")
            .replace("\"ROLE\"", "\"role\"")
            .replace("\"CONTENT\"", "\"content\"")
            .replace("\"USER\"", "\"user\"")
            .replace("\"ASSISTANT\"", "\"assistant\"");
    let dir = folder(&input, "eval_share = 0.2\n");
    run(&dir, &["--threads", "1"]);
    assert_eq!(dropped(&dir).len(), 40);
    let whole = files(&dir.path("run"));
    assert!(whole.keys().filter(|name| name.starts_with("commits/")).count() > 2, "several parts");
    run(&dir, &["--threads", "4", "-o", "four"]);
    assert!(whole == files(&dir.path("four")));
    for shard in ["1/2", "0/2"] {
        let told = run(&dir, &["-o", "shards", "--shard", shard]).stderr;
        // The first call makes it.
        assert_eq!(told.contains("looked at for the split"), shard == "1/2", "{told}");
    }
    condenser(dir.root(), &["finish", "shards"]).ok();
    assert!(whole == files(&dir.path("shards")));
    // A call that goes on with what was begun looks at nothing again.
    let put = |name: &str, to: &str| dir.write(&format!("{to}/{name}"), &whole[name]);
    for name in ["plan.json.zst", "split/verdicts.bin", "split/keys.bin"] {
        put(name, "begun");
    }
    let told = run(&dir, &["-o", "begun"]).stderr;
    assert!(!told.contains("looked at for the split") && whole == files(&dir.path("begun")), "{told}");
    // One that was killed before there was a plan begins anew, whatever it left.
    dir.write("killed/split/verdicts.bin", &whole["split/verdicts.bin"][..100]);
    run(&dir, &["-o", "killed"]);
    assert!(whole == files(&dir.path("killed")));
    // Another split than that of the plan is damage.
    let mut damaged = whole["split/verdicts.bin"].clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    dir.write("run/split/verdicts.bin", &damaged);
    condenser(dir.root(), &["verify", "run"]).exits(4);
    put("plan.json.zst", "torn");
    dir.write("torn/split/verdicts.bin", &damaged);
    let told = condenser(dir.root(), &["run", "job.toml", "-o", "torn"]).exits(4).stderr;
    assert!(told.contains("the split is not what the plan says"), "{told}");
}

#[test]
fn a_pipe_has_no_split_but_by_ids() {
    let dir = folder("", "");
    let job = JOB.replace("[\"in\"]", "[\"-\"]");
    dir.write("job.toml", &job);
    let told = condenser(dir.root(), &["run", "job.toml"]).input(talks(3)).exits(2).stderr;
    assert!(told.contains("a pipe is read once") && told.contains("group_by = \"id\""), "{told}");
    dir.write("job.toml", format!("{job}group_by = \"id\"\ndedup = \"none\"\n"));
    condenser(dir.root(), &["run", "job.toml"]).input(talks(3)).ok();
    assert_eq!([ids(&dir, "run", "train"), ids(&dir, "run", "eval")].concat_sets().len(), 3);
}

/// The first prompts of the conversations of a record, by their ids, as they are compared: words without their case.
fn first_prompts(record: &str, fallback: &str) -> Vec<(String, String)> {
    let Ok(decoded) = decode_record(record, None, false, fallback) else { return Vec::new() };
    let prompt = |chat: &Chat<'_>| {
        let messages = chat.conversation.messages.iter().zip(&chat.notes);
        let mut said = messages.filter(|(message, note)| message.role == Role::User && !note.is_filler);
        let text = said.next().map(|(message, _)| message.texts().collect::<Vec<_>>().join(" "))?.to_lowercase();
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        Some((chat.conversation.id.to_string(), words.join(" ")))
    };
    chats(&decoded).iter().filter_map(prompt).collect()
}

#[test]
fn no_first_prompt_of_eval_stands_in_train_in_corpora() {
    for (path, (name, lines)) in corpora::files().iter().zip(corpora::lines()) {
        let dir = TestDir::new();
        let source = path.to_str().expect("text");
        let job = "kind = \"dataset\"\noutput = \"run\"\n[engine]\nhide_by = \"look\"\n[dataset]\neval_share = 0.2\n";
        dir.write("job.toml", format!("inputs = [{source:?}]\n{job}"));
        let done = condenser(dir.root(), &["run", "job.toml"]).ends();
        assert!(matches!(done.code, Some(0 | 3)), "{}", done.stderr);
        let sides = ["train", "eval"].map(|side| ids(&dir, "run", side));
        let mut prompts = [BTreeSet::new(), BTreeSet::new()];
        for (at, line) in lines.iter().enumerate() {
            for (id, prompt) in first_prompts(line, &format!("{source}#{at}")) {
                for (side, prompts) in sides.iter().zip(&mut prompts) {
                    if side.contains(&id) {
                        prompts.insert(prompt.clone());
                    }
                }
            }
        }
        let both: Vec<&String> = prompts[0].intersection(&prompts[1]).collect();
        assert!(both.is_empty(), "{name}: {both:?}");
        println!("{name}: {} first prompts to train on, {} to evaluate on", prompts[0].len(), prompts[1].len());
    }
}
