//! The result for programs, spreadsheets and people.
use super::figures::{figures, vcpu_cpu_s};
use super::record::TestOutcome;
use super::report::{Report, Run};
use super::table::tables;
use lab_kit::column::Column;
use lab_kit::experiment::About;
use lab_kit::export::columns::named;
use lab_kit::export::{Formats, page};
use maud::{Markup, html};

/// Headings of the first table that its notes leave out.
const LEGEND: &str = "; elapsed: from the start of the work to its end; M/s: million acquisitions a second; \
                      halts: how often vCPUs halted; kicks: interrupts that were to wake a vCPU";

pub(crate) const FORMATS: Formats<Report> = Formats {
    stem: "guest",
    json: lab_kit::export::json,
    csv: |report| about(report).csv(named(&columns(report.setting.vcpus), &report.runs)),
    html: Some(|report| {
        let title = format!("Locks on vCPUs: {}", report.setting.workload);
        about(report).page(&title, "", &shown(report), "")
    }),
};

fn about(report: &Report) -> About<'_> {
    let Report { complete, provenance, setting, .. } = report;
    let first = setting.trials().first().map(|&(lock, round)| setting.words(lock, round, report.rate()));
    let cpus: Vec<String> = setting.cpus.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        ("schema", report.schema.to_string()),
        ("CPUs used", cpus.join(" ")),
        ("emulator", setting.qemu.clone()),
        ("image", setting.image.clone()),
        ("guest's words", first.unwrap_or_default()),
        ("limit", format!("{} s", setting.limit_s)),
    ];
    facts.extend(setting.accel_reason.clone().map(|reason| ("not KVM because", reason)));
    let failed = report.failures();
    let failed = failed.map(|(run, reason)| format!("{}, run {}: {reason}", run.lock, run.round + 1));
    let doubts = report.warnings.iter().cloned().chain(failed).collect();
    About { command: "guest", complete: *complete, provenance, set_up: setting.told(), facts, doubts }
}

fn shown(report: &Report) -> Markup {
    let tests = report.runs.iter().flat_map(|run| &run.told.tests).map(|test| {
        let (failed, detail) = (test.outcome == TestOutcome::Failed, test.detail.as_deref());
        let why = if failed { format!(": {}", detail.unwrap_or_default()) } else { String::new() };
        (&test.name, test.outcome.told(false).to_owned() + &why)
    });
    let tests: Vec<_> = tests.collect();
    html! {
        @for ((title, table, notes), more) in tables(report).into_iter().zip([LEGEND, ""]) {
            h2 { (title) }
            (page::table(&table))
            p.sub { (notes) (more) }
        }
        @if !tests.is_empty() {
            h2 { "Conformance tests" }
            (page::facts(tests))
        }
    }
}

fn columns(vcpus: u16) -> Vec<Column<Run>> {
    let mut columns = vec![
        Column::new("lock", |run: &Run| run.lock.clone()),
        Column::new("round", |run: &Run| run.round),
        Column::new("state", |run: &Run| serde_json::json!(run.state).as_str().map(str::to_owned)),
    ];
    columns.extend(figures());
    let of_vcpu = |vcpu| Column::new(format!("vcpu{vcpu}_cpu_s"), move |run| vcpu_cpu_s(run, vcpu));
    columns.extend((0..vcpus).map(of_vcpu));
    columns.extend([
        Column::new("operations", |run: &Run| Some(run.told.work.as_ref()?.operations)),
        Column::new("qemu_cpu_s", |run: &Run| run.cost.qemu_cpu_s),
        Column::new("qemu_wall_s", |run: &Run| run.cost.qemu_wall_s),
        Column::new("boot_wall_s", |run: &Run| run.cost.boot_wall_s),
        Column::new("tests", |run: &Run| run.told.tests.len()),
        Column::new("reason", |run: &Run| run.reason.clone()),
    ]);
    columns
}
