//! Results as they are read: where in the JSON of each command its rows and their names and figures are.
use lab_kit::output::read_text;
use lab_kit::provenance::Provenance;
use lab_kit::units::{format_ns, rate, three_figures as three};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A figure: its name; its unit, and what is better; how people read it; where its values are in a row, one
/// for each round, run or seed.
pub(super) type Figure = (&'static str, &'static str, fn(f64) -> String, Place);

/// Names on the way to a number or a list of them, with points between them. `*` stands for each of several
/// runs; a count in some time has `per` before the name of the nanoseconds; `size` means the number without
/// its sign.
type Place = &'static str;

pub(super) struct Form {
    pub command: &'static str,
    /// What `schema` is in files that this table describes.
    schema: u32,
    /// Whether figures are simulated, so that they do not depend on the machine.
    pub simulated: bool,
    rows: &'static str,
    /// What tells rows apart; a row may lack some.
    pub keys: &'static [&'static str],
    pub figures: &'static [Figure],
}

impl Form {
    const fn measured(
        command: &'static str,
        schema: u32,
        rows: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self { command, schema, simulated: false, rows, keys, figures: &[] }
    }

    const fn simulated(
        command: &'static str,
        schema: u32,
        rows: &'static str,
        keys: &'static [&'static str],
    ) -> Self {
        Self { simulated: true, ..Self::measured(command, schema, rows, keys) }
    }

    const fn with(self, figures: &'static [Figure]) -> Self {
        Self { figures, ..self }
    }
}

static FORMS: [Form; 10] = [
    Form::measured("bench", 1, "cells", &["profile", "mix", "reads_percent", "writers", "threads", "lock"])
        .with(&[
            ("throughput", "acquisitions a second; more is better", rate, "throughput.rounds"),
            ("cpu", "CPU seconds a million acquisitions; less is better", three, "cpu_rounds"),
            ("p999", "99.9 % of waits; less is better", format_ns, "latency.p999_rounds_ns"),
            ("reads", "a second; more is better", rate, "reads.throughput.rounds"),
            ("writes", "a second; more is better", rate, "writes.throughput.rounds"),
        ]),
    Form::simulated("sim", 1, "cells", &["machine", "workload", "vcpus", "lock"]).with(&[
        ("throughput", "units a second; more is better", rate, "figures.throughput.values"),
        ("p999", "99.9 % of waits; less is better", format_ns, "figures.latency.p999_ns"),
        ("fairness", "slowest thread to fastest; more is better", three, "figures.fairness.values"),
    ]),
    Form::simulated("reproduce", 3, "cells", &["table", "row", "lock"]).with(&[
        ("simulated", "in the table's unit", three, "values"),
        ("error", "relative to what is published; less is better", three, "relative_error.size"),
    ]),
    Form::simulated("fit", 1, "cells", &["table", "row", "lock"]).with(&[
        ("simulated", "in the table's unit", three, "simulated"),
        ("error", "relative to what is published; less is better", three, "relative_error.size"),
    ]),
    Form::measured("run", 2, "locks", &["lock"]).with(&[
        ("wall", "less is better", seconds, "runs.*.wall_s"),
        ("cpu", "CPU time; less is better", seconds, "runs.*.cpu_s"),
        ("memory", "KiB at most; less is better", three, "runs.*.max_rss_kib"),
        ("output", "as the program printed it", three, "runs.*.picked"),
    ]),
    Form::simulated("advise", 1, "cells", &["machine", "cpus", "workers", "lock"]).with(&[
        ("throughput", "acquisitions a second; more is better", rate, "rate.values"),
        ("p999", "99.9 % of waits; less is better", format_ns, "p999_ns"),
    ]),
    Form::measured("guest", 1, "runs", &["lock"]).with(&[
        ("throughput", "operations a second; more is better", rate, "work.operations.per.elapsed_ns"),
        ("p99", "99 % of waits; less is better", format_ns, "work.wait_p99_ns"),
    ]),
    Form::measured("torture", 1, "results", &["lock"]).with(&[
        ("writes", "in the time of a lock; more is better", three, "finished.writes.total"),
        ("reads", "in the time of a lock; more is better", three, "finished.reads.total"),
        ("fairness", "Jain's index of threads; more is better", three, "finished.jain"),
    ]),
    Form::simulated("explore", 1, "results", &["lock"]).with(&[
        ("bypass", "the most that one waiter lets pass; less is better", three, "worst_overtaking"),
        ("schedules", "that were explored", three, "schedules"),
        ("steps", "in all schedules", three, "steps"),
    ]),
    Form::measured("calibrate", 2, "figures", &["what"]).with(&[(
        "values",
        "ns, or a share",
        three,
        "rounds",
    )]),
];

fn seconds(value: f64) -> String {
    format_ns(value * 1e9)
}

/// The number there, or the numbers, of which infinity is null; none if there is nothing. Or what stands
/// there and is no number.
fn at(value: &Value, place: &[&str]) -> Result<Vec<f64>, String> {
    let number = |value: &Value| value.as_f64().ok_or_else(|| plain(value));
    let number_or_null = |value: &Value| if value.is_null() { Ok(f64::INFINITY) } else { number(value) };
    match (value, place) {
        (Value::Null, _) => Ok(Vec::new()),
        (value, ["size"]) => Ok(at(value, &[])?.into_iter().map(f64::abs).collect()),
        (Value::Object(_), [what, "per", ns]) => {
            let pairs = at(value, &[what])?.into_iter().zip(at(value, &[ns])?);
            Ok(pairs.map(|(count, ns)| count / ns * 1e9).collect())
        }
        (Value::Object(fields), [part, rest @ ..]) => at(fields.get(*part).unwrap_or(&Value::Null), rest),
        (Value::Array(runs), ["*", rest @ ..]) => {
            let runs = runs.iter().filter(|run| run["warmup"] != true);
            Ok(runs.map(|run| at(run, rest)).collect::<Result<Vec<_>, _>>()?.concat())
        }
        (Value::Array(values), []) => values.iter().map(number_or_null).collect(),
        (value, []) => Ok(vec![number(value)?]),
        (other, _) => Err(plain(other)),
    }
}

/// Letters of what is no number that a refusal quotes.
const MOST_QUOTED: usize = 40;

/// Whether the figures of a row are those of a lock that held, in a run that went well.
fn is_sound(row: &Value) -> bool {
    let states = ["measured", "finished", "unfinished", "compared", "predicted"];
    row["state"].as_str().is_none_or(|state| states.contains(&state))
        && row["failures"].as_array().is_none_or(Vec::is_empty)
        && ["failed", "failure", "reason"].iter().all(|why| row[why].is_null())
}

/// The part of a row's name that a key stands for. Of torture it is among what was asked.
fn named<'a>(row: &'a Value, key: &str) -> &'a Value {
    row.get(key).unwrap_or(&row["orders"][key])
}

/// The name of a row as people read it.
pub(super) fn plain_name(name: &[String]) -> String {
    name.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ")
}

/// The values of each figure of a row.
pub(super) type Row = Vec<Vec<f64>>;

pub(super) type Facts = BTreeMap<String, String>;

#[derive(Serialize)]
pub(super) struct Results {
    pub path: String,
    pub complete: bool,
    /// Rows without values: of a lock that was broken, or of a run that failed.
    pub unsound: Vec<String>,
    pub provenance: Provenance,
    #[serde(skip)]
    pub form: &'static Form,
    /// What was asked for, whichever way it was written, without what does not change figures.
    #[serde(skip)]
    pub asked: Facts,
    #[serde(skip)]
    pub cpus: String,
    /// Of rows, in the order of the file.
    #[serde(skip)]
    pub names: Vec<Vec<String>>,
    #[serde(skip)]
    pub rows: BTreeMap<Vec<String>, Row>,
}

impl Results {
    /// Of a file; or in one line why it is none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        Self::parse(&path.display().to_string(), &read_text(path)?)
    }

    pub(super) fn parse(path: &str, text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("{path}: no JSON ({error}); commands write it with --json or --out"))?;
        let provenance: Provenance = serde_json::from_value(value["provenance"].clone())
            .map_err(|_| format!("{path}: no result of a command: it does not say where it is from"))?;
        let command = match provenance.arguments.first().map_or("", String::as_str) {
            // It shows in other tables what these have measured.
            "ablate" if value["scenes"].is_array() => "sim",
            "ablate" => "bench",
            other => other,
        };
        let form = FORMS.iter().find(|form| form.command == command).ok_or_else(|| {
            let known = FORMS.each_ref().map(|form| form.command).join(", ");
            format!("{path}: of '{command}', which has no figures to compare; those with are {known}")
        })?;
        let schema = &value["schema"];
        if *schema != form.schema {
            return Err(format!("{path}: its schema is {schema}, and this stanchion knows {}", form.schema));
        }
        let (mut names, mut unsound, mut rows) = (Vec::new(), Vec::new(), BTreeMap::<_, Row>::new());
        for (number, row) in (1..).zip(value[form.rows].as_array().into_iter().flatten()) {
            if !row.is_object() {
                return Err(format!("{path}: number {number} of its {} is no row", form.rows));
            }
            let name: Vec<String> = form.keys.iter().map(|key| plain(named(row, key))).collect();
            let known = rows.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                vec![Vec::new(); form.figures.len()]
            });
            if !is_sound(row) {
                unsound.push(plain_name(&name));
                continue;
            }
            // Commands with a row for each run have several of a name.
            for (values, (figure, .., place)) in known.iter_mut().zip(form.figures) {
                let place: Vec<&str> = place.split('.').collect();
                let found = at(row, &place).map_err(|other| {
                    let other: String = other.chars().take(MOST_QUOTED).collect();
                    format!("{path}: {figure} of {} has '{other}' in place of a number", plain_name(&name))
                })?;
                values.extend(found);
            }
        }
        if rows.values().flatten().all(Vec::is_empty) {
            return Err(format!("{path}: no row has a figure"));
        }
        let (asked, cpus) = (asked(&value), plain(&value["setting"]["cpus"]));
        let (path, complete) = (path.replace(char::is_control, " "), value["complete"] != false);
        Ok(Self { path, complete, unsound, provenance, form, asked, cpus, names, rows })
    }
}

fn asked(value: &Value) -> Facts {
    // What is a row, chosen by chance, or only shown.
    let idle = ["cpus", "locks", "seed", "sort", "show_output", "image"];
    let parts = ["setting", "options"].into_iter().filter_map(|part| value[part].as_object()).flatten();
    let setting = parts.filter(|(key, _)| !idle.contains(&key.as_str()));
    let besides = ["program", "words", "seeds", "quick"].map(|key| (key.to_owned(), plain(&value[key])));
    let recorded = ("recorded".to_owned(), plain(&value["recording"]["program"]));
    let setting = setting.map(|(key, value)| (key.clone(), plain(value)));
    besides.into_iter().chain([recorded]).chain(setting).collect()
}

/// A value without quotation marks; nothing for null.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace(char::is_control, " "),
        other => other.to_string(),
    }
}
