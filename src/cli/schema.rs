//! `condenser schema` and `condenser completions`: what is published about the files and the command line.

use condenser::error::{Error, Result};
use condenser::report::{schema, schema_names};

use super::end::Ending;
use super::help::{self, Wanted};
use super::message;

/// Prints a schema, or the names of all.
pub(crate) fn run(name: Option<&str>) -> Result<Ending> {
    let Some(name) = name else {
        message::result(&(names().join("\n") + "\n"))?;
        return Ok(Ending::Clean);
    };
    let Some(text) = schema(name) else {
        return Err(Error::usage(name, format!("there is no schema of this name; there are {}", names().join(", "))));
    };
    message::data(text)?;
    Ok(Ending::Clean)
}

fn names() -> Vec<&'static str> {
    schema_names().collect()
}

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(Wanted::Short), "condenser", &mut script);
    message::data(&String::from_utf8_lossy(&script))?;
    Ok(Ending::Clean)
}
