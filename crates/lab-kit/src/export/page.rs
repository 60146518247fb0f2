//! What the pages of all commands have in common. They have no script and no resource from elsewhere: a page
//! can be mailed, archived, and opened in twenty years.
use super::STYLE;
use super::svg::escape;
use comfy_table::{Row, Table};

/// A page; `rules` are those that its style sheet has besides.
pub fn page(title: &str, rules: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}{rules}</style></head><body>\n{body}</body></html>\n",
        escape(title)
    )
}

/// Reasons for doubt; nothing if there are none.
pub fn doubts(all: impl IntoIterator<Item = String>) -> String {
    let items: String = all.into_iter().map(|doubt| format!("<li>{}</li>", escape(&doubt))).collect();
    if items.is_empty() {
        return items;
    }
    format!("<h3>Reasons for doubt</h3><ul class=\"warnings\">{items}</ul>\n")
}

/// Names, and what they stand for.
pub fn facts<'a>(rows: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let row = |(name, value): (&str, String)| {
        format!("<tr><td>{}</td><td>{}</td></tr>", escape(name), escape(&value))
    };
    format!("<table class=\"facts\">{}</table>\n", rows.into_iter().map(row).collect::<String>())
}

/// A table for a terminal as one for a page. Words in place of a figure stand out.
pub fn table(table: &Table) -> String {
    let cell = |text: &str| {
        let class = match text {
            "BROKEN" | "FAILED" | "killed" => "broken",
            "-" | "stalled" | "failed" => "word",
            _ => "",
        };
        format!("<td class=\"{class}\">{}</td>", escape(text))
    };
    let line = |row: &Row, cell: fn(&str) -> String| {
        let cells: String = row.cell_iter().map(|text| cell(&text.content())).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = table.header().map(|row| line(row, |text| format!("<th>{}</th>", escape(text))));
    let rows: String = head.into_iter().chain(table.row_iter().map(|row| line(row, cell))).collect();
    format!("<div class=\"scroll\"><table>{rows}</table></div>\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::grid::plain_table;

    #[test]
    fn a_table_keeps_its_cells_and_escapes_them() {
        let mut plain = plain_table();
        plain.set_header(["lock", "<s>"]).add_row(["a<b", "FAILED"]).add_row(["c", "-"]);
        let text = table(&plain);
        assert!(text.contains("<tr><th>lock</th><th>&lt;s&gt;</th></tr>"), "{text}");
        assert!(text.contains("a&lt;b") && text.contains("<td class=\"broken\">FAILED</td>"), "{text}");
    }

    #[test]
    fn doubts_are_told_only_if_there_are_some() {
        assert_eq!(doubts([]), "");
        let body = doubts(["<b>".to_owned()]) + &facts([("a", "<i>".to_owned())]);
        let text = page("t", "p{}", &body);
        assert!(
            text.contains("<li>&lt;b&gt;</li>") && text.contains("<td>a</td><td>&lt;i&gt;</td>"),
            "{text}"
        );
        assert!(text.contains("p{}</style>") && text.ends_with("</body></html>\n"), "{text}");
    }
}
