//! What became of a batch, as it stands in its `state.json`. Plain data.

use serde::{Deserialize, Serialize};

/// A batch and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchState {
    /// In whose words its requests are.
    pub protocol: String,
    /// The API that gets it.
    pub base_url: String,
    /// The model that is asked.
    pub model: String,
    /// Number of requests.
    pub n_requests: u64,
    /// Bytes of the request file.
    pub n_bytes: u64,
    /// BLAKE3 of the request file: the mark by which a batch is found again at the API.
    pub blake3: String,
    /// How far it is.
    #[serde(flatten)]
    pub stage: Stage,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case")]
pub enum Stage {
    /// Its requests are written.
    Planned,
    /// It is being handed in. Whoever finds this does not know whether the API has it, and looks there first.
    Submitting {
        /// Where to look.
        search: Search,
        /// The request file at the API, where it goes there first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// The API has it.
    Submitted {
        /// Its name there.
        id: String,
        /// There when it was found by its size only: its results will show whether it is this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unproven: Option<Search>,
    },
    /// Its results are there.
    Ended {
        /// Its name at the API.
        id: String,
        /// See [`Stage::Submitted`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unproven: Option<Search>,
        /// Where they are, after the base address.
        results: Vec<String>,
    },
    /// Its results are among the kept replies.
    Fetched(Receipt),
    /// The API refused it as a whole, or has its results no longer; its requests are open again.
    Refused {
        /// Its name at the API.
        id: String,
        /// Why.
        message: String,
    },
}

/// Where at the API a batch may be of which it is not known whether it was handed in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// The newest batch at the API before; all that are newer may be this one.
    pub newest_before: Option<String>,
    /// Batches that were taken for this one and are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ours: Vec<String>,
}

/// What came out of a batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its name at the API.
    pub id: String,
    /// Requests with a reply.
    pub n_replies: u64,
    /// Requests that were refused for good; their texts are made without a model.
    pub n_failed: u64,
    /// Requests that expired, were cancelled, or met an error of the server; they are open again.
    pub n_open: u64,
    /// Why one of these has no reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Tokens of the requests that came from no cache.
    pub input_tokens: u64,
    /// Tokens of the requests that a prompt cache held or took.
    pub cached_tokens: u64,
    /// Tokens of the replies.
    pub output_tokens: u64,
    /// What it cost, in the currency of the job's prices; nothing when there are no prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Stage {
    /// True as long as a reply may come: its requests are not planned again.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !matches!(self, Self::Fetched(_) | Self::Refused { .. })
    }

    /// Its name at the API, once it is known.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Planned | Self::Submitting { .. } => None,
            Self::Submitted { id, .. } | Self::Ended { id, .. } | Self::Refused { id, .. } => Some(id),
            Self::Fetched(receipt) => Some(&receipt.id),
        }
    }

    /// One word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Submitting { .. } => "submitting",
            Self::Submitted { .. } => "submitted",
            Self::Ended { .. } => "ended",
            Self::Fetched(_) => "fetched",
            Self::Refused { .. } => "refused",
        }
    }
}
