//! `stanchion run --compare`: one program under several locks, again and again in turn.
//!
//! [`setting`] is what was asked for and in which order the runs go, [`metric`] what is compared, [`engine`]
//! the loop over the runs, [`executor`] one run and [`output`] what it printed, [`report`] what came of all
//! and [`ratio`] how sure that is, [`drive`] the whole from arguments to exit code.
mod drive;
mod engine;
mod executor;
mod export;
mod metric;
mod output;
mod report;
mod setting;
mod table;
#[cfg(test)]
mod testing;

use super::Target;
use super::environment::Environment;
pub(crate) use drive::run;
pub(crate) use export::{CSV, JSON, Writer};
use lab_kit::export::Exports;
pub(crate) use metric::Metric;
use report::Report;
pub(crate) use setting::{Order, Setting};
use std::ffi::OsString;
use std::path::PathBuf;

/// A comparison that can be started.
pub(crate) struct Comparison {
    pub target: Target,
    /// One for each lock of the setting.
    pub environments: Vec<Environment>,
    pub setting: Setting,
    pub library: Option<PathBuf>,
    pub words: Vec<OsString>,
    pub exports: Exports<Report>,
    /// To be said before the start.
    pub warning: Option<String>,
    pub quiet: bool,
}

impl core::fmt::Debug for Comparison {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Comparison")
            .field("target", &self.target)
            .field("setting", &self.setting)
            .finish_non_exhaustive()
    }
}
