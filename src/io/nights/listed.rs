//! Which nights there were when somebody began to read a store. Refuses to know what they say.

use std::collections::BTreeSet;

use super::{LEDGER, NIGHTS, Store, document_of, is_night};
use crate::error::Result;
use crate::io::store::Place;

/// The nights of a store, as they were listed once.
#[derive(Debug)]
pub struct ListedNights {
    root: Place,
    documents: BTreeSet<String>,
}

impl ListedNights {
    /// Those that are there now; none where there is no store.
    pub fn now(root: &Place) -> Result<Self> {
        let documents = if root.location().is_web() { BTreeSet::new() } else { documents(root)? };
        Ok(Self { root: root.clone(), documents })
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The store.
    pub fn place(&self) -> &Place {
        &self.root
    }

    /// True when nights were merged since: what is read of those before may be gone.
    pub fn were_merged(&self) -> Result<bool> {
        if self.documents.is_empty() {
            return Ok(false);
        }
        if !self.documents.is_subset(&documents(&self.root)?) {
            return Ok(true);
        }
        let nights = Store::look(&self.root)?.nights;
        let is_new = |run: &str| !self.documents.contains(&document_of(run));
        Ok(nights.iter().any(|night| !night.replaces.is_empty() && is_new(&night.run)))
    }
}

impl Store {
    /// Whether there is a store at `root`.
    pub fn is_at(root: &Place) -> Result<bool> {
        Ok(!ListedNights::now(root)?.is_empty() || root.join(LEDGER).exists()?)
    }
}

/// The documents of the nights of a store.
fn documents(root: &Place) -> Result<BTreeSet<String>> {
    let names = root.join(NIGHTS).names()?.into_keys().filter(|name| is_night(name));
    Ok(names.map(|name| format!("{NIGHTS}/{name}")).collect())
}
