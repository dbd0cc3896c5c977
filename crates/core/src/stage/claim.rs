//! The contract between a stage and the plan: a stage looks at a profiled conversation and claims messages that
//! no earlier stage claimed. Every message ends in exactly one claim.

use crate::model::{Consult, Content, Conversation, EngineOptions, FlowKind, Reason, Role, Thought};
use crate::text::{Correction, Cut, Speaker, TextView, n_chars, tokens};

use super::classify::{Depth, Verdict, judge};
use super::profiles::{Decided, Profiles};

/// What is known of a stage before it runs.
pub trait About: std::fmt::Debug + Send + Sync {
    /// A verb, for traces.
    fn name(&self) -> &'static str;
    /// False when the stage decides without reading texts: then nothing is lexed for conversations that it
    /// claims as a whole.
    fn needs_text(&self) -> bool {
        true
    }
    /// False when an option switches it off; then it is not asked for claims.
    fn is_on(&self, options: &EngineOptions) -> bool {
        let _ = options;
        true
    }
    /// True when it claims by how a text looks, and nobody asked for it by name: where the use of a text decides, it is not
    /// asked.
    fn goes_by_looks(&self) -> bool {
        false
    }
    /// True when it reads messages that are claimed already, beyond what they say as a whole.
    fn reads_claimed(&self) -> bool {
        false
    }
    /// True when what it claims becomes a reference to an equal message that stays.
    fn refers(&self) -> bool {
        false
    }
}

/// A step of the plan.
pub trait Stage: About {
    /// True when it may claim what is kept as short: then it is asked although every message is claimed.
    fn takes_short(&self, view: &View<'_>) -> bool {
        let _ = view;
        false
    }
    /// Claims messages. Never fails, does no IO, writes no text.
    fn claim(&self, view: &View<'_>, plan: &mut Plan);
    /// The same with what a model says; for as long as a question is open the stage claims nothing for it.
    fn claim_with(&self, view: &View<'_>, plan: &mut Plan, consult: &mut Consult<'_>) {
        let _ = consult;
        self.claim(view, plan);
    }
}

/// What a stage sees.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The input.
    pub conversation: &'a Conversation<'a>,
    /// Its texts after the lexer.
    pub profiles: &'a Profiles,
    /// What the user asked for.
    pub options: &'a EngineOptions,
    /// Index of the first message of the recency window; the number of messages when there is no window.
    pub recency_start: usize,
    /// How much the classifier looks for.
    pub depth: Depth,
}

impl<'a> View<'a> {
    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.conversation.messages.len()
    }
    /// True for a conversation without messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conversation.messages.is_empty()
    }
    /// The texts of message `index` with their findings: one for a string, one per text part of a list.
    #[inline]
    pub fn texts(&self, index: usize) -> impl Iterator<Item = TextView<'a>> {
        let message = &self.conversation.messages[index];
        let (lexer, lexed) = self.profiles.of(self.conversation, index);
        message.texts().zip(lexed).map(move |(text, lexed)| lexer.view(text, lexed))
    }
    /// The only text of message `index`; `None` when it has none or several.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<TextView<'a>> {
        if let Content::Text(text) = &self.conversation.messages[index].content {
            let (lexer, lexed) = self.profiles.of(self.conversation, index);
            return lexed.first().map(|lexed| lexer.view(text, lexed));
        }
        let mut texts = self.texts(index);
        let first = texts.next()?;
        texts.next().is_none().then_some(first)
    }
    /// The text parts of message `index` with their place in the content list; a string is part 0.
    pub fn text_parts(&self, index: usize) -> impl Iterator<Item = (usize, TextView<'a>)> {
        let parts = self.conversation.messages[index].text_parts();
        parts.map(|(place, _)| place).zip(self.texts(index))
    }
    /// What a short look at each text of message `index` says; found out the first time that somebody asks.
    pub fn decided(&self, index: usize) -> impl Iterator<Item = Decided> {
        self.texts(index).zip(self.profiles.decided_of(index)).map(|(text, cell)| {
            *cell.get_or_init(|| {
                let verdict = judge(&text, Depth::Decide);
                Decided { is_hard: verdict.is_hard(), is_output: verdict.is_output }
            })
        })
    }
    /// Characters of all texts of message `index`.
    #[must_use]
    pub fn chars(&self, index: usize) -> usize {
        self.profiles.chars[index]
    }
    /// True for a message above the observation threshold.
    #[must_use]
    pub fn is_large(&self, index: usize) -> bool {
        let threshold = self.options.observation_threshold;
        threshold > 0 && tokens::estimate(self.chars(index)) > threshold
    }
    /// Who says message `index`. Where speakers have names there are several: what one says to the others takes back
    /// nothing that he said himself.
    #[must_use]
    pub fn speaker(&self, index: usize) -> Speaker {
        let message = &self.conversation.messages[index];
        match message.role {
            _ if message.name.is_some() => Speaker::Peer,
            Role::Assistant => Speaker::Assistant,
            _ => Speaker::User,
        }
    }
    /// Characters of what stands beside the content of message `index`: the arguments of its calls, and its reasoning where that
    /// gives way.
    #[must_use]
    pub fn chars_beside(&self, index: usize) -> usize {
        self.profiles.argument_chars[index] + self.thoughts(index).map(|thought| n_chars(&thought.text)).sum::<usize>()
    }

    /// What message `index` thinks, where that gives way.
    pub fn thoughts(&self, index: usize) -> impl Iterator<Item = &Thought<'_>> {
        let thoughts = &self.conversation.messages[index].reasoning;
        thoughts.iter().filter(|_| self.options.takes_answers())
    }
}

/// What is to happen to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// Stays as it is.
    Keep(Reason),
    /// Becomes a reference to an identical message that stays.
    DuplicateOf(usize),
    /// Becomes a reference to a similar message that stays, with the lines that differ.
    SimilarTo {
        /// The message that stays.
        target: usize,
        /// Multiset Jaccard of their lines.
        similarity: f64,
    },
    /// Becomes a reference to the later message that corrects it, with a summary.
    SupersededBy {
        /// The message that corrects it, which stays.
        target: usize,
        /// How it does.
        signal: Correction,
    },
    /// Is replaced together with the other members of `groups[_]`.
    Group(usize),
}

impl Claim {
    /// True for a message that is kept as short or as words of the user: a later stage that wants it may have it.
    #[must_use]
    pub fn is_soft(&self) -> bool {
        matches!(self, Self::Keep(Reason::ShortContent | Reason::UserWords))
    }
}

/// Messages that become one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Indices, ascending; they need not be neighbours.
    pub members: Vec<usize>,
    /// How the text is made.
    pub kind: GroupKind,
}

/// How the text of a group is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKind {
    /// A summary of prose or of structured output.
    Summary,
    /// Prose summarised around the fences of a single message.
    CodeSplit,
    /// A summary of summaries of earlier rounds.
    Recompact,
    /// Output of a tool without its noise.
    ToolPrepass,
    /// What adapter `_` of the engine makes of a single message.
    Adapter(usize),
    /// A chain of neighbours.
    Flow(FlowKind),
    /// Messages about one topic.
    Cluster,
    /// Neighbouring turns of several speakers.
    Talk,
    /// What later messages use of a single message.
    Used,
}

/// One claim per message.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    claims: Vec<Option<Claim>>,
    /// What the classifier found, per message; empty for messages that it was not asked about.
    pub verdicts: Vec<Verdict>,
    /// What `Claim::Group` points into.
    pub groups: Vec<Group>,
    /// What is taken out of the messages of [`GroupKind::ToolPrepass`], by message, ascending.
    pub cuts: Vec<(usize, Vec<Cut>)>,
    /// How much later messages depend on each, 0 to 1; empty unless importance was asked for.
    pub importance: Vec<f64>,
    /// Messages that are summarised although the rules would keep their structure, ascending.
    pub overruled: Vec<usize>,
    /// What became of questions to a model, by message; stands among the details of its decision.
    pub notes: Vec<(usize, Reason)>,
}

impl Plan {
    /// A plan in which nothing is claimed yet.
    #[must_use]
    pub fn new(n_messages: usize) -> Self {
        Self { claims: vec![None; n_messages], verdicts: vec![Verdict::default(); n_messages], ..Self::default() }
    }
    /// The claim on message `index`.
    #[must_use]
    pub fn claim_of(&self, index: usize) -> Option<&Claim> {
        self.claims[index].as_ref()
    }
    /// The claim on message `index` of a finished plan.
    #[must_use]
    pub fn settled(&self, index: usize) -> &Claim {
        // A message that no stage wanted is prose that cannot be summarised: it stays.
        self.claim_of(index).unwrap_or(&Claim::Keep(Reason::CompressibleProse))
    }
    /// What is taken out of message `index`, in order and apart.
    #[must_use]
    pub fn cuts_of(&self, index: usize) -> &[Cut] {
        let found = self.cuts.binary_search_by_key(&index, |(message, _)| *message);
        found.map_or(&[], |at| self.cuts[at].1.as_slice())
    }
    /// The claims in message order, without messages that nobody claimed.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().flatten()
    }
    /// True when no stage has claimed message `index`.
    #[must_use]
    pub fn is_free(&self, index: usize) -> bool {
        self.claims[index].is_none()
    }
    /// Indices that no stage has claimed.
    pub fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.claims.len()).filter(|&index| self.is_free(index))
    }
    /// Claims a free message; the first claim wins, a later one is ignored.
    pub fn keep(&mut self, index: usize, reason: Reason) {
        self.set(index, Claim::Keep(reason));
    }
    /// Takes the claims on `indices` back.
    pub fn release(&mut self, indices: &[usize]) {
        for &index in indices {
            self.claims[index] = None;
        }
    }
    /// Like [`Plan::keep`], also for a message that is kept as short or as words of the user: what others refer to joins
    /// no chain.
    pub fn pin(&mut self, index: usize, reason: Reason) {
        match &mut self.claims[index] {
            Some(claim) if claim.is_soft() => *claim = Claim::Keep(reason),
            claim => {
                claim.get_or_insert(Claim::Keep(reason));
            }
        }
    }
    /// Moves the notes to the verdicts of their messages.
    pub fn file_notes(&mut self) {
        for (index, reason) in self.notes.drain(..) {
            self.verdicts[index].reasons.push(reason);
        }
    }
    /// Claims a free message for `claim`, which is no group; the first claim wins.
    pub fn set(&mut self, index: usize, claim: Claim) {
        self.claims[index].get_or_insert(claim);
    }
    /// Claims all `members` for one group. Nothing happens unless all of them are ascending and may be claimed: so no message
    /// is ever in two groups. Chains and topics also take what is kept as short or as words of the user; a summary of
    /// summaries takes those of earlier rounds and what is kept as short.
    pub fn group(&mut self, members: Vec<usize>, kind: GroupKind) -> bool {
        let is_claimable = |index: &usize| match (self.claims.get(*index), kind) {
            (Some(Some(Claim::Keep(reason))), GroupKind::Recompact) => {
                matches!(reason, Reason::AlreadyCompressed | Reason::ShortContent)
            }
            (Some(Some(claim)), GroupKind::Flow(_) | GroupKind::Cluster | GroupKind::Talk) => claim.is_soft(),
            (Some(None), kind) => kind != GroupKind::Recompact,
            _ => false,
        };
        let fits = !members.is_empty() && members.is_sorted_by(|a, b| a < b) && members.iter().all(is_claimable);
        if fits {
            for &index in &members {
                self.claims[index] = Some(Claim::Group(self.groups.len()));
            }
            self.groups.push(Group { members, kind });
        }
        fits
    }
}
