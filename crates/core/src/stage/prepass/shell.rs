//! Commands of a shell that show or write files. Knows the few that name their files plainly; a command that it does
//! not know neither reads nor writes.

use super::calls::Effect;

/// What a command does with files, in order.
pub(super) fn effects(command: &str) -> Vec<(Effect, String)> {
    let commands: Vec<Vec<&str>> = simple_commands(command);
    let mut found = Vec::new();
    // The output of several commands is no file.
    let shown: Vec<&Vec<&str>> =
        commands.iter().filter(|words| !matches!(words.first(), Some(&("cd" | "set" | "export" | "source")))).collect();
    if let [words] = shown.as_slice()
        && let Some((effect, path)) = read(words)
    {
        found.push((effect, path));
    }
    for words in &commands {
        found.extend(written(words));
    }
    if let Some([_, folder]) = commands.first().map(Vec::as_slice).filter(|words| words.first() == Some(&"cd")) {
        for (_, path) in &mut found {
            *path = within(folder, path);
        }
    }
    found
}

/// A path that is no path from the root, as seen from `folder`.
pub(super) fn within(folder: &str, path: &str) -> String {
    let is_whole = path.starts_with(['/', '~']) || path.get(1..3).is_some_and(|rest| rest.starts_with(':'));
    let path = path.trim_start_matches("./");
    if is_whole { path.to_owned() } else { format!("{}/{path}", folder.trim_end_matches('/')) }
}

/// The words of each command between `&&`, `||`, `;`, `|` and line ends; a here-document ends them.
fn simple_commands(command: &str) -> Vec<Vec<&str>> {
    let mut commands = Vec::new();
    'lines: for line in command.lines() {
        let mut words: Vec<&str> = Vec::new();
        for word in line.split([' ', '\t']).filter(|word| !word.is_empty()) {
            let ends = matches!(word, "&&" | "||" | "|" | ";");
            if !ends {
                words.push(word.trim_end_matches(';'));
            }
            if ends || word.ends_with(';') {
                commands.push(std::mem::take(&mut words));
            }
        }
        let has_document = words.iter().any(|word| word.starts_with("<<"));
        commands.push(words);
        if has_document {
            break 'lines;
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

fn read(words: &[&str]) -> Option<(Effect, String)> {
    let (name, rest) = words.split_first()?;
    if rest.iter().any(|word| word.contains(['>', '<'])) {
        return None;
    }
    let is_option = |word: &&&str| word.starts_with('-');
    let mut files: Vec<&str> = rest.iter().filter(|word| !is_option(word)).copied().collect();
    let effect = match *name {
        "cat" => Effect::ReadAll,
        "nl" => {
            files.retain(|file| *file != "a");
            Effect::ReadAll
        }
        "head" | "tail" => {
            files.retain(|file| file.parse::<u64>().is_err());
            Effect::ReadPart
        }
        "sed" if rest.first() == Some(&"-n") => {
            files.remove(0);
            Effect::ReadPart
        }
        _ => return None,
    };
    let [file] = files.as_slice() else { return None };
    path(file).map(|file| (effect, file))
}

/// Files that a command writes: behind `>`, of `tee`; and those that it changes: behind `>>`, of `tee -a` and `sed -i`.
fn written(words: &[&str]) -> Vec<(Effect, String)> {
    let mut files: Vec<(Effect, &str)> = Vec::new();
    let mut words_left = words.iter().copied();
    while let Some(word) = words_left.next() {
        let target = word.strip_prefix(">>").map(|target| (Effect::Edit, target));
        if let Some((effect, target)) = target.or_else(|| Some((Effect::Write, word.strip_prefix('>')?))) {
            let target = if target.is_empty() { words_left.next() } else { Some(target) };
            files.extend(target.map(|target| (effect, target)));
        }
    }
    match words.split_first() {
        Some((&"tee", rest)) => {
            let effect = if rest.contains(&"-a") { Effect::Edit } else { Effect::Write };
            files.extend(rest.iter().filter(|word| !word.starts_with('-')).map(|word| (effect, *word)));
        }
        Some((&"sed", rest)) if rest.iter().any(|word| word.starts_with("-i")) => {
            files.extend(rest.last().map(|file| (Effect::Edit, *file)));
        }
        _ => {}
    }
    files.into_iter().filter_map(|(effect, file)| Some((effect, path(file)?))).collect()
}

/// A plain path without its quotes; nothing with variables or patterns.
fn path(word: &str) -> Option<String> {
    let word = word.trim_matches(['"', '\'']);
    let is_plain = !word.is_empty() && !word.contains(['$', '*', '?', '`', '(', ')', '{', '}', '&', '<', '>', '|']);
    (is_plain && !word.starts_with("/dev/")).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::effects;
    use crate::stage::prepass::calls::Effect::{self, Edit, ReadAll, ReadPart, Write};

    #[test]
    fn files_are_read_and_written_by_plain_commands_only() {
        for (command, expected) in [
            ("cat src/pay.ts", vec![(ReadAll, "src/pay.ts")]),
            ("cd /repo && cat src/pay.ts", vec![(ReadAll, "/repo/src/pay.ts")]),
            ("sed -n '1,80p' src/pay.ts", vec![(ReadPart, "src/pay.ts")]),
            ("head -n 20 a.log", vec![(ReadPart, "a.log")]),
            ("cat a b", vec![]),
            ("cat a | grep x", vec![]),
            ("cat > a.txt <<'EOF'\ncat b.txt\nEOF", vec![(Write, "a.txt")]),
            ("make >build.log 2>&1", vec![(Write, "build.log")]),
            ("make > /dev/null", vec![]),
            ("sed -i 's/a/b/' src/pay.ts", vec![(Edit, "src/pay.ts")]),
            ("echo x | tee -a notes.md", vec![(Edit, "notes.md")]),
            ("rm -rf build", vec![]),
        ] {
            let found = effects(command);
            let expected: Vec<(Effect, String)> =
                expected.into_iter().map(|(effect, path)| (effect, path.to_owned())).collect();
            assert_eq!(found, expected, "{command}");
        }
    }
}
