//! Who may write to a run: one call for all of its parts, or any number of calls for one shard each. Knows the locks of
//! a run and who gives way to whom, not what is written.

use std::collections::BTreeMap;
use std::time::Duration;

use super::store::{Attempt, Lock, Owner, Place, Sighting};
use crate::error::{Error, Result};
use crate::pipeline::Shard;
use crate::pipeline::bridge::Bridge;

/// The folder of the locks; there is none when nobody works.
pub(super) const LOCKS: &str = "locks";
const WHOLE: &str = "all-parts";
const ENDING: &str = ".json";
/// Who waits looks again after this: soon enough for a person, seldom enough for a store.
const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// Is told who works on the run for which a call waits.
pub type Waits<'w> = dyn Fn(&str) + Sync + 'w;

/// The right to write to a run, given back when it is dropped.
#[derive(Debug)]
pub(super) struct RunLock {
    lock: Lock,
}

impl RunLock {
    /// Takes the right to write to the run at `root`, and waits while others have it; `waits` is told who, once for
    /// each. `look` is asked while it waits, and ends that with its error.
    pub(super) async fn take(
        root: &Place,
        shard: Option<Shard>,
        waits: &Waits<'_>,
        look: impl Fn() -> Result<()> + Clone + Send + 'static,
    ) -> Result<Self> {
        let mut asking = Asking { root: root.clone(), slot: Slot(shard), held: None, watches: BTreeMap::new() };
        let mut told = None;
        loop {
            let look = look.clone();
            // A store may be slow to answer; signals must be heard meanwhile.
            let (after, turn) = Bridge::run_blocking("lock", move || {
                let turn = asking.ask()?;
                if matches!(turn, Turn::After(_)) {
                    look()?;
                }
                Ok((asking, turn))
            })
            .await?;
            asking = after;
            let Turn::After(owner) = turn else { break };
            let who = owner.map_or_else(|| "another process".to_owned(), |owner| owner.to_string());
            if told.as_ref() != Some(&who) {
                waits(&who);
                told = Some(who);
            }
            tokio::time::sleep(LOOKS_EVERY).await;
        }
        let lost = || Error::internal(root.to_string(), "a lock was lost while it was taken");
        asking.held.map(|lock| Self { lock }).ok_or_else(lost)
    }

    /// See [`Lock::check`].
    pub(super) fn check(&self) -> Result<()> {
        self.lock.check()
    }
}

/// A shard of a run, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slot(Option<Shard>);

impl Slot {
    fn name(self) -> String {
        let name = self.0.map_or_else(|| WHOLE.to_owned(), |shard| format!("shard-{}-of-{}", shard.index, shard.count));
        name + ENDING
    }

    fn named(name: &str) -> Option<Self> {
        let name = name.strip_suffix(ENDING)?;
        if name == WHOLE {
            return Some(Self(None));
        }
        let (index, count) = name.strip_prefix("shard-")?.split_once("-of-")?;
        Some(Self(Some(Shard { index: index.parse().ok()?, count: count.parse().ok()? })))
    }

    /// Into how many shards the run is cut; 0 for a call that takes it whole.
    fn cut(self) -> usize {
        self.0.map_or(0, |shard| shard.count)
    }
}

/// Who is next.
enum Turn {
    /// This call.
    Mine,
    /// Another one, by its owner if he has said who he is.
    After(Option<Owner>),
}

/// An attempt to take a slot, as far as it has come.
struct Asking {
    root: Place,
    slot: Slot,
    held: Option<Lock>,
    watches: BTreeMap<String, Sighting>,
}

impl Asking {
    /// Tries again. It is this call's turn when it holds its slot and no call that cuts the run otherwise is at work. Each says first what it takes and then looks at the others, so that of two at least one sees the
    /// other; who cuts the run into more pieces gives way.
    fn ask(&mut self) -> Result<Turn> {
        if self.held.is_none() {
            match self.lock(&self.slot.name())? {
                Ok(lock) => self.held = Some(lock),
                Err(owner) => return Ok(Turn::After(owner)),
            }
        }
        for name in self.root.join(LOCKS).names()?.into_keys() {
            let Some(other) = Slot::named(&name).filter(|other| other.cut() != self.slot.cut()) else { continue };
            if let Err(owner) = self.lock(&name)? {
                if other.cut() < self.slot.cut() {
                    self.held = None;
                }
                return Ok(Turn::After(owner));
            }
        }
        Ok(Turn::Mine)
    }

    fn lock(&mut self, name: &str) -> Result<Attempt> {
        let watch = self.watches.entry(name.to_owned()).or_default();
        self.root.join(LOCKS).join(name).try_lock(watch)
    }
}

/// Takes away what calls that were killed left of their locks on the run at `root`; locks that are held stay.
pub fn sweep_locks(root: &Place) -> Result<()> {
    let locks = root.join(LOCKS);
    for name in locks.names()?.into_keys().filter(|name| Slot::named(name).is_some()) {
        drop(locks.join(&name).try_lock(&mut Sighting::default())?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Shard, Slot};

    #[test]
    fn slots_are_known_by_their_names() {
        for slot in [Slot(None), Slot(Some(Shard { index: 3, count: 40 }))] {
            assert_eq!(Slot::named(&slot.name()), Some(slot));
        }
        assert_eq!(Slot::named("notes.txt"), None);
    }
}
