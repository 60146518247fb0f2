//! Reads ordering tags, whose form is in CONTRIBUTING.md. A blank line of the comment, another tag or a
//! safety comment ends what a tag says.
use crate::tokens::Comment;

#[derive(Debug)]
pub(crate) struct Tag {
    /// Name of the site, unique over the workspace.
    pub(crate) id: String,
    /// Names of the sites it pairs with; empty means `alone`.
    pub(crate) pairs: Vec<String>,
    pub(crate) why: String,
    pub(crate) line: usize,
    /// The line of code it speaks for: its own when it trails code, else the one below its comment.
    pub(crate) covers: usize,
}

pub(crate) const LEAST_WORDS: usize = 3;
const FORM: &str = "write `// ord: Q1 pairs Q2: why` or `// ord: Q1 alone: why`";

/// The tags in a comment for the code on line `covers`. One that goes wrong is an error, with its line.
pub(crate) fn read(comment: &[&Comment], covers: usize) -> Vec<Result<Tag, (usize, String)>> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for Comment { line, text, .. } in comment {
        if let Some(rest) = text.strip_prefix("ord:") {
            found.push((*line, rest.trim().to_owned()));
            open = true;
        } else if text.is_empty() || text.starts_with("SAFETY:") {
            open = false;
        } else if let Some((_, words)) = found.last_mut().filter(|_| open) {
            words.push(' ');
            words.push_str(text);
        }
    }
    let parsed = |(line, text): (usize, String)| parse(&text, line, covers).map_err(|what| (line, what));
    found.into_iter().map(parsed).collect()
}

fn parse(text: &str, line: usize, covers: usize) -> Result<Tag, String> {
    let (head, why) = text.split_once(':').ok_or_else(|| format!("the tag has no `: why`; {FORM}"))?;
    let words: Vec<&str> = head.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let (id, pairs) = match words.as_slice() {
        [id, "alone"] => (id, &[][..]),
        [id, "pairs", pairs @ ..] if !pairs.is_empty() => (id, pairs),
        _ => return Err(format!("the tag is neither `pairs` nor `alone`; {FORM}")),
    };
    let is_id = |word: &str| id_key(word).is_some_and(|(letters, _)| (1..=3).contains(&letters.len()));
    if let Some(bad) = [id].into_iter().chain(pairs).find(|word| !is_id(word)) {
        return Err(format!("`{bad}` is no tag id; use one to three capital letters and a number"));
    }
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    let pairs = pairs.iter().map(|&pair| pair.to_owned()).collect();
    Ok(Tag { id: (*id).to_owned(), pairs, why, line, covers })
}

/// The capital letters and the number that an id is made of; sorted by these, Q2 is before Q10.
pub(crate) fn id_key(id: &str) -> Option<(&str, u64)> {
    let number = id.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| (&id[..id.len() - number.len()], number.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Kind;

    fn comment(line: usize, text: &str) -> Comment {
        Comment { line, kind: Kind::Line, alone: true, text: text.to_owned() }
    }

    fn one(text: &str) -> Result<Tag, String> {
        let mut found = read(&[&comment(7, text)], 8);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0).map_err(|(line, what)| {
            assert_eq!(line, 7);
            what
        })
    }

    #[test]
    fn both_forms_are_read() {
        let tag = one("ord: Q3 pairs Q7, MCS9: the holder's writes: they are seen").expect("a tag");
        assert_eq!((tag.id.as_str(), tag.line, tag.covers), ("Q3", 7, 8));
        assert_eq!(tag.pairs, ["Q7", "MCS9"]);
        assert_eq!(tag.why, "the holder's writes: they are seen");
        let tag = one("ord: Q4 alone: only a hint").expect("a tag");
        assert!(tag.pairs.is_empty());
    }

    #[test]
    fn the_why_goes_on_over_lines_and_ends() {
        let lines = [
            (1, "About the next line."),
            (2, "ord: Q1 alone: only"),
            (3, "a hint here"),
            (4, "ord: Q2 pairs Q1: not the same"),
            (5, ""),
            (6, "other prose"),
        ];
        let lines = lines.map(|(line, text)| comment(line, text));
        let found: Vec<Tag> =
            read(&lines.each_ref(), 7).into_iter().map(|tag| tag.expect("well-formed")).collect();
        assert_eq!(found[0].why, "only a hint here");
        assert_eq!(found[1].why, "not the same");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            one("ord: q1 alone: only a hint").unwrap_err(),
            "`q1` is no tag id; use one to three capital letters and a number"
        );
        assert!(one("ord: Q1 pairs: only a hint").unwrap_err().starts_with("the tag is neither"));
        assert!(one("ord: Q1 alone").unwrap_err().starts_with("the tag has no"));
        assert!(one("ord: QUEU1 alone: only a hint").unwrap_err().starts_with("`QUEU1`"));
    }

    #[test]
    fn ids_sort_by_number() {
        let mut ids = ["Q10", "Q2", "A3"];
        ids.sort_by_key(|id| id_key(id));
        assert_eq!(ids, ["A3", "Q2", "Q10"]);
    }
}
