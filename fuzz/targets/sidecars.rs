//! The way back, with everything that it reads made up: it gives what was written, or an error, and no panic. Sections of an input are
//! separated by lines of `---`: what was written, a layout, then originals (`position index`, a line end, the message), a sidecar, or
//! a verbatim map.
#![no_main]

use condenser::model::{Original, ReadAs, ShapeName};
use condenser::shape::{self, DeltaPiece, Deltas, VerbatimMap, Wholes, WrittenText};
use condenser_core::{Sidecar, restore};
use libfuzzer_sys::fuzz_target;

const BETWEEN: &str = "\n---\n";

fn original(section: &str) -> Option<Original<'_>> {
    let (places, message) = section.split_once('\n')?;
    let (position, index) = places.split_once(' ')?;
    Some(Original { position: position.parse().ok()?, message_index: index.parse().ok()?, message })
}

/// What is stored of originals brings them back, and numbers that were made up bring no text that is torn.
fn deltas(written: &str, originals: &[&str]) {
    let texts: Vec<&str> = written.split_inclusive('\n').collect();
    let written = WrittenText::of_messages(&texts);
    let Some(found) = Deltas::by(&written) else { return };
    let (mut ends, mut wholes) = (Wholes::by(&written), Wholes::by(&written));
    for (at, original) in originals.iter().enumerate().take(2 * texts.len() + 2) {
        // As sidecars hold them: by ascending positions, several for one.
        let position = at / 2 % (texts.len() + 1);
        let Some(delta) = found.of(original, ends.begin(position)) else { continue };
        assert_eq!(wholes.next(position, &delta.pieces, &delta.rest).as_deref(), Ok(*original));
        let numbers: Vec<u32> = original.bytes().map(u32::from).collect();
        let of_three = |three: &[u32]| DeltaPiece { rest: three[0], moved: three[1], copied: three[2] };
        let pieces: Vec<DeltaPiece> = numbers.chunks_exact(3).map(of_three).collect();
        let _ = Wholes::by(&written).next(position, &pieces, original);
    }
}

fn of_map(record: &str, map: &str) {
    let Ok(map) = VerbatimMap::read(map) else { return };
    for (id, message) in map.entries() {
        assert_eq!(map.message(id), Some(message));
    }
    let Some(shape) = shape::detect(record) else { return };
    let mut n_before = usize::MAX;
    for is_recursive in [false, true] {
        let Ok((_, done)) = shape::uncompress_record(record, ReadAs::Shape(shape), &map, is_recursive) else { continue };
        assert!(n_before == usize::MAX || done.expanded >= n_before, "more rounds expand no less");
        n_before = done.expanded;
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let sections: Vec<&str> = text.split(BETWEEN).collect();
    let (written, layout) = (sections[0], sections.get(1).copied());
    let rest = sections.get(2..).unwrap_or_default();
    if let Some(layout) = layout {
        if let Ok(sidecar) = serde_json::from_str::<Sidecar>(layout) {
            let _ = restore(written, &sidecar);
        }
        of_map(written, layout);
    }
    let originals: Vec<Original<'_>> = rest.iter().filter_map(|section| original(section)).collect();
    let _ = shape::messages_of(written, layout);
    if let Ok(record) = shape::restore_record(written, layout, &originals) {
        assert!(shape::restores_record(written, layout, &originals, &record), "both ways say the same");
        assert!(!shape::restores_record(written, layout, &originals, &format!("{record} ")));
    }
    if let (Ok(row), Some(layout)) = (shape::row_of_text(written), layout)
        && let Ok(record) = shape::restore_row("talk", &row, layout, &originals)
    {
        assert!(shape::restores_row("talk", &row, layout, &originals, &record), "both ways say the same");
    }
    deltas(written, rest);
    let _ = shape::value_hash(written);
    let _ = shape::summaries(written, ShapeName::Openai);
});
