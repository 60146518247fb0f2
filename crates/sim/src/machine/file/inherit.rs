//! Machines that extend others: what a file does not say is as in the file that it extends.
//!
//! A number of its own needs a source of its own. A number that another machine's measurement or fit came to
//! is no more than a prior here.
use super::fields::{FIELDS, Field};
use super::kind::LONGEST_TEXT;
use super::origin::Evidence;
use crate::datafile::{Document, FileError, Value, named};
use crate::machine::shipped::LIBRARY;

/// The field that names the machine that a file extends.
const EXTENDS: &str = "extends";
/// What is never inherited.
const OWN: [&str; 2] = ["name", "about"];
/// Longest line of ancestors.
const GENERATIONS: u32 = 4;

/// Gives `document` what the machine that it extends has and it does not.
pub(super) fn inherit(document: &mut Document) -> Result<(), FileError> {
    generation(document, GENERATIONS)
}

fn generation(document: &mut Document, left: u32) -> Result<(), FileError> {
    let parent = match document.get(EXTENDS) {
        None => return Ok(()),
        Some(Value::Text(parent)) if left > 0 => parent.clone(),
        Some(Value::Text(_)) => {
            return Err(document.refuse(EXTENDS, format!("has more than {GENERATIONS} ancestors")));
        }
        Some(_) => {
            return Err(document.refuse(EXTENDS, "must be the name of a machine or the path of a file"));
        }
    };
    let (text, file) =
        named("machine", "machines", LIBRARY, &parent).map_err(|why| document.refuse(EXTENDS, why))?;
    let mut above = Document::parse(&text, &file)?;
    generation(&mut above, left - 1)?;
    for own in OWN {
        above.remove(own);
    }
    sources(&mut above, document, &parent);
    document.remove(EXTENDS);
    document.inherit(above);
    Ok(())
}

/// Says of each number of `above` that `document` does not replace where it comes from, as seen from there.
fn sources(above: &mut Document, document: &Document, parent: &str) {
    let path = |field: &Field| format!("source.{}", field.path);
    let found: Vec<(String, Option<String>)> = FIELDS
        .iter()
        .filter(|field| field.is_cost())
        .map(|field| {
            let kept = above.get(field.path).is_some() && document.get(field.path).is_none();
            (path(field), kept.then(|| source_of(above, field)).flatten())
        })
        .collect();
    let said: Vec<String> =
        above.fields().map(|(path, _)| path.to_owned()).filter(|path| path.starts_with("source.")).collect();
    for path in said {
        above.remove(&path);
    }
    for (path, line) in found {
        if let Some(line) = line {
            above.put(&path, Value::Text(as_on(parent, &line)));
        }
    }
}

/// What `document` says of the number of a field: at the field, or at the nearest table around it.
fn source_of(document: &Document, field: &Field) -> Option<String> {
    let text = |path: &str| match document.get(&format!("source.{path}")) {
        Some(Value::Text(line)) => Some(line.clone()),
        _ => None,
    };
    let mut table = field.path;
    text(field.path).or_else(|| {
        loop {
            table = table.rsplit_once('.')?.0;
            if let Some(line) = text(&format!("{table}.others")) {
                return Some(line);
            }
        }
    })
}

/// A source of the machine `parent` as a source of one that extends it.
fn as_on(parent: &str, line: &str) -> String {
    let (word, text) = line.split_once(':').unwrap_or_default();
    if [Evidence::Measured, Evidence::Fit].iter().any(|evidence| evidence.word() == word) {
        return format!("{}: as on {parent}, where it is {word}", Evidence::Prior);
    }
    format!("{word}: {}; as on {parent}", text.trim()).chars().take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{MachineFile, read};
    use super::*;

    const HEAD: &str = "name = \"mine\"\nabout = \"mine\"\nextends = \"zen5-vm\"\n";

    fn mine(rest: &str) -> Result<MachineFile, FileError> {
        read(&format!("{HEAD}{rest}"), "mine.toml")
    }

    #[test]
    fn a_word_stands_in_the_place_of_a_table_that_would_be_inherited() {
        let text = HEAD.replace("zen5-vm", "haswell-ep-2x10x2") + "[host]\npause-loop = \"none\"\n";
        let machine = read(&text, "mine.toml").expect("a machine").machine;
        assert!(machine.host.pause_loop.is_none());
    }

    #[test]
    fn what_is_not_said_is_inherited_and_no_longer_measured() {
        let parent = crate::machine::load("zen5-vm").expect("shipped").machine;
        let own = "[memory]\nhit = 2\n[source.memory]\nhit = \"guess: mine\"\n";
        let file = mine(own).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((file.machine.memory.hit, file.machine.memory.rmw), (2_000, parent.memory.rmw));
        assert_eq!((file.machine.name.as_str(), &file.machine.host), ("mine", &parent.host));
        let source = |path| file.source_of(path).map(|source| (source.evidence, source.text.as_str()));
        assert_eq!(source("memory.hit"), Some((Evidence::Guess, "mine")));
        assert_eq!(source("memory.rmw"), Some((Evidence::Prior, "as on zen5-vm, where it is measured")));
        assert_eq!(super::super::unsourced(&file).count(), 0);
    }

    #[test]
    fn a_number_of_its_own_has_a_source_of_its_own() {
        let refusal = mine("[memory]\nhit = 2\n").expect_err("no source").to_string();
        assert!(refusal.contains("source.memory.hit: missing"), "{refusal}");
        let file = mine("[host]\nhalt = \"3us\"\n").expect("only the memory has to say it");
        assert_eq!(super::super::unsourced(&file).collect::<Vec<_>>(), ["host.halt"]);
    }

    #[test]
    fn ancestors_that_are_none_are_refused_in_a_line() {
        let refusal = |extends: &str| {
            let text = HEAD.replace("\"zen5-vm\"", extends);
            read(&text, "mine.toml").expect_err(extends).to_string()
        };
        assert!(refusal("\"zen5-vn\"").starts_with("mine.toml:3: extends = \"zen5-vn\": unknown machine"));
        assert!(refusal("3").ends_with("must be the name of a machine or the path of a file"));
        let path = std::env::temp_dir().join(format!("stanchion-extends-itself-{}.toml", std::process::id()));
        let itself = format!("\"{}\"", path.display());
        std::fs::write(&path, HEAD.replace("\"zen5-vm\"", &itself)).expect("it can be written");
        assert!(refusal(&itself).ends_with("has more than 4 ancestors"));
        std::fs::remove_file(&path).expect("it is there");
    }
}
