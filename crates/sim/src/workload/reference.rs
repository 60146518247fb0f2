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
