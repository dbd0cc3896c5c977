//! Answers made of the question's own text, by the thousand: reworded as models do they are taken, damaged they are
//! not. The rates that are asserted here stand in `docs/results/answers.csv`.

use std::collections::BTreeMap;

use condenser::engine::{Engine, Scratch};
use condenser::model::{Answer, Answers, Ask, Consult, EngineOptions, Reason, ShapeName, Summarizer};
use condenser::shape;
use rayon::prelude::*;

use crate::support::corpora;
use crate::support::rewording::{self, Change};
use crate::support::talk::{all, record};

/// Texts of every corpus, and the characters that they may have.
const N_TEXTS: usize = 8;
const CHARS: std::ops::Range<usize> = 300..5_000;

/// A text that the engine asks a model about.
struct Question {
    record: String,
    ask: Ask,
    text: String,
}

fn engine() -> Engine {
    let options = EngineOptions { summarizer: Summarizer::Normal, ..all() };
    Engine::new(options).expect("the options are right")
}

fn consult(engine: &Engine, record: &str, answers: &Answers, open: &mut Vec<Ask>) -> Vec<Reason> {
    let decoded = shape::decode(record, ShapeName::Openai, "answers").expect("a conversation");
    let condensed = engine.consult(&decoded.conversation, &mut Scratch::default(), &mut Consult::new(answers, open));
    condensed.decisions[0].details.clone()
}

impl Question {
    fn of(engine: &Engine, text: &str) -> Option<Self> {
        let record = record(&[("user", text)]);
        let mut open = Vec::new();
        consult(engine, &record, &Answers::default(), &mut open);
        let ask = open.into_iter().next()?;
        let Ask::Summary(summary) = &ask else { return None };
        Some(Self { text: summary.text.clone(), record, ask })
    }

    /// Why `answer` is not taken, its length aside.
    fn objection(&self, engine: &Engine, answer: &str) -> Option<Reason> {
        let mut answers = Answers::default();
        answers.insert(self.ask.id(), Answer::Text(answer.to_owned()));
        let details = consult(engine, &self.record, &answers, &mut Vec::new());
        let reason = details.into_iter().find(|reason| reason.as_str().starts_with("llm_")).expect("it was answered");
        (!matches!(reason, Reason::LlmSummary | Reason::LlmTooLong)).then_some(reason)
    }
}

/// Questions about messages of every corpus, by its name.
fn questions(engine: &Engine) -> Vec<(String, Vec<Question>)> {
    let of_corpus = |lines: &[String]| -> Vec<Question> {
        let texts = lines.iter().flat_map(|line| {
            let shape = shape::detect(line).unwrap_or(ShapeName::Openai);
            let decoded = shape::decode(line, shape, "answers").expect("a conversation");
            let messages = decoded.conversation.messages.iter();
            // Short turns are read together: so are merged messages.
            let mut texts = vec![String::new()];
            for text in messages.flat_map(condenser::model::Message::texts).filter(|text| text.len() < CHARS.end) {
                let last = texts.last_mut().expect("one");
                if last.len() > CHARS.start * 2 {
                    texts.push(text.to_owned());
                } else {
                    last.push('\n');
                    last.push_str(text);
                }
            }
            texts.into_iter().filter(|text| CHARS.contains(&text.len())).skip(1).step_by(5).take(3).collect::<Vec<_>>()
        });
        texts.filter_map(|text| Question::of(engine, &text)).take(N_TEXTS).collect()
    };
    // Rates need many texts, which only real corpora have; without them every change is tried on planted ones.
    let corpora = if corpora::folder().is_some() { corpora::lines() } else { Vec::new() };
    let mut found: Vec<_> = corpora
        .par_iter()
        .map(|(name, lines)| {
            let step = (lines.len() / N_TEXTS).max(1);
            let lines: Vec<String> = lines.iter().step_by(step).cloned().collect();
            (name.clone(), of_corpus(&lines))
        })
        .collect();
    let planted: Vec<_> = rewording::TEXTS.iter().filter_map(|text| Question::of(engine, text)).collect();
    assert!(planted.len() + 1 >= rewording::TEXTS.len(), "the planted texts are asked about");
    found.push(("planted".to_owned(), planted));
    found
}

#[derive(Default)]
struct Rate {
    n: usize,
    n_refused: usize,
    /// Some that are not as they should be.
    examples: Vec<String>,
}

type Rates = BTreeMap<&'static str, Rate>;

/// How many answers of each kind are refused.
fn rates(engine: &Engine, questions: &[Question], changes: &[Change], is_false: bool) -> Rates {
    let mut rates = Rates::new();
    for question in questions {
        let sentences = rewording::sentences(&question.text);
        for change in changes {
            let changed = sentences.iter().filter_map(|sentence| {
                let (new, token) = (change.apply)(sentence)?;
                let is_new = !rewording::has_token(&question.text, &token);
                (new != *sentence && (!is_false || is_new)).then_some(new)
            });
            for new in changed.take(3) {
                let answer = format!("{} {new}", sentences.first().expect("one"));
                let objection = question.objection(engine, &answer);
                let rate = rates.entry(change.name).or_default();
                rate.n += 1;
                rate.n_refused += usize::from(objection.is_some());
                if objection.is_some() != is_false {
                    rate.examples.push(format!("{:?}: {new}", objection.map(Reason::as_str)));
                }
            }
        }
    }
    rates
}

fn show(title: &str, rates: &Rates) {
    for (kind, rate) in rates {
        let percent = 100.0 * rate.n_refused as f64 / rate.n as f64;
        println!("{title} | {kind} | {} of {} refused | {percent:.1} %", rate.n_refused, rate.n);
        for example in rate.examples.iter().take(6) {
            println!("      {}", example.chars().take(260).collect::<String>());
        }
    }
}

fn sum(all: Vec<Rates>) -> Rates {
    let mut sum = Rates::new();
    for (kind, rate) in all.into_iter().flatten() {
        let into = sum.entry(kind).or_default();
        into.n += rate.n;
        into.n_refused += rate.n_refused;
        into.examples.extend(rate.examples);
    }
    sum
}

/// At most this share of what is true may be refused.
const MAX_FALSE_ALARMS: f64 = 0.01;
/// At least this share of what is false has to be.
const MIN_FOUND: f64 = 0.95;

#[test]
fn what_the_text_says_is_taken_and_what_it_does_not_say_is_not_over_the_corpora() {
    let engine = engine();
    let questions = questions(&engine);
    let run = |changes: &[Change], is_false: bool| {
        sum(questions.par_iter().map(|(_, questions)| rates(&engine, questions, changes, is_false)).collect())
    };
    for (name, questions) in &questions {
        let extracts = rates(&engine, questions, &rewording::EXTRACTS, false);
        show(name, &extracts);
        assert!(extracts.values().all(|rate| rate.n_refused == 0), "{name}: words of the text are never invented");
    }
    let (taken, refused) = (run(&rewording::TRUE, false), run(&rewording::FALSE, true));
    show("true", &taken);
    show("false", &refused);
    show("unseen", &run(&rewording::UNSEEN, false));
    let unused = |changes: &[Change], rates: &Rates| -> Vec<&str> {
        changes.iter().map(|change| change.name).filter(|name| !rates.contains_key(name)).collect()
    };
    assert_eq!(unused(&rewording::TRUE, &taken), [""; 0], "every rewording applies somewhere");
    assert_eq!(unused(&rewording::FALSE, &refused), [""; 0], "every damage applies somewhere");
    for (kind, rate) in &taken {
        let most = (MAX_FALSE_ALARMS * rate.n as f64).ceil();
        assert!(rate.n_refused as f64 <= most, "{kind}: {} of {} refused", rate.n_refused, rate.n);
    }
    for (kind, rate) in &refused {
        let least = (MIN_FOUND * rate.n as f64).floor();
        assert!(rate.n_refused as f64 >= least, "{kind}: {} of {} found", rate.n_refused, rate.n);
    }
}

#[test]
fn an_answer_in_another_language_is_not_taken_over_the_corpora() {
    let language = |name: &str| match name {
        "bundestag_dev" => "German",
        "kdconv" => "Chinese",
        "realpersonachat_dev" => "Japanese",
        _ => "English",
    };
    let engine = engine();
    let mut questions = questions(&engine);
    // One speaks two languages, the planted texts four.
    questions.retain(|(name, _)| name != "planted" && name != "sharegpt_tools");
    // Some sentences of every question, without code.
    let answers: Vec<(&str, String)> = questions
        .iter()
        .flat_map(|(name, of)| of.iter().map(move |question| (language(name), &question.text)))
        .map(|(language, text)| {
            (language, rewording::sentences(text).into_iter().skip(1).take(5).collect::<Vec<_>>().join(" "))
        })
        .filter(|(_, answer)| answer.chars().count() >= 80 && !answer.contains(['/', '_', '{', '`']))
        .collect();
    let mut tally: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for (name, questions) in &questions {
        for question in questions.iter().take(2) {
            for (spoken, answer) in answers.iter().step_by(2) {
                let count = tally.entry((language(name), spoken)).or_default();
                count.0 += 1;
                let objection = question.objection(&engine, answer);
                count.1 += usize::from(objection == Some(Reason::LlmLanguage));
                if (objection == Some(Reason::LlmLanguage)) != (language(name) != *spoken) {
                    println!("   {name} / {spoken}: {objection:?}: {}", answer.chars().take(200).collect::<String>());
                }
            }
        }
    }
    for ((source, spoken), (n, n_refused)) in tally {
        println!("language | {spoken} for {source} | {n_refused} of {n} refused");
        let (least, most) = if source == spoken { (0.0, 0.01) } else { (0.9, 1.0) };
        let share = n_refused as f64 / n as f64;
        assert!((least..=most).contains(&share), "{spoken} for {source}: {n_refused} of {n} refused");
    }
}
