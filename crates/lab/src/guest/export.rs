//! The result for programs, spreadsheets and people.
use super::figures::{FIGURES, vcpu_cpu_s};
use super::record::{Test, TestOutcome};
use super::report::{Report, Run};
use super::table::tables;
use super::transcript::State;
use core::fmt::Write;
use lab_kit::export::svg::escape;
use lab_kit::export::{Formats, page};

/// How each file is written.
pub(crate) const FORMATS: Formats<Report> =
    Formats { stem: "guest", json: lab_kit::export::json, csv, html: Some(html) };

/// Headings of the first table that its notes leave out.
const LEGEND: &str = "; elapsed: from the start of the work to its end; M/s: million acquisitions a second; \
                      halts: how often vCPUs halted; kicks: interrupts that were to wake a vCPU";

/// Where it comes from, and what else a reader must know to judge the figures.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let setting = &report.setting;
    let trial = setting.trials().first().copied();
    let words = trial.map(|trial| setting.words(trial, report.rate())).unwrap_or_default();
    let cpus: Vec<String> = setting.cpus.iter().map(ToString::to_string).collect();
    let mut facts = report.provenance.rows();
    facts.extend([
        ("set-up", setting.told()),
        ("CPUs used", cpus.join(" ")),
        ("emulator", setting.qemu.clone()),
        ("image", setting.image.clone()),
        ("guest's words", words),
        ("limit", format!("{} s", setting.limit_s)),
    ]);
    facts.extend(setting.accel_reason.clone().map(|reason| ("not KVM because", reason)));
    facts
}

/// One row for each boot.
fn csv(report: &Report) -> String {
    let head = format!("stanchion guest, schema {}, complete: {}", report.schema, report.complete);
    let facts = facts(report).into_iter().map(|(name, value)| format!("{name}: {value}"));
    let warnings = report.warnings.iter().map(|warning| format!("warning: {warning}"));
    let rows = report.runs.iter().map(|run| columns(report, run));
    lab_kit::export::csv([head].into_iter().chain(facts).chain(warnings), rows)
}

/// All columns of a boot with their names.
fn columns(report: &Report, run: &Run) -> Vec<(String, String)> {
    let state = match run.state {
        State::Finished => "finished",
        State::Unfinished => "unfinished",
        State::Killed { .. } => "killed",
        State::Failed { .. } => "failed",
    };
    let text = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let first = [("lock", run.lock.clone()), ("round", run.round.to_string()), ("state", state.to_owned())];
    let figures = FIGURES.iter().map(|figure| (figure.name.to_owned(), text(figure.of(run))));
    let vcpus = 0..report.setting.vcpus;
    let vcpus = vcpus.map(|vcpu| (format!("vcpu{vcpu}_cpu_s"), text(vcpu_cpu_s(run, vcpu))));
    let operations = run.told.work.as_ref().map(|work| work.operations.to_string());
    let last = [
        ("operations", operations.unwrap_or_default()),
        ("qemu_cpu_s", run.cost.qemu_cpu_s.to_string()),
        ("qemu_wall_s", run.cost.qemu_wall_s.to_string()),
        ("boot_wall_s", text(run.cost.boot_wall_s)),
        ("tests", run.told.tests.len().to_string()),
        ("reason", run.reason().unwrap_or_default().to_owned()),
    ];
    let owned = |(name, value): (&str, String)| (name.to_owned(), value);
    first.map(owned).into_iter().chain(figures).chain(vcpus).chain(last.map(owned)).collect()
}

/// What the guests did under each lock, what the host gave them for it, and where it all comes from.
fn html(report: &Report) -> String {
    let (setting, date) = (&report.setting, &report.provenance.date);
    let mut body = format!(
        "<h1>Locks on vCPUs: {}</h1><p class=\"sub\">{} · {} · {date}{}</p>\n",
        setting.workload,
        escape(&setting.told()),
        escape(&report.provenance.cpu_model),
        if report.complete { "" } else { " · <b>unfinished run</b>" }
    );
    let failed = report.failures();
    let failed = failed.map(|(run, reason)| format!("{}, run {}: {reason}", run.lock, run.round + 1));
    page::doubts(&mut body, report.warnings.iter().cloned().chain(failed));
    for ((title, table, notes), more) in tables(report).into_iter().zip([LEGEND, ""]) {
        let _ = write!(body, "<h2>{title}</h2>");
        page::table(&mut body, &table);
        let _ = writeln!(body, "<p class=\"sub\">{}</p>", escape(&(notes + more)));
    }
    let mut tests = report.runs.iter().flat_map(|run| &run.told.tests).peekable();
    if tests.peek().is_some() {
        body.push_str("<h2>Conformance tests</h2>");
        page::facts(&mut body, tests.map(|test| (test.name.as_str(), outcome(test))));
    }
    body.push_str("<h2>Where this comes from</h2>");
    page::facts(&mut body, facts(report));
    page::page(&format!("stanchion guest, {date}"), "", &body)
}

fn outcome(test: &Test) -> String {
    match test.outcome {
        TestOutcome::Ok => "ok".to_owned(),
        TestOutcome::Failed => format!("FAILED: {}", test.detail.as_deref().unwrap_or_default()),
        TestOutcome::Ignored => "ignored".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing;
    use lab_kit::export::json;

    #[test]
    fn json_parses_back_to_the_same_report() {
        let report = testing::report();
        assert_eq!(serde_json::from_str::<Report>(&json(&report)).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&json(&report)).expect("parses");
        assert_eq!(
            (&value["setting"]["workload"], &value["setting"]["accel"]),
            (&"build".into(), &"tcg".into())
        );
        assert_eq!(
            (&value["runs"][0]["state"], &value["runs"][0]["lock"]),
            (&"finished".into(), &"byte".into())
        );
        assert_eq!(value["runs"][2]["reason"], "the guest panicked: <b>");
    }

    #[test]
    fn there_is_a_row_for_each_boot_with_as_many_columns() {
        let text = csv(&testing::report());
        assert!(text.contains("# seed: 42") && text.contains("# set-up: 2 vCPUs on 2 CPUs, TCG"), "{text}");
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let headings = reader.headers().expect("headings").clone();
        let at = |name: &str| headings.iter().position(|heading| heading == name).expect(name);
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 3);
        assert_eq!((&rows[0][at("elapsed_s")], &rows[0][at("vcpu1_cpu_s")]), ("2", "1.5"));
        assert_eq!((&rows[1][at("state")], &rows[1][at("elapsed_s")]), ("unfinished", "30"));
        assert_eq!((&rows[2][at("state")], &rows[2][at("elapsed_s")]), ("failed", ""));
    }

    #[test]
    fn the_page_stands_alone_and_escapes_what_guests_say() {
        let page = html(&testing::report());
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b></"), "{page}");
        for word in ["http://", "https://", "<script", "src="] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("halts: how often"), "{page}");
        assert!(page.contains("&gt;30") && page.contains("FAILED"), "unfinished and failed runs are told");
        assert!(page.contains("class=\"broken\">FAILED</td>"), "{page}");
        assert!(page.contains("<td>a</td><td>FAILED: why</td>"), "{page}");
    }
}
