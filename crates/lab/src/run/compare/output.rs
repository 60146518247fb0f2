//! What a run printed: kept in a file that has no name, so that a program that prints much costs no memory of
//! ours.
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::process::Stdio;

/// How much of the end is searched for the last words.
const LAST_WORDS: u64 = 4096;

/// A file for one output of a program.
pub(crate) struct Captured(File);

impl Captured {
    pub(crate) fn new() -> io::Result<Self> {
        tempfile::tempfile().map(Self)
    }

    /// The program's end of it.
    pub(crate) fn end(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }

    /// All of it, from the start.
    pub(crate) fn read(&mut self) -> io::Result<&File> {
        self.0.rewind()?;
        Ok(&self.0)
    }

    /// The last line that is not empty.
    pub(crate) fn last_words(&mut self) -> io::Result<Option<String>> {
        let length = self.0.seek(io::SeekFrom::End(0))?;
        self.0.seek(io::SeekFrom::Start(length.saturating_sub(LAST_WORDS)))?;
        let mut bytes = Vec::new();
        (&self.0).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned))
    }

    /// The place of the first byte in which the two differ.
    pub(crate) fn difference(&mut self, other: &mut Self) -> io::Result<Option<u64>> {
        self.0.rewind()?;
        other.0.rewind()?;
        let mut theirs = BufReader::new(&other.0).bytes();
        for (place, own) in (0..).zip(BufReader::new(&self.0).bytes()) {
            if theirs.next().transpose()? != Some(own?) {
                return Ok(Some(place));
            }
        }
        let length = self.0.metadata()?.len();
        Ok(theirs.next().transpose()?.map(|_| length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn captured(text: &str) -> Captured {
        let mut captured = Captured::new().expect("a temporary file");
        captured.0.write_all(text.as_bytes()).expect("written");
        captured
    }

    fn difference(one: &str, other: &str) -> Option<u64> {
        captured(one).difference(&mut captured(other)).expect("readable")
    }

    #[test]
    fn outputs_are_compared_byte_for_byte() {
        assert_eq!(difference("abc", "abc"), None);
        assert_eq!(difference("", ""), None);
        assert_eq!(difference("abc", "abd"), Some(2));
        assert_eq!(difference("ab", "abc"), Some(2));
        assert_eq!(difference("abc", "ab"), Some(2));
    }

    #[test]
    fn last_words_are_the_last_line_with_something_in_it() {
        let words = |text: &str| captured(text).last_words().expect("readable");
        assert_eq!(words("a\nb \n\n"), Some("b".into()));
        assert_eq!(words(&format!("{}\nend\n", "x".repeat(10_000))), Some("end".into()));
        assert_eq!(words("\n"), None);
    }
}
