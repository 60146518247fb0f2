//! What a simulation writes: the three forms of its report.
mod bars;
mod csv;
mod html;
mod json;

use super::report::Report;
use lab_kit::export::Formats;

/// The files of a run.
pub(super) type Exports = lab_kit::export::Exports<Report>;

/// How they are written.
pub(super) const FORMATS: Formats<Report> =
    Formats { stem: "sim", json: json::write, csv: csv::write, html: html::write };
