//! `comment-width`: a comment is as wide as code may be, at most. `cargo xtask tidy --wrap` wraps it.
use super::Wrong;
use crate::tokens::Kind;
use crate::workspace::Source;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// `max_width` of rustfmt.toml.
const WIDTH: usize = 110;

/// Comment lines that are too wide, unless nothing can be done about them: tables, drawings, code.
pub(super) fn check(source: &Source) -> Vec<Wrong> {
    let wanted = wrapped(source);
    let kept: BTreeSet<&str> = wanted.lines().collect();
    let wide = (1..).zip(source.text.lines()).filter(|(_, line)| !fits(line) && !kept.contains(line));
    let message = format!("the comment is wider than {WIDTH}; run `cargo xtask tidy --wrap`");
    wide.map(|(line, _)| (line, message.clone())).collect()
}

/// The text with each paragraph of a comment wrapped that has a line too wide.
pub(super) fn wrapped(source: &Source) -> String {
    let lines: Vec<&str> = source.text.lines().collect();
    if lines.iter().all(|line| fits(line)) {
        return source.text.clone();
    }
    let comment = |at: usize| {
        let comment = source.comments.get(&(at + 1))?;
        (comment.alone && comment.kind != Kind::Block).then(|| Line::of(lines[at]))
    };
    let mut out: Vec<String> = Vec::new();
    let (mut at, mut in_code) = (0, false);
    while at < lines.len() {
        let head = comment(at);
        let is_fence = head.as_ref().is_some_and(|head| head.text.starts_with("```"));
        in_code = head.is_some() && in_code != is_fence;
        let Some(head) = head.filter(|head| !in_code && !head.is_fixed() && head.blanks < 5) else {
            out.push(lines[at].to_owned());
            at += 1;
            continue;
        };
        let rest = (at + 1..lines.len()).map_while(comment);
        let rest: Vec<Line<'_>> = rest.take_while(|next| head.goes_on_in(next)).collect();
        let paragraph = &lines[at..=at + rest.len()];
        if paragraph.iter().all(|line| fits(line)) {
            out.extend(paragraph.iter().map(|line| (*line).to_owned()));
        } else {
            out.extend(head.flow(rest.iter().flat_map(|next| words(next.text))));
        }
        at += paragraph.len();
    }
    // So that the last line has its end.
    out.extend(source.text.ends_with('\n').then(String::new));
    out.join("\n")
}

fn fits(line: &str) -> bool {
    line.chars().count() <= WIDTH
}

/// The words of a text; what stands between backticks is one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:`[^`]*`|\S)+").expect("it is one"));
    WORD.find_iter(text).map(|word| word.as_str())
}

/// A line of a comment, in its parts: `    ///   - text`.
struct Line<'a> {
    margin: &'a str,
    /// How many blanks come after that.
    blanks: usize,
    /// `- `, `1. `, or nothing.
    bullet: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Self {
        static PARTS: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"^(.*?//[/!]*)( *)([-*] |[0-9]+\. |)(.*?)\s*$").expect("it is one"));
        let (_, [margin, blanks, bullet, text]) = PARTS.captures(line).expect("a comment").extract();
        Self { margin, blanks: blanks.len(), bullet, text }
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

    /// The paragraph that begins here, with these words behind those of its first line.
    fn flow(&self, rest: impl Iterator<Item = &'a str>) -> Vec<String> {
        let Self { margin, blanks, bullet, text } = *self;
        let hangs = blanks + bullet.len();
        let mut lines = Vec::new();
        let (mut line, mut gap) = (format!("{margin}{:blanks$}{bullet}", ""), "");
        for word in words(text).chain(rest) {
            let whole = format!("{line}{gap}{word}");
            if gap.is_empty() || fits(&whole) {
                line = whole;
            } else {
                lines.push(line);
                line = format!("{margin}{:hangs$}{word}", "");
            }
            gap = " ";
        }
        lines.push(line);
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
        assert_eq!(findings("comment-width", "a.rs", &wide), [expected]);
        let narrow = format!("//! {}\n//! {} end.\nfn f() {{}}\n", text(21), text(4));
        assert_eq!(wrapped(&wide), narrow);
        assert!(findings("comment-width", "a.rs", &narrow).is_empty());
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
            assert!(findings("comment-width", "a.rs", &fixed).is_empty(), "{fixed}");
        }
    }

    #[test]
    fn code_between_backticks_is_one_word() {
        let wide = format!("//! {} `a b c d` end\n", text(20));
        assert_eq!(wrapped(&wide), format!("//! {}\n//! `a b c d` end\n", text(20)));
    }
}
