//! The way back: from rows and condensed records to the identical bytes, for records that nobody would write by
//! hand and for replacements that no engine would make.

use std::path::PathBuf;

use condenser::model::{Condensed, Metrics, NewBody, Output, Provenance, ProvenancePlace, Replacement};
use condenser::shape::{Decoded, decode, detect, restore_record, restore_row};

/// A condensed conversation with the given groups; everything else is kept, in the order of first sources.
fn condensed(n: usize, groups: &[(Vec<usize>, NewBody)]) -> Condensed {
    let mut messages: Vec<(usize, Output)> = Vec::new();
    for (sources, body) in groups {
        let ids: Vec<String> = sources.iter().map(|at| format!("m{at}")).collect();
        let provenance = Provenance { ids, summary_id: "cce_sum_é".to_owned(), parent_ids: Vec::new(), version: 7 };
        let replacement = Replacement { sources: sources.clone(), body: body.clone(), provenance };
        messages.push((sources[0], Output::Replaced(replacement)));
    }
    for index in 0..n {
        if !groups.iter().any(|(sources, _)| sources.contains(&index)) {
            messages.push((index, Output::Kept { index }));
        }
    }
    messages.sort_by_key(|(first, _)| *first);
    let messages = messages.into_iter().map(|(_, output)| output).collect();
    Condensed { messages, decisions: Vec::new(), metrics: Metrics::default() }
}

/// Both ways back give the record, and the condensed record is one of the same shape.
fn check(decoded: &Decoded<'_>, condensed: &Condensed) {
    let originals = decoded.originals(condensed);
    let layout = decoded.record_layout(condensed);
    for place in [ProvenancePlace::Metadata, ProvenancePlace::Sidecar] {
        let row = decoded.row(condensed, place);
        let row_layout = decoded.row_layout(condensed);
        let restored = restore_row(&decoded.conversation.id, &row, &row_layout, &originals);
        assert_eq!(restored.as_deref(), Ok(decoded.record), "row: {row:?}\nlayout: {row_layout}");

        let record = decoded.condensed_record(condensed, place);
        let again = decode(&record, decoded.shape, "fallback").expect("a condensed record is a record");
        assert_eq!(again.conversation.messages.len(), condensed.messages.len());
        let restored = restore_record(&record, layout.as_deref(), &originals);
        assert_eq!(restored.as_deref(), Ok(decoded.record), "record: {record}\nlayout: {layout:?}");
    }
}

/// The texts of the public corpora; empty when they are not there.
fn corpora() -> Vec<(PathBuf, String)> {
    let folder = std::env::var_os("CONDENSER_CORPORA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora"), PathBuf::from);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().ends_with(".jsonl.zst"));
    paths.sort();
    if paths.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "no corpora in {}", folder.display());
        println!("no corpora in {}: set CONDENSER_CORPORA", folder.display());
    }
    let read = |path: PathBuf| {
        let packed = std::fs::File::open(&path).expect("a corpus can be opened");
        let bytes = zstd::decode_all(packed).expect("a corpus can be unpacked");
        (path, String::from_utf8(bytes).expect("a corpus is UTF-8"))
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn records_of_the_corpora_come_back() {
    for (path, text) in corpora() {
        let mut n_layout = 0;
        for (n, record) in text.lines().enumerate() {
            let shape = detect(record).unwrap_or_else(|| panic!("{}: line {}", path.display(), n + 1));
            let decoded = decode(record, shape, "fallback").expect("a record of the corpora can be read");
            let n_messages = decoded.conversation.messages.len();
            let unchanged = condensed(n_messages, &[]);
            check(&decoded, &unchanged);
            assert_eq!(decoded.condensed_record(&unchanged, ProvenancePlace::Metadata), record);
            n_layout += decoded.row_layout(&unchanged).len();
            // Every third message alone, and groups of two with a gap between them.
            let text = |n: usize| NewBody::Text(format!("[summary: “{n}” \\ \"quoted\"\n]"));
            let alone: Vec<_> = (0..n_messages).step_by(3).map(|at| (vec![at], text(at))).collect();
            check(&decoded, &condensed(n_messages, &alone));
            let gaps: Vec<_> = (2..n_messages).step_by(3).map(|at| (vec![at - 2, at], text(at))).collect();
            check(&decoded, &condensed(n_messages, &gaps));
            if n_messages > 0 {
                check(&decoded, &condensed(n_messages, &[((0..n_messages).collect(), text(0))]));
            }
        }
        println!("{}: layouts are {:.2} % of the records", path.display(), 100.0 * n_layout as f64 / text.len() as f64);
    }
}
