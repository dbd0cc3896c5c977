//! What parts saw, added up in whatever order: numbers, maps, and structs field by field. Knows no part.

use std::collections::BTreeMap;

/// What can be added to what others saw.
pub trait Merge {
    /// Adds what another one saw.
    fn absorb(&mut self, other: &Self);
}

/// What somebody else wrote may say any number.
impl Merge for u64 {
    fn absorb(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

impl Merge for f64 {
    fn absorb(&mut self, other: &Self) {
        *self += other;
    }
}

impl<T: Merge + Default> Merge for Option<T> {
    fn absorb(&mut self, other: &Self) {
        if let Some(other) = other {
            self.get_or_insert_default().absorb(other);
        }
    }
}

impl<K: Ord + Clone, T: Merge + Default> Merge for BTreeMap<K, T> {
    fn absorb(&mut self, other: &Self) {
        for (key, value) in other {
            self.entry(key.clone()).or_default().absorb(value);
        }
    }
}

/// Structs whose fields are added one by one.
macro_rules! merges {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::pipeline::merge::Merge for $type {
            fn absorb(&mut self, other: &Self) {
                $($crate::pipeline::merge::Merge::absorb(&mut self.$field, &other.$field);)*
            }
        }
    };
}
pub(crate) use merges;
