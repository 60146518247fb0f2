//! The locks of a section: those with a row, best first, and those that collapsed.
use super::mix::Load;
use super::quantity::{QUANTITIES, Quantity};
use super::report::{Cell, Report, State};
use lab_kit::units::three_figures;

/// Below this part of the best throughput of its column a lock has collapsed.
pub(crate) const COLLAPSED: f64 = 0.1;

/// The locks of a section: those with a row, best first, and those that collapsed.
pub(crate) struct Rows<'a> {
    report: &'a Report,
    load: Load<'a>,
    pub shown: Vec<&'a str>,
    /// Each with its cell where it first does.
    pub collapsed: Vec<&'a Cell>,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(report: &'a Report, load: Load<'a>) -> Self {
        let names = || report.locks.iter().map(|lock| lock.name.as_str());
        let mut collapsed: Vec<&Cell> = names().filter_map(|lock| collapse(report, load, lock)).collect();
        let has_row = |collapsed: &[&Cell], name: &str| collapsed.iter().all(|cell| cell.lock != name);
        if !names().any(|name| has_row(&collapsed, name)) {
            collapsed.clear();
        }
        let mut rows = Self { report, load, shown: Vec::new(), collapsed };
        let of_key = |quantity: &&Quantity| quantity.key == report.setting.sort;
        let quantity = rows.quantities().find(of_key).unwrap_or(&QUANTITIES[0]);
        let sign = if quantity.more_is_better() { -1.0 } else { 1.0 };
        let rank = |name: &str| {
            let cells = report.setting.threads.iter().filter_map(|&column| report.at(name, load, column));
            let sound = cells.filter(|cell| cell.state == State::Measured);
            let logs: Vec<f64> =
                sound.filter_map(|cell| quantity.value(cell)).map(|value| value.max(1e-9).ln()).collect();
            if logs.is_empty() { f64::INFINITY } else { sign * logs.iter().sum::<f64>() / logs.len() as f64 }
        };
        let mut shown: Vec<&str> = names().filter(|name| has_row(&rows.collapsed, name)).collect();
        shown.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        rows.shown = shown;
        rows
    }

    /// What any lock of the section has.
    pub(crate) fn quantities(&self) -> impl Iterator<Item = &'static Quantity> + use<'a> {
        let (report, load) = (self.report, self.load);
        QUANTITIES
            .iter()
            .filter(move |quantity| report.section(load).any(|cell| quantity.value(cell).is_some()))
    }

    /// Those that collapsed, in one sentence.
    pub(crate) fn collapsed_line(&self) -> Option<String> {
        let say = |cell: &&Cell| {
            let column = self.load.column(cell.threads);
            let how = match cell.state {
                State::Stalled => "stalled".to_owned(),
                _ => format!("{} M/s", three_figures(cell.rate() / 1e6)),
            };
            format!("{} from {column} {} ({how})", cell.lock, self.load.counted())
        };
        let all: Vec<String> = self.collapsed.iter().map(say).collect();
        (!all.is_empty()).then(|| format!("collapsed below a tenth of the best: {}", all.join(", ")))
    }
}

/// The first cell of a lock, threads ascending, in which it collapsed or stalled.
fn collapse<'a>(report: &'a Report, load: Load<'a>, lock: &str) -> Option<&'a Cell> {
    report.setting.threads.iter().find_map(|&column| {
        let cell = report.at(lock, load, column)?;
        let best = report.column(load, column).iter().map(|cell| cell.rate()).fold(0.0, f64::max);
        let slow = cell.state == State::Measured && cell.rate() < COLLAPSED * best;
        (slow || cell.state == State::Stalled).then_some(cell)
    })
}
