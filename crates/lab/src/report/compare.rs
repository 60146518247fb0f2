//! Rows of the same name in several files, and whether the files are alike.
use super::forms::{Figure, Form, Results, Row};
use lab_kit::names;
use lab_kit::provenance::Provenance;
use lab_kit::stats::{Ratio, Summary};
use serde::Serialize;

/// What may differ between files only if the user says so.
const MAY_DIFFER: [&str; 3] = ["machine", "arguments", "version"];
/// Arguments that change nothing about the figures, and whether a value follows.
const IDLE: [(&str, bool); 8] = [
    ("--json", true),
    ("--csv", true),
    ("--html", true),
    ("--out", true),
    ("--jobs", true),
    ("--force", false),
    ("--quiet", false),
    ("-q", false),
];

#[derive(Serialize)]
pub(super) struct Report {
    pub files: Vec<File>,
    /// What differs between them, of [`MAY_DIFFER`].
    pub unlike: Vec<&'static str>,
    pub simulated: bool,
    pub keys: &'static [&'static str],
    pub figures: Vec<Compared>,
}

#[derive(Serialize)]
pub(super) struct File {
    pub path: String,
    pub complete: bool,
    pub provenance: Provenance,
}

/// A figure in all files.
#[derive(Serialize)]
pub(super) struct Compared {
    pub name: &'static str,
    pub unit: &'static str,
    #[serde(skip)]
    pub form: fn(f64) -> String,
    pub rows: Vec<Line>,
    /// Of each file after the first, the ratio to the first: the geometric mean of the rows that both have.
    pub overall: Vec<Option<Ratio>>,
}

#[derive(Serialize)]
pub(super) struct Line {
    pub name: Vec<String>,
    /// None for a file that does not have it.
    pub values: Vec<Option<Summary>>,
    /// Of each file after the first, to the first.
    pub ratios: Vec<Option<Ratio>>,
}

impl Report {
    /// Of files that are alike, but for what `allowed` names; of these locks, or of all.
    pub(super) fn of(results: Vec<Results>, allowed: &[String], locks: &[String]) -> Result<Self, String> {
        if let Some(wrong) = allowed.iter().find(|word| !MAY_DIFFER.contains(&word.as_str())) {
            return Err(names::unknown("part of a result", wrong, MAY_DIFFER));
        }
        let (first, others) = results.split_first().ok_or("no file was named")?;
        let mut unlike = Vec::new();
        for other in others {
            let [own, theirs] = [first, other].map(|results| results.form.command);
            if own != theirs {
                return Err(format!(
                    "{} is of {own}, {} of {theirs}: they have no figure in common",
                    first.path, other.path
                ));
            }
            for (part, own, theirs) in differences(first, other) {
                if !allowed.iter().any(|word| word == part) {
                    let (one, two) = (&first.path, &other.path);
                    return Err(format!(
                        "{one} and {two} differ in {part}, '{own}' and '{theirs}'; --unlike {part} compares them nevertheless"
                    ));
                }
                if !unlike.contains(&part) {
                    unlike.push(part);
                }
            }
        }
        // Rows that only later files have come last.
        let mut all: Vec<&Vec<String>> = Vec::new();
        for name in results.iter().flat_map(|results| &results.names) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let lock = |name: &[String]| name.last().cloned().unwrap_or_default();
        names::chosen("lock", all.iter().map(|name| lock(name)).collect(), locks, |lock| lock)?;
        all.retain(|name| locks.is_empty() || locks.contains(&lock(name)));
        let figures = first.form.figures.iter().enumerate().map(|(index, figure)| {
            let lines = all.iter().map(|name| Line::of(name, &results, index)).collect();
            Compared::of(figure, lines, results.len())
        });
        let figures = figures.filter(|figure| !figure.rows.is_empty()).collect();
        let file = |Results { path, complete, provenance, .. }| File { path, complete, provenance };
        let Form { simulated, keys, .. } = *first.form;
        Ok(Self { figures, unlike, simulated, keys, files: results.into_iter().map(file).collect() })
    }
}

impl Line {
    fn of(name: &[String], results: &[Results], figure: usize) -> Self {
        let values = |results: &Results| {
            let values: Option<&Vec<f64>> = results.rows.get(name).map(|row: &Row| &row[figure]);
            values.filter(|values| !values.is_empty()).cloned().map(Summary::of)
        };
        let values = results.iter().map(values).collect();
        let mut line = Self { name: name.to_owned(), values, ratios: Vec::new() };
        line.ratios = (1..results.len()).map(|file| Ratio::of_unpaired(&[line.rounds(file)?])).collect();
        line
    }

    /// Those of a file, and of the first.
    pub(super) fn rounds(&self, file: usize) -> Option<(&[f64], &[f64])> {
        Some((&self.values[file].as_ref()?.rounds, &self.values[0].as_ref()?.rounds))
    }
}

impl Compared {
    /// Rows that no file has a value of are left out.
    fn of(&(name, unit, form, _): &Figure, mut rows: Vec<Line>, files: usize) -> Self {
        rows.retain(|line| line.values.iter().any(Option::is_some));
        let overall = |file: usize| {
            let both = rows.iter().filter(|line| line.ratios[file - 1].is_some());
            Ratio::of_unpaired(&both.filter_map(|line| line.rounds(file)).collect::<Vec<_>>())
        };
        Self { name, unit, form, overall: (1..files).map(overall).collect(), rows }
    }
}

/// Where two results are not from the same: the part of [`MAY_DIFFER`], and what each has.
fn differences(first: &Results, other: &Results) -> Vec<(&'static str, String, String)> {
    let parts = |results: &Results| {
        let Provenance { cpu_model, cpus, numa_nodes, hypervisor, kernel, libc, .. } = &results.provenance;
        let Provenance { stanchion, commit, tree, build, rustc, arguments, .. } = &results.provenance;
        let nowhere = results.form.simulated;
        let machine = format!("{cpu_model}, {cpus} CPUs, {numa_nodes} nodes, {hypervisor}, {kernel}, {libc}");
        [
            if nowhere { String::new() } else { machine },
            that_count(arguments),
            format!("{stanchion}, commit {commit}, tree {tree}, {build} build of {rustc}"),
        ]
    };
    let pairs = parts(first).into_iter().zip(parts(other));
    let all = MAY_DIFFER.into_iter().zip(pairs).map(|(part, (own, theirs))| (part, own, theirs));
    all.filter(|(_, own, theirs)| own != theirs).collect()
}

/// The arguments that figures depend on.
fn that_count(arguments: &[String]) -> String {
    let mut words = arguments.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        match IDLE.iter().find(|(idle, _)| *idle == flag) {
            Some((_, true)) if flag == word => drop(words.next()),
            Some(_) => {}
            None => kept.push(word.as_str()),
        }
    }
    kept.join(" ")
}
