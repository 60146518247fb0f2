//! One self-contained page: what the guests did under each lock, what the host gave them for it, and where it
//! all comes from.
use crate::guest::record::TestOutcome;
use crate::guest::report::Report;
use crate::guest::table::{Column, cell, columns, locks, vcpus};
use core::fmt::Write;
use lab_kit::export::STYLE;
use lab_kit::export::svg::escape;
use lab_kit::units::three_figures;

/// Pixels of the longest bar.
const LONGEST: f64 = 260.0;

pub(super) fn write(report: &Report) -> String {
    let setting = &report.setting;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>stanchion guest, {0}</title><style>{STYLE}</style></head><body>\n\
         <h1>Locks on vCPUs: {1}</h1><p class=\"sub\">{2} · {3} · {0}{4}</p>\n",
        escape(&report.provenance.date),
        setting.workload,
        escape(&setting.told()),
        escape(&report.provenance.cpu_model),
        if report.complete { "" } else { " · <b>unfinished run</b>" }
    );
    doubts(&mut page, report);
    if setting.workload.has_figures() && report.runs.iter().any(|run| run.work.is_some()) {
        figures(&mut page, report, &columns(setting.workload));
        shares(&mut page, report);
    }
    tests(&mut page, report);
    page.push_str("<h2>Where this comes from</h2><table class=\"facts\">");
    let mut facts = report.provenance.rows();
    facts.extend(super::facts(report));
    for (name, value) in facts {
        let _ = write!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(&value));
    }
    page.push_str("</table>\n</body></html>\n");
    page
}

fn doubts(page: &mut String, report: &Report) {
    let failed = report.runs.iter().filter_map(|run| Some((run, run.reason()?)));
    let failed = failed.map(|(run, reason)| format!("{}, run {}: {reason}", run.lock, run.round + 1));
    let all: Vec<String> = report.warnings.iter().cloned().chain(failed).collect();
    if all.is_empty() {
        return;
    }
    page.push_str("<h3>Reasons for doubt</h3><ul class=\"warnings\">");
    for doubt in all {
        let _ = write!(page, "<li>{}</li>", escape(&doubt));
    }
    page.push_str("</ul>\n");
}

/// The terminal's table, with a bar for what it is mostly about.
fn figures(page: &mut String, report: &Report, columns: &[Column]) {
    page.push_str("<h2>The work</h2><div class=\"scroll\"><table><tr><th>lock</th>");
    for column in columns {
        let _ = write!(page, "<th title=\"{}\">{}</th>", escape(column.metric.about), escape(column.heading));
    }
    page.push_str("<th></th></tr>\n");
    let first = columns[0].metric;
    let value = |lock: &str| first.summary(report, lock).map(|summary| summary.median);
    let most = locks(report).into_iter().filter_map(value).fold(0.0, f64::max);
    for lock in locks(report) {
        let _ = write!(page, "<tr class=\"ours\"><td>{}</td>", escape(lock));
        for column in columns {
            let text = cell(report, lock, column);
            let class = if text == "FAILED" || text == "killed" { " class=\"broken\"" } else { "" };
            let _ = write!(page, "<td{class}>{}</td>", escape(&text));
        }
        let bar = value(lock).map(|value| bar(value, most)).unwrap_or_default();
        let _ = writeln!(page, "<td style=\"text-align:left\">{bar}</td></tr>");
    }
    page.push_str("</table></div><p class=\"sub\">");
    let told = columns.iter().map(|column| format!("{}: {}", column.heading, column.metric.about));
    let _ = writeln!(page, "{}</p>", escape(&told.collect::<Vec<_>>().join("; ")));
}

fn bar(value: f64, most: f64) -> String {
    let width = if most > 0.0 { LONGEST * value / most } else { 0.0 };
    format!("<span class=\"bar\" style=\"width:{width:.0}px\"></span>")
}

/// Host CPU seconds of every vCPU, each with a bar.
fn shares(page: &mut String, report: &Report) {
    let rows: Vec<(&str, Vec<f64>)> =
        locks(report).into_iter().filter_map(|lock| Some((lock, vcpus(report, lock)?))).collect();
    let most = rows.iter().flat_map(|(_, each)| each).copied().fold(0.0, f64::max);
    if rows.is_empty() {
        return;
    }
    page.push_str(
        "<h2>Host CPU seconds of each vCPU</h2><div class=\"scroll\"><table><tr><th>lock</th><th>vCPU</th><th>s</th><th></th></tr>\n",
    );
    for (lock, each) in rows {
        for (vcpu, seconds) in each.iter().enumerate() {
            let name = if vcpu == 0 { escape(lock) } else { String::new() };
            let _ = writeln!(
                page,
                "<tr class=\"ours\"><td>{name}</td><td>{vcpu}</td><td>{}</td><td style=\"text-align:left\">{}</td></tr>",
                three_figures(*seconds),
                bar(*seconds, most)
            );
        }
    }
    page.push_str("</table></div>\n");
}

fn tests(page: &mut String, report: &Report) {
    if report.runs.iter().all(|run| run.tests.is_empty()) {
        return;
    }
    page.push_str("<h2>Conformance tests</h2><div class=\"scroll\"><table>\n");
    for test in report.runs.iter().flat_map(|run| &run.tests) {
        let (class, outcome) = match test.outcome {
            TestOutcome::Ok => ("best", "ok"),
            TestOutcome::Failed => ("broken", "FAILED"),
            TestOutcome::Ignored => ("word", "ignored"),
        };
        let detail = escape(test.detail.as_deref().unwrap_or_default());
        let name = escape(&test.name);
        let _ = writeln!(
            page,
            "<tr><td>{name}</td><td class=\"{class}\">{outcome}</td><td style=\"text-align:left\">{detail}</td></tr>"
        );
    }
    page.push_str("</table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing;

    #[test]
    fn the_page_stands_alone_and_escapes_what_guests_say() {
        let page = write(&testing::report());
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b></"), "{page}");
        for word in ["http://", "https://", "<script", "src="] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("&gt;30") && page.contains("FAILED"), "unfinished and failed runs are told");
        assert!(page.contains("class=\"broken\">FAILED</td><td style=\"text-align:left\">why"), "{page}");
    }
}
