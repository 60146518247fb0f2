//! A data file as a flat list of fields, each with the line that it stands in.
use super::{FileError, Value, clip};
use core::fmt::Display;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The fields of a file, by dotted path, with those that the command line replaced.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    file: String,
    entries: BTreeMap<String, Entry>,
    /// The lines that the tables begin in.
    tables: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
struct Entry {
    value: Value,
    origin: Origin,
}

#[derive(Clone, Debug)]
enum Origin {
    Line(usize),
    /// From another file.
    Inherited(String),
    /// From `--set`, with what was given there.
    Set(String),
}

impl Document {
    /// The fields of `text`, which came from `file`.
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, FileError> {
        let ends: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).collect();
        let root = DeTable::parse(text).map_err(|error| FileError {
            file: file.to_owned(),
            line: error.span().map(|span| line_of(&ends, span.start)),
            what: format!("not TOML: {}", clip(error.message())),
        })?;
        let mut document = Self { file: file.to_owned(), entries: BTreeMap::new(), tables: BTreeMap::new() };
        document.flatten("", root.get_ref(), &ends)?;
        Ok(document)
    }

    fn flatten(&mut self, prefix: &str, table: &DeTable<'_>, ends: &[usize]) -> Result<(), FileError> {
        for (key, value) in table {
            let line = line_of(ends, key.span().start);
            let name: &str = key.get_ref();
            // A dot in a quoted key would make two fields of one path.
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
                let what = format!("\"{}\" is no name of a field", clip(name));
                return Err(FileError { file: self.file.clone(), line: Some(line), what });
            }
            let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
            match Spanned::get_ref(value) {
                DeValue::Table(inner) => {
                    self.flatten(&path, inner, ends)?;
                    self.tables.insert(path, line);
                }
                leaf => {
                    let entry = Entry { value: Value::new(leaf), origin: Origin::Line(line) };
                    self.entries.insert(path, entry);
                }
            }
        }
        Ok(())
    }

    /// Replaces a field, as `--set KEY=VALUE` does. Whether there is such a field is for the reader to say.
    pub(crate) fn set(&mut self, assignment: &str) -> Result<(), FileError> {
        let Some((path, value)) = assignment.split_once('=') else {
            let what = format!("--set {}: must be KEY=VALUE, as in memory.hit=1.5", clip(assignment));
            return Err(FileError { file: String::new(), line: None, what });
        };
        let (path, value) = (path.trim().to_owned(), Value::from_argument(value.trim()));
        // A value in place of a table ends the table, and the other way round.
        let below = format!("{path}.");
        self.entries.retain(|other, _| !other.starts_with(&below) && !path.starts_with(&format!("{other}.")));
        self.tables.retain(|other, _| other != &path && !other.starts_with(&below));
        self.entries.insert(path, Entry { value, origin: Origin::Set(assignment.to_owned()) });
        Ok(())
    }

    /// Every field and table of `other` that this document does not have, as from there. A field stands in
    /// the place of a whole table of `other`, and the other way round.
    pub(crate) fn inherit(&mut self, other: Self) {
        let own: Vec<String> = self.entries.keys().cloned().collect();
        let is_below =
            |path: &str, above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('.'));
        for (path, entry) in other.entries {
            if own.iter().any(|own| is_below(&path, own) || is_below(own, &path)) {
                continue;
            }
            let origin = match entry.origin {
                Origin::Line(_) => Origin::Inherited(other.file.clone()),
                kept => kept,
            };
            self.entries.entry(path).or_insert(Entry { value: entry.value, origin });
        }
    }

    /// Takes a field away.
    pub(crate) fn remove(&mut self, path: &str) {
        self.entries.remove(path);
    }

    /// Gives a field the value that it is to be inherited with.
    pub(crate) fn put(&mut self, path: &str, value: Value) {
        self.entries.insert(path.to_owned(), Entry { value, origin: Origin::Inherited(self.file.clone()) });
    }

    /// The value of a field.
    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        self.entries.get(path).map(|entry| &entry.value)
    }

    /// Whether a field came from `--set`.
    pub(crate) fn was_set(&self, path: &str) -> bool {
        matches!(self.entries.get(path), Some(Entry { origin: Origin::Set(_), .. }))
    }

    /// Every field that has a value, in alphabetical order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), &entry.value))
    }

    /// Every table that has a head or a field.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }

    /// Whether there is a table with this path.
    pub(crate) fn has_table(&self, path: &str) -> bool {
        let below = format!("{path}.");
        self.tables.contains_key(path) || self.entries.keys().any(|other| other.starts_with(&below))
    }

    /// A refusal of the field at `path`, or of its absence.
    pub(crate) fn refuse(&self, path: &str, why: impl Display) -> FileError {
        let mut line = None;
        let what = match self.entries.get(path) {
            Some(Entry { origin: Origin::Set(given), .. }) => {
                return FileError {
                    file: String::new(),
                    line: None,
                    what: format!("--set {}: {why}", clip(given)),
                };
            }
            Some(Entry { value, origin: Origin::Line(at) }) => {
                line = Some(*at);
                format!("{} = {}: {why}", clip(path), clip(&value.to_string()))
            }
            Some(Entry { value, origin: Origin::Inherited(from) }) => {
                format!("{} = {} of {}: {why}", clip(path), clip(&value.to_string()), clip(from))
            }
            None => {
                let table = path.rsplit_once('.').map_or("", |(table, _)| table);
                line = self.tables.get(path).or_else(|| self.tables.get(table)).copied().or(line);
                format!("{}: {why}", clip(path))
            }
        };
        FileError { file: self.file.clone(), line, what: what + &self.sets() }
    }

    /// What the command line replaced, since a field of the file may be wrong only beside that.
    fn sets(&self) -> String {
        let sets: Vec<String> = self
            .entries
            .values()
            .filter_map(|entry| match &entry.origin {
                Origin::Set(given) => Some(format!("--set {}", clip(given))),
                Origin::Line(_) | Origin::Inherited(_) => None,
            })
            .collect();
        if sets.is_empty() { String::new() } else { format!(" (with {})", sets.join(" ")) }
    }
}

/// The line of a place in a text whose lines end there, counted from 1.
fn line_of(ends: &[usize], place: usize) -> usize {
    ends.partition_point(|&end| end < place) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"a\"\n[b]\nc = 1\n\n[b.d]\ne = [1, 2]\n";

    #[test]
    fn fields_have_paths_and_lines() {
        let document = Document::parse(TEXT, "x.toml").expect("it is TOML");
        let paths: Vec<_> = document.fields().map(|(path, _)| path).collect();
        assert_eq!(paths, ["b.c", "b.d.e", "name"]);
        assert_eq!(document.refuse("b.d.e", "no").to_string(), "x.toml:6: b.d.e = [1, 2]: no");
        assert_eq!(document.refuse("b.d.f", "missing").to_string(), "x.toml:5: b.d.f: missing");
    }

    #[test]
    fn a_file_that_is_no_toml_is_refused_with_its_line() {
        let error = Document::parse("a = 1\nb = = 2\n", "x.toml").expect_err("two signs");
        assert_eq!((error.line, error.file.as_str()), (Some(2), "x.toml"));
        let error = Document::parse("a = 1\na = 2\n", "x.toml").expect_err("twice");
        assert_eq!(error.line, Some(2), "{error}");
        let error = Document::parse("\"b.c\" = 2\n", "x.toml").expect_err("a dot in a key");
        assert_eq!(error.to_string(), "x.toml:1: \"b.c\" is no name of a field");
    }

    #[test]
    fn lines_of_the_largest_file_are_counted() {
        let text = (0..100_000).map(|number| format!("a{number} = 1\n")).collect::<Vec<_>>().concat();
        let document = Document::parse(&text, "x.toml").expect("it is TOML");
        assert!(document.refuse("a99999", "no").to_string().starts_with("x.toml:100000: "));
    }

    #[test]
    fn settings_replace_values_and_tables() {
        let mut document = Document::parse(TEXT, "x.toml").expect("it is TOML");
        document.set("b.c=7").expect("an assignment");
        document.set("b.d = none").expect("an assignment");
        assert_eq!(document.get("b.c").and_then(Value::whole), Some(7));
        assert!(document.was_set("b.c") && !document.was_set("name") && !document.has_table("b.d"));
        document.set("b.d.e=3").expect("an assignment");
        assert!(document.has_table("b.d") && document.get("b.d").is_none());
        assert_eq!(document.refuse("b.c", "no").to_string(), "--set b.c=7: no");
        assert!(document.refuse("name", "no").to_string().ends_with("(with --set b.c=7 --set b.d.e=3)"));
        assert!(document.set("b.c").is_err());
    }
}
