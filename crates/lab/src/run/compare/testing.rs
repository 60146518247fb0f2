//! What the tests of a comparison share.
use super::metric::{Figures, Metric};
use super::report::Report;
use super::{Order, Setting};
use crate::run::Target;
use crate::run::program::Program;

pub(crate) fn setting(locks: &[&str]) -> Setting {
    Setting {
        locks: locks.iter().map(|&lock| lock.to_owned()).collect(),
        metric: Metric::Wall,
        runs: 5,
        warmup: 0,
        timeout_s: 60.0,
        order: Order::Rotated,
        seed: 42,
        check_output: false,
        show_output: false,
    }
}

pub(crate) fn report(locks: &[&str]) -> Report {
    let program = Program { path: "/bin/x".into(), binary: "/bin/x".into(), loader: "/lib/ld.so".into() };
    Report::new(setting(locks), &Target { program, words: vec!["x".into(), "a b".into()] })
}

pub(crate) fn figures(wall_s: f64) -> Figures {
    Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None }
}
