//! The tables of `docs/machines.md`, from the same data that the reader goes by.
use super::fields::FIELDS;
use super::kind::Kind;
use super::{Evidence, MachineFile, read};
use crate::datafile::time_text;
use crate::machine::{Fair, FairShare, SchedulerKind, library};
use core::fmt::Write;

/// Every field with its unit and range, as a Markdown table.
pub fn field_table() -> String {
    let mut table = "| field | allowed | what it is |\n|---|---|---|\n".to_owned();
    for field in FIELDS {
        let optional = if field.kind.absent().is_some() { " (may be left out)" } else { "" };
        writeln!(table, "| `{}` | {}{optional} | {} |", field.path, range(field.kind), field.about)
            .expect("a string takes everything");
    }
    table
}

/// The range of a kind of field in few words.
fn range(kind: Kind) -> String {
    match kind {
        Kind::Time(least, most) => format!("{} to {}", time_text(least), time_text(most)),
        Kind::MaybeTime(least, most) => format!("{} to {}, `none`", time_text(least), time_text(most)),
        Kind::Count(least, most) => format!("{least} to {most}"),
        Kind::Percent(least, most) => format!("{least} to {most} %"),
        Kind::Choice(words) => format!("`{}`", words.join("`, `")),
        Kind::Flag | Kind::FlagOr(_) | Kind::Name | Kind::Text | Kind::Hops | Kind::Turbo => kind.allowed(),
    }
}

/// The shipped machines, as a Markdown table.
pub fn machine_table() -> String {
    let mut table =
        "| machine | what it is | sockets x groups x cores x threads | CPUs | scheduler | numbers of the memory |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|\n");
    for (name, text) in library() {
        let file = read(text, name).expect("the tests read every shipped machine");
        let (machine, topology) = (&file.machine, &file.machine.topology);
        writeln!(
            table,
            "| `{name}` | {} | {} x {} x {} x {} | {} | {} | {} |",
            machine.about,
            topology.sockets,
            topology.groups,
            topology.cores,
            topology.threads,
            topology.cpu_count(),
            scheduler(&machine.host.scheduler),
            evidence(&file)
        )
        .expect("a string takes everything");
    }
    table
}

fn scheduler(kind: &SchedulerKind) -> &'static str {
    match kind {
        SchedulerKind::Pinned => "pinned",
        SchedulerKind::FairShare(FairShare { kind: Fair::Cfs, .. }) => "CFS",
        SchedulerKind::FairShare(FairShare { kind: Fair::Eevdf, .. }) => "EEVDF",
        SchedulerKind::RoundRobin(_) => "round robin",
    }
}

/// How many of the memory's numbers rest on what.
fn evidence(file: &MachineFile) -> String {
    let count = |evidence: Evidence| {
        file.sources
            .iter()
            .filter(|source| source.field.starts_with("memory.") && source.evidence == evidence)
            .count()
    };
    let counts = Evidence::ALL.iter().map(|(evidence, word)| (count(*evidence), word));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    counts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/machines.md");

    /// `text` with what stands between the two markers of `name` replaced.
    fn with_table(text: &str, name: &str, table: &str) -> String {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->\n"));
        let (before, rest) = text.split_once(&begin).expect("the table's begin is marked");
        let (_, after) = rest.split_once(&end).expect("the table's end is marked");
        format!("{before}{begin}\n{table}\n{end}{after}")
    }

    #[test]
    fn the_tables_of_the_documentation_are_current() {
        let text = std::fs::read_to_string(DOCUMENT).expect("docs/machines.md is there");
        let wanted = with_table(&text, "fields", &field_table());
        let wanted = with_table(&wanted, "machines", &machine_table());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(DOCUMENT, &wanted).expect("docs/machines.md can be written");
        } else {
            let how = "docs/machines.md is not current; run: UPDATE_DOCS=1 cargo test -p stanchion-sim tables_of_the";
            assert!(text == wanted, "{how}");
        }
    }

    #[test]
    fn the_example_of_the_documentation_is_a_machine() {
        let text = std::fs::read_to_string(DOCUMENT).expect("docs/machines.md is there");
        let (_, rest) = text.split_once("```toml\n").expect("it has an example");
        let (example, _) = rest.split_once("```").expect("the example ends");
        let file = read(example, "docs/machines.md").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.machine.topology.cpu_count(), 8);
        assert_eq!(super::super::unsourced(&file).count(), 0, "an example to be followed");
    }
}
