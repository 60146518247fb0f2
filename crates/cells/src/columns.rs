//! The columns of cells, of which files and tables are made.
use crate::cell::{Cell, Figures, SceneInfo, State};
use crate::column::{Column, Figure};
use crate::published::cells as published;
use crate::published::roles::Role;
use crate::published::tables::Table;
use crate::stats::are_two_kinds;
use stanchion_sim::Cause;

/// A row of a table of cells.
#[derive(Clone, Copy)]
pub struct CellRow<'a> {
    /// The scene of the cell, if it is known.
    pub scene: Option<&'a SceneInfo>,
    /// The cell.
    pub cell: &'a Cell,
}

/// The columns of cells.
pub fn of_cells<'a>() -> Vec<Column<CellRow<'a>>> {
    let mut columns = vec![
        Column::new("machine", |row: &CellRow| row.cell.machine.clone()),
        Column::new("cpus", |row: &CellRow| row.scene.map(|scene| scene.cpus)),
        Column::new("workload", |row: &CellRow| row.cell.workload.clone()),
        Column::new("unit", |row: &CellRow| row.scene.map(|scene| scene.unit.clone())),
        Column::new("lock", |row: &CellRow| row.cell.lock.clone()),
        Column::new("vcpus", |row: &CellRow| row.cell.vcpus),
        Column::new("vcpus_per_cpu", |row: &CellRow| row.cell.overcommit),
        Column::new("state", |row: &CellRow| row.cell.state.name()),
        Column::new("message", |row: &CellRow| row.cell.state.message()),
        figure("score", |of| of.score.as_ref().map(|score| score.mean)),
        figure("score_ci95", |of| of.score.as_ref().and_then(|score| score.ci95)),
        figure("units_per_s", |of| of.throughput.mean),
        figure("units_per_s_ci95", |of| of.throughput.ci95),
        figure("units_per_s_min", |of| of.throughput.min),
        figure("units_per_s_max", |of| of.throughput.max),
        figure("seeds", |of| of.throughput.values.len()),
        figure("speed_up", |of| of.speed_up.and_then(|ratio| ratio.middle())),
        figure("speed_up_low", |of| of.speed_up.and_then(|ratio| Some(ratio.bounds()?.0))),
        figure("speed_up_high", |of| of.speed_up.and_then(|ratio| Some(ratio.bounds()?.1))),
        figure("min_over_max", |of| of.fairness.mean),
        figure("acquisitions", |of| of.acquisitions),
        figure("wait_mean_ns", |of| of.latency.mean_ns),
        figure("wait_p50_ns", |of| of.latency.p50_ns),
        figure("wait_p90_ns", |of| of.latency.p90_ns),
        figure("wait_p99_ns", |of| of.latency.p99_ns),
        figure("wait_p999_ns", |of| of.latency.p999_ns),
        figure("wait_max_ns", |of| of.latency.max_ns),
        figure("handover_same", |of| of.handovers.same),
        figure("handover_local", |of| of.handovers.local),
        figure("handover_remote", |of| of.handovers.remote),
        figure("kicks_per_acquisition", |of| of.kicks),
        figure("halts_per_acquisition", |of| of.halts),
        figure("memory_events", |of| of.memory_events),
        figure("events", |of| {
            let events = of.events.iter().map(|event| format!("{}={}", event.name, event.value));
            events.collect::<Vec<_>>().join(" ")
        }),
        figure("hashes", |of| of.hashes.join(" ")),
    ];
    let share = |cause: Cause| figure(&format!("time_{}", cause.name()), move |of| of.share_of(&[cause]));
    columns.extend(Cause::ALL.map(share));
    columns
}

/// A column of figures, which a cell may not have.
fn figure<'a, T: Figure>(
    name: &str,
    value: impl Fn(&Figures) -> T + Send + Sync + 'static,
) -> Column<CellRow<'a>> {
    Column::new(name, move |row: &CellRow| row.cell.figures.as_ref().map(&value))
}

/// A row of a table of published cells.
#[derive(Clone, Copy)]
pub struct Published<'a> {
    /// The tables that the cell is numbered by.
    pub tables: &'a [Table],
    /// The cell.
    pub cell: &'a published::Cell,
}

impl<'a> Published<'a> {
    /// Its table.
    pub fn table(&self) -> &'a Table {
        &self.tables[self.cell.table]
    }

    /// Its lock.
    pub fn lock(&self) -> &'a str {
        &self.table().locks[self.cell.lock]
    }

    /// What stands at the head of its row.
    pub fn row(&self) -> &'a str {
        &self.table().rows[self.cell.row].label
    }

    fn state(&self) -> &'static str {
        let cell = self.cell;
        match (cell.failure.is_some(), cell.simulated.is_some(), cell.error().is_some()) {
            (true, ..) => "failed",
            (_, true, true) => "compared",
            (_, true, false) => "predicted",
            (_, false, _) if published::exists(self.lock()) => "not run",
            (_, false, _) => "no such lock yet",
        }
    }
}

/// The columns of published cells.
pub fn of_published<'a>() -> Vec<Column<Published<'a>>> {
    vec![
        Column::new("table", |row: &Published| row.table().name.clone()),
        Column::called("lock", |row: &Published| row.lock().to_owned()),
        Column::called("row", |row: &Published| row.row().to_owned()),
        Column::new("unit", |row: &Published| row.table().unit.clone()),
        Column::new("lower_is_better", |row: &Published| row.table().lower_is_better),
        Column::called("role", |row: &Published| row.cell.role.name()),
        Column::called("published", |row: &Published| row.cell.published).shown(number),
        Column::called("simulated", |row: &Published| row.cell.simulated.as_ref().map(|now| now.seeds.mean))
            .shown_by(|row| Some(simulated(row.cell))),
        Column::new("relative_error", |row: &Published| row.cell.error())
            .titled("error")
            .shown_by(|row| error(row.cell)),
        Column::new("relative_ci95", |row: &Published| relative_ci95(row.cell))
            .titled("+-")
            .shown_by(|row| doubt(row.cell)),
        Column::new("relative_spread", |row: &Published| {
            row.cell.simulated.as_ref().map(published::Simulated::spread)
        }),
        Column::new("two_kinds", |row: &Published| {
            row.cell.simulated.as_ref().map(|now| now.seeds.two_kinds(number).is_some())
        }),
        Column::called("registered", |row: &Published| row.cell.registered.map(|cell| cell.value))
            .shown_by(|row| registered(row.cell)),
        Column::new("registered_from", |row: &Published| row.cell.registered.map(|cell| cell.from)),
        Column::new("registered_to", |row: &Published| row.cell.registered.map(|cell| cell.to)),
        Column::new("as_registered", |row: &Published| row.cell.as_registered()),
        Column::new("state", |row: &Published| row.state()),
        Column::new("failure", |row: &Published| row.cell.failure.clone()),
    ]
}

fn simulated(cell: &published::Cell) -> String {
    match &cell.simulated {
        _ if cell.failure.is_some() => "failed".to_owned(),
        None => "not run".to_owned(),
        Some(now) if now.seeds.min.is_infinite() => "no end".to_owned(),
        Some(now) => now.seeds.two_kinds(number).unwrap_or_else(|| number(now.seeds.mean)),
    }
}

/// What is by the mean of two kinds of seeds has a mark.
fn mark(of_two_kinds: bool) -> &'static str {
    if of_two_kinds { "~" } else { "" }
}

fn error(cell: &published::Cell) -> Option<String> {
    let error = cell.error().filter(|error| error.is_finite())?;
    Some(format!("{}{:+.1} %", mark(cell.compares_a_mean_of_two_kinds()), error * 100.0))
}

/// Half of the 95 % interval over seeds: of the error, if that is of these seeds.
fn relative_ci95(cell: &published::Cell) -> Option<f64> {
    let seeds = &cell.simulated.as_ref()?.seeds;
    let of = cell.published.filter(|_| cell.role != Role::Blind).unwrap_or(seeds.mean);
    Some(seeds.ci95? / of).filter(|share| share.is_finite())
}

fn doubt(cell: &published::Cell) -> Option<String> {
    let of_one_kind = cell.simulated.as_ref()?.seeds.two_kinds(number).is_none();
    relative_ci95(cell).filter(|_| of_one_kind).map(|share| format!("{:.1}%", share * 100.0))
}

fn registered(cell: &published::Cell) -> Option<String> {
    let before = cell.registered?;
    let [value, from, to] = [before.value, before.from, before.to].map(number);
    let changed = if cell.as_registered() == Some(false) { ", changed since" } else { "" };
    Some(format!("{}{value} ({from} to {to}){changed}", mark(are_two_kinds(before.from, before.to))))
}

/// A number with four digits or so.
pub fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

impl State {
    /// The name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Cut { .. } => "cut",
            Self::Broken { .. } => "broken",
            Self::Failed { .. } => "failed",
        }
    }

    /// What there is to say about it.
    pub fn message(&self) -> String {
        match self {
            Self::Measured => String::new(),
            Self::Cut { runs } => format!("{runs} runs cut short"),
            Self::Broken { seed, message } | Self::Failed { seed, message } => {
                format!("seed {seed}: {message}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Kind, Value};
    use crate::testing;
    use stanchion_sim::Failure;

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([1246.1, 118.9, 64.0, 0.503].map(number), ["1246", "118.9", "64.00", "0.503"]);
    }

    #[test]
    fn values_are_of_their_columns_kinds() {
        let scene = testing::scene();
        let cell = |runs: &[_]| Cell::of(&scene, &testing::score, "byte", 4, &[7, 8], runs);
        let sound = cell(&[Ok(testing::outcome(1000, 100)), Ok(testing::outcome(3000, 900))]);
        let broken = cell(&[Ok(testing::outcome(1, 1)), Err(Failure::Broken("two at once".into()))]);
        for cell in [&sound, &broken] {
            for column in of_cells() {
                let fits = match column.value(&CellRow { scene: Some(&scene), cell }) {
                    Value::Text(_) => column.kind == Kind::Text,
                    Value::Whole(_) => column.kind == Kind::Whole,
                    Value::Real(_) => column.kind == Kind::Real,
                    Value::Truth(_) => column.kind == Kind::Truth,
                    Value::Nothing => true,
                };
                assert!(fits, "{}", column.name);
            }
        }
        let value = |name: &str, cell| {
            let column = of_cells().into_iter().find(|column| column.name == name).expect("a column");
            column.value(&CellRow { scene: Some(&scene), cell })
        };
        assert_eq!(value("units_per_s", &sound), Value::Real(2e6));
        assert_eq!(value("units_per_s", &broken), Value::Nothing);
        assert_eq!(value("message", &broken), Value::Text("seed 8: two at once".into()));
    }
}
