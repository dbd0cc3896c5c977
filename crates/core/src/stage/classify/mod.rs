//! What kind of text a message is: structure that a summary would destroy, or prose. Knows no messages and no
//! options; a reason is the same wherever the text stands.
//!
//! Two linear passes collect the evidence, one over the lines (`survey`) and one over literals and long
//! tokens (`triggers`, `secrets`); each kind of structure has a file that judges its candidates.

mod failures;
mod json;
mod maths;
mod reasoning;
mod reasons;
mod secrets;
mod sql;
mod survey;
mod triggers;
mod verse;

use crate::model::Reason;
use crate::text::line::signs::Signs;
use crate::text::{LineKind, TextView};

use reasoning::Steps;
use reasons::ReasonSet;
use secrets::LongRuns;
use survey::{Survey, Tally};

/// What programs print is kept when it has fewer lines; longer output is summarised with its failures first.
const MIN_OUTPUT_LINES: usize = 12;
/// Bytes of output: "OK" alone says anybody.
const MIN_OUTPUT_BYTES: usize = 8;
/// A structure with at most so many lines and less than `ISLAND_SHARE` of the text does not make it hard.
const ISLAND_LINES: usize = 3;
/// See `ISLAND_LINES`.
const ISLAND_SHARE: f64 = 0.15;
/// Less than this is nothing in a very long text, however many lines it has.
const CRUMB_SHARE: f64 = 0.03;
/// Share of special characters above which a text is not prose.
const SPECIAL_SHARE: f64 = 0.15;

/// What a text is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// In reporting order. Any hard reason keeps the message as it is.
    pub reasons: Vec<Reason>,
    /// At least six lines of which more than half are what programs print: logs, test runs, matches, listings,
    /// tables of values. Such a text is summarised by its lines, not by its sentences.
    pub is_output: bool,
}

impl Verdict {
    /// True when the text must stay as it is.
    #[must_use]
    pub fn is_hard(&self) -> bool {
        self.reasons.iter().any(|reason| reason.is_hard())
    }
}

/// How much is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// Until the first hard reason; then `is_output` means nothing.
    #[default]
    Decide,
    /// All reasons, hard and soft, for traces and explanations.
    Explain,
}

/// The verdict on a text. Whether there is a hard reason does not depend on `depth`, only how many are named.
#[must_use]
pub fn judge(view: &TextView<'_>, depth: Depth) -> Verdict {
    if view.covered().is_empty() {
        return Verdict::default();
    }
    if depth == Depth::Decide && is_plain(view) {
        return Verdict::default();
    }
    let survey = Survey::of(view, depth == Depth::Decide);
    let is_output = is_structured(&survey);
    Verdict { reasons: reasons(view, &survey, depth).to_vec(), is_output }
}

/// True for one line of prose in which no structure can be found: most turns of a talk. What several lines make up is not looked
/// for, nor what begins with signs that it does not have.
fn is_plain(view: &TextView<'_>) -> bool {
    let [line] = view.lines else { return false };
    let text = view.covered().as_bytes();
    let is_short = text.len() <= Signs::MAX_LOOK && (view.counts.longest_piece as usize) < secrets::MIN_RUN;
    let is_prose = line.kind == LineKind::Prose && line.span.len() == text.len() && text.is_ascii();
    let opens = |byte: &u8| matches!(byte, b'$' | b'\\' | b'{' | b'[' | b'<');
    if !is_short || !is_prose || is_full_of_signs(view) || view.counts.special > 0 && text.iter().any(opens) {
        return false;
    }
    let (mut reasons, mut steps, bare) = (ReasonSet::default(), Steps::default(), text.trim_ascii());
    steps.add(bare);
    let n_closings = triggers::sweep(text, &mut reasons);
    let is_http_error = || line.signs.any(Signs::DIGIT) && failures::is_http_error_line(bare);
    let has_reason = n_closings > 0 || reasons.has_hard() || reasoning::is_chain(text, steps, 0);
    !has_reason && !failures::is_failure_line(bare) && !is_http_error()
}

/// True for a text that has too many signs for prose.
fn is_full_of_signs(view: &TextView<'_>) -> bool {
    let (n_special, n_chars) = (view.counts.special as usize, view.counts.chars as usize);
    n_chars >= 40 && n_special as f64 > SPECIAL_SHARE * n_chars as f64
}

/// True when a secret stands in the text. Cheaper than a verdict.
#[must_use]
pub fn has_secret(view: &TextView<'_>) -> bool {
    let text = view.covered().as_bytes();
    let mut reasons = ReasonSet::default();
    triggers::sweep(text, &mut reasons);
    let is_long = view.counts.longest_piece as usize >= secrets::MIN_RUN;
    reasons.has(Reason::ApiKey) || is_long && secrets::long_runs(text).secret
}

fn is_structured(survey: &Survey) -> bool {
    survey.all.lines >= 6 && (survey.output.lines + survey.data.lines) * 2 > survey.all.lines
}

fn reasons(view: &TextView<'_>, survey: &Survey, depth: Depth) -> ReasonSet {
    let mut reasons = ReasonSet::default();
    let text = view.covered().as_bytes();
    let is_decided = |reasons: &ReasonSet| depth == Depth::Decide && reasons.has_hard();
    let is_output = is_output(survey) && survey.all.lines >= MIN_OUTPUT_LINES;
    reasons.add_if(Reason::CodeFence, !view.fences.is_empty());
    structure(view, survey, is_output, &mut reasons);
    if is_decided(&reasons) {
        return reasons;
    }
    let n_closings = triggers::sweep(text, &mut reasons);
    if is_decided(&reasons) {
        return reasons;
    }
    let long_runs = if view.counts.longest_piece as usize >= secrets::MIN_RUN {
        secrets::long_runs(text)
    } else {
        LongRuns::default()
    };
    reasons.add_if(Reason::ApiKey, long_runs.secret);
    reasons.add_if(Reason::Base64Content, long_runs.base64);
    reasons.add_if(Reason::ReasoningChain, reasoning::is_chain(text, survey.steps, n_closings));
    reasons.add_if(Reason::ErrorTraceback, failures::is_traceback(survey));
    if !reasons.has(Reason::JsonStructure) && !is_decided(&reasons) {
        reasons.add_if(Reason::HttpError, failures::is_http_error(text, survey));
        reasons.add_if(Reason::FailureSignature, failures::is_failure(text, survey));
    }
    if depth == Depth::Explain {
        reasons::add_soft(view, &mut reasons);
    }
    reasons
}

/// More than half of the lines come from a program.
fn is_output(survey: &Survey) -> bool {
    survey.output.lines * 2 > survey.all.lines
}

/// The reasons that the lines give.
fn structure(view: &TextView<'_>, survey: &Survey, is_output: bool, reasons: &mut ReasonSet) {
    let text = view.covered().as_bytes();
    let is_island = |tally: Tally| {
        // Output shows pieces of code, configuration and tables; they count when they are a good part of it.
        let is_piece = is_output && tally.bytes * 3 < survey.all.bytes;
        let share = tally.bytes as f64 / survey.all.bytes.max(1) as f64;
        !is_piece && tally.lines > 0 && share >= ISLAND_SHARE
            || !is_piece && tally.lines > ISLAND_LINES && share >= CRUMB_SHARE
    };
    reasons.add_if(Reason::DiffStructure, survey.diff_heads > 0 && survey.diff.lines >= 3);
    reasons.add_if(Reason::LatexMath, maths::has_latex(text));
    reasons.add_if(Reason::UnicodeMath, maths::has_formula(text));
    reasons.add_if(Reason::IndentedCode, is_island(survey.indented));
    reasons.add_if(Reason::SourceCode, is_island(survey.code));
    reasons.add_if(Reason::YamlStructure, is_island(survey.config) && survey.config.lines >= 2);
    reasons.add_if(Reason::TableStructure, is_island(survey.table) && survey.table.lines >= 2);
    if !is_output {
        reasons.add_if(Reason::MarkupStructure, is_markup(survey));
        let may_be_verse =
            !reasons.has(Reason::SourceCode) && survey.short.lines >= 2 && survey.short.bytes * 4 >= text.len();
        reasons.add_if(Reason::VersePattern, may_be_verse && verse::is_verse(view));
        reasons.add_if(Reason::HighLineLengthVariance, has_odd_layout(survey));
        reasons.add_if(Reason::HighSpecialCharRatio, is_full_of_signs(view));
    }
    let n_json = json::json_bytes(text);
    let json = Tally { lines: survey.json.lines.max(1), bytes: n_json };
    reasons.add_if(
        Reason::JsonStructure,
        (n_json > 0 && is_island(json)) || is_island(survey.json) && survey.json.lines >= 3,
    );
    let is_short = survey.all.lines < MIN_OUTPUT_LINES && survey.all.bytes >= MIN_OUTPUT_BYTES;
    reasons.add_if(Reason::LogLines, is_short && is_short_output(survey));
}

/// At least half of the lines come from a program, its keys and values included.
fn is_short_output(survey: &Survey) -> bool {
    let (n, n_output) = (survey.all.lines, survey.output.lines);
    n_output > 0 && (n_output * 2 >= n || n_output * 4 >= n && (n_output + survey.data.lines) * 2 >= n)
}

/// Tags that are more than the frame around prose.
fn is_markup(survey: &Survey) -> bool {
    let tags = survey.markup;
    let share = tags.bytes as f64 / survey.all.bytes.max(1) as f64;
    (tags.lines >= 2 && share >= ISLAND_SHARE)
        || (tags.lines > ISLAND_LINES && tags.lines * 3 >= survey.all.lines)
        || (tags.lines == 1 && share > 0.5)
}

/// Most lines are neither prose nor items nor headings, and their lengths differ as those of no prose do.
fn has_odd_layout(survey: &Survey) -> bool {
    let (n, sum, squares) = survey.odd_lengths;
    if n < 6.0 || n < 0.8 * survey.all.lines as f64 {
        return false;
    }
    let mean = sum / n;
    let variance = (squares / n - mean * mean).max(0.0);
    variance.sqrt() > 1.2 * mean
}
