//! How likely it is that a value is used again, or a line quoted: two logistic models in whole numbers, and how they are written
//! down. Knows features by name; refuses to know where they come from.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use super::features::{LINE, N_FORM, NAME, OfForm, OfPast, OfPiece, OfText, PIECE, TEXT};
use super::scale::{ONE, WEIGHT, chance};

/// Weights of the features of a value itself, of the piece that shows it and of the text around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weights<const N: usize> {
    pub(super) own: [i32; N],
    pub(super) piece: OfPiece,
    pub(super) text: OfText,
}

fn dot(weights: &[i32], features: &[i32]) -> i64 {
    weights.iter().zip(features).map(|(&weight, &feature)| i64::from(weight) * i64::from(feature)).sum()
}

impl<const N: usize> Weights<N> {
    /// What a text, a piece and a value add to the sum.
    pub(super) fn of_text(&self, text: &OfText) -> i64 {
        dot(&self.text, text)
    }

    pub(super) fn of_piece(&self, piece: &OfPiece) -> i64 {
        dot(&self.piece, piece)
    }

    pub(super) fn of_own(&self, own: &[i32; N]) -> i64 {
        dot(&self.own, own)
    }
}

impl Weights<{ NAME.len() }> {
    /// What the form of a name adds, and what its past does.
    pub(super) fn of_form(&self, form: &OfForm) -> i64 {
        dot(&self.own[..N_FORM], form)
    }

    pub(super) fn of_past(&self, past: &OfPast) -> i64 {
        dot(&self.own[N_FORM..], past)
    }
}

/// How likely it is, in parts of [`super::scale::CERTAIN`].
pub(super) fn likely(sum: i64) -> u32 {
    chance((sum / i64::from(WEIGHT)).clamp(i64::from(-100 * ONE), i64::from(100 * ONE)) as i32)
}

/// What was learned of how conversations go on: which values are used again and which lines edits quote. Holds no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseModel {
    pub(super) name: Weights<{ NAME.len() }>,
    pub(super) line: Weights<{ LINE.len() }>,
    /// The worth from which something is shown that halved what it was trained on.
    pub(super) threshold: u32,
}

/// A table of weights under its name.
type Table<'m> = (&'static str, &'static [&'static str], &'m mut [i32]);

impl UseModel {
    /// Where everything is as likely as anything else.
    pub(super) fn blank() -> Self {
        let (piece, text) = ([0; PIECE.len()], [0; TEXT.len()]);
        Self {
            name: Weights { own: [0; NAME.len()], piece, text },
            line: Weights { own: [0; LINE.len()], piece, text },
            threshold: 0,
        }
    }

    /// The one that is there when no other is named.
    #[must_use]
    pub fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<UseModel>> = LazyLock::new(|| {
            let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/use.toml"));
            Arc::new(text.parse().expect("the model is tested"))
        });
        BUILT_IN.clone()
    }

    /// The worth from which something is shown unless another one is asked for: what the model was trained on becomes half as long.
    #[must_use]
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// The same with another threshold.
    #[must_use]
    pub fn with_threshold(self, threshold: u32) -> Self {
        Self { threshold, ..self }
    }

    fn tables(&mut self) -> [Table<'_>; 6] {
        [
            ("value.own", &NAME, &mut self.name.own),
            ("value.line", &PIECE, &mut self.name.piece),
            ("value.text", &TEXT, &mut self.name.text),
            ("quote.own", &LINE, &mut self.line.own),
            ("quote.line", &PIECE, &mut self.line.piece),
            ("quote.text", &TEXT, &mut self.line.text),
        ]
    }
}

/// What the first line of a model says.
const VERSION: &str = "use_model = 1";

impl fmt::Display for UseModel {
    /// As TOML: weights in 4,096ths.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{VERSION}\nthreshold = {}", self.threshold)?;
        for (table, names, weights) in self.clone().tables() {
            writeln!(out, "\n[{table}]")?;
            for (name, weight) in names.iter().zip(weights.iter()) {
                writeln!(out, "{name} = {weight}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for UseModel {
    type Err = String;

    /// Reads what [`Display`](std::fmt::Display) writes; tells the line in which it is something else.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut model = Self::blank();
        let mut table = String::new();
        let (mut n_read, mut is_one) = (0, false);
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            let wrong = |what: &str| format!("line {}: {what}", at + 1);
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.clone_into(&mut table);
                continue;
            }
            if line == VERSION {
                is_one = true;
                continue;
            }
            let (name, value) = line.split_once('=').ok_or_else(|| wrong("expected `name = number`"))?;
            let (name, value) = (name.trim(), value.trim());
            let value: i32 = value.parse().map_err(|_| wrong(&format!("`{value}` is no whole number")))?;
            if table.is_empty() && name == "threshold" {
                model.threshold = u32::try_from(value).map_err(|_| wrong("a threshold is 0 or more"))?;
                continue;
            }
            let mut tables = model.tables();
            let found = tables.iter_mut().find(|(known, ..)| *known == table);
            let (_, names, weights) = found.ok_or_else(|| wrong(&format!("there is no table `{table}`")))?;
            let place = names.iter().position(|known| *known == name);
            weights[place.ok_or_else(|| wrong(&format!("`{table}` has no `{name}`")))?] = value;
            n_read += 1;
        }
        let n_weights: usize = model.tables().iter().map(|(_, names, _)| names.len()).sum();
        match is_one {
            false => Err(format!("it does not say `{VERSION}`")),
            true if n_read != n_weights => Err(format!("it has {n_read} weights, not {n_weights}")),
            true => Ok(model),
        }
    }
}
