//! The tables of `docs/workloads.md`, from the same data that the reader goes by.
use super::{BEHAVIOURS, Placement, library, read};
use core::fmt::Write;

/// Every behaviour with its parameters, as Markdown.
pub fn behaviour_tables() -> String {
    let mut text = String::new();
    for (name, _, parameters) in &BEHAVIOURS {
        writeln!(text, "### `{name}`\n\n| parameter | allowed | what it is |\n|---|---|---|")
            .expect("a string takes everything");
        for parameter in *parameters {
            let absent = parameter
                .absent
                .map_or(String::new(), |value| format!(" ({} if left out)", parameter.kind.text(value)));
            let (allowed, about) = (parameter.kind.allowed(), parameter.about.trim());
            writeln!(text, "| `{}` | {allowed}{absent} | {about} |", parameter.name)
                .expect("a string takes everything");
        }
        text.push('\n');
    }
    text
}

/// The shipped workloads, as a Markdown table.
pub fn workload_table() -> String {
    let mut text =
        "| workload | what it is | behaviour | placement | result |\n|---|---|---|---|---|\n".to_owned();
    for (name, source) in library() {
        let file = read(source, name).expect("the tests read every shipped workload");
        let workload = &file.workload;
        let placement =
            Placement::ALL.iter().find(|(each, _)| *each == workload.placement).map_or("", |(_, name)| name);
        writeln!(
            text,
            "| `{name}` | {} | `{}` | {placement} | {} |",
            workload.about,
            workload.behaviour.name(),
            workload.unit
        )
        .expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/workloads.md");

    /// `text` with what stands between the marks of `name` replaced.
    fn with_section(text: &str, name: &str, section: &str) -> String {
        let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
        let (before, rest) = text.split_once(&begin).expect("the document has the mark");
        let (_, after) = rest.split_once(&end).expect("the document has the mark");
        format!("{before}{begin}\n\n{}\n\n{end}{after}", section.trim_end())
    }

    #[test]
    fn the_document_of_workloads_is_current() {
        let text = std::fs::read_to_string(DOCUMENT).expect("docs/workloads.md is there");
        let wanted = with_section(&text, "workloads", &workload_table());
        let wanted = with_section(&wanted, "behaviours", &behaviour_tables());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(DOCUMENT, &wanted).expect("docs/workloads.md can be written");
        }
        let how = "docs/workloads.md is not current; run: UPDATE_DOCS=1 cargo test -p stanchion-sim the_document_of_workloads";
        assert!(text == wanted || std::env::var_os("UPDATE_DOCS").is_some(), "{how}");
    }

    #[test]
    fn the_example_of_the_document_reads() {
        let text = std::fs::read_to_string(DOCUMENT).expect("docs/workloads.md is there");
        let example =
            text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has one");
        let file = read(example, "docs/workloads.md").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.workload.name, "cache");
    }
}
