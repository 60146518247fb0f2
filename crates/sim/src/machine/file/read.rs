//! From text to a machine.
use super::fields::{FIELDS, Field, OPTIONAL_TABLES, field};
use super::inherit::inherit;
use super::kind::{LONGEST_TEXT, is_line};
use super::{Evidence, MachineFile, Prior, Source, check, costs, write};
use crate::datafile::{Document, FileError, Value, head, nearest};
use crate::machine::{Host, Machine, Memory, Protocol, SchedulerKind, Speed, Topology};

/// The table that says where numbers come from.
const SOURCE: &str = "source";
/// The table that says what a fit may vary.
const PRIOR: &str = "prior";
/// In the table of sources: all fields of a table that have none of their own.
const OTHERS: &str = "others";
/// The smallest and the largest relative width of a prior.
const SIGMA: (f64, f64) = (0.001, 3.0);

/// The machine that `text` describes; `file_name` is for refusals.
pub fn read(text: &str, file_name: &str) -> Result<MachineFile, FileError> {
    read_with::<&str>(text, file_name, &[])
}

/// The same with fields replaced: each of `sets` is `KEY=VALUE` with the key as in the file
/// (`memory.remote-dirty=120`). The result is checked with all of them in place. A replaced number's source
/// becomes [`Evidence::Set`].
pub fn read_with<S: AsRef<str>>(text: &str, file_name: &str, sets: &[S]) -> Result<MachineFile, FileError> {
    let mut document = Document::parse(text, file_name)?;
    inherit(&mut document)?;
    for assignment in sets {
        document.set(assignment.as_ref())?;
    }
    build(&document, head(text))
}

/// A machine with one field replaced. For several that only together make a machine, take [`read_with`].
pub fn apply_set(machine: &MachineFile, assignment: &str) -> Result<MachineFile, FileError> {
    read_with(&write(machine), &machine.machine.name, &[assignment])
}

/// Where a source or prior belongs in the order of the fields; a table's `others` come behind the fields of
/// that table, since a table is written in one piece.
pub(super) fn rank(path: &str) -> usize {
    let (table, name) = path.rsplit_once('.').unwrap_or(("", path));
    let others = name == OTHERS;
    let matches = |field: &Field| field.path == path || (others && field.table() == table);
    FIELDS.iter().rposition(matches).map_or(usize::MAX, |index| 2 * index + usize::from(others))
}

fn build(document: &Document, head: Vec<String>) -> Result<MachineFile, FileError> {
    only_known_names(document)?;
    let machine = machine(document)?;
    if let Some((path, why)) = check::first_conflict(&machine) {
        return Err(document.refuse(path, why));
    }
    let mut file = MachineFile { machine, sources: sources(document)?, priors: priors(document)?, head };
    for (path, _) in document.fields().filter(|(path, _)| document.was_set(path)) {
        if field(path).is_some_and(Field::is_cost) {
            file.set_source(path, Evidence::Set, "given on the command line");
        }
    }
    for field in costs(&file.machine).filter(|field| field.table() == "memory") {
        if !file.sources.iter().any(|source| source.field == field.path) {
            let why = format!("missing; {}", allowed_sources());
            return Err(document.refuse(&format!("{SOURCE}.{}", field.path), why));
        }
    }
    Ok(file)
}

fn machine(document: &Document) -> Result<Machine, FileError> {
    let mut machine = blank();
    for field in FIELDS {
        // A scheduler is in place before its parameters are looked for, by the order of the table.
        if field.path == "host.fair-share.slice" {
            for table in OPTIONAL_TABLES.iter().filter(|table| document.has_table(table.path)) {
                (table.open)(&mut machine);
            }
        }
        let given = document.get(field.path).map(|value| field.kind.read(value)).transpose();
        let given = given.map_err(|why| document.refuse(field.path, why))?;
        // What is said of a scheduler that is not chosen has to be right, too, but goes nowhere.
        let Some(place) = (field.place)(&mut machine) else { continue };
        let Some(setting) = given.or_else(|| field.kind.absent()) else {
            return Err(document.refuse(field.path, format!("missing; must be {}", field.kind.allowed())));
        };
        place.put(setting);
    }
    Ok(machine)
}

/// Refuses what is no field, with the nearest names.
fn only_known_names(document: &Document) -> Result<(), FileError> {
    for table in document.tables() {
        let below = format!("{}.", split_prefix(table).1);
        let known =
            table == SOURCE || table == PRIOR || FIELDS.iter().any(|field| field.path.starts_with(&below));
        if !known {
            let (prefix, inner) = split_prefix(table);
            let special = if prefix.is_empty() { &[SOURCE, PRIOR][..] } else { &[] };
            let tables = FIELDS.iter().map(Field::table).filter(|name| !name.is_empty());
            let tables = tables.chain(special.iter().copied());
            return Err(document.refuse(table, unknown("table", prefix, inner, tables)));
        }
    }
    for (path, value) in document.fields() {
        let (prefix, inner) = split_prefix(path);
        let others = prefix == "source." && inner.strip_suffix(".others").is_some_and(covers_others);
        // The command line ends a table by naming it.
        let ended = value == &Value::Text("none".to_owned())
            && OPTIONAL_TABLES.iter().any(|table| table.path == path);
        if field(inner).is_none() && !others && !ended {
            let is_table = FIELDS.iter().any(|field| field.path.starts_with(&format!("{inner}.")));
            if is_table && prefix.is_empty() {
                return Err(document.refuse(path, "is a table, set its fields"));
            }
            let names = FIELDS.iter().map(|field| field.path);
            return Err(document.refuse(path, unknown("field", prefix, inner, names)));
        }
    }
    Ok(())
}

/// Whether one source may be given for the rest of a table. Each number of the memory has its own.
fn covers_others(table: &str) -> bool {
    table != "memory" && FIELDS.iter().any(|field| field.table() == table)
}

/// A path as what says that it is about a source or a prior, and the field that it speaks of.
fn split_prefix(path: &str) -> (&str, &str) {
    match path.split_once('.') {
        Some((SOURCE | PRIOR, inner)) => path.split_at(path.len() - inner.len()),
        _ => ("", path),
    }
}

fn unknown<'n>(what: &str, prefix: &str, given: &str, valid: impl Iterator<Item = &'n str>) -> String {
    let mut valid: Vec<&str> = valid.collect();
    valid.sort_unstable();
    valid.dedup();
    let near: Vec<String> = nearest(given, valid).into_iter().map(|name| format!("{prefix}{name}")).collect();
    format!("no such {what}; nearest: {}", near.join(", "))
}

fn allowed_sources() -> String {
    let words: Vec<&str> = Evidence::ALL.iter().map(|(_, word)| *word).collect();
    format!(
        "must be \"EVIDENCE: text\", up to {LONGEST_TEXT} ASCII characters, EVIDENCE one of {}",
        words.join(", ")
    )
}

/// What a file says of where its numbers come from, in the order of a machine's fields.
pub(crate) fn sources(document: &Document) -> Result<Vec<Source>, FileError> {
    let mut sources = Vec::new();
    for (path, value) in document.fields() {
        let Some(inner) = path.strip_prefix("source.") else { continue };
        let source = source(inner, value);
        sources.push(source.ok_or_else(|| document.refuse(path, allowed_sources()))?);
    }
    sources.sort_by_key(|source| rank(&source.field));
    Ok(sources)
}

fn source(path: &str, value: &Value) -> Option<Source> {
    let Value::Text(line) = value else { return None };
    let (word, text) = line.split_once(':')?;
    let (evidence, _) = Evidence::ALL.into_iter().find(|(_, known)| *known == word)?;
    let text = text.trim_matches(' ');
    // As it is written again.
    let is_sound = !text.is_empty() && is_line(&format!("{word}: {text}"));
    is_sound.then(|| Source { field: path.to_owned(), evidence, text: text.to_owned() })
}

fn priors(document: &Document) -> Result<Vec<Prior>, FileError> {
    let mut priors = Vec::new();
    for (path, value) in document.fields() {
        let Some(inner) = path.strip_prefix("prior.") else { continue };
        if !field(inner).is_some_and(Field::is_number) {
            return Err(document.refuse(path, "only times and percentages can be fitted"));
        }
        let (least, most) = SIGMA;
        let sigma = match value {
            Value::Integer(digits) | Value::Float(digits) => digits.parse::<f64>().ok(),
            _ => None,
        };
        let sigma = sigma.filter(|sigma| (least..=most).contains(sigma)).ok_or_else(|| {
            document
                .refuse(path, format!("must be a relative width (log-normal sigma) from {least} to {most}"))
        })?;
        priors.push(Prior { field: inner.to_owned(), sigma });
    }
    priors.sort_by_key(|prior| rank(&prior.field));
    Ok(priors)
}

/// A machine with nothing filled in.
fn blank() -> Machine {
    Machine {
        name: String::new(),
        about: String::new(),
        topology: Topology::flat(1),
        memory: Memory {
            protocol: Protocol::Mesi,
            migratory: false,
            hit: 0,
            rmw: 0,
            store: 0,
            fence: 0,
            poll: 0,
            spin_exit: 0,
            group_clean: 0,
            group_dirty: 0,
            socket_dirty: 0,
            remote_dirty: 0,
            hop: 0,
            memory: 0,
            upgrade: 0,
            upgrade_socket: 0,
            upgrade_remote: 0,
            upgrade_per_socket: 0,
            upgrade_per_core: 0,
            group_occupancy: 0,
            outside_percent: 0,
            occupancy_percent: 0,
            snoop_percent: 0,
            snoop_read_percent: 0,
            overlap_percent: 0,
            burst: 0,
            look_ahead: None,
            store_buffer: 0,
            jitter_percent: 0,
        },
        speed: Speed { sibling_computes_percent: 0, sibling_spins_percent: 0, turbo: Vec::new() },
        host: Host {
            scheduler: SchedulerKind::Pinned,
            halt: 0,
            kick: 0,
            kick_across: None,
            idle_entry: None,
            kick_idle: 0,
            wake_idle: 0,
            wake_busy: 0,
            switch: 0,
            migrate: 0,
            yield_cost: 0,
            heavy_barrier: None,
            preempted_hint: false,
            hypercalls: true,
            pause_loop: None,
            start_spread: 0,
            tick_period: 0,
            tick_cost: 0,
        },
    }
}
