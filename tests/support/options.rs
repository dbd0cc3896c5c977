//! Engine options drawn from a seed: every option takes part, alone and together with every other.

use condenser::model::{
    AdapterName, AssistantText, BudgetStrategy, ChunkPolicy, ClassifierMode, ClassifierSource, CompressionDepth,
    EngineOptions, EntropyMode, HideBy, Images, KeepCopy, LookAhead, PreservePattern, ProvenancePlace, Strategy,
    Summarizer, SystemPrompts, Tokenizer, Users,
};

/// A generator of numbers that is the same everywhere (splitmix64).
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
    /// One time in `n`.
    pub fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.below(1_001) as f64 / 1_000.0
    }
}

/// All options from one seed.
pub fn random_options(seed: u64) -> EngineOptions {
    let dice = &mut Dice::new(seed);
    let options = EngineOptions {
        hide_by: dice.pick(&[HideBy::Use, HideBy::Look]),
        look_ahead: dice.pick(&[LookAhead::Turns, LookAhead::Turns, LookAhead::Off, LookAhead::Strict]),
        use_model: None,
        worth_threshold: dice.coin().then(|| dice.below(24_000) as u32),
        assistant: dice.pick(&[AssistantText::Auto, AssistantText::Keep, AssistantText::Old]),
        images: dice.pick(&[Images::Keep, Images::Mark]),
        prompts: dice.pick(&[SystemPrompts::Keep, SystemPrompts::Once]),
        arguments: dice.coin().then(|| dice.coin()),
        users: dice.pick(&[Users::Speakers, Users::Speakers, Users::All]),
        distractors: dice.pick(&[0.0, 0.0, 0.1]),
        all_figures: dice.rarely(3),
        preserve: dice.pick(&[vec![], vec!["system".to_owned()], vec!["system".to_owned(), "tool".to_owned()]]),
        recency_window: dice.pick(&[0, 0, 1, 4, 7]),
        dedup: dice.coin(),
        keep_first_user: dice.coin(),
        min_saving: dice.pick(&[0, 1, 1, 200, 1_000]),
        keep_copy: dice.pick(&[KeepCopy::First, KeepCopy::Last]),
        fuzzy_dedup: dice.coin(),
        fuzzy_threshold: dice.share(),
        embed_summary_id: dice.coin(),
        preserve_patterns: if dice.rarely(4) {
            vec![PreservePattern { label: "id".into(), re: "KMS-\\d+".into() }]
        } else {
            vec![]
        },
        source_version: dice.below(3) as u64,
        compression_threshold: dice.pick(&[0, 0, 0, 300]),
        observation_threshold: dice.pick(&[0, 0, 50, 400]),
        resummarize_after: dice.pick(&[0, 2, 8]),
        provenance: dice.pick(&[ProvenancePlace::Sidecar, ProvenancePlace::Metadata]),
        tokenizer: dice.pick(&[Tokenizer::Chars, Tokenizer::Chars, Tokenizer::O200kBase, Tokenizer::Cl100kBase]),
        message_overhead: dice.pick(&[0, 0, 4]),
        min_recency_window: dice.pick(&[0, 0, 2, 50]),
        budget_strategy: dice.pick(&[BudgetStrategy::BinarySearch, BudgetStrategy::Tiered]),
        force_converge: dice.coin(),
        compression_depth: dice.pick(&[
            CompressionDepth::Gentle,
            CompressionDepth::Moderate,
            CompressionDepth::Aggressive,
            CompressionDepth::Auto,
        ]),
        importance_scoring: dice.coin(),
        importance_threshold: dice.share(),
        contradiction_detection: dice.coin(),
        contradiction_topic_threshold: dice.share() / 3.0,
        conversation_flow: dice.coin(),
        semantic_clustering: dice.coin(),
        cluster_threshold: dice.share() / 3.0,
        coreference: dice.coin(),
        discourse_aware: dice.rarely(3),
        agent_tool_prepass: dice.coin(),
        adapters: if dice.coin() { AdapterName::ALL.into_iter().filter(|_| dice.coin()).collect() } else { vec![] },
        entropy_scorer_mode: dice.pick(&[EntropyMode::Augment, EntropyMode::Replace]),
        token_budget: dice.coin().then(|| dice.pick(&[0, 20, 60, 150, 400, 1_000, 2_000, 5_000])),
        relevance_threshold: dice.rarely(3).then(|| dice.pick(&[0.0, 3.0, 5.0, 100.0])),
        summarizer: dice.pick(&[Summarizer::Deterministic, Summarizer::Normal, Summarizer::Escalating]),
        classifier: dice.pick(&[ClassifierSource::None, ClassifierSource::Model]),
        classifier_mode: dice.pick(&[ClassifierMode::Hybrid, ClassifierMode::Full]),
        strategy: if dice.rarely(4) { Strategy::InsertThenCompress } else { Strategy::Messages },
        compaction_tokens: dice.pick(&[0, 500, 5_000]),
        compaction_messages: dice.pick(&[4, 10, 200]),
        compaction_recent: dice.pick(&[0, 1, 3, 20]),
        compaction_forced: dice.rarely(4),
        compaction_chunks: dice.pick(&[ChunkPolicy::Idle, ChunkPolicy::New, ChunkPolicy::Model]),
        ..EngineOptions::default()
    };
    if !options.decides_once() {
        return options;
    }
    EngineOptions {
        token_budget: None,
        compression_threshold: 0,
        observation_threshold: 0,
        prompts: SystemPrompts::Keep,
        strategy: Strategy::Messages,
        ..options
    }
}
