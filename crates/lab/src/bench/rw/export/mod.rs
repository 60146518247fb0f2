//! What the benchmark writes: the three forms of its report.
mod csv;
mod html;

use super::report::RwReport;
use crate::bench::export::json;
use crate::export::Formats;

/// How they are written.
pub(crate) const FORMATS: Formats<RwReport> =
    Formats { stem: "bench-rw", json: json::write, csv: csv::write, html: html::write };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::full;

    #[test]
    fn every_file_carries_the_seed_and_json_parses_back() {
        let report = full();
        for (name, text) in
            [("json", json::write(&report)), ("csv", csv::write(&report)), ("html", html::write(&report))]
        {
            assert!(text.contains("seed") && text.contains("42"), "{name}");
        }
        assert_eq!(serde_json::from_str::<RwReport>(&json::write(&report)).expect("parses"), report);
    }
}
