//! What conversations of a group have in common, as keys, and where a group stands on the line from 0 to 1. Knows hashes; refuses to
//! know conversations.

/// By what conversations belong together: keys of a kind stand together when they are sorted, the widest kind first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum KeyKind {
    /// The repository that was worked on.
    Repository = 0,
    /// The task.
    Task = 1,
    /// The words of the first prompt.
    Prompt = 2,
    /// The whole of it, where it has no prompt.
    Whole = 3,
    /// Its id.
    Id = 4,
}

/// What conversations have in common: a kind, and the first 15 bytes of a BLAKE3 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey(pub [u8; 16]);

impl GroupKey {
    /// The key of this kind for what is called so.
    #[must_use]
    pub fn of(kind: KeyKind, name: &[u8]) -> Self {
        let mut key = [kind as u8; 16];
        key[1..].copy_from_slice(&blake3::hash(name).as_bytes()[..15]);
        Self(key)
    }

    /// Where a group with this smallest key stands: a hash of key and seed, since the smallest of many hashes is small. Of ids there is
    /// one, so that without a seed its own hash will do.
    #[must_use]
    pub fn place(self, seed: u64) -> f64 {
        let mut first = [0; 8];
        if seed == 0 && self.0[0] == KeyKind::Id as u8 {
            first.copy_from_slice(&self.0[1..9]);
        } else {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&seed.to_le_bytes()).update(&self.0);
            first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        }
        (u64::from_be_bytes(first) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
