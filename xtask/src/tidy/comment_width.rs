//! `comment-width`: a comment is as wide as code may be, at most. rustfmt does not wrap comments;
//! `cargo xtask tidy --wrap` does.
use crate::comments::Kind;
use crate::finding::Finding;
use crate::source::Source;
use std::collections::BTreeSet;

const RULE: &str = "comment-width";
/// `max_width` of rustfmt.toml.
const WIDTH: usize = 110;

/// Comment lines that are too wide, unless nothing can be done about them: tables, drawings, code.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let wanted = wrapped(source);
    if wanted == source.text {
        return Vec::new();
    }
    let kept: BTreeSet<&str> = wanted.lines().collect();
    let wide = source.text.lines().enumerate().filter(|(_, line)| !fits(line) && !kept.contains(line));
    wide.map(|(at, _)| {
        let message = format!("the comment is wider than {WIDTH}; run `cargo xtask tidy --wrap`");
        Finding::new(&source.path, at + 1, RULE, message)
    })
    .collect()
}

/// The text with each paragraph of a comment wrapped that has a line too wide.
pub(crate) fn wrapped(source: &Source) -> String {
    let text = source.text.as_str();
    let lines: Vec<&str> = text.lines().collect();
    let alone = source.comments().filter(|comment| comment.alone && comment.kind != Kind::Block);
    let alone: BTreeSet<usize> = alone.map(|comment| comment.line - 1).collect();
    let mut out = String::with_capacity(text.len());
    let mut push = |line: &str| {
        out.push_str(line);
        out.push('\n');
    };
    let (mut at, mut in_code) = (0, false);
    while at < lines.len() {
        let head = alone.contains(&at).then(|| Line::of(lines[at]));
        let is_fence = head.as_ref().is_some_and(|head| head.text.starts_with("```"));
        in_code = head.is_some() && in_code != is_fence;
        let Some(head) = head.filter(|head| !in_code && !head.is_fixed() && head.blanks < 5) else {
            push(lines[at]);
            at += 1;
            continue;
        };
        let rest =
            (at + 1..lines.len()).take_while(|next| alone.contains(next)).map(|next| Line::of(lines[next]));
        let rest: Vec<Line<'_>> = rest.take_while(|next| head.goes_on_in(next)).collect();
        let end = at + 1 + rest.len();
        if lines[at..end].iter().all(|line| fits(line)) {
            lines[at..end].iter().for_each(|line| push(line));
        } else {
            let words = words(head.text).into_iter().chain(rest.iter().flat_map(|next| words(next.text)));
            head.flow(words).iter().for_each(|line| push(line));
        }
        at = end;
    }
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

fn fits(line: &str) -> bool {
    line.chars().count() <= WIDTH
}

/// The words of a text; what stands between backticks is one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for piece in text.split_whitespace() {
        match words.last_mut().filter(|_| open) {
            Some(word) => {
                word.push(' ');
                word.push_str(piece);
            }
            None => words.push(piece.to_owned()),
        }
        open ^= piece.matches('`').count() % 2 == 1;
    }
    words
}

/// A line of a comment, in its parts: `    ///   - text`.
struct Line<'a> {
    /// Up to the marker of the comment.
    margin: &'a str,
    /// How many blanks come after that.
    blanks: usize,
    /// `- `, `1. `, or nothing.
    bullet: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        let slashes = line.find("//").unwrap_or(0);
        let marker = line[slashes..].find(|letter| letter != '/' && letter != '!');
        let (margin, inside) = line.split_at(marker.map_or(line.len(), |marker| slashes + marker));
        let text = inside.trim_start_matches(' ');
        let (blanks, text) = (inside.len() - text.len(), text.trim_end());
        let number = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let bullet = if text.starts_with("- ") || text.starts_with("* ") {
            2
        } else if number.len() < text.len() && number.starts_with(". ") {
            text.len() - number.len() + 2
        } else {
            0
        };
        Self { margin, blanks, bullet: &text[..bullet], text: &text[bullet..] }
    }

    /// Whether the line stands for itself: blank, of a table or a drawing, a heading, a link's target.
    fn is_fixed(&self) -> bool {
        let fixed = ["```", "|", "#", "+"].iter().any(|start| self.text.starts_with(start));
        fixed
            || self.text.is_empty()
            || self.text.contains("──")
            || self.text.starts_with('[') && self.text.contains("]: ")
    }

    /// Whether the paragraph that begins here goes on in the line `next`, which follows.
    fn goes_on_in(&self, next: &Self) -> bool {
        let begins = ["SAFETY:", "ord: ", "tidy: "].iter().any(|start| next.text.starts_with(start));
        let hangs = self.blanks + self.bullet.len();
        let is_placed = if self.bullet.is_empty() { next.blanks == hangs } else { next.blanks <= hangs };
        next.margin == self.margin && next.bullet.is_empty() && is_placed && !begins && !next.is_fixed()
    }

    /// The paragraph that begins here, with these words.
    fn flow(&self, words: impl Iterator<Item = String>) -> Vec<String> {
        let Self { margin, blanks, bullet, .. } = *self;
        let hangs = blanks + bullet.len();
        let mut lines = vec![format!("{margin}{:blanks$}{bullet}", "")];
        let mut is_empty = true;
        for word in words {
            let line = lines.last_mut().expect("there is one");
            if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(format!("{margin}{:hangs$}{word}", ""));
            } else {
                line.push_str(if is_empty { "" } else { " " });
                line.push_str(&word);
            }
            is_empty = false;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::findings;

    fn wrapped(text: &str) -> String {
        super::wrapped(&Source::parse("a.rs", text).expect("the snippet parses"))
    }

    /// So many words of four letters.
    fn text(words: usize) -> String {
        vec!["word"; words].join(" ")
    }

    #[test]
    fn the_width_is_that_of_code() {
        let settings = std::fs::read_to_string(crate::workspace::root().join("rustfmt.toml")).expect("there");
        assert!(settings.contains(&format!("max_width = {WIDTH}\n")), "{settings}");
    }

    #[test]
    fn a_wide_paragraph_is_found_and_wrapped() {
        let wide = format!("//! {}\n//! end.\nfn f() {{}}\n", text(25));
        let expected = "a.rs:1: [comment-width] the comment is wider than 110; run `cargo xtask tidy --wrap`";
        assert_eq!(findings(check, "a.rs", &wide), [expected]);
        let narrow = format!("//! {}\n//! {} end.\nfn f() {{}}\n", text(21), text(4));
        assert_eq!(wrapped(&wide), narrow);
        assert!(findings(check, "a.rs", &narrow).is_empty());
        assert_eq!(wrapped(&narrow), narrow);
    }

    #[test]
    fn lists_hang_and_tags_begin_anew() {
        let list = format!("/// - {}\n///   end\n/// 1. one\nfn f() {{}}\n", text(22));
        let hung = format!("/// - {}\n///   word end\n/// 1. one\nfn f() {{}}\n", text(21));
        assert_eq!(wrapped(&list), hung);
        let tags = format!("fn f() {{\n    // {}\n    // SAFETY: ours\n}}\n", text(21));
        let two = format!("fn f() {{\n    // {}\n    // word\n    // SAFETY: ours\n}}\n", text(20));
        assert_eq!(wrapped(&tags), two);
    }

    #[test]
    fn tables_code_and_strings_stay() {
        let wide = text(30);
        for fixed in [
            format!("//! | {wide} |\n"),
            format!("//! ```text\n//! {wide}\n//! ```\n"),
            format!("//! {}\n", "x".repeat(200)),
            format!("fn f() -> &'static str {{\n    \"\n// {wide}\n\"\n}}\n"),
        ] {
            assert_eq!(wrapped(&fixed), fixed);
            assert!(findings(check, "a.rs", &fixed).is_empty(), "{fixed}");
        }
    }

    #[test]
    fn code_between_backticks_is_one_word() {
        let wide = format!("//! {} `a b c d` end\n", text(20));
        assert_eq!(wrapped(&wide), format!("//! {}\n//! `a b c d` end\n", text(20)));
    }
}
