//! Nights that are merged while somebody reads them: what is gone then is no damage.

use condenser::app::{App, OnMerge, place, reading, stores, verify_store};
use condenser::error::{Error, ErrorKind, Result};
use condenser::io::Store;
use condenser::io::store::Place;

use crate::support::chats::jsonl;
use crate::support::command::condenser;
use crate::support::dir::TestDir;

fn store() -> TestDir {
    let dir = TestDir::new();
    dir.write(
        "job.toml",
        "kind = \"compaction\"\ninputs = [\"logs\"]\noutput = \"store\"\ncompaction.rested_after = 0\n",
    );
    for n_records in [8, 9] {
        dir.write("logs/a.jsonl", jsonl(n_records, 51));
        condenser(dir.root(), &["run", "job.toml"]).ok();
    }
    dir
}

fn at(dir: &TestDir) -> Place {
    place(&dir.path("store"), &stores(None, None, std::collections::BTreeMap::new())).expect("a place")
}

/// Verifies the store of `dir`, and calls `meanwhile` with the number of the beginning when the nights are listed, but not read.
fn verified(dir: &TestDir, on_merge: OnMerge, meanwhile: &dyn Fn(usize)) -> (Result<usize>, usize) {
    let (app, place, mut n_begun) = (App::new().expect("an app"), at(dir), 0);
    let verified = reading(std::slice::from_ref(&place), on_merge, &mut || {
        n_begun += 1;
        let store = Store::find(&place)?.ok_or_else(|| Error::usage("", "no store"))?;
        meanwhile(n_begun);
        verify_store(&app, &store, 1).map(|_| store.nights().len())
    });
    (verified, n_begun)
}

#[test]
fn who_has_written_nothing_begins_again() {
    let dir = store();
    let merge = |beginning| {
        if beginning == 1 {
            condenser(dir.root(), &["merge", "store", "--yes"]).ok();
        }
    };
    let (verified, n_begun) = verified(&dir, OnMerge::Begin, &merge);
    assert_eq!((verified.expect("it is whole"), n_begun), (1, 2));
}

#[test]
fn who_has_written_ends_and_says_why() {
    let dir = store();
    let merge = |_| drop(condenser(dir.root(), &["merge", "store", "--yes"]).ok());
    let (verified, n_begun) = verified(&dir, OnMerge::End, &merge);
    let error = verified.expect_err("its files are gone");
    assert_eq!((error.kind, n_begun), (ErrorKind::Io, 1), "{error}");
    assert!(error.message.contains("nights were merged while") && error.hint.is_some(), "{error}");
}

#[test]
fn nights_that_are_merged_again_and_again_are_given_up() {
    let dir = store();
    let merge = |beginning: usize| {
        dir.write("logs/a.jsonl", jsonl(9 + beginning, 51));
        condenser(dir.root(), &["run", "job.toml"]).ok();
        condenser(dir.root(), &["merge", "store", "--yes"]).ok();
    };
    let (verified, n_begun) = verified(&dir, OnMerge::Begin, &merge);
    assert_eq!((verified.expect_err("its files are gone").kind, n_begun), (ErrorKind::Io, 3));
}

#[test]
fn damage_stays_damage_whatever_night_comes_meanwhile() {
    let dir = store();
    let damage = |beginning: usize| {
        drop(std::fs::remove_file(dir.path("store/runs/00001/manifest.json")));
        dir.write("logs/b.jsonl", jsonl(beginning, 52));
        condenser(dir.root(), &["run", "job.toml"]).ok();
    };
    let (verified, n_begun) = verified(&dir, OnMerge::Begin, &damage);
    assert_eq!((verified.expect_err("a file is gone").kind, n_begun), (ErrorKind::Verification, 1));
}
