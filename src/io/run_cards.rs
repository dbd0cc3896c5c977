//! What stands beside training data in a run: the card, and what its trainer asks for. Knows commits; refuses to know rows.

use super::run_documents::each_commit;
use super::store::Place;
use crate::error::Result;
use crate::pipeline::bridge::Bridge;
use crate::pipeline::{
    DatasetOptions, Manifest, Merge, RunPlan, TableFile, TargetName, TrainingTally, data_card, dataset_info,
};

/// The folders of training data.
pub(super) const TRAINING: [&str; 2] = ["dataset/train", "dataset/eval"];
const CARD: &str = "dataset/README.md";
const TEMPLATE: &str = "dataset/chat_template.jinja";
const DATASET_INFO: &str = "dataset/dataset_info.json";

/// What stands beside training data: the card, and what its trainer asks for.
pub(super) async fn write_cards(
    root: &Place,
    plan: &RunPlan,
    dataset: &DatasetOptions,
    manifest: &mut Manifest,
) -> Result<()> {
    let (from, planned) = (root.clone(), plan.clone());
    let read = move || {
        let (mut sum, mut names, mut hash) = (TrainingTally::default(), Vec::new(), blake3::Hasher::new());
        each_commit(&from, &planned, &from.names()?, &mut |commit, _| {
            if let Some(tally) = commit.sketch.as_ref().and_then(|sketch| sketch.training.as_ref()) {
                sum.absorb(tally);
            }
            let files = commit.files.into_iter().filter(|file| file.rows > 0 && TRAINING.contains(&&*file.table));
            for file in files {
                hash.update(file.blake3.as_bytes());
                names.push((file.table, file.path));
            }
            Ok(())
        })?;
        Ok((sum, names, hash.finalize().to_hex()))
    };
    let (sum, names, hash) = Bridge::run_blocking("run", read).await?;
    let engine = &plan.options.engine;
    let mut documents = vec![(CARD, data_card(dataset, engine, &sum, hash.get(..16).unwrap_or_default()))];
    if dataset.target == TargetName::LlamaFactory {
        documents.push((DATASET_INFO, dataset_info(&names)));
    }
    documents.extend(dataset.training_template.clone().map(|template| (TEMPLATE, template)));
    for (path, text) in documents {
        root.join(path).write_atomic(text.as_bytes()).await?;
        manifest.files.push(document(path, text.as_bytes()));
    }
    Ok(())
}

/// A file that belongs to no part.
pub(super) fn document(path: &str, bytes: &[u8]) -> TableFile {
    TableFile {
        table: path.to_owned(),
        path: path.to_owned(),
        rows: 1,
        bytes: bytes.len() as u64,
        blake3: blake3::hash(bytes).to_hex().to_string(),
        stream_blake3: None,
        pieces: Vec::new(),
    }
}
