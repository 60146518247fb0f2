//! What the benchmark writes: the three forms of its report.
pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod json;

use super::report::Report;
use crate::export::Formats;

/// How they are written.
pub(crate) const FORMATS: Formats<Report> =
    Formats { stem: "bench", json: json::write, csv: csv::write, html: html::write };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing;

    #[test]
    fn every_file_carries_the_seed() {
        let report = testing::report(&["a"]);
        for (name, text) in
            [("json", json::write(&report)), ("csv", csv::write(&report)), ("html", html::write(&report))]
        {
            assert!(text.contains("seed") && text.contains("42"), "{name}");
        }
    }
}
