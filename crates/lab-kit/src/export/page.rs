//! What the pages of all commands have in common. They have no script and no resource from elsewhere: a page
//! can be mailed, archived, and opened in twenty years.
use comfy_table::{Row, Table};
use core::fmt::Display;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

/// A whole page; `rules` are those that its style sheet has besides.
pub fn page(title: &str, rules: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(rules)) }
            }
            body { main { (body) } }
        }
    };
    page.0 + "\n"
}

/// What stands behind where a report comes from, if its run was cut short.
pub fn unfinished(complete: bool) -> Markup {
    html! { @if !complete { " · " b { "unfinished run" } } }
}

/// Reasons for doubt, below a heading of the second level or the third; nothing if there are none.
pub fn doubts(level: u8, all: impl IntoIterator<Item = impl Display>) -> Markup {
    let mut all = all.into_iter().peekable();
    html! {
        @if all.peek().is_some() {
            @if level == 2 { h2.doubts { "Reasons for doubt" } } @else { h3.doubts { "Reasons for doubt" } }
            ul.warnings { @for doubt in all { li { (doubt) } } }
        }
    }
}

/// A grid of plots, which scrolls where there is little room.
pub fn plots(all: impl IntoIterator<Item = Markup>) -> Markup {
    html! { div.plots role="group" aria-label="plots" tabindex="0" { @for plot in all { (plot) } } }
}

/// A plot of a grid.
pub fn plot(picture: &Markup) -> Markup {
    html! { div.plot { (picture) } }
}

/// The same in two scales, of which the reader chooses. The name is the page's only such.
pub fn in_two_scales(name: &str, linear: &Markup, log: &Markup) -> Markup {
    html! {
        div.plot {
            div.switch role="radiogroup" aria-label="scale" {
                label { input type="radio" name={ "scale-" (name) } checked; " linear" }
                label { input type="radio" name={ "scale-" (name) } class="to-log"; " logarithmic" }
            }
            div.linear { (linear) }
            div.log { (log) }
        }
    }
}

/// Names, and what they stand for.
pub fn facts(rows: impl IntoIterator<Item = (impl Display, String)>) -> Markup {
    html! {
        table.facts { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } }
    }
}

/// A table for a terminal as one for a page. Words in place of a figure stand out, and figures with a mark.
pub fn table(table: &Table) -> Markup {
    table_with(table, |_| false)
}

/// The same, in which rows whose first cell is of `ours` stand out, too.
pub fn table_with(table: &Table, ours: impl Fn(&str) -> bool) -> Markup {
    let row = |row: &Row, is_head: bool| {
        let cells: Vec<String> = row.cell_iter().map(comfy_table::Cell::content).collect();
        html! {
            tr class=[cells.first().is_some_and(|first| ours(first)).then_some("ours")] {
                @for (index, (class, text)) in cells.iter().map(|cell| look(cell)).enumerate() {
                    @match index {
                        _ if is_head => th class=(class) { (text) }
                        0 => th scope="row" class=(class) { (text) }
                        _ => td class=(class) { (text) }
                    }
                }
            }
        }
    };
    html! {
        div.scroll role="group" aria-label="table" tabindex="0" {
            table {
                @if let Some(head) = table.header() { (row(head, true)) }
                @for line in table.row_iter() { (row(line, false)) }
            }
        }
    }
}

/// How a cell is shown, by the class that it has in the style sheet, and its text without a mark.
fn look(text: &str) -> (&str, &str) {
    match text {
        "BROKEN" | "FAILED" | "killed" => ("broken", text),
        "-" | "stalled" | "failed" => ("word", text),
        _ if text.starts_with(|first: char| first.is_ascii_digit()) && text.ends_with('*') => {
            ("best", text.trim_end_matches(['*', ' ']))
        }
        _ => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::grid::plain_table;

    #[test]
    fn a_table_keeps_its_cells_and_escapes_them() {
        let mut plain = plain_table();
        plain.set_header(["lock", "<s>"]).add_row(["a<b", "FAILED"]).add_row(["operator*", "1.5 k*"]);
        let text = table(&plain).0;
        assert!(text.contains("lock</th>") && text.contains("&lt;s&gt;</th></tr>"), "{text}");
        assert!(text.contains("a&lt;b") && text.contains("<td class=\"broken\">FAILED</td>"), "{text}");
        assert!(text.contains(">operator*<") && text.contains("<td class=\"best\">1.5 k</td>"), "{text}");
    }

    #[test]
    fn doubts_are_told_only_if_there_are_some() {
        assert_eq!(doubts(2, [""; 0]).0, "");
        let body = html! { (doubts(2, ["<b>"])) (facts([("a", "<i>".to_owned())])) };
        let text = page("t", "p{}", &body);
        assert!(text.contains("<li>&lt;b&gt;</li>") && text.contains(">a</th><td>&lt;i&gt;</td>"), "{text}");
        assert!(text.contains("p{}</style>") && text.ends_with("</body></html>\n"), "{text}");
    }
}
