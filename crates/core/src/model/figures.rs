//! The one list of what is measured of a conversation: every figure with its name, how it is called where there is little
//! room, what it says, and every column of the metrics table with how it is read. Knows metrics, no table and no page.

use std::str::FromStr;

use super::{Age, EngineOptions, Metrics, Strategy};

/// Declares the figures, in the order in which they are shown: the field of [`Metrics`], which is also the name of the
/// column; the label; what it says in a line.
macro_rules! figures {
    ($($variant:ident $name:ident $label:literal $says:literal)*) => {
        /// A figure of the metrics table: a ratio, or a share that says what is still there.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Figure { $(#[doc = concat!("`", stringify!($name), "`: ", $says, ".")] $variant,)* }

        impl Figure {
            /// All of them, in the order in which they are shown.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$variant),*];

            /// The name of its column.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name),)* }
            }

            /// What it is called where there is little room.
            #[must_use]
            pub fn label(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// What it says, in a line.
            #[must_use]
            pub fn says(self) -> &'static str {
                match self { $(Self::$variant => $says,)* }
            }

            /// Its value for a conversation; `None` when there was nothing to measure.
            #[must_use]
            pub fn of(self, metrics: &Metrics) -> Option<f64> {
                match self { $(Self::$variant => metrics.$name.into(),)* }
            }
        }
    };
}

figures! {
    Ratio ratio "ratio" "characters before over characters after"
    TokenRatio token_ratio "token ratio" "tokens before over tokens after"
    Grounding grounding "grounding" "values that the assistant used that still stand where they came from"
    EditGrounding edit_grounding "edits" "edits whose whole old text is still shown before them"
    FactGrounding fact_grounding "told facts" "numbers and states that answers tell that still stand beside what they belong to"
    NextTurnRecall next_turn_recall "next turns" "values that the turns behind a cut used that still stood in place, the part before compressed by itself"
    NextTurnLinesRecall next_turn_lines_recall "next lines" "lines that the calls behind a cut repeated that were still shown"
    QualityScore quality_score "quality" "identifiers, structure and references, weighted"
    EntityRetention entity_retention "entities" "identifiers, paths and versions that are left"
    StructuralIntegrity structural_integrity "structure" "fences, JSON blocks and tables that are left"
    ReferenceCoherence reference_coherence "coherence" "entities whose message still stands"
    FactRetention fact_retention "facts" "facts that are still visible"
    FactRetentionWithEntities fact_retention_with_entities "facts listed" "facts that are visible, entity lists counted"
    ForwardRecall forward_recall "recall" "facts needed later that were still visible"
    NegationRetention negation_retention "negations" "sentences with a negation or an obligation"
    ErrorRetention error_retention "errors" "lines that report a failure"
}

impl Figure {
    /// All but the ratios.
    pub const SHARES: [Self; Self::ALL.len() - 2] = {
        let [_, _, shares @ ..] = Self::ALL;
        shares
    };
    /// Shares that one looks at first: the score, and what is still visible of what a reader needs.
    pub const FIRST: [Self; 9] = [
        Self::Grounding,
        Self::EditGrounding,
        Self::NextTurnRecall,
        Self::NextTurnLinesRecall,
        Self::QualityScore,
        Self::FactRetention,
        Self::ForwardRecall,
        Self::NegationRetention,
        Self::ErrorRetention,
    ];
    /// Shares that are held against the ratio.
    pub const AGAINST_RATIO: [Self; 6] = [
        Self::Grounding,
        Self::NextTurnRecall,
        Self::QualityScore,
        Self::FactRetention,
        Self::ForwardRecall,
        Self::NegationRetention,
    ];

    /// The figure with this column; `None` when there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|figure| figure.as_str() == name)
    }

    /// True for shares of what was used.
    #[must_use]
    pub fn is_of_uses(self) -> bool {
        matches!(self, Self::Grounding | Self::EditGrounding | Self::FactGrounding)
    }

    /// True for what is before over after; all others are shares from 0 to 1.
    #[must_use]
    pub fn is_ratio(self) -> bool {
        matches!(self, Self::Ratio | Self::TokenRatio)
    }
}

/// A share by its column, or `quality` for its score.
impl FromStr for Figure {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "quality" {
            return Ok(Self::QualityScore);
        }
        if let Some(figure) = Self::SHARES.into_iter().find(|figure| figure.as_str() == name) {
            return Ok(figure);
        }
        let likeness = |figure: &Self| strsim::jaro_winkler(name, figure.as_str());
        let nearest = Self::SHARES.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.map_or("quality", Self::as_str);
        Err(format!("`{name}` is no figure of quality; did you mean `{nearest}`?"))
    }
}

/// How the value of a column is read.
#[derive(Debug, Clone, Copy)]
pub enum Getter {
    /// A count.
    Count(fn(&Metrics) -> Option<usize>),
    /// A figure.
    Figure(Figure),
    /// Yes or no.
    Flag(fn(&Metrics) -> Option<bool>),
    /// A text.
    Text(fn(&Metrics) -> Option<&str>),
}

/// A column of the metrics table that says what was made of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct MetricColumn {
    /// Its name.
    pub name: &'static str,
    /// Whether a conversation, or a run, may have none.
    pub is_nullable: bool,
    /// Whether it is a count that adds up over conversations.
    pub adds_up: bool,
    /// How it is read.
    pub getter: Getter,
}

impl MetricColumn {
    /// True when some conversation may have a value, unless a model or a policy has a part in it: a table lacks what nobody asked for.
    #[must_use]
    pub fn is_asked_for(&self, options: &EngineOptions) -> bool {
        match self.name {
            "fuzzy_deduped" => options.fuzzy_dedup,
            "pattern_preserved" => !options.preserve_patterns.is_empty(),
            "contradicted" => options.contradiction_detection,
            "importance_preserved" => options.importance_scoring,
            "relevance_dropped" => options.relevance_threshold.is_some(),
            "tool_prepass_trimmed" => options.agent_tool_prepass,
            "truncated" | "fits" | "token_count" | "recency_window" | "protected_tokens" | "depth" => {
                options.token_budget.is_some()
            }
            "policy_choice" | "llm_classified" | "llm_summaries" | "llm_fallbacks" | "age" | "last_at" => false,
            name if name.starts_with("next_turn_") => options.guesses(),
            name if name.starts_with("compaction_") => options.strategy != Strategy::Messages,
            _ => true,
        }
    }
}

/// Columns of counts that are fields of `$from`, which `$metrics` has, under their own names.
macro_rules! counts {
    ($metrics:ident, $from:expr; $($name:ident)*) => {
        [$((stringify!($name), (|$metrics: &Metrics| Some($from.$name)) as fn(&Metrics) -> Option<usize>)),*]
    };
}

/// How a count is got.
type Count = fn(&Metrics) -> Option<usize>;

/// The columns that say what was made of a conversation, in the order of the table.
pub fn metric_columns() -> impl Iterator<Item = MetricColumn> {
    let sizes = counts!(metrics, metrics; messages_in messages_out chars_in chars_out tokens_in tokens_out);
    let actions = counts!(metrics, metrics.counts; preserved compressed deduped fuzzy_deduped code_split
        pattern_preserved contradicted truncated importance_preserved relevance_dropped tool_prepass_trimmed
        scorer_fallbacks llm_classified llm_summaries llm_fallbacks);
    let uses = counts!(metrics, metrics.uses?; used used_in_place edits edits_whole facts facts_held);
    let next_turn: [(&str, Count); 4] = [
        ("next_turn_needed", |metrics| Some(metrics.next_turn?.needed)),
        ("next_turn_in_place", |metrics| Some(metrics.next_turn?.in_place)),
        ("next_turn_lines", |metrics| Some(metrics.next_turn?.lines)),
        ("next_turn_lines_shown", |metrics| Some(metrics.next_turn?.lines_shown)),
    ];
    let budget = counts!(metrics, metrics.budget?; token_count recency_window protected_tokens);
    // Ratios are told by the sizes, and the score stands behind its three parts.
    let mut figures = Figure::SHARES;
    let n_ratios = Figure::ALL.len() - figures.len();
    figures[Figure::QualityScore as usize - n_ratios..=Figure::ReferenceCoherence as usize - n_ratios].rotate_left(1);
    let column = |name, is_nullable, adds_up, getter| MetricColumn { name, is_nullable, adds_up, getter };
    let size = move |(name, get)| column(name, false, true, Getter::Count(get));
    let sum = move |(name, get)| column(name, true, true, Getter::Count(get));
    let other = move |(name, getter)| column(name, true, false, getter);
    let figure = move |figure: Figure| other((figure.as_str(), Getter::Figure(figure)));
    let further = [
        ("depth", Getter::Text(|metrics| Some(metrics.budget?.depth.as_str()))),
        ("compaction_level", Getter::Count(|metrics| Some(metrics.compaction.as_ref()?.level))),
        ("compaction_chunk", Getter::Count(|metrics| Some(metrics.compaction.as_ref()?.chunk))),
        ("compaction_archived", Getter::Count(|metrics| Some(metrics.compaction.as_ref()?.n_archived))),
        ("compaction_recent", Getter::Count(|metrics| Some(metrics.compaction.as_ref()?.n_recent))),
        ("compaction_pulled_back", Getter::Count(|metrics| Some(metrics.compaction.as_ref()?.n_pulled_back))),
        ("compaction_trigger", Getter::Text(|metrics| Some(metrics.compaction.as_ref()?.trigger.as_str()))),
        ("compaction_topics", Getter::Text(|metrics| metrics.compaction.as_ref()?.topics.as_deref())),
        ("compaction_continues", Getter::Flag(|metrics| Some(metrics.compaction.as_ref()?.continues))),
        ("compaction_by_model", Getter::Flag(|metrics| Some(metrics.compaction.as_ref()?.by_model))),
        ("policy_choice", Getter::Text(|metrics| metrics.policy_choice.as_deref())),
        ("age", Getter::Text(|metrics| metrics.age.map(Age::as_str))),
        ("last_at", Getter::Count(|metrics| metrics.last_at.and_then(|at| usize::try_from(at).ok()))),
    ];
    (sizes.into_iter().map(size))
        .chain(actions.into_iter().chain(uses).chain(next_turn).map(sum))
        .chain(figures.map(figure))
        .chain([other(("fits", Getter::Flag(|metrics| Some(metrics.budget?.fits))))])
        .chain(budget.map(move |(name, get)| other((name, Getter::Count(get)))))
        .chain(further.map(other))
}

#[cfg(test)]
mod tests {
    use super::{Figure, metric_columns};

    #[test]
    fn every_figure_stands_once_in_the_table_and_the_score_behind_its_parts() {
        let names: Vec<&str> = metric_columns().map(|column| column.name).collect();
        for figure in Figure::SHARES {
            assert_eq!(names.iter().filter(|name| **name == figure.as_str()).count(), 1, "{figure:?}");
        }
        let at = |figure: Figure| names.iter().position(|name| *name == figure.as_str());
        assert_eq!(at(Figure::QualityScore), at(Figure::ReferenceCoherence).map(|at| at + 1));
        assert_eq!(at(Figure::FactRetention), at(Figure::QualityScore).map(|at| at + 1));
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len());
    }
}
