//! Workloads as TOML files: reading with refusals that name line, field and range, replacing single fields,
//! writing.
//!
//! ```toml
//! name = "cache"
//! about = "Lookups in a map under a lock"
//! [workload]
//! behaviour = "free"
//! placement = "spread"
//! unit = "lookups/us"
//! per = "1us"
//! critical = 200          # nanoseconds, or with a unit
//! think = "1us"
//! ```
use super::parameters::{Kind, Parameter};
use super::{BEHAVIOURS, Placement, Workload};
use crate::datafile::{Document, FileError, Value, head, nearest, time_text};
use crate::machine::file::{Evidence, Prior, Source, sources};
use crate::time::{MS, NS};
use core::fmt::Write;

/// A workload and what its file says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadFile {
    /// The workload.
    pub workload: Workload,
    /// Where its numbers come from.
    pub sources: Vec<Source>,
    /// The fields that a fit may vary.
    pub priors: Vec<Prior>,
    /// The comment at the head of the file, line by line.
    pub head: Vec<String>,
}

const NAME: &str = "name";
const ABOUT: &str = "about";
const BEHAVIOUR: &str = "workload.behaviour";
const PLACEMENT: &str = "workload.placement";
const UNIT: &str = "workload.unit";
const PER: &str = "workload.per";
const JOB: &str = "workload.job";
/// What every workload has, whatever its behaviour.
const COMMON: [&str; 7] = [NAME, ABOUT, BEHAVIOUR, PLACEMENT, UNIT, PER, JOB];
const PER_KIND: Kind = Kind::Span(NS, 1_000_000 * MS);
/// Most units of work that a job has.
const LARGEST_JOB: u64 = 1_000_000_000_000_000;
/// Longest name and longest text.
const LONGEST: (usize, usize) = (64, 400);
/// The smallest and the largest relative width of a prior.
const SIGMA: (f64, f64) = (0.001, 3.0);

impl WorkloadFile {
    /// Says where the number of a field comes from, in place of what was said before.
    pub fn set_source(&mut self, path: &str, evidence: Evidence, text: &str) {
        self.sources.retain(|source| source.field != path);
        self.sources.push(Source { field: path.to_owned(), evidence, text: text.to_owned() });
        self.sources.sort_by(|a, b| a.field.cmp(&b.field));
    }
}

fn path_of(parameter: &Parameter) -> String {
    format!("workload.{}", parameter.name)
}

fn parameter(workload: &Workload, path: &str) -> Option<&'static Parameter> {
    let name = path.strip_prefix("workload.")?;
    workload.behaviour.parameters().iter().find(|parameter| parameter.name == name)
}

/// The paths of a workload's numbers, which a fit can vary.
pub fn number_fields(workload: &Workload) -> Vec<String> {
    let job = workload.job.map(|_| JOB.to_owned());
    workload.behaviour.parameters().iter().map(path_of).chain(job).collect()
}

/// The number of a field, in nanoseconds or as it is; `None` if the workload has no such field.
pub fn number(workload: &Workload, path: &str) -> Option<f64> {
    if path == JOB {
        return workload.job.map(|job| job as f64);
    }
    let parameter = parameter(workload, path)?;
    let mut behaviour = workload.behaviour.clone();
    (parameter.place)(&mut behaviour).map(|place| parameter.kind.number(place.get()))
}

/// Sets the number of a field, in nanoseconds or as it is, to the nearest value that it can have; false if
/// the workload has no such field or the number is none.
#[must_use]
pub fn set_number(workload: &mut Workload, path: &str, value: f64) -> bool {
    if path == JOB && workload.job.is_some() && value.is_finite() {
        workload.job = Some((value.round() as u64).clamp(1, LARGEST_JOB));
        return true;
    }
    let Some(parameter) = parameter(workload, path).filter(|_| !value.is_nan()) else { return false };
    let place = (parameter.place)(&mut workload.behaviour);
    place.map(|place| place.put(parameter.kind.nearest(value))).is_some()
}

/// The workload that `text` describes; `file_name` is for refusals.
pub fn read(text: &str, file_name: &str) -> Result<WorkloadFile, FileError> {
    read_with::<&str>(text, file_name, &[])
}

/// The same with fields replaced: each of `sets` is `KEY=VALUE` with the key as in the file
/// (`workload.think=3us`).
pub fn read_with<S: AsRef<str>>(text: &str, file_name: &str, sets: &[S]) -> Result<WorkloadFile, FileError> {
    let mut document = Document::parse(text, file_name)?;
    for assignment in sets {
        document.set(assignment.as_ref())?;
    }
    let workload = workload(&document)?;
    only_known_names(&document, &workload)?;
    let (sources, priors) = (sources(&document)?, priors(&document, &workload)?);
    let mut file = WorkloadFile { sources, priors, workload, head: head(text) };
    for path in number_fields(&file.workload) {
        if document.was_set(&path) {
            file.set_source(&path, Evidence::Set, "given on the command line");
        }
    }
    Ok(file)
}

/// A line of 1 to `longest` printable ASCII characters.
fn line(document: &Document, path: &str, longest: usize) -> Result<String, FileError> {
    match document.get(path) {
        Some(Value::Text(text))
            if (1..=longest).contains(&text.len()) && text.bytes().all(|b| (b' '..=b'~').contains(&b)) =>
        {
            Ok(text.clone())
        }
        given => {
            let missing = if given.is_none() { "missing; " } else { "" };
            Err(document.refuse(path, format!("{missing}must be a line of 1 to {longest} ASCII characters")))
        }
    }
}

/// One of some words.
fn choice<'w, T: Copy>(document: &Document, path: &str, words: &'w [(T, &'w str)]) -> Result<T, FileError> {
    let all = || words.iter().map(|(_, word)| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    match document.get(path) {
        Some(Value::Text(given)) => {
            words.iter().find(|(_, word)| word == given).map(|(choice, _)| *choice).ok_or_else(|| {
                let near = nearest(given, words.iter().map(|(_, word)| *word));
                let near = near.first().copied().unwrap_or_default();
                document.refuse(path, format!("must be one of {}; nearest: {near}", all()))
            })
        }
        Some(_) => Err(document.refuse(path, format!("must be one of {}", all()))),
        None => Err(document.refuse(path, format!("missing; must be one of {}", all()))),
    }
}

fn workload(document: &Document) -> Result<Workload, FileError> {
    let names: Vec<(usize, &str)> =
        BEHAVIOURS.iter().enumerate().map(|(index, (name, ..))| (index, *name)).collect();
    let (_, blank, parameters) = &BEHAVIOURS[choice(document, BEHAVIOUR, &names)?];
    let mut behaviour = blank.clone();
    for parameter in *parameters {
        let path = path_of(parameter);
        let allowed = parameter.kind.allowed();
        let value = match document.get(&path) {
            Some(value) => parameter
                .kind
                .read(value)
                .ok_or_else(|| document.refuse(&path, format!("must be {allowed}")))?,
            None => parameter
                .absent
                .ok_or_else(|| document.refuse(&path, format!("missing; must be {allowed}")))?,
        };
        if let Some(place) = (parameter.place)(&mut behaviour) {
            place.put(value);
        }
    }
    let per = document.get(PER).map(|value| {
        PER_KIND.read(value).ok_or_else(|| document.refuse(PER, format!("must be {}", PER_KIND.allowed())))
    });
    let job = document.get(JOB).map(|value| {
        value
            .whole()
            .filter(|job| (1..=LARGEST_JOB).contains(job))
            .ok_or_else(|| document.refuse(JOB, format!("must be a whole number from 1 to {LARGEST_JOB}")))
    });
    let (per, job) = match (per.transpose()?, job.transpose()?) {
        (Some(_), Some(_)) => {
            return Err(
                document.refuse(JOB, "a result is a rate (workload.per) or a time (workload.job), not both")
            );
        }
        (per, job) => (per.unwrap_or(1000 * MS), job),
    };
    Ok(Workload {
        name: line(document, NAME, LONGEST.0)?,
        about: line(document, ABOUT, LONGEST.1)?,
        unit: line(document, UNIT, LONGEST.0)?,
        per,
        job,
        placement: choice(document, PLACEMENT, &Placement::ALL)?,
        behaviour,
    })
}

/// Refuses what is no field of this behaviour, with the nearest names.
fn only_known_names(document: &Document, workload: &Workload) -> Result<(), FileError> {
    let parameters: Vec<String> = workload.behaviour.parameters().iter().map(path_of).collect();
    let known: Vec<&str> = COMMON.iter().copied().chain(parameters.iter().map(String::as_str)).collect();
    for table in document.tables() {
        if !["workload", "source", "source.workload", "prior", "prior.workload"].contains(&table) {
            return Err(
                document.refuse(table, "no such table; there are workload, source.workload, prior.workload")
            );
        }
    }
    for (path, _) in document.fields() {
        let inner = path.strip_prefix("source.").or_else(|| path.strip_prefix("prior.")).unwrap_or(path);
        let is_others = path == "source.workload.others";
        // Only a parameter has a source or a prior.
        let is_known = known.contains(&inner) && (inner == path || inner.starts_with("workload."));
        if !is_known && !is_others {
            let near = nearest(inner, known.iter().copied()).join(", ");
            let why =
                format!("no such field of the behaviour {}; nearest: {near}", workload.behaviour.name());
            return Err(document.refuse(path, why));
        }
    }
    Ok(())
}

fn priors(document: &Document, workload: &Workload) -> Result<Vec<Prior>, FileError> {
    let mut priors = Vec::new();
    for (path, value) in document.fields() {
        let Some(field) = path.strip_prefix("prior.") else { continue };
        if number(workload, field).is_none() {
            return Err(document.refuse(path, "only numbers can be fitted"));
        }
        let sigma = match value {
            Value::Integer(digits) | Value::Float(digits) => digits.parse::<f64>().ok(),
            _ => None,
        };
        let sigma = sigma.filter(|sigma| (SIGMA.0..=SIGMA.1).contains(sigma)).ok_or_else(|| {
            document.refuse(
                path,
                format!("must be a relative width (log-normal sigma) from {} to {}", SIGMA.0, SIGMA.1),
            )
        })?;
        priors.push(Prior { field: field.to_owned(), sigma });
    }
    Ok(priors)
}

/// The file of a workload. [`read`] gives back an equal one.
pub fn write(file: &WorkloadFile) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let workload = &file.workload;
    let mut text = String::new();
    for line in &file.head {
        text += format!("# {line}").trim_end();
        text.push('\n');
    }
    let mut entry = |name: &str, value: &str| {
        writeln!(text, "{name} = {value}").expect("a string takes everything");
    };
    entry(NAME, &quoted(&workload.name));
    entry(ABOUT, &quoted(&workload.about));
    text += "\n[workload]\n";
    let mut entry = |name: &str, value: &str| {
        writeln!(text, "{name} = {value}").expect("a string takes everything");
    };
    entry("behaviour", &quoted(workload.behaviour.name()));
    let placement = Placement::ALL.iter().find(|(each, _)| *each == workload.placement);
    entry("placement", &quoted(placement.map_or("", |(_, name)| name)));
    entry("unit", &quoted(&workload.unit));
    match workload.job {
        Some(job) => entry("job", &job.to_string()),
        None => entry("per", &quoted(&time_text(workload.per))),
    }
    let mut behaviour = workload.behaviour.clone();
    for parameter in workload.behaviour.parameters() {
        if let Some(place) = (parameter.place)(&mut behaviour) {
            entry(parameter.name, &parameter.kind.text(place.get()));
        }
    }
    for (index, source) in file.sources.iter().enumerate() {
        let head = if index == 0 { "\n[source.workload]\n" } else { "" };
        let name = source.field.trim_start_matches("workload.");
        let source = quoted(&format!("{}: {}", source.evidence, source.text));
        writeln!(text, "{head}{name} = {source}").expect("a string takes everything");
    }
    for (index, prior) in file.priors.iter().enumerate() {
        let head = if index == 0 { "\n[prior.workload] # relative width, for the fit\n" } else { "" };
        let name = prior.field.trim_start_matches("workload.");
        writeln!(text, "{head}{name} = {:?}", prior.sigma).expect("a string takes everything");
    }
    text
}
