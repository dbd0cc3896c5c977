//! Logs that were compacted by the reference engine, or by us with a verbatim map.

use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::io::open_codec;
use crate::model::{Reject, ShapeName};
use crate::shape::{self, UncompressedRecord};

use super::maps::{Maps, Seen};
use super::{Output, RestoreSettings};

/// Writes the records of the file at `path` with their originals from `map`; gives the number of ids that have none.
pub(super) fn restore(
    path: &Path,
    map: &Path,
    shape: Option<ShapeName>,
    is_recursive: bool,
    settings: &RestoreSettings<'_>,
) -> Result<usize> {
    let map_text = read_text(map)?;
    let maps = Maps::read(&map_text, &map.to_string_lossy())?;
    let text = read_text(path)?;
    Log::read(&text, &path.to_string_lossy(), shape)?.restore(&maps, is_recursive, settings)
}

/// A file of compressed records.
struct Log<'t> {
    lines: Vec<Line<'t>>,
}

/// A line of it, or the whole file when that is one record.
struct Line<'t> {
    place: String,
    text: &'t str,
    /// Without the blanks around it; `None` for a blank line.
    record: Option<(&'t str, ShapeName)>,
}

impl<'t> Log<'t> {
    fn read(text: &'t str, place: &str, shape: Option<ShapeName>) -> Result<Self> {
        let whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let lines: Vec<&str> = if whole { vec![text] } else { text.split_inclusive('\n').collect() };
        let line = |(index, text): (usize, &'t str)| {
            let place = format!("{place}: line {}", index + 1);
            let record = text.trim();
            if record.is_empty() {
                return Ok(Line { place, text, record: None });
            }
            let message = "the record holds no conversation in a known shape";
            let shape = shape.or_else(|| shape::detect(record));
            let shape = shape.ok_or_else(|| Error::new(ErrorKind::Input, &*place, message))?;
            Ok(Line { place, text, record: Some((record, shape)) })
        };
        Ok(Self { lines: lines.into_iter().enumerate().map(line).collect::<Result<_>>()? })
    }

    /// Writes the records with their originals, once all of them are known; gives the number of those that are missing.
    fn restore(&self, maps: &Maps<'_>, is_recursive: bool, settings: &RestoreSettings<'_>) -> Result<usize> {
        let mut seen = Seen::default();
        for line in &self.lines {
            if let Some((record, shape)) = line.record {
                let refused = |reject: Reject| Error::new(ErrorKind::Input, &*line.place, reject.detail);
                seen.push(maps, record, shape, &line.place).map_err(refused)?;
            }
        }
        let mut places = seen.places(maps)?.into_iter();
        let (mut restored, mut missing) = (Vec::with_capacity(self.lines.len()), 0);
        for line in &self.lines {
            let Some((record, shape)) = line.record else {
                restored.push(None);
                continue;
            };
            let internal = || Error::new(ErrorKind::Internal, &*line.place, "a record was counted wrongly");
            let place = places.next().ok_or_else(internal)?;
            let back = shape::uncompress_record(record, shape, &place, is_recursive);
            let back = back.map_err(|reject| Error::new(ErrorKind::Input, &*line.place, reject.detail))?;
            if let Some(id) = back.ambiguous_ids.first() {
                return Err(place.ambiguous(id, &line.place));
            }
            missing += back.missing_ids.len();
            restored.push(Some(back));
        }
        let mut output = Output::open(settings.output.as_deref(), settings.stdout)?;
        for (line, back) in self.lines.iter().zip(restored) {
            write(line, back.as_ref(), &mut output)?;
        }
        output.finish()?;
        Ok(missing)
    }
}

fn write(line: &Line<'_>, back: Option<&UncompressedRecord>, output: &mut Output) -> Result<()> {
    let (Some((record, _)), Some(back)) = (line.record, back) else {
        return output.write(line.text.as_bytes());
    };
    let (before, after) = line.text.split_once(record).unwrap_or_default();
    [before, &back.record, after].into_iter().try_for_each(|text| output.write(text.as_bytes()))
}

fn read_text(path: &Path) -> Result<String> {
    let place = path.to_string_lossy();
    let failed = |error| Error::new(ErrorKind::Io, place.clone(), "cannot be read").because(error);
    let file = std::fs::File::open(path).map_err(failed)?;
    let (_, stream) = open_codec(BufReader::new(file)).map_err(failed)?;
    let mut text = String::new();
    let mut reader = BufReader::new(stream);
    while reader.read_line(&mut text).map_err(failed)? > 0 {}
    Ok(text)
}
