//! What the tests of a comparison share.
use super::metric::{Figures, Metric};
use super::report::{Report, Row, SCHEMA};
use super::setting::{Order, Setting};
use lab_kit::provenance::Provenance;

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
    Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(42),
        file: "/bin/x".into(),
        program: vec!["x".into(), "a b".into()],
        library: Some("/lib/y.so".into()),
        words: vec!["nopv".into()],
        setting: setting(locks),
        locks: locks.iter().map(|&lock| Row { lock: lock.to_owned(), ..Row::default() }).collect(),
        rss_floor_kib: 0,
        warnings: Vec::new(),
    }
}

pub(crate) fn figures(wall_s: f64) -> Figures {
    Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None }
}
