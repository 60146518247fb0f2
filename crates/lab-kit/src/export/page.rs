//! What the pages of all commands have in common. They have no script and no resource from elsewhere: a page
//! can be mailed, archived, and opened in twenty years.
use super::svg::escape;
use comfy_table::{Row, Table};
use core::fmt::{Display, Write};

const STYLE: &str = include_str!("page.css");

/// A whole page; `rules` are those that its style sheet has besides.
pub fn page(title: &str, rules: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}{rules}</style></head><body><main>\n{body}</main></body></html>\n",
        escape(title)
    )
}

/// Reasons for doubt, below a heading of this level; nothing if there are none.
pub fn doubts(body: &mut String, level: u8, all: impl IntoIterator<Item = impl Display>) {
    let items = all.into_iter().map(|doubt| format!("<li>{}</li>", escape(&doubt.to_string())));
    let items: String = items.collect();
    if !items.is_empty() {
        let head = format!("<h{level} class=\"doubts\">Reasons for doubt</h{level}>");
        let _ = writeln!(body, "{head}<ul class=\"warnings\">{items}</ul>");
    }
}

/// A plot in two scales, of which the reader chooses. The name is the page's only such.
pub fn in_two_scales(name: &str, linear: &str, log: &str) -> String {
    let input = format!("<input type=\"radio\" name=\"scale-{}\"", escape(name));
    format!(
        "<div class=\"plot\"><div class=\"switch\" role=\"radiogroup\" aria-label=\"scale\"><label>{input} checked> linear</label>\
         <label>{input} class=\"to-log\"> logarithmic</label></div>\
         <div class=\"linear\">{linear}</div><div class=\"log\">{log}</div></div>"
    )
}

/// Names, and what they stand for.
pub fn facts<'a>(body: &mut String, rows: impl IntoIterator<Item = (&'a str, String)>) {
    let row = |(name, value): (&str, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(&value))
    };
    let rows: String = rows.into_iter().map(row).collect();
    let _ = writeln!(body, "<table class=\"facts\">{rows}</table>");
}

/// A table for a terminal as one for a page. Words in place of a figure stand out, and figures with a mark.
pub fn table(body: &mut String, table: &Table) {
    table_with(body, table, |_| false);
}

/// The same, in which rows whose first cell is of `ours` stand out, too.
pub fn table_with(body: &mut String, table: &Table, ours: impl Fn(&str) -> bool) {
    body.push_str("<div class=\"scroll\" role=\"group\" aria-label=\"table\" tabindex=\"0\"><table>");
    let mut row = |row: &Row, is_head: bool| {
        let is_ours = row.cell_iter().next().is_some_and(|cell| ours(&cell.content()));
        body.push_str(if is_ours { "<tr class=\"ours\">" } else { "<tr>" });
        for (index, cell) in row.cell_iter().enumerate() {
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
            let tag = match index {
                _ if is_head => "th",
                0 => "th scope=\"row\"",
                _ => "td",
            };
            let _ = write!(body, "<{tag} class=\"{class}\">{text}</{}>", &tag[..2]);
        }
        body.push_str("</tr>\n");
    };
    table.header().into_iter().for_each(|head| row(head, true));
    table.row_iter().for_each(|line| row(line, false));
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
        doubts(&mut body, 2, [""; 0]);
        assert_eq!(body, "");
        doubts(&mut body, 2, ["<b>"]);
        facts(&mut body, [("a", "<i>".to_owned())]);
        let text = page("t", "p{}", &body);
        assert!(text.contains("<li>&lt;b&gt;</li>") && text.contains(">a</th><td>&lt;i&gt;</td>"), "{text}");
        assert!(text.contains("p{}</style>") && text.ends_with("</body></html>\n"), "{text}");
    }
}
