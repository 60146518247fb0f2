//! Bytes of a serial line as lines: of limited length, whatever the bytes are.

/// Longer lines are cut: no record is as long, and a guest gone wild may not fill our memory.
pub(crate) const LONGEST: usize = 1 << 16;

/// One line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: String,
    /// More of it was dropped.
    pub cut: bool,
    /// The bytes ended before the line did.
    pub torn: bool,
}

/// Takes bytes as they come.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
    cut: bool,
}

impl Lines {
    /// Hands each line that is complete to `take`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(Line)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.keep(&rest[..end]);
            rest = &rest[end + 1..];
            take(self.line(false));
        }
        self.keep(rest);
    }

    /// What is left when no more bytes come.
    pub(crate) fn finish(mut self) -> Option<Line> {
        (!self.pending.is_empty()).then(|| self.line(true))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST - self.pending.len();
        self.cut |= bytes.len() > room;
        self.pending.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, torn: bool) -> Line {
        let text = String::from_utf8_lossy(&self.pending);
        let line = Line { text: text.trim_end_matches('\r').to_owned(), cut: self.cut, torn };
        self.pending.clear();
        self.cut = false;
        line
    }
}

/// A line fit for a terminal: no control characters, and not longer than `most`.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let harmless = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let mut clean: String = text.chars().take(most).map(harmless).collect();
    if text.chars().nth(most).is_some() {
        clean.push('…');
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Line> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            lines.feed(piece, |line| found.push(line));
        }
        found.extend(lines.finish());
        found
    }

    #[test]
    fn pieces_become_lines_and_the_torn_end_is_told() {
        let found = lines(&[b"ab", b"c\r\nde", b"\n\nf"]);
        let texts: Vec<&str> = found.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["abc", "de", "", "f"]);
        assert_eq!(found.iter().map(|line| line.torn).collect::<Vec<_>>(), [false, false, false, true]);
        assert_eq!(lines(&[b"a\n"]).len(), 1);
    }

    #[test]
    fn endless_lines_and_odd_bytes_are_borne() {
        let flood = vec![b'x'; 3 * LONGEST];
        let found = lines(&[&flood, b"y\nnext\n"]);
        assert!(found[0].cut && found[0].text.len() == LONGEST);
        assert!(!found[1].cut && found[1].text == "next");
        assert_eq!(lines(&[b"\xff\xfe!\n"])[0].text, "\u{fffd}\u{fffd}!");
    }

    #[test]
    fn what_is_shown_leaves_the_terminal_alone() {
        assert_eq!(shown("a\u{1b}[2Jb", 9), "a\u{fffd}[2Jb");
        assert_eq!(shown("a\nb", 9), "a b");
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc", 3), "abc");
    }
}
