//! Figures as columns: each with its name, its kind and where its value comes from. Files and tables are made
//! of them.
use crate::cell::{Cell, Figures, SceneInfo, State};
use crate::published::cells as published;
use crate::published::tables::Table;
use serde::Serialize;
use stanchion_sim::Cause;

/// What values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// Whole numbers that are not negative.
    Whole,
    /// Other numbers.
    Real,
    /// Yes or no.
    Truth,
}

/// A value in a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Of a column of texts.
    Text(String),
    /// Of a column of whole numbers.
    Whole(u64),
    /// Of a column of numbers.
    Real(f64),
    /// Of a column of yes and no.
    Truth(bool),
    /// Unknown, or not measured.
    Nothing,
}

impl Value {
    /// The value of something that may not be there.
    pub fn of<T: Into<Self>>(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl core::fmt::Display for Value {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Whole(number) => number.fmt(out),
            Self::Real(number) => number.fmt(out),
            Self::Truth(truth) => truth.fmt(out),
            Self::Nothing => Ok(()),
        }
    }
}

/// A column of a table whose rows are made of `R`.
pub struct Column<R> {
    /// The name at its head.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The value of a row.
    pub value: Box<dyn Fn(&R) -> Value>,
}

impl<R> Column<R> {
    /// A column of this name.
    pub fn new(name: impl Into<String>, kind: Kind, value: impl Fn(&R) -> Value + 'static) -> Self {
        Self { name: name.into(), kind, value: Box::new(value) }
    }
}

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
    use Kind::{Real, Text, Whole};
    let mut columns = vec![
        Column::new("machine", Text, |row: &CellRow| row.cell.machine.as_str().into()),
        Column::new("cpus", Whole, |row: &CellRow| Value::of(row.scene.map(|scene| scene.cpus))),
        Column::new("workload", Text, |row: &CellRow| row.cell.workload.as_str().into()),
        Column::new("unit", Text, |row: &CellRow| Value::of(row.scene.map(|scene| scene.unit.as_str()))),
        Column::new("lock", Text, |row: &CellRow| row.cell.lock.as_str().into()),
        Column::new("vcpus", Whole, |row: &CellRow| row.cell.vcpus.into()),
        Column::new("vcpus_per_cpu", Real, |row: &CellRow| row.cell.overcommit.into()),
        Column::new("state", Text, |row: &CellRow| row.cell.state.name().into()),
        Column::new("message", Text, |row: &CellRow| row.cell.state.message().into()),
    ];
    let mut figure = |name: &str, kind, value: fn(&Figures) -> Value| {
        columns.push(of_figures(name, kind, value));
    };
    figure("score", Real, |figures| Value::of(figures.score.as_ref().map(|score| score.mean)));
    figure("score_ci95", Real, |figures| Value::of(figures.score.as_ref().and_then(|score| score.ci95)));
    figure("units_per_s", Real, |figures| figures.throughput.mean.into());
    figure("units_per_s_ci95", Real, |figures| Value::of(figures.throughput.ci95));
    figure("units_per_s_min", Real, |figures| figures.throughput.min.into());
    figure("units_per_s_max", Real, |figures| figures.throughput.max.into());
    figure("seeds", Whole, |figures| figures.throughput.values.len().into());
    figure("speed_up", Real, |figures| Value::of(figures.speed_up.map(|ratio| ratio.ratio)));
    figure("speed_up_low", Real, |figures| {
        Value::of(figures.speed_up.and_then(|ratio| Some(ratio.interval?.0)))
    });
    figure("speed_up_high", Real, |figures| {
        Value::of(figures.speed_up.and_then(|ratio| Some(ratio.interval?.1)))
    });
    figure("min_over_max", Real, |figures| figures.fairness.mean.into());
    figure("acquisitions", Whole, |figures| figures.acquisitions.into());
    figure("wait_mean_ns", Real, |figures| figures.latency.mean_ns.into());
    figure("wait_p50_ns", Whole, |figures| figures.latency.p50_ns.into());
    figure("wait_p90_ns", Whole, |figures| figures.latency.p90_ns.into());
    figure("wait_p99_ns", Whole, |figures| figures.latency.p99_ns.into());
    figure("wait_p999_ns", Whole, |figures| figures.latency.p999_ns.into());
    figure("wait_max_ns", Whole, |figures| figures.latency.max_ns.into());
    figure("handover_same", Real, |figures| figures.handovers.same.into());
    figure("handover_local", Real, |figures| figures.handovers.local.into());
    figure("handover_remote", Real, |figures| figures.handovers.remote.into());
    figure("kicks_per_acquisition", Real, |figures| figures.kicks.into());
    figure("halts_per_acquisition", Real, |figures| figures.halts.into());
    figure("memory_events", Whole, |figures| figures.memory_events.into());
    figure("events", Text, |figures| {
        let events = figures.events.iter().map(|event| format!("{}={}", event.name, event.value));
        events.collect::<Vec<_>>().join(" ").into()
    });
    figure("hashes", Text, |figures| figures.hashes.join(" ").into());
    for cause in Cause::ALL {
        let share = move |figures: &Figures| figures.share_of(&[cause]).into();
        columns.push(of_figures(&format!("time_{}", cause.name()), Real, share));
    }
    columns
}

/// A column of figures, which a cell may not have.
fn of_figures<'a>(
    name: &str,
    kind: Kind,
    value: impl Fn(&Figures) -> Value + 'static,
) -> Column<CellRow<'a>> {
    Column::new(name, kind, move |row: &CellRow| row.cell.figures.as_ref().map_or(Value::Nothing, &value))
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
    fn table(&self) -> &'a Table {
        &self.tables[self.cell.table]
    }

    fn lock(&self) -> &'a str {
        &self.table().locks[self.cell.lock]
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
    use Kind::{Real, Text, Truth};
    vec![
        Column::new("table", Text, |row: &Published| row.table().name.as_str().into()),
        Column::new("lock", Text, |row: &Published| row.lock().into()),
        Column::new("row", Text, |row: &Published| row.table().rows[row.cell.row].label.as_str().into()),
        Column::new("unit", Text, |row: &Published| row.table().unit.as_str().into()),
        Column::new("lower_is_better", Truth, |row: &Published| row.table().lower_is_better.into()),
        Column::new("role", Text, |row: &Published| row.cell.role.name().into()),
        Column::new("published", Real, |row: &Published| Value::of(row.cell.published)),
        Column::new("simulated", Real, |row: &Published| {
            Value::of(row.cell.simulated.as_ref().map(|now| now.seeds.mean))
        }),
        Column::new("relative_error", Real, |row: &Published| Value::of(row.cell.error())),
        Column::new("relative_spread", Real, |row: &Published| {
            Value::of(row.cell.simulated.as_ref().map(published::Simulated::spread))
        }),
        Column::new("registered", Real, |row: &Published| {
            Value::of(row.cell.registered.map(|cell| cell.value))
        }),
        Column::new("registered_from", Real, |row: &Published| {
            Value::of(row.cell.registered.map(|cell| cell.from))
        }),
        Column::new("registered_to", Real, |row: &Published| {
            Value::of(row.cell.registered.map(|cell| cell.to))
        }),
        Column::new("as_registered", Truth, |row: &Published| {
            row.cell.as_registered().map_or(Value::Nothing, Value::from)
        }),
        Column::new("state", Text, |row: &Published| row.state().into()),
        Column::new("failure", Text, |row: &Published| Value::of(row.cell.failure.as_deref())),
    ]
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
    use crate::testing;
    use stanchion_sim::Failure;

    #[test]
    fn values_are_of_their_columns_kinds() {
        let scene = testing::scene();
        let cell = |runs: &[_]| Cell::of(&scene, &testing::score, "byte", 4, &[7, 8], runs);
        let sound = cell(&[Ok(testing::outcome(1000, 100)), Ok(testing::outcome(3000, 900))]);
        let broken = cell(&[Ok(testing::outcome(1, 1)), Err(Failure::Broken("two at once".into()))]);
        for cell in [&sound, &broken] {
            for column in of_cells() {
                let fits = match (column.value)(&CellRow { scene: Some(&scene), cell }) {
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
            (column.value)(&CellRow { scene: Some(&scene), cell })
        };
        assert_eq!(value("units_per_s", &sound), Value::Real(2e6));
        assert_eq!(value("units_per_s", &broken), Value::Nothing);
        assert_eq!(value("message", &broken), Value::Text("seed 8: two at once".into()));
    }
}
