//! Results as they are read: where in the JSON of each command its rows and their names and figures are.
use lab_kit::provenance::Provenance;
use lab_kit::units::{format_ns, rate, three_figures};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A figure: its name; its unit, and what is better; how people read it; its values in a row, one for each
/// round, run or seed.
pub(super) type Figure = (&'static str, &'static str, fn(f64) -> String, fn(&Value) -> Vec<f64>);

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

static FORMS: [Form; 6] = [
    Form {
        command: "bench",
        schema: 1,
        simulated: false,
        rows: "cells",
        keys: &["profile", "mix", "reads_percent", "writers", "threads", "lock"],
        figures: &[
            ("throughput", "acquisitions a second; more is better", rate, |row| {
                at(row, "/throughput/rounds")
            }),
            ("cpu", "CPU seconds a million acquisitions; less is better", three_figures, |row| {
                at(row, "/cpu_rounds")
            }),
            ("p999", "99.9 % of waits; less is better", format_ns, |row| at(row, "/latency/p999_rounds_ns")),
            ("reads", "a second; more is better", rate, |row| at(row, "/reads/throughput/rounds")),
            ("writes", "a second; more is better", rate, |row| at(row, "/writes/throughput/rounds")),
        ],
    },
    Form {
        command: "sim",
        schema: 1,
        simulated: true,
        rows: "cells",
        keys: &["machine", "workload", "vcpus", "lock"],
        figures: &[
            ("throughput", "units a second; more is better", rate, |row| {
                at(row, "/figures/throughput/values")
            }),
            ("p999", "99.9 % of waits; less is better", format_ns, |row| at(row, "/figures/latency/p999_ns")),
            ("fairness", "slowest thread to fastest; more is better", three_figures, |row| {
                at(row, "/figures/fairness/values")
            }),
        ],
    },
    Form {
        command: "reproduce",
        schema: 2,
        simulated: true,
        rows: "cells",
        keys: &["table", "row", "lock"],
        figures: &[
            ("simulated", "in the table's unit", three_figures, |row| at(row, "/simulated")),
            ("error", "relative to what is published; less is better", three_figures, |row| {
                at(row, "/relative_error").into_iter().map(f64::abs).collect()
            }),
        ],
    },
    Form {
        command: "run",
        schema: 2,
        simulated: false,
        rows: "locks",
        keys: &["lock"],
        figures: &[
            ("wall", "less is better", seconds, |row| each(row, "wall_s")),
            ("cpu", "CPU time; less is better", seconds, |row| each(row, "cpu_s")),
            ("memory", "KiB at most; less is better", three_figures, |row| each(row, "max_rss_kib")),
            ("output", "as the program printed it", three_figures, |row| each(row, "picked")),
        ],
    },
    Form {
        command: "advise",
        schema: 1,
        simulated: true,
        rows: "cells",
        keys: &["machine", "cpus", "workers", "lock"],
        figures: &[
            ("throughput", "acquisitions a second; more is better", rate, |row| at(row, "/rate/values")),
            ("p999", "99.9 % of waits; less is better", format_ns, |row| at(row, "/p999_ns")),
        ],
    },
    Form {
        command: "guest",
        schema: 1,
        simulated: false,
        rows: "runs",
        keys: &["lock"],
        figures: &[
            ("throughput", "operations a second; more is better", rate, |row| {
                let [operations, ns] =
                    ["operations", "elapsed_ns"].map(|name| at(row, &format!("/work/{name}")));
                operations.into_iter().zip(ns).map(|(operations, ns)| operations / ns * 1e9).collect()
            }),
            ("p99", "99 % of waits; less is better", format_ns, |row| at(row, "/work/wait_p99_ns")),
        ],
    },
];

fn seconds(value: f64) -> String {
    format_ns(value * 1e9)
}

/// The number there, or the numbers, of which infinity is null; none if there is nothing.
fn at(row: &Value, place: &str) -> Vec<f64> {
    let number = |value: &Value| if value.is_null() { Some(f64::INFINITY) } else { value.as_f64() };
    match row.pointer(place) {
        Some(Value::Array(values)) => values.iter().filter_map(number).collect(),
        value => value.and_then(Value::as_f64).into_iter().collect(),
    }
}

/// What each run that counts has under a name.
fn each(row: &Value, name: &str) -> Vec<f64> {
    let runs = row["runs"].as_array().into_iter().flatten().filter(|run| run["warmup"] == false);
    runs.filter_map(|run| run[name].as_f64()).collect()
}

/// Whether the figures of a row are those of a lock that held, in a run that went well.
fn is_sound(row: &Value) -> bool {
    let states = ["measured", "finished", "unfinished", "compared", "predicted"];
    row["state"].as_str().is_none_or(|state| states.contains(&state))
        && ["failed", "failure", "reason"].iter().all(|why| row[why].is_null())
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
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&path.display().to_string(), &text)
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
        for row in value[form.rows].as_array().into_iter().flatten() {
            let name: Vec<String> = form.keys.iter().map(|key| plain(&row[key])).collect();
            let known = rows.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                vec![Vec::new(); form.figures.len()]
            });
            if !is_sound(row) {
                unsound.push(plain_name(&name));
                continue;
            }
            // Commands with a row for each run have several of a name.
            for (values, (.., of)) in known.iter_mut().zip(form.figures) {
                values.extend(of(row));
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
    let setting =
        value["setting"].as_object().into_iter().flatten().filter(|(key, _)| !idle.contains(&key.as_str()));
    let besides = ["program", "words", "seeds"].map(|key| (key.to_owned(), plain(&value[key])));
    let recorded = ("recorded".to_owned(), plain(&value["recording"]["program"]));
    let setting = setting.map(|(key, value)| (key.clone(), plain(value)));
    besides.into_iter().chain([recorded]).chain(setting).collect()
}

/// A value without quotation marks; nothing for null.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace(char::is_control, " "),
        other => other.to_string(),
    }
}
