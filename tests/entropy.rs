//! Clauses, scorers and classifiers that callers bring along.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use condenser::engine::Engine;
use condenser::error::{Error, ErrorKind, Result};
use condenser::model::{Action, EngineOptions, EntropyMode};
use condenser::pipeline::Manifest;
use condenser::summary::{EntropyScorer, Hints, Spoken, Style, TokenClassifier, TokenDecision, Voice, Wrap, summarize};
use condenser::text::{Lexer, Span};

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::TestDir;
use crate::support::talk::{Done, all, compress_with, prose, record};

/// Scores sentences by what they contain; counts its calls.
#[derive(Debug, Default)]
struct ByWord {
    word: &'static str,
    n_calls: AtomicUsize,
}

impl EntropyScorer for ByWord {
    fn score(&self, sentences: &[&str]) -> Result<Vec<f64>> {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        Ok(sentences.iter().map(|sentence| if sentence.contains(self.word) { 100.0 } else { 1.0 }).collect())
    }
}

/// Answers something that cannot be used.
#[derive(Debug)]
enum Broken {
    TooFew,
    NoNumber,
    Fails,
}

impl EntropyScorer for Broken {
    fn score(&self, sentences: &[&str]) -> Result<Vec<f64>> {
        match self {
            Self::TooFew => Ok(vec![1.0; sentences.len() - 1]),
            Self::NoNumber => Ok(vec![f64::NAN; sentences.len()]),
            Self::Fails => Err(Error::new(ErrorKind::Io, "model", "gone")),
        }
    }
}

/// Decides with the same confidence about every token between white space.
#[derive(Debug)]
struct Tokens(fn(&str) -> (bool, f64));

impl TokenClassifier for Tokens {
    fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<TokenDecision>>> {
        let decide = |text: &str, word: &str| {
            let start = (word.as_ptr().addr() - text.as_ptr().addr()) as u32;
            let (keep, confidence) = (self.0)(word);
            TokenDecision { span: Span { start, end: start + word.len() as u32 }, keep, confidence }
        };
        Ok(texts.iter().map(|text| text.split_whitespace().map(|word| decide(text, word)).collect()).collect())
    }
}

fn replacing() -> EngineOptions {
    EngineOptions { entropy_scorer_mode: EntropyMode::Replace, ..all() }
}

#[track_caller]
fn scored(text: &str, options: EngineOptions, scorer: Arc<dyn EntropyScorer>) -> Done {
    compress_with(&record(&[("user", text)]), &Engine::new(options).expect("options").with_entropy(scorer))
}

#[track_caller]
fn classified(text: &str, classifier: impl TokenClassifier + 'static) -> Done {
    let engine = Engine::new(all()).expect("options").with_token_classifier(Arc::new(classifier));
    compress_with(&record(&[("user", text)]), &engine)
}

fn plain(text: &str) -> String {
    compress_with(&record(&[("user", text)]), &Engine::new(all()).expect("options")).record
}

/// B9.
#[test]
fn scores_stay_with_their_sentences_behind_a_heading_without_an_end() {
    let text = "Plan overview\n\nFirst the garden was measured by two people with a long rope and a stick. Second the \
                pond behind the shed was drained over the whole of the summer. Third the neighbours were asked what \
                they thought of all the noise. Fourth everybody went home and slept until late in the day.";
    for word in ["First", "Second", "Third", "Fourth"] {
        let word: &'static str = word;
        let scorer = Arc::new(ByWord { word, n_calls: AtomicUsize::new(0) });
        let done = scored(text, replacing(), scorer.clone());
        done.is(0, Action::Compressed).shows(word);
        // The others stay behind as long as the chosen one is longer than half of the budget.
        let n_shown =
            ["First", "Second", "Third", "Fourth"].iter().filter(|word| done.visible().contains(**word)).count();
        assert!(n_shown < 4, "{}", done.visible());
        assert_eq!(scorer.n_calls.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn a_scorer_is_asked_once_per_conversation_about_everything_that_may_go() {
    let long = |word: &str| format!("{word} {}", prose(900));
    let talk = [("user", long("alpha")), ("assistant", long("beta")), ("user", "Thanks!".to_owned())];
    let talk: Vec<(&str, &str)> = talk.iter().map(|(role, text)| (*role, text.as_str())).collect();
    let scorer = Arc::new(ByWord { word: "fountain", n_calls: AtomicUsize::new(0) });
    let done = compress_with(&record(&talk), &Engine::new(replacing()).expect("options").with_entropy(scorer.clone()));
    assert_eq!(scorer.n_calls.load(Ordering::Relaxed), 1);
    assert!(done.texts[0].contains("fountain") && done.texts[1].contains("fountain"), "{:?}", done.texts);
    assert_eq!(done.metrics.counts.scorer_fallbacks, 0);
}

#[test]
fn augmenting_weighs_facts_and_entropy() {
    let text = "The release KMS-7781 costs $4,500 and ships on 2024-05-01 to all customers of the shop. ".to_owned()
        + &prose(600)
        + " The zeppelin hums while it crosses the valley on its way to the old harbour.";
    let zeppelin = || Arc::new(ByWord { word: "zeppelin", n_calls: AtomicUsize::new(0) });
    scored(&text, all(), zeppelin()).shows("KMS-7781").shows("zeppelin");
    assert!(!plain(&text).contains("zeppelin"));
}

/// F2.
#[test]
fn a_scorer_that_fails_is_counted_and_changes_nothing() {
    let text = prose(1_200);
    for broken in [Broken::TooFew, Broken::NoNumber, Broken::Fails] {
        for options in [all(), replacing()] {
            let name = format!("{broken:?}");
            let broken = match &broken {
                Broken::TooFew => Broken::TooFew,
                Broken::NoNumber => Broken::NoNumber,
                Broken::Fails => Broken::Fails,
            };
            let done = scored(&text, options, Arc::new(broken));
            assert_eq!(done.record, plain(&text), "{name}");
            assert_eq!(done.metrics.counts.scorer_fallbacks, 1, "{name}");
        }
    }
}

/// F5.
#[test]
fn a_hundred_thousand_sentences_are_scored() {
    let text: String = (0..100_000).map(|i| format!("Visit {i} was short. ")).collect();
    let scorer = Arc::new(ByWord { word: "77777", n_calls: AtomicUsize::new(0) });
    let done = scored(&text, replacing(), scorer);
    done.is(0, Action::Compressed).shows("Visit 77777 was short.");
}

/// B10.
#[test]
fn uncertain_tokens_are_kept() {
    let text = format!("keepLow dropLow keepHigh dropHigh {}", prose(400));
    let done = classified(
        &text,
        Tokens(|token| match token {
            "keepLow" => (true, 0.3),
            "dropLow" => (false, 0.3),
            "keepHigh" => (true, 0.9),
            _ => (false, 0.9),
        }),
    );
    assert!(done.texts[0].starts_with("[summary: keepLow dropLow keepHigh"), "{}", done.texts[0]);
    done.hides("dropHigh").hides("garden");
}

/// B10.
#[test]
fn lines_stay_lines_and_facts_stay_whole() {
    let text = "Please look at these things when there is time for them today:\n- the path src/db/pool.ts is the one \
                that was changed\n- it took 30.5 seconds before and takes less than that now\n\nThank you so very much \
                for all of the help with this, it is much appreciated by everyone here.";
    let done = classified(
        text,
        Tokens(|token| {
            let is_kept = ["pool", "30", "took", "Thank", "you"].iter().any(|part| token.contains(part));
            (token == "-" || is_kept, 0.9)
        }),
    );
    assert!(
        done.texts[0].starts_with("[summary: - src/db/pool.ts\n- took 30.5 seconds\n\nThank you"),
        "{}",
        done.texts[0]
    );
}

#[derive(Debug)]
struct Foreign(u8);
impl TokenClassifier for Foreign {
    fn classify(&self, texts: &[&str]) -> Result<Vec<Vec<TokenDecision>>> {
        let token = |start, end| TokenDecision { span: Span { start, end }, keep: false, confidence: 0.9 };
        match self.0 {
            0 => Ok(vec![vec![token(0, 100_000)]; texts.len()]),
            1 => Ok(vec![vec![token(4, 8), token(6, 9)]; texts.len()]),
            2 => Ok(Vec::new()),
            _ => Err(Error::new(ErrorKind::Io, "model", "gone")),
        }
    }
}

/// B10, F2.
#[test]
fn what_no_classifier_can_mean_falls_back() {
    let text = prose(900);
    let nothing = classified(&text, Tokens(|_| (false, 1.0)));
    assert_eq!((&nothing.record, nothing.metrics.counts.scorer_fallbacks), (&plain(&text), 1));
    let everything = classified(&text, Tokens(|_| (true, 1.0)));
    assert_eq!(everything.record, plain(&text));

    for kind in 0..4 {
        let done = classified(&text, Foreign(kind));
        assert_eq!((&done.record, done.metrics.counts.scorer_fallbacks), (&plain(&text), 1), "{kind}");
    }
}

#[test]
fn tokens_come_before_clauses_and_clauses_before_entropy() {
    let text = format!("The zeppelin hums. {} The walrus sings.", prose(900));
    let options = EngineOptions { discourse_aware: true, ..replacing() };
    let scorer = Arc::new(ByWord { word: "walrus", n_calls: AtomicUsize::new(0) });
    let engine = || Engine::new(options.clone()).expect("options").with_entropy(scorer.clone());
    let by_clauses = compress_with(&record(&[("user", &text)]), &engine());
    assert_eq!(scorer.n_calls.load(Ordering::Relaxed), 0);
    let without = compress_with(&record(&[("user", &text)]), &Engine::new(options.clone()).expect("options"));
    assert_eq!(by_clauses.record, without.record);
    let classifier = Tokens(|token| (token.contains("zeppelin"), 0.9));
    let by_tokens = engine().with_token_classifier(Arc::new(classifier));
    let done = compress_with(&record(&[("user", &text)]), &by_tokens);
    assert!(done.texts[0].starts_with("[summary: zeppelin"), "{}", done.texts[0]);
}

/// B23.
#[test]
fn clauses_that_add_nothing_give_way_and_leave_a_sentence() {
    let text = "Restart the pool on db-4.example.com, because the people from the other team were asking for that over \
                lunch. Set MAX_SIZE to 40, and then enjoy a quiet evening with the family at home. Deploy v2.4.1 by \
                2024-05-01, unless KMS-7781 is open. The garden behind the house was quiet in the morning and the \
                birds came back one after the other.";
    let mut lexer = Lexer::default();
    let lexed = lexer.lex(text);
    let hints = Hints { by_clauses: true, ..Hints::default() };
    let spoken = Spoken { view: lexer.view(text, &lexed), voice: Voice::default(), hints };
    let wrap = Wrap { embedded_id: None, n_messages: 1 };
    let style = Style::new(condenser::model::CompressionDepth::Gentle);
    let short = summarize(&[spoken], &wrap, style, Some(150)).accept(|_| true).expect("it fits").text;
    assert!(
        short.starts_with(
            "[summary: Restart the pool on db-4.example.com ... Set MAX_SIZE to 40 ... Deploy v2.4.1 by 2024-05-01, \
             unless KMS-7781 is open."
        ),
        "{short}"
    );
    // With room enough nothing is left out.
    let long = summarize(&[spoken], &wrap, style, Some(1_000)).accept(|_| true).expect("it fits").text;
    assert!(long.contains("over lunch. Set MAX_SIZE to 40, and then enjoy a quiet evening"), "{long}");
}

#[test]
fn a_sentence_brings_the_one_that_it_points_to() {
    let text = format!("{}. We move to the new ledger. It must hold KMS-7781 and $4,500.", prose(700));
    let options = EngineOptions { discourse_aware: true, ..all() };
    let done = compress_with(&record(&[("user", &text)]), &Engine::new(options).expect("options"));
    done.shows("We move to the new ledger. It must hold KMS-7781 and $4,500.");
}

#[test]
fn a_job_that_names_the_scorer_that_is_no_more_is_told_to_leave_it_out() {
    let dir = TestDir::new();
    dir.write("in.jsonl", jsonl(20, 7));
    let job = |scorer: &str| {
        let engine = format!("[engine]\nentropy_scorer = \"{scorer}\"\n");
        dir.write("job.toml", "kind = \"report\"\ninputs = [\"in.jsonl\"]\noutput = \"run\"\n".to_owned() + &engine);
        condenser(dir.root(), &["run", "job.toml"])
    };
    for wrong in ["corpus", "nonne"] {
        let told = job(wrong).exits(2);
        let says = "job.toml: line 5, column 18: entropy_scorer: this option is no longer offered; leave it out, or write none";
        assert!(told.stderr.contains(says), "{}", told.stderr);
    }
    job("none").ok();
    for (args, says) in [
        (
            ["run", "job.toml", "--set", "engine.entropy_scorer=corpus"],
            "--set engine.entropy_scorer: entropy_scorer: this",
        ),
        (["compress", "in.jsonl", "--entropy-scorer", "corpus"], "this option is no longer offered"),
    ] {
        let told = condenser(dir.root(), &args).exits(2);
        assert!(told.stderr.contains(says), "{}", told.stderr);
    }
    // Runs of earlier versions name it, and are read.
    let manifest = String::from_utf8(dir.read("run/manifest.json")).expect("text");
    assert!(!manifest.contains("\"entropy_scorer\""), "{manifest}");
    let was = "\"entropy_scorer\": \"corpus\", \"preserve\":";
    let read = |text: &str| serde_json::from_str::<Manifest>(text).expect("it is read");
    assert_eq!(read(&manifest.replacen("\"preserve\":", was, 1)), read(&manifest));
}
