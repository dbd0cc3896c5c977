//! `condenser llm learn`: asks the model of a job about pairs that went well or wrong, and prints better options. The
//! job file is not changed.

use std::io::{BufRead, BufReader};

use condenser::app::{App, read_key};
use condenser::error::{Error, Result};
use condenser::llm::feedback::{Findings, Lesson, Wording, analyze, analyze_over_preservation, candidates, read_pair};
use condenser::llm::{Client, ModelSettings, Patience, Request};

use crate::cli::args::LearnArgs;
use crate::cli::end::Ending;
use crate::cli::{message, run as run_job};

/// Runs the command.
pub(super) fn run(app: &App, args: &LearnArgs) -> Result<Ending> {
    let settings = run_job::read(&args.job, &args.set)?;
    let Some(llm) = settings.llm.clone() else {
        let name = args.job.to_string_lossy();
        return Err(Error::usage(name, "the job names no model to ask")
            .hinting("name one with model = \"…\" in the table [llm]"));
    };
    let pairs = read_pairs(args)?;
    let engine = &settings.options.engine;
    let wording =
        Wording { preserve_terms: engine.preserve_terms.clone(), system_prompt: engine.system_prompt.clone() };
    let text = app.wait(async {
        let client = Client::new(&llm, llm.key(read_key)?.as_ref(), Patience::default())?;
        let model = ModelSettings::of(&llm);
        let ask = async |request: Request| {
            let reply = client.complete(model.body(&request), model.max_tokens(&request)).await;
            reply.map(|reply| reply.text).map_err(|refusal| client.error(&refusal))
        };
        if args.tighten {
            let Some(request) = analyze_over_preservation(&pairs, &wording) else {
                return Ok("# no pair went well, so there is nothing to tighten\n".to_owned());
            };
            let found = Findings::unnecessary(&ask(request).await?)?;
            return Ok(comments(&found.patterns) + &wording.tighten(&found).to_toml());
        }
        let Some(request) = analyze(&pairs) else {
            return Ok("# no pair failed, so there is nothing to learn\n".to_owned());
        };
        let found = Findings::lost(&ask(request).await?)?;
        let lost = comments(&found.patterns);
        let Some(count) = args.candidates else { return Ok(lost + &wording.refine(&found).to_toml()) };
        let sets = wording.read_candidates(&ask(candidates(&wording, &found, count)).await?, count)?;
        let sets = sets.iter().enumerate().map(|(at, set)| format!("\n# candidate {}\n{}", at + 1, set.to_toml()));
        Ok(lost + &sets.collect::<String>())
    })?;
    message::document(&text)?;
    Ok(Ending::Clean)
}

fn read_pairs(args: &LearnArgs) -> Result<Vec<Lesson>> {
    let name = args.pairs.to_string_lossy();
    let cannot = |error| Error::io(&*name, "cannot be read").because(error);
    let file = std::fs::File::open(&args.pairs).map_err(cannot)?;
    let mut pairs = Vec::new();
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(cannot)?;
        if !line.trim().is_empty() {
            pairs.push(read_pair(&line, &format!("{name}: line {}", at + 1))?);
        }
    }
    Ok(pairs)
}

/// What was found, in front of the options that come of it.
fn comments(found: &[String]) -> String {
    found.iter().map(|finding| format!("# {}\n", finding.split_whitespace().collect::<Vec<_>>().join(" "))).collect()
}
