//! A report as people read it: what differs between files, verdicts, a row for each cell; as rows; as a page.
use super::compare::{Compared, Line, Report};
use super::forms::{Results, plain_name};
use core::fmt::Write;
use lab_kit::column::Figure as _;
use lab_kit::export::ratios::{Mark, ratios};
use lab_kit::export::svg::{classes, marker, sample};
use lab_kit::export::{colours, grid, page};
use lab_kit::stats::{MARKS, Ratio, Summary};
use lab_kit::units::plural;
use maud::html;

const NOTE: &str = "\
Each ratio has its 95 % interval over rounds; a row with one round, or nothing in one, has none.
Of twenty rows that do not differ, one is clear by chance. Results of two days differ by more than
rounds of one day do.";

/// As many files as there are letters for them.
pub(super) const MOST_FILES: usize = 26;

pub(super) fn letter(file: usize) -> &'static str {
    &"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[file..=file]
}

pub(super) fn doubts(report: &Report) -> Vec<String> {
    let unlike = report.unlike.iter().map(|part| format!("the files differ in {part}"));
    let unsound = report.files.iter().filter(|file| !file.unsound.is_empty()).map(|file| {
        let rows = plural(file.unsound.len(), "row");
        format!("{}: {rows} left out, of broken locks or failed runs, such as {}", file.path, file.unsound[0])
    });
    let unknown = report.files.iter().filter(|file| file.provenance.tree != "clean");
    let unknown = unknown.map(|Results { path, provenance, .. }| match provenance.commit.as_str() {
        commit if provenance.tree == "dirty" && commit != "unknown" => {
            format!("{path} was built from a tree with changes, of commit {commit}")
        }
        _ => format!("{path} does not say which commit it is of"),
    });
    let cut = report.files.iter().filter(|file| !file.complete);
    let cut = cut.map(|file| format!("{} is of a run that was not finished", file.path));
    let debug = report.files.iter().filter(|file| !report.simulated && file.provenance.build == "debug");
    let debug = debug.map(|file| format!("{} is of a debug build, whose figures mean nothing", file.path));
    unlike.chain(unsound).chain(unknown).chain(cut).chain(debug).collect()
}

/// A line for each file after the first.
fn verdict(figure: &Compared) -> String {
    let line = |(other, overall): (usize, &Option<Ratio>)| {
        let own = letter(other + 1);
        let both = figure.rows.iter().filter(|line| line.rounds(other + 1).is_some()).count();
        let rows = plural(both, "row");
        let Some(overall) = overall else {
            return format!("  {own}: {rows} in both files, none with a ratio\n");
        };
        let ratios = || figure.rows.iter().filter_map(|line| line.ratios[other].as_ref());
        let clear =
            |side: fn(&&Ratio) -> bool| ratios().filter(|ratio| ratio.is_clear()).filter(side).count();
        let [more, less] = [clear(|ratio| ratio.ratio > 1.0), clear(|ratio| ratio.ratio < 1.0)];
        let all = ratios().count();
        let of = if both > all { format!("{all} of {rows}") } else { rows };
        let unclear = all - more - less;
        format!("  {own} is {overall} times A in {of}: {more} more, {less} less, {unclear} unclear\n")
    };
    let lines: String = figure.overall.iter().enumerate().map(line).collect();
    format!("{} ({})\n{lines}", figure.name, figure.unit)
}

fn table(report: &Report, figure: &Compared) -> comfy_table::Table {
    // Keys that no row has are of other kinds of locks.
    let has = |key: &usize| figure.rows.iter().any(|line| !line.name[*key].is_empty());
    let keys: Vec<usize> = (0..report.keys.len()).filter(has).collect();
    let files = 0..report.files.len();
    let ratios = files.clone().skip(1).map(|file| format!("{} to A", letter(file)));
    let names = keys.iter().map(|&key| report.keys[key].to_owned());
    let header = names.chain(files.map(|file| letter(file).to_owned())).chain(ratios);
    let row = |line: &Line| {
        let value =
            |value: &Option<Summary>| value.as_ref().map_or("-".to_owned(), |value| value.told(figure.form));
        let ratio = |ratio: &Option<Ratio>| ratio.map_or("-".to_owned(), |ratio| ratio.to_string());
        let words = keys.iter().map(|&key| line.name[key].clone());
        words.chain(line.values.iter().map(value)).chain(line.ratios.iter().map(ratio)).collect::<Vec<_>>()
    };
    grid::table(header.collect::<Vec<_>>(), figure.rows.iter().map(row))
}

fn verdicts(report: &Report) -> String {
    let file = |(index, Results { path, provenance, .. }): (usize, &Results)| {
        format!("{}  {path} ({})\n", letter(index), provenance.date)
    };
    let files = report.files.iter().enumerate().map(file);
    files.chain(report.figures.iter().map(|figure| format!("\n{}", verdict(figure)))).collect()
}

pub(super) fn text(report: &Report, only_first: bool) -> String {
    let mut text = verdicts(report);
    for figure in report.figures.iter().take(if only_first { 1 } else { usize::MAX }) {
        let table = table(report, figure);
        let words = table.column_iter().count() + 1 - 2 * report.files.len();
        let _ = write!(text, "\n{}\n{}", figure.name, grid::pieces(&table, words));
    }
    format!("{text}\n{NOTE}\n{MARKS}\n")
}

pub(super) fn csv(report: &Report) -> String {
    let comments = report.files.iter().enumerate().flat_map(|(index, file)| {
        let from = file.provenance.rows().into_iter().map(|(name, value)| format!("{name}: {value}"));
        [format!("{}: {}", letter(index), file.path)].into_iter().chain(from)
    });
    let rows = report.figures.iter().flat_map(|figure| {
        figure.rows.iter().flat_map(move |line| {
            line.values.iter().enumerate().map(move |(file, value)| {
                let ratio = file.checked_sub(1).and_then(|other| line.ratios[other]);
                let ends = ratio.and_then(|ratio| ratio.bounds());
                let keys =
                    report.keys.iter().copied().zip(line.name.iter().map(|part| part.as_str().value()));
                let figures = [
                    ("figure", figure.name.value()),
                    ("file", letter(file).value()),
                    ("median", value.as_ref().map(|value| value.median).value()),
                    ("rounds", value.as_ref().map_or(0, |value| value.rounds.len()).value()),
                    ("ratio", ratio.and_then(|ratio| ratio.middle()).value()),
                    ("ratio_low", ends.map(|(low, _)| low).value()),
                    ("ratio_high", ends.map(|(_, high)| high).value()),
                ];
                keys.chain(figures).collect::<Vec<_>>()
            })
        })
    });
    lab_kit::export::csv(comments, rows)
}

/// The rows of a figure, with marks of their ratios.
fn marks(figure: &Compared) -> Vec<(String, Vec<Option<Mark>>)> {
    let row = |line: &Line| {
        let name = plain_name(&line.name);
        let mark = |(other, ratio): (usize, &Option<Ratio>)| {
            let (ratio, index) = (ratio.as_ref()?, other + 1);
            let about = format!("{} to A, {name}: {ratio}", letter(index));
            Some(Mark { index, about, ratio: ratio.middle(), ends: ratio.ends() })
        };
        let marks = line.ratios.iter().enumerate().map(mark).collect();
        (name.clone(), marks)
    };
    figure.rows.iter().map(row).collect()
}

pub(super) fn page(report: &Report) -> String {
    let from = |(index, file): (usize, &Results)| {
        let rows = file.provenance.rows().into_iter().map(|(name, value)| format!("{name}: {value}"));
        (letter(index), rows.collect::<Vec<_>>().join("; "))
    };
    let body = html! {
        h1 { "Results side by side" }
        pre.verdict { (verdicts(report)) }
        (page::doubts(2, doubts(report)))
        (page::facts(report.files.iter().enumerate().map(from)))
        ul.legend {
            @for (file, Results { path, .. }) in report.files.iter().enumerate().skip(1) {
                @let marker = html! { g class=(classes(file, false, false)) { (marker(file, 6.0, 6.0)) } };
                li { (sample(&marker)) (letter(file)) ": " (path) }
            }
        }
        @for figure in &report.figures {
            h2 { (figure.name) }
            p.sub { (figure.unit) }
            (ratios(&format!("{}: ratio to A", figure.name), "ratios to A, which the table has, too", marks(figure)))
            (page::table(&table(report, figure)))
        }
        p.sub { (NOTE) " " (MARKS) }
    };
    page::page("Results side by side", &colours(report.files.len()), &body)
}
