//! Rows of the same name in several files, and whether the files are alike.
use super::forms::{Facts, Figure, Form, Results, Row, plain};
use lab_kit::names;
use lab_kit::stats::{Ratio, Sides, Summary};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;

/// What may differ between files only if the user says so.
const MAY_DIFFER: [&str; 4] = ["machine", "arguments", "version", "files"];

#[derive(Serialize)]
pub(super) struct Report {
    schema: u32,
    pub files: Vec<Results>,
    /// What differs between them, of [`MAY_DIFFER`].
    pub unlike: Vec<&'static str>,
    pub simulated: bool,
    pub keys: &'static [&'static str],
    pub figures: Vec<Compared>,
}

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
    pub values: Vec<Option<Summary>>,
    /// Of each file after the first, to the first; none without an interval.
    pub ratios: Vec<Option<Ratio>>,
}

impl Report {
    /// Of files that are alike, but for what `allowed` names; of these locks, or of all.
    pub(super) fn of(results: Vec<Results>, allowed: &[String], locks: &[String]) -> Result<Self, String> {
        names::chosen("part of a result", MAY_DIFFER.to_vec(), allowed, |part| part)?;
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
            for (part, what) in differences(first, other) {
                if !allowed.iter().any(|word| word == part) {
                    let (one, two) = (&first.path, &other.path);
                    return Err(format!(
                        "{one} and {two} differ in {part}, {what}; --unlike {part} compares them nevertheless"
                    ));
                }
                if !unlike.contains(&part) {
                    unlike.push(part);
                }
            }
        }
        // Rows that only later files have come last.
        let mut seen = BTreeSet::new();
        let mut all: Vec<&Vec<String>> = results.iter().flat_map(|results| &results.names).collect();
        all.retain(|name| seen.insert(*name));
        let lock = |name: &[String]| name.last().cloned().unwrap_or_default();
        let known: BTreeSet<String> = all.iter().map(|name| lock(name)).collect();
        let known = known.into_iter().chain([names::ALL.to_owned()]);
        names::chosen("lock", known.collect(), locks, |lock| lock)?;
        let locks = if locks.iter().any(|lock| lock == names::ALL) { &[] } else { locks };
        all.retain(|name| locks.is_empty() || locks.contains(&lock(name)));
        let figures = first.form.figures.iter().enumerate().map(|(index, figure)| {
            let lines = all.iter().map(|name| Line::of(name, &results, index)).collect();
            Compared::of(figure, lines, results.len(), first.form.simulated)
        });
        let figures = figures.filter(|figure| !figure.rows.is_empty()).collect();
        let Form { simulated, keys, .. } = *first.form;
        Ok(Self { schema: 1, figures, unlike, simulated, keys, files: results })
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
        let of = ratio_of(results[0].form.simulated);
        let ratio = |file| of(&[line.rounds(file)?]).filter(|ratio| ratio.interval.is_some());
        line.ratios = (1..results.len()).map(ratio).collect();
        line
    }

    /// Those of a file, and of the first.
    pub(super) fn rounds(&self, file: usize) -> Option<Sides<'_>> {
        Some((&self.values[file].as_ref()?.rounds, &self.values[0].as_ref()?.rounds))
    }
}

impl Compared {
    /// Rows that no file has a value of are left out.
    fn of(&(name, unit, form, _): &Figure, mut rows: Vec<Line>, files: usize, simulated: bool) -> Self {
        rows.retain(|line| line.values.iter().any(Option::is_some));
        let overall = |file: usize| {
            let both = rows.iter().filter(|line| line.ratios[file - 1].is_some());
            ratio_of(simulated)(&both.filter_map(|line| line.rounds(file)).collect::<Vec<_>>())
        };
        let overall = (1..files).map(overall).collect();
        Self { name, unit, form, rows, overall }
    }
}

/// Files of simulations have the same seeds; rounds of other files have nothing to do with each other.
fn ratio_of(simulated: bool) -> fn(&[Sides]) -> Option<Ratio> {
    if simulated { Ratio::of } else { Ratio::of_unpaired }
}

/// Where two results are not from the same: the part of [`MAY_DIFFER`], what of it, and what each has.
fn differences(first: &Results, other: &Results) -> Vec<(&'static str, String)> {
    let facts = |results: &Results, other: &Results| {
        let provenance = json!(results.provenance);
        let named = |names: &str| -> Facts {
            let fact = |name: &str| (name.replace('_', " "), plain(&provenance[name]));
            names.split(' ').map(fact).collect()
        };
        let mut machine = named("cpu_model cpus numa_nodes hypervisor kernel libc");
        machine.insert("cpus used".to_owned(), results.cpus.clone());
        if results.form.simulated {
            machine.clear();
        }
        let version = named("stanchion commit tree build rustc");
        // A file that only one of them names is of rows that only one of them has.
        let mut files = results.provenance.files.clone();
        files.retain(|file, _| other.provenance.files.contains_key(file));
        [machine, results.asked.clone(), version, files]
    };
    let difference = |(part, (own, theirs)): (&'static str, (Facts, Facts))| {
        let mut keys = own.keys().chain(theirs.keys());
        let key = keys.find(|key| own.get(*key) != theirs.get(*key))?;
        let [own, theirs] = [&own, &theirs].map(|facts| facts.get(key).cloned().unwrap_or_default());
        Some((part, format!("{key} '{own}' and '{theirs}'")))
    };
    let pairs = facts(first, other).into_iter().zip(facts(other, first));
    MAY_DIFFER.into_iter().zip(pairs).filter_map(difference).collect()
}
