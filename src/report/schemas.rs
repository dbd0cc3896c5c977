//! The published schemas: those of the repository, which the program carries with it. Knows no type; with the feature
//! `schemas` they can be generated anew.

#[cfg(feature = "schemas")]
mod generated;

#[cfg(feature = "schemas")]
pub use generated::generated;

/// Names and schemas, each as indented JSON with a last line feed.
macro_rules! published {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../schemas/", $name, ".json")))),*]
    };
}

const PUBLISHED: &[(&str, &str)] = published!(
    "conversations" "verbatim" "metrics" "decisions" "rejects" "verbatim-map" "plan" "commit" "manifest" "night"
    "engine-options" "job" "sweep" "report" "drift" "listing" "store-listing" "pair" "explanation" "calibration"
);

/// Names that [`schema`] knows.
pub fn schema_names() -> impl Iterator<Item = &'static str> {
    PUBLISHED.iter().map(|&(name, _)| name)
}

/// The schema with this name as indented JSON with a last line feed; `None` when there is none.
pub fn schema(name: &str) -> Option<&'static str> {
    PUBLISHED.iter().find(|(known, _)| *known == name).map(|&(_, text)| text)
}
