//! Machines as TOML files: reading with refusals that name line, field and range, replacing single fields,
//! writing.
//!
//! The fields and their ranges are data, in `fields.rs`; reading, writing, `--set` and the documentation all
//! go by that table.
mod check;
mod fields;
mod inherit;
mod kind;
mod origin;
mod read;
mod reference;
mod write;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

pub use crate::datafile::FileError;
pub use origin::{Evidence, Prior, Source};
pub(crate) use read::sources;
pub use read::{apply_set, read, read_with};
pub use reference::{field_table, machine_table};
pub use write::write;

use super::Machine;
use fields::field;
use kind::{Kind, Setting};

/// A machine and what its file says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    /// The machine.
    pub machine: Machine,
    /// Where its numbers come from, in the order of the fields.
    pub sources: Vec<Source>,
    /// The fields that a fit may vary, in the order of the fields.
    pub priors: Vec<Prior>,
    /// The comment at the head of the file, line by line.
    pub head: Vec<String>,
}

impl MachineFile {
    /// Where the number of a field comes from.
    pub fn source_of(&self, path: &str) -> Option<&Source> {
        let find = |wanted: &str| self.sources.iter().find(|source| source.field == wanted);
        let mut table = path;
        find(path).or_else(|| {
            loop {
                table = table.rsplit_once('.')?.0;
                if let Some(source) = find(&format!("{table}.others")) {
                    return Some(source);
                }
            }
        })
    }

    /// Says where the number of a field comes from, in place of what was said before. What a file can not
    /// hold of `text` (it is a line of ASCII characters) becomes question marks.
    pub fn set_source(&mut self, path: &str, evidence: Evidence, text: &str) {
        let kept = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
        let room = kind::LONGEST_TEXT - evidence.word().len() - ": ".len();
        let text: String = text.trim().chars().map(kept).take(room).collect();
        self.sources.retain(|source| source.field != path);
        self.sources.push(Source { field: path.to_owned(), evidence, text: text.trim_end().to_owned() });
        self.sources.sort_by_key(|source| read::rank(&source.field));
    }
}

/// The latencies and costs of the machine for which its file names no source.
pub fn unsourced(file: &MachineFile) -> impl Iterator<Item = &'static str> {
    costs(&file.machine).map(|field| field.path).filter(|path| file.source_of(path).is_none())
}

/// The fields of the machine that are latencies and costs.
fn costs(machine: &Machine) -> impl Iterator<Item = &'static fields::Field> + use<> {
    let mut machine = machine.clone();
    let mut has = move |field: &fields::Field| match (field.place)(&mut machine).map(kind::Place::get) {
        // What a machine does not have costs nothing.
        None | Some(Setting::Time(None)) => false,
        Some(Setting::Turbo(rows)) => !rows.is_empty(),
        Some(_) => field.is_cost(),
    };
    fields::FIELDS.iter().filter(move |field| has(field))
}

/// The paths of the fields that are one number, a time or per cent: those a fit can vary and a calibration
/// can measure.
pub fn number_fields() -> impl Iterator<Item = &'static str> {
    fields::FIELDS.iter().filter(|field| field.is_number()).map(|field| field.path)
}

/// The number of a field, in nanoseconds or per cent; `None` if the machine has no such field.
pub fn number(machine: &Machine, path: &str) -> Option<f64> {
    let field = field(path).filter(|field| field.is_number())?;
    match (field.place)(&mut machine.clone())?.get() {
        Setting::Time(Some(time)) => Some(time as f64 / 1000.0),
        Setting::Number(number) => Some(f64::from(number)),
        _ => None,
    }
}

/// Sets the number of a field, in nanoseconds or per cent, to the nearest value that it can have; false if
/// the machine has no such field or the number is none.
#[must_use]
pub fn set_number(machine: &mut Machine, path: &str, value: f64) -> bool {
    let Some(field) = field(path).filter(|field| field.is_number() && !value.is_nan()) else { return false };
    let setting = match field.kind {
        Kind::Time(least, most) => Setting::Time(Some(((value * 1000.0).round() as u64).clamp(least, most))),
        Kind::Percent(least, most) => Setting::Number((value.round() as u32).clamp(least, most)),
        _ => return false,
    };
    (field.place)(machine).map(|place| place.put(setting)).is_some()
}
