//! A model with whims: to each question it has one answer, drawn from the question itself, and most are of no use.

use condenser::engine::{Engine, Scratch};
use condenser::model::{Answer, Answers, Ask, Condensed, Consult, Conversation, NoAnswer};

/// More rounds than the engine may need: rulings, a compaction with what is pulled back, a summary, a shorter one.
const MAX_ROUNDS: usize = 8;

/// Asks `reply` until the engine has no question left; also gives the number of questions.
pub fn consult(
    engine: &Engine,
    conversation: &Conversation<'_>,
    scratch: &mut Scratch,
    reply: &dyn Fn(&Ask) -> Answer,
) -> (Condensed, usize) {
    let mut answers = Answers::default();
    for _ in 0..MAX_ROUNDS {
        let mut open = Vec::new();
        let condensed = engine.consult(conversation, scratch, &mut Consult::new(&answers, &mut open));
        if open.is_empty() {
            return (condensed, answers.len());
        }
        for ask in open {
            // Two equal texts of a conversation are one question.
            answers.insert(ask.id(), reply(&ask));
        }
    }
    panic!("the engine never stops asking");
}

/// What the engine itself would say.
pub fn echo(ask: &Ask) -> Answer {
    match ask {
        Ask::Summary(ask) => Answer::Text(ask.draft.clone()),
        Ask::Ruling { .. } | Ask::Compaction(_) => Answer::None(NoAnswer::Failed),
    }
}

/// An answer drawn from the question.
pub fn whim(ask: &Ask) -> Answer {
    let dice = usize::from(ask.id()[0]);
    let text = |text: String| Answer::Text(text);
    match ask {
        Ask::Summary(ask) => match dice % 10 {
            0 => Answer::None(NoAnswer::Failed),
            1 => Answer::None(NoAnswer::Offline),
            2 => text(String::new()),
            3 => text(format!("{} and more", ask.text)),
            4 => text("Nothing of note [see [cce:dup of m1 — 3 chars]], ]]\n```\nopen".to_owned()),
            5 => text("It was settled that 987654321 widgets are kept in src/none/where.rs.".to_owned()),
            6 => text(ask.draft.clone()),
            // Words of the source are never invented; whether they fit is another matter.
            n => text(ask.text.split_whitespace().step_by(n - 5).take(40).collect::<Vec<_>>().join(" ")),
        },
        Ask::Ruling { .. } => match dice % 4 {
            0 => Answer::None(NoAnswer::Failed),
            1 => text("well".to_owned()),
            n => text(format!(
                "{{\"decision\": \"{}\", \"confidence\": 0.{dice}}}",
                if n == 2 { "preserve" } else { "compress" }
            )),
        },
        Ask::Compaction(ask) => match dice % 6 {
            0 => Answer::None(NoAnswer::TooLong),
            1 => Answer::None(NoAnswer::Failed),
            2 => text("<topics>a, b</topics>".to_owned()),
            3 => text("<topics>a, b</topics>\n<summary>never closed".to_owned()),
            _ => {
                let words = ask.turns.iter().flat_map(|turn| turn.text.split_whitespace()).step_by(3).take(60);
                let words = words.collect::<Vec<_>>().join(" ");
                text(format!("<topics>one thing,\nanother</topics>\n<summary>\n{words}\n</summary>"))
            }
        },
    }
}
