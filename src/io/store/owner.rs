//! Who holds a lock, and what others have seen of that. Knows neither where locks are nor what they protect.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
#[cfg(feature = "remote")]
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Who holds a lock. `Display` reads `process 4711 on alpha`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Id of the process.
    pub process: u32,
    /// What the machine calls itself; empty where the system does not tell.
    #[serde(default)]
    pub host: String,
    /// The machine since its start, and the space of process ids on it: where both are the same, the id says whether
    /// the process still lives. Empty where the system does not tell.
    #[serde(default)]
    pub ids_of: String,
    /// Another one for every lock that is taken.
    #[serde(default)]
    pub nonce: String,
}

impl Owner {
    /// This process.
    pub(super) fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let ids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let boot = read("/proc/sys/kernel/random/boot_id");
        let nonce = RandomState::new().build_hasher().finish();
        Self {
            process: std::process::id(),
            host: read("/proc/sys/kernel/hostname"),
            ids_of: if boot.is_empty() { boot } else { format!("{boot} {}", ids.to_string_lossy()) },
            nonce: format!("{nonce:016x}"),
        }
    }

    /// True when the process was one of this machine and is no more. A new process of its id would be taken for it:
    /// then one waits in vain for a while, and nothing is lost.
    #[cfg(feature = "remote")]
    pub(super) fn is_gone(&self) -> bool {
        let is_there = |process: u32| Path::new(&format!("/proc/{process}")).exists();
        // Where processes of others are hidden, the first one is, too.
        let tells = is_there(1) && !self.ids_of.is_empty() && self.ids_of == Self::here().ids_of;
        tells && !is_there(self.process)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)?;
        if self.host.is_empty() { Ok(()) } else { write!(f, " on {}", self.host) }
    }
}

/// What was seen of a lock that others hold; kept from one attempt to the next, so that a holder in a store who is no
/// longer heard of can be told from one at work.
#[derive(Debug, Default)]
pub struct Sighting {
    /// The document, and since when it has been the same.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "local locks end with their process"))]
    pub(super) seen: Option<(Vec<u8>, Instant)>,
}
