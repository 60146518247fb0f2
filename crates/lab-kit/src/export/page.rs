//! What the pages of all commands have in common. They have no script and no resource from elsewhere: a page
//! can be mailed, archived, and opened in twenty years.
use super::STYLE;
use super::svg::escape;
use comfy_table::{Row, Table};
use core::fmt::{Display, Write};

/// A whole page; `rules` are those that its style sheet has besides.
pub fn page(title: &str, rules: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}{rules}</style></head><body>\n{body}</body></html>\n",
        escape(title)
    )
}

/// Reasons for doubt; nothing if there are none.
pub fn doubts(body: &mut String, all: impl IntoIterator<Item = impl Display>) {
    let mut all = all.into_iter().peekable();
    if all.peek().is_none() {
        return;
    }
    body.push_str("<h3>Reasons for doubt</h3><ul class=\"warnings\">");
    for doubt in all {
        let _ = write!(body, "<li>{}</li>", escape(&doubt.to_string()));
    }
    body.push_str("</ul>\n");
}

/// Names, and what they stand for.
pub fn facts<'a>(body: &mut String, rows: impl IntoIterator<Item = (&'a str, String)>) {
    body.push_str("<table class=\"facts\">");
    for (name, value) in rows {
        let _ = write!(body, "<tr><td>{}</td><td>{}</td></tr>", escape(name), escape(&value));
    }
    body.push_str("</table>\n");
}

/// A table for a terminal as one for a page. Words in place of a figure stand out, and figures with a mark.
pub fn table(body: &mut String, table: &Table) {
    table_with(body, table, |_| false);
}

/// The same, in which rows whose first cell is of `ours` stand out, too.
pub fn table_with(body: &mut String, table: &Table, ours: impl Fn(&str) -> bool) {
    body.push_str("<div class=\"scroll\"><table>");
    let mut row = |row: &Row, tag: &str| {
        let is_ours = row.cell_iter().next().is_some_and(|cell| ours(&cell.content()));
        body.push_str(if is_ours { "<tr class=\"ours\">" } else { "<tr>" });
        for cell in row.cell_iter() {
            let text = cell.content();
            let class = match text.as_str() {
                "BROKEN" | "FAILED" | "killed" => "broken",
                "-" | "stalled" | "failed" => "word",
                text if text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with('*') => {
                    "best"
                }
                _ => "",
            };
            let text = if class == "best" { text.trim_end_matches(['*', ' ']) } else { &text };
            let text = escape(text);
            let _ = write!(body, "<{tag} class=\"{class}\">{text}</{tag}>");
        }
        body.push_str("</tr>\n");
    };
    table.header().into_iter().for_each(|head| row(head, "th"));
    table.row_iter().for_each(|line| row(line, "td"));
    body.push_str("</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::grid::plain_table;

    #[test]
    fn a_table_keeps_its_cells_and_escapes_them() {
        let mut plain = plain_table();
        plain.set_header(["lock", "<s>"]).add_row(["a<b", "FAILED"]).add_row(["operator*", "1.5 k*"]);
        let mut text = String::new();
        table(&mut text, &plain);
        assert!(text.contains("lock</th>") && text.contains("&lt;s&gt;</th></tr>"), "{text}");
        assert!(text.contains("a&lt;b") && text.contains("<td class=\"broken\">FAILED</td>"), "{text}");
        assert!(text.contains(">operator*<") && text.contains("<td class=\"best\">1.5 k</td>"), "{text}");
    }

    #[test]
    fn doubts_are_told_only_if_there_are_some() {
        let mut body = String::new();
        doubts(&mut body, [""; 0]);
        assert_eq!(body, "");
        doubts(&mut body, ["<b>"]);
        facts(&mut body, [("a", "<i>".to_owned())]);
        let text = page("t", "p{}", &body);
        assert!(
            text.contains("<li>&lt;b&gt;</li>") && text.contains("<td>a</td><td>&lt;i&gt;</td>"),
            "{text}"
        );
        assert!(text.contains("p{}</style>") && text.ends_with("</body></html>\n"), "{text}");
    }
}
