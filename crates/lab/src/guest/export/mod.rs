//! The result for programs, spreadsheets and people.
mod csv;
mod html;

use super::report::Report;
use lab_kit::export::Formats;

/// How each file is written.
pub(crate) const FORMATS: Formats<Report> =
    Formats { stem: "guest", json, csv: csv::write, html: html::write };

/// The whole report.
fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only string keys");
    text.push('\n');
    text
}

/// What else a reader must know to judge the figures.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let setting = &report.setting;
    let list = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let mut facts = vec![
        ("set-up", setting.told()),
        ("CPUs used", list(&setting.cpus)),
        ("emulator", setting.qemu.clone()),
        ("image", setting.image.clone()),
        (
            "guest's words",
            setting.trials().first().map(|trial| setting.words(trial, report.rate())).unwrap_or_default(),
        ),
        ("limit", format!("{} s", setting.limit_s)),
    ];
    facts.extend(setting.accel_reason.clone().map(|reason| ("not KVM because", reason)));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::testing;

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
}
