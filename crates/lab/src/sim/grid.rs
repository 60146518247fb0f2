//! One table, for terminals and for pages.
use comfy_table::{CellAlignment, ContentArrangement};
use core::fmt::Write;
use lab_kit::export::grid::{WIDTH, plain_table, trimmed};
use lab_kit::export::svg::escape;

/// A table with a title.
#[derive(Clone)]
pub(super) struct Grid {
    pub title: String,
    /// The heads of its columns: first those of words, then those of figures.
    pub head: Vec<String>,
    pub words: usize,
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// For a terminal: in pieces of as many columns of figures as fit. Words that are too many go on in the
    /// next line.
    pub(super) fn text(&self) -> String {
        let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
        let pieces = (1..=self.head.len() - self.words).rev();
        let body = pieces.map(|columns| self.pieces(columns, &ContentArrangement::Disabled)).find(fits);
        let body = body.unwrap_or_else(|| self.pieces(1, &ContentArrangement::Dynamic));
        format!("\n{}\n{body}", self.title)
    }

    fn pieces(&self, columns: usize, arrangement: &ContentArrangement) -> String {
        let figures: Vec<usize> = (self.words..self.head.len()).collect();
        let chunks: Vec<&[usize]> =
            if figures.is_empty() { vec![&[]] } else { figures.chunks(columns).collect() };
        let piece = |figures: &[usize]| {
            let of_row = |row: &Vec<String>| {
                let figures = figures.iter().map(|&column| &row[column]);
                row[..self.words].iter().chain(figures).cloned().collect::<Vec<_>>()
            };
            let mut table = plain_table();
            table.set_content_arrangement(arrangement.clone()).set_width(WIDTH as u16);
            table.set_header(of_row(&self.head)).add_rows(self.rows.iter().map(of_row));
            for column in table.column_iter_mut().skip(self.words) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            trimmed(&table) + "\n"
        };
        chunks.into_iter().map(piece).collect()
    }

    /// For a page, folded if it is not `open`.
    pub(super) fn html(&self, open: bool) -> String {
        let (open, title) = (if open { " open" } else { "" }, escape(&self.title));
        let mut html = format!("<details{open}><summary>{title}</summary><div class=\"scroll\"><table><tr>");
        for head in &self.head {
            let _ = write!(html, "<th>{}</th>", escape(head));
        }
        for row in &self.rows {
            html.push_str("</tr><tr>");
            for (column, text) in row.iter().enumerate() {
                let how = match text.as_str() {
                    _ if column < self.words => " style=\"text-align:left\"",
                    "BROKEN" => " class=\"broken\"",
                    _ => "",
                };
                let _ = write!(html, "<td{how}>{}</td>", escape(text));
            }
        }
        html + "</tr></table></div></details>\n"
    }
}
