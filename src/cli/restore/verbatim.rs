//! `condenser restore --verbatim`: logs compacted by the reference engine, or by us with a verbatim map.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use condenser::error::{Error, ErrorKind, Result};
use condenser::io::open_codec;
use condenser::shape::{self, VerbatimMap};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Ending, Output, RestoreArgs, message};

/// A line of a map of many conversations.
#[derive(Deserialize)]
struct MapLine<'m> {
    conversation_id: String,
    #[serde(borrow)]
    verbatim: &'m RawValue,
}

/// Runs the command.
pub(super) fn run(args: &RestoreArgs, map: &Path) -> Result<Ending> {
    let Some(path) = &args.path else {
        return Err(Error::new(ErrorKind::Usage, "", "no file of compressed records was named"));
    };
    let text = read_text(map)?;
    let maps = read_maps(&text, map)?;
    let place = path.to_string_lossy();
    let records = read_text(path)?;
    let mut output = Output::open(args.output.as_deref())?;
    let mut missing = 0;
    let whole = serde_json::from_str::<serde::de::IgnoredAny>(&records).is_ok();
    let lines: Vec<&str> = if whole { vec![records.as_str()] } else { records.split_inclusive('\n').collect() };
    for (index, line) in lines.into_iter().enumerate() {
        let record = line.trim();
        if record.is_empty() {
            output.write(line.as_bytes())?;
            continue;
        }
        let refused = |detail: String| Error::new(ErrorKind::Input, format!("{place}: line {}", index + 1), detail);
        let shape = args.shape.or_else(|| shape::detect(record));
        let shape = shape.ok_or_else(|| refused("the record holds no conversation in a known shape".to_owned()))?;
        let restored = expand(record, shape, &maps, args.recursive).map_err(|reject| refused(reject.detail))?;
        missing += restored.missing_ids.len();
        let (before, after) = line.split_once(record).unwrap_or_default();
        output.write([before, &restored.record, after].concat().as_bytes())?;
    }
    output.finish()?;
    if missing > 0 {
        message::note(&format!("{missing} ids have no original in the map; their summaries were kept"));
        return Ok(Ending::Rejects);
    }
    Ok(Ending::Clean)
}

/// One map for everything, or one per conversation.
enum Maps<'m> {
    One(VerbatimMap<'m>),
    Many(BTreeMap<String, VerbatimMap<'m>>, VerbatimMap<'m>),
}

fn expand(
    record: &str,
    shape: condenser::model::ShapeName,
    maps: &Maps<'_>,
    recursive: bool,
) -> std::result::Result<shape::UncompressedRecord, condenser::model::Reject> {
    let map = match maps {
        Maps::One(map) => map,
        Maps::Many(maps, none) => {
            let decoded = shape::decode(record, shape, "")?;
            maps.get(&*decoded.conversation.id).unwrap_or(none)
        }
    };
    shape::uncompress_record(record, shape, map, recursive)
}

fn read_maps<'m>(text: &'m str, path: &Path) -> Result<Maps<'m>> {
    let place = path.to_string_lossy();
    let wrong = |message: String| Error::new(ErrorKind::Input, place.clone(), message);
    let mut maps = BTreeMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Ok(line) = serde_json::from_str::<MapLine<'m>>(line) else {
            let map = VerbatimMap::read(text);
            return map.map(Maps::One).map_err(|error| wrong(format!("this is no verbatim map: {error}")));
        };
        let map = VerbatimMap::read(line.verbatim.get()).map_err(|error| wrong(error.to_string()))?;
        maps.insert(line.conversation_id, map);
    }
    Ok(Maps::Many(maps, VerbatimMap::default()))
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
