//! What is wrong with a file, in one line.
use core::fmt;

/// Most characters of a file's content that an error shows.
const SHOWN: usize = 60;

/// Why a data file was refused: where, which field, and what would be allowed. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file's name; empty for something that came from the command line.
    pub file: String,
    /// The line, counted from 1, where one can be named.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub what: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = one_line(&self.file);
        match self.line {
            Some(line) => write!(out, "{file}:{line}: ")?,
            None if file.is_empty() => (),
            None => write!(out, "{file}: ")?,
        }
        out.write_str(&one_line(&self.what))
    }
}

impl core::error::Error for FileError {}

/// `text` without line breaks or other control characters.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// `text` as an error shows it: control characters escaped, cut if long.
pub(crate) fn clip(text: &str) -> String {
    let mut clipped = String::new();
    for c in text.chars().take(SHOWN) {
        if c.is_control() {
            clipped.extend(c.escape_default());
        } else {
            clipped.push(c);
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        clipped.push_str("...");
    }
    clipped
}

/// The up to three of `valid` that are nearest to `given`, nearest first. A name that `given` begins, and one
/// that only lacks its table, are near, too.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Ranking takes time in proportion to the length; nobody's typing error is longer than this.
    let given: String = given.chars().take(SHOWN).collect();
    let distance = |name: &str| {
        if !given.is_empty() && name.starts_with(&given) {
            return 1;
        }
        let last = name.rsplit('.').next().unwrap_or(name);
        strsim::damerau_levenshtein(&given, name).min(strsim::damerau_levenshtein(&given, last) + 1)
    };
    let mut ranked: Vec<(usize, &str)> = valid.into_iter().map(|name| (distance(name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Refuses `given`, which is none of `valid`, and offers those that are nearest to it.
pub fn unknown<'a>(what: &str, given: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    format!("unknown {what} '{}': nearest are {}", clip(given), nearest(given, valid).join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_whatever_it_quotes() {
        let error = FileError { file: "a\nb".into(), line: Some(3), what: "x\r\ny".into() };
        assert_eq!(error.to_string(), "a b:3: x  y");
        assert_eq!(clip("a\tb"), "a\\tb");
        assert_eq!(clip(&"x".repeat(100)).len(), SHOWN + 3);
    }

    #[test]
    fn the_nearest_names_come_first() {
        let names = ["memory.hit", "memory.remote-dirty", "memory.socket-dirty", "host.kick"];
        assert_eq!(nearest("memory.remote_dirty", names)[0], "memory.remote-dirty");
        assert_eq!(nearest("kik", names)[0], "host.kick");
        assert_eq!(nearest("memory.so", names)[0], "memory.socket-dirty");
    }
}
