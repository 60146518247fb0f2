//! The result for people: tables for terminal and page, and conformance tests as `cargo test` prints them.
use super::figures::{self, count, given, summary, vcpu_cpu_s};
use super::record::{Hardware, TestOutcome, WIDTH, Work, shown};
use super::report::{Report, Run};
use super::transcript::State;
use super::workload::Workload;
use comfy_table::Table;
use core::fmt::Write;
use lab_kit::column::Column;
use lab_kit::export::grid::{self, trimmed};
use lab_kit::stats::{Summary, median};
use lab_kit::units::{format_ns, three_figures};

/// With more vCPUs each of them has no column of its own.
const VCPUS_APART: u16 = 8;

pub(crate) fn render(report: &Report) -> String {
    let mut text = format!("\n{}: {}\n", report.setting.workload, report.setting.told());
    for (index, (_, table, notes)) in tables(report).into_iter().enumerate() {
        let apart = if index == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{apart}{}\n{notes}", trimmed(&table));
    }
    for run in &report.runs {
        text.extend(run.told.stats.iter().map(|line| format!("{}: {line}\n", run.lock)));
    }
    boots(&mut text, report);
    for (run, reason) in report.failures() {
        let _ = writeln!(text, "{} FAILED, run {}: {reason}", run.lock, run.round + 1);
        text.extend(run.log.iter().map(|line| format!("  | {line}\n")));
    }
    text
}

/// What the figures are about, they, and what their headings mean. There are none if nothing was measured.
pub(crate) fn tables(report: &Report) -> Vec<(&'static str, Table, String)> {
    let measures = !matches!(report.setting.workload, Workload::Conform | Workload::Boot);
    if !measures || report.runs.iter().all(|run| run.told.work.is_none()) {
        return Vec::new();
    }
    let shares = shares(report).map(|table| {
        let notes = "stolen: a vCPU wanted to run and did not; QEMU: all its threads, booting included";
        ("Host CPU seconds of each vCPU", table, notes.to_owned())
    });
    [("The work", work(report), notes(report))].into_iter().chain(shares).collect()
}

fn work(report: &Report) -> Table {
    let figures = figures::shown(report.setting.workload);
    let row = |lock: &str| {
        let cells = figures.iter().enumerate();
        let cells = cells.map(|(place, figure)| cell(report, lock, figure, place == 0));
        [lock.to_owned()].into_iter().chain(cells).collect::<Vec<_>>()
    };
    grid::table(["lock"].into_iter().chain(figures.iter().map(|figure| figure.title)), locks(report).map(row))
}

fn notes(report: &Report) -> String {
    let medians =
        if report.setting.runs > 1 { "\nfigures are medians; a..b: runs are of two kinds" } else { "" };
    let is_unfinished = |run: &Run| run.state == State::Unfinished;
    let unfinished = "\nunfinished: the work was not done at the limit; >: it would have taken longer";
    let unfinished = if report.runs.iter().any(is_unfinished) { unfinished } else { "" };
    format!(
        "seconds of all vCPUs; user: in the workload, system: in slow paths of locks, CPU: of the host;\n\
         wake: a kick to running again; fair: fewest acquisitions of a vCPU over most{medians}{unfinished}"
    )
}

/// Locks that have been run, in the order of the setting.
fn locks(report: &Report) -> impl Iterator<Item = &str> {
    let run = |lock: &&str| report.of(lock).next().is_some();
    report.setting.locks.iter().map(String::as_str).filter(run)
}

/// A figure of a lock. The one that leads shows the spread of several runs, too, and why there is no figure.
pub(crate) fn cell(report: &Report, lock: &str, figure: &Column<Run>, leads: bool) -> String {
    let Some(summary) = summary(report, lock, |run| figure.number(run)) else {
        let word = match report.of(lock).last().map(|run| run.state) {
            Some(State::Failed) if leads => "FAILED",
            Some(State::Killed) if leads => "killed",
            _ => "-",
        };
        return word.to_owned();
    };
    let form = |value| figure.form(value);
    let value = if leads { summary.told(form) } else { summary.middle(form) };
    let finished = report.of(lock).all(|run| run.state == State::Finished);
    let least = if figure.name == "elapsed_s" && !finished { ">" } else { "" };
    format!("{least}{value}")
}

/// What each vCPU's thread got of the host, as the announcement of 2008 tells it.
fn shares(report: &Report) -> Option<Table> {
    let vcpus = report.setting.vcpus;
    let apart = vcpus <= VCPUS_APART;
    let shown: Vec<String> = if apart {
        (0..vcpus).map(|vcpu| format!("vCPU {vcpu}")).collect()
    } else {
        ["least", "median", "most"].map(str::to_owned).into()
    };
    let first = ["host CPU s".to_owned()].into_iter().chain(shown);
    let header = first.chain(["sum", "stolen", "QEMU"].map(str::to_owned));
    let row = |lock: &str| {
        let median = |of: &dyn Fn(&Run) -> Option<f64>| Some(summary(report, lock, of)?.median);
        let cpu = median(&|run| given(run, |given| given.cpu_ns))?;
        let stolen = median(&|run| given(run, |given| given.stolen_ns));
        let each: Vec<f64> = (0..vcpus).filter_map(|vcpu| median(&|run| vcpu_cpu_s(run, vcpu))).collect();
        let all = Summary::of(each.clone());
        let shown = if apart { each } else { vec![all.min, all.median, all.max] };
        let rest = [Some(cpu), stolen, median(&|run| Some(run.cost.qemu_cpu_s))];
        let figures = shown.into_iter().chain(rest.into_iter().flatten()).map(three_figures);
        Some([lock.to_owned()].into_iter().chain(figures).collect::<Vec<_>>())
    };
    let rows: Vec<_> = locks(report).filter_map(row).collect();
    (!rows.is_empty()).then(|| grid::table(header.collect::<Vec<_>>(), rows))
}

/// What the guests said of their machine, once, and how long they took to come up.
fn boots(text: &mut String, report: &Report) {
    let Some(boot) = report.runs.iter().find_map(|run| run.told.boot.as_ref()) else { return };
    let walls: Vec<f64> = report.runs.iter().filter_map(|run| run.cost.boot_wall_s).collect();
    let offers = [
        (boot.x2apic, "x2APIC"),
        (boot.steal_time, "steal time"),
        (boot.kick_hypercall, "kick hypercall"),
        (boot.yield_hypercall, "yield hypercall"),
    ];
    let offers: Vec<&str> = offers.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
    let offers = if offers.is_empty() { "nothing paravirtual".to_owned() } else { offers.join(", ") };
    let nodes = if boot.nodes > 1 { format!(" in {} nodes", boot.nodes) } else { String::new() };
    let (up, own) = (three_figures(median(&walls) * 1e3), format_ns(boot.boot_ns as f64));
    let Hardware { vcpus, hypervisor, .. } = boot;
    let _ = write!(text, "guest: {vcpus} vCPUs{nodes}, hypervisor {hypervisor}, {offers}; ");
    let _ = writeln!(text, "up after {up} ms (the guest's own part {own})");
}

pub(crate) fn in_short(run: &Run) -> String {
    let took = |work: &Work| format_ns(work.elapsed_ns as f64);
    match (&run.reason, &run.told.work) {
        (Some(reason), _) => format!("FAILED: {reason}"),
        (_, Some(work)) if run.state == State::Unfinished => format!("unfinished after {}", took(work)),
        _ if !run.told.tests.is_empty() => format!("{} tests", run.told.tests.len()),
        (_, Some(work)) => format!("{}, {} acquisitions", took(work), count(work.operations as f64)),
        (_, None) => format!("up after {} ms", three_figures(run.cost.boot_wall_s.unwrap_or(0.0) * 1e3)),
    }
}

/// What failed and why, and how many passed.
pub(crate) fn tests(report: &Report, expected: bool) -> String {
    let all = || report.runs.iter().flat_map(|run| &run.told.tests);
    let ended = |outcome| all().filter(move |test| test.outcome == outcome);
    let mut text = String::new();
    if ended(TestOutcome::Failed).next().is_some() {
        text.push_str(if expected { "\nexpected failures:\n" } else { "\nfailures:\n" });
        for test in ended(TestOutcome::Failed) {
            let detail = test.detail.as_deref().unwrap_or("the guest did not say why");
            let _ = writeln!(text, "\n---- {} ----", test.name);
            text.extend(detail.lines().map(|line| shown(line, WIDTH) + "\n"));
        }
    }
    let [passed, failed, ignored] =
        [TestOutcome::Ok, TestOutcome::Failed, TestOutcome::Ignored].map(|outcome| ended(outcome).count());
    let verdict = match (report.failures().next().is_some(), report.complete) {
        (true, _) => TestOutcome::Failed.told(expected),
        (false, true) => TestOutcome::Ok.told(expected),
        (false, false) => "interrupted",
    };
    let wall: f64 = report.runs.iter().map(|run| run.cost.qemu_wall_s).sum();
    let _ = writeln!(
        text,
        "\ntest result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; finished in {wall:.2}s"
    );
    text
}
