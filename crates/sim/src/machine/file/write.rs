//! From a machine to text that reads back as the same machine.
use super::MachineFile;
use super::fields::FIELDS;
use super::kind::quoted;
use core::fmt::Write;

/// The file of a machine. [`read`](super::read) gives back an equal one.
pub fn write(file: &MachineFile) -> String {
    let mut text = String::new();
    for line in &file.head {
        text += &format!("# {line}").trim_end().replace(char::is_control, " ");
        text.push('\n');
    }
    let mut machine = file.machine.clone();
    let mut tables = Tables { text, open: String::new() };
    for field in FIELDS {
        let Some(place) = (field.place)(&mut machine) else { continue };
        // Latencies are nanoseconds; what the host does takes from microseconds to seconds.
        let plain = field.table() == "memory";
        tables.entry(field.table(), field.name(), &place.get().text(field.kind, plain));
    }
    for source in &file.sources {
        let (table, name) = split("source", &source.field);
        tables.entry(&table, name, &quoted(&format!("{}: {}", source.evidence, source.text)));
    }
    for prior in &file.priors {
        let (table, name) = split("prior", &prior.field);
        tables.entry(&table, name, &format!("{:?}", prior.sigma));
    }
    tables.text
}

fn split<'p>(first: &str, path: &'p str) -> (String, &'p str) {
    match path.rsplit_once('.') {
        Some((table, name)) => (format!("{first}.{table}"), name),
        None => (first.to_owned(), path),
    }
}

/// Text with the table that it is in.
struct Tables {
    text: String,
    open: String,
}

impl Tables {
    fn entry(&mut self, table: &str, name: &str, value: &str) {
        if self.open != table {
            table.clone_into(&mut self.open);
            writeln!(self.text, "\n[{table}]").expect("a string takes everything");
        }
        writeln!(self.text, "{name} = {value}").expect("a string takes everything");
    }
}
