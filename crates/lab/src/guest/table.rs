//! The result as tables for a terminal of a hundred columns.
use super::metric::{self, Metric};
use super::report::{Report, Run};
use super::transcript::State;
use super::workload::Workload;
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};
use lab_kit::stats::Summary;
use lab_kit::units::{format_ns, percent, three_figures};

/// How a figure is written.
type Form = fn(f64) -> String;

/// A column: its heading, the figure, and how it is written.
pub(crate) struct Column {
    pub heading: &'static str,
    pub metric: &'static Metric,
    pub form: Form,
    /// What it is mostly about: shows the spread of several runs, and why there is no figure.
    leads: bool,
}

/// With more vCPUs each of them has no column of its own.
const VCPUS_APART: u16 = 8;

fn plain(heading: &'static str, metric: &'static Metric, form: Form) -> Column {
    Column { heading, metric, form, leads: false }
}

/// The columns that say something about a workload.
pub(crate) fn columns(workload: Workload) -> Vec<Column> {
    let first = if workload.has_rate() {
        Column { heading: "M/s", metric: &metric::RATE, form: three_figures, leads: true }
    } else {
        Column { heading: "elapsed", metric: &metric::ELAPSED, form: three_figures, leads: true }
    };
    vec![
        first,
        plain("user", &metric::USER, three_figures),
        plain("system", &metric::SYSTEM, three_figures),
        plain("halts", &metric::HALTS, count),
        plain("kicks", &metric::KICKS, count),
        plain("wake", &metric::WAKE_P50, format_ns),
        plain("CPU", &metric::CPU, three_figures),
        plain("fair", &metric::FAIRNESS, |value| format!("{value:.2}")),
    ]
}

/// Whole numbers, the large ones in thousands or millions.
fn count(value: f64) -> String {
    match value {
        value if value < 10_000.0 => format!("{value:.0}"),
        value if value < 10_000_000.0 => format!("{}k", three_figures(value / 1e3)),
        value => format!("{}M", three_figures(value / 1e6)),
    }
}

/// Everything, for the terminal.
pub(crate) fn render(report: &Report) -> String {
    let mut text = format!("\n{}: {}\n", report.setting.workload, report.setting.told());
    if report.setting.workload.has_figures() && report.runs.iter().any(|run| run.work.is_some()) {
        figures(&mut text, report);
        shares(&mut text, report);
    }
    for (run, line) in report.runs.iter().flat_map(|run| run.stats.iter().map(move |line| (run, line))) {
        let _ = writeln!(text, "{}: {line}", run.lock);
    }
    boots(&mut text, report);
    failures(&mut text, report);
    text
}

fn figures(text: &mut String, report: &Report) {
    let columns = columns(report.setting.workload);
    let mut table = plain_table();
    let headings = columns.iter().map(|column| column.heading);
    table.set_header(["lock"].into_iter().chain(headings));
    for lock in locks(report) {
        let cells = columns.iter().map(|column| cell(report, lock, column));
        table.add_row([lock.to_owned()].into_iter().chain(cells).collect::<Vec<_>>());
    }
    align_right(&mut table);
    let _ = writeln!(text, "{}", trimmed(&table));
    let runs = if report.setting.runs > 1 { "; medians" } else { "" };
    let _ = writeln!(
        text,
        "seconds of all vCPUs; user: in the workload, system: in slow paths of locks, CPU: of the host;\n\
         wake: a kick to running again; fair: fewest acquisitions of a vCPU over most{runs}"
    );
    if report.runs.iter().any(|run| run.state == State::Unfinished) {
        text.push_str("unfinished: the work was not done at the limit; >: it would have taken longer\n");
    }
}

/// Locks that have been run, in the order of the setting.
pub(crate) fn locks(report: &Report) -> Vec<&str> {
    let run = |lock: &&str| report.of(lock).next().is_some();
    report.setting.locks.iter().map(String::as_str).filter(run).collect()
}

/// A figure of a lock, or why there is none.
pub(crate) fn cell(report: &Report, lock: &str, column: &Column) -> String {
    let Some(summary) = column.metric.summary(report, lock) else {
        return match report.of(lock).last().map(|run| &run.state) {
            Some(State::Failed { .. }) if column.leads => "FAILED".to_owned(),
            Some(State::Killed { .. }) if column.leads => "killed".to_owned(),
            _ => "-".to_owned(),
        };
    };
    let value = (column.form)(summary.median);
    let spread = if column.leads { spread(&summary) } else { String::new() };
    let is_elapsed = column.metric.name == metric::ELAPSED.name;
    let least = if is_elapsed && !metric::all_finished(report, lock) { ">" } else { "" };
    format!("{least}{value}{spread}")
}

fn spread(summary: &Summary) -> String {
    if summary.rounds.len() < 2 {
        String::new()
    } else {
        format!(" ±{}", percent(summary.spread()).replace(' ', ""))
    }
}

/// What each vCPU's thread got of the host, as the announcement of 2008 tells it.
fn shares(text: &mut String, report: &Report) {
    let with_shares = |lock: &&str| vcpus(report, lock).is_some();
    let locks: Vec<&str> = locks(report).into_iter().filter(with_shares).collect();
    if locks.is_empty() {
        return;
    }
    let apart = report.setting.vcpus <= VCPUS_APART;
    let mut table = plain_table();
    let mut headings = vec!["host CPU s".to_owned()];
    if apart {
        headings.extend((0..report.setting.vcpus).map(|vcpu| format!("vCPU {vcpu}")));
    } else {
        headings.extend(["least", "median", "most"].map(str::to_owned));
    }
    headings.extend(["sum", "stolen", "QEMU"].map(str::to_owned));
    table.set_header(headings);
    for lock in locks {
        let each = vcpus(report, lock).unwrap_or_default();
        let mut cells = vec![lock.to_owned()];
        let all = Summary::of(each.clone());
        let shown = if apart { each } else { vec![all.min, all.median, all.max] };
        cells.extend(shown.into_iter().map(three_figures));
        let qemu = Summary::of(sound(report, lock).map(|run| run.qemu_cpu_s).collect()).median;
        let of = |metric: &Metric| metric.summary(report, lock).map_or(0.0, |summary| summary.median);
        cells.extend([of(&metric::CPU), of(&metric::STOLEN), qemu].map(three_figures));
        table.add_row(cells);
    }
    align_right(&mut table);
    let _ = writeln!(
        text,
        "\n{}\nstolen: a vCPU wanted to run and did not; QEMU: all its threads, booting included",
        trimmed(&table)
    );
}

fn sound<'a>(report: &'a Report, lock: &'a str) -> impl Iterator<Item = &'a Run> {
    report.of(lock).filter(|run| !run.failed())
}

/// Median seconds of each vCPU over the sound runs under a lock.
pub(crate) fn vcpus(report: &Report, lock: &str) -> Option<Vec<f64>> {
    let runs: Vec<&Run> = sound(report, lock).filter(|run| !run.given.is_empty()).collect();
    let vcpus = runs.iter().map(|run| run.given.len()).min()?;
    let of = |vcpu: usize| runs.iter().map(|run| run.given[vcpu].cpu_ns as f64 / 1e9).collect();
    Some((0..vcpus).map(|vcpu| Summary::of(of(vcpu)).median).collect())
}

/// What the guests said of their machine, once, and how long they took to come up.
fn boots(text: &mut String, report: &Report) {
    let Some(boot) = report.runs.iter().find_map(|run| run.boot.as_ref()) else { return };
    let walls: Vec<f64> = report.runs.iter().filter_map(|run| run.boot_wall_s).collect();
    let took = Summary::of(walls);
    let has = |name: &'static str, is: bool| is.then_some(name);
    let offers = [
        has("x2APIC", boot.x2apic),
        has("steal time", boot.steal_time),
        has("kick hypercall", boot.kick_hypercall),
        has("yield hypercall", boot.yield_hypercall),
    ];
    let offers: Vec<&str> = offers.into_iter().flatten().collect();
    let nodes = if boot.nodes > 1 { format!(" in {} nodes", boot.nodes) } else { String::new() };
    let _ = writeln!(
        text,
        "guest: {} vCPUs{nodes}, hypervisor {}, {}; up after {} ms (the guest's own part {})",
        boot.vcpus,
        boot.hypervisor,
        if offers.is_empty() { "nothing paravirtual".to_owned() } else { offers.join(", ") },
        three_figures(took.median * 1e3),
        format_ns(boot.boot_ns as f64)
    );
}

/// What must not pass silently, with the guest's last lines.
fn failures(text: &mut String, report: &Report) {
    for run in report.runs.iter().filter(|run| run.failed()) {
        let _ = writeln!(
            text,
            "{} FAILED, run {}: {}",
            run.lock,
            run.round + 1,
            run.reason().unwrap_or_default()
        );
        for line in &run.log {
            let _ = writeln!(text, "  | {line}");
        }
    }
}

/// A run in a few words.
pub(crate) fn in_short(run: &Run) -> String {
    match (&run.state, &run.work) {
        (State::Failed { reason } | State::Killed { reason }, _) => format!("FAILED: {reason}"),
        (State::Unfinished, Some(work)) => format!("unfinished after {}", format_ns(work.elapsed_ns as f64)),
        _ if !run.tests.is_empty() => format!("{} tests", run.tests.len()),
        (_, Some(work)) => {
            format!("{}, {} acquisitions", format_ns(work.elapsed_ns as f64), count(work.operations as f64))
        }
        (_, None) => format!("up after {} ms", three_figures(run.boot_wall_s.unwrap_or(0.0) * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing;

    #[test]
    fn tables_fit_a_terminal_and_tell_what_went_wrong() {
        let text = render(&testing::report());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let line = |lock: &str| {
            text.lines().find(|line| line.trim_start().starts_with(lock)).expect("a row").to_owned()
        };
        assert!(line("byte").contains(" 2.00 ") && line("byte").ends_with("0.50"), "{text}");
        assert!(line("ticket").contains(">30.0"), "{text}");
        assert!(line("qspin").contains("FAILED"), "{text}");
        assert!(text.contains("qspin FAILED, run 1: the guest panicked: <b>\n  | last line"), "{text}");
        assert!(text.contains("vCPU 1") && text.contains("nothing paravirtual"), "{text}");
    }

    #[test]
    fn several_runs_show_median_and_spread_of_the_sound_ones() {
        let mut report = testing::report();
        report.setting.runs = 3;
        let lock = "pv-qspin-wait-early-sampled";
        report.setting.locks.push(lock.to_owned());
        for seconds in [100, 140, 160] {
            report.runs.push(testing::run(lock, State::Finished, seconds));
        }
        report.runs.push(testing::run(lock, State::Killed { reason: "k".into() }, 9));
        let column = &columns(Workload::Build)[0];
        assert_eq!(cell(&report, "byte", column), "2.00", "one run has no spread");
        assert!(cell(&report, lock, column).starts_with(">140 ±21%"), "the killed one did not finish");
        let text = render(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn many_vcpus_are_summed_up() {
        let mut report = testing::report();
        report.setting.vcpus = 64;
        report.runs[0].given = (1..=64)
            .map(|s| super::super::clock::Given { cpu_ns: s * 1_000_000_000, stolen_ns: 0 })
            .collect();
        let text = render(&report);
        assert!(text.contains("least") && text.contains("32.5") && !text.contains("vCPU 1 "), "{text}");
    }
}
