//! The workloads that come with the simulator.
use super::file::{self, WorkloadFile};
use crate::datafile;

/// Includes a shipped file under its name.
macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../workloads/", $name, ".toml")))),*]
    };
}

const LIBRARY: &[(&str, &str)] = shipped! {
    "empty"
    "short"
    "medium"
    "long"
    "read-mostly"
    "locktorture"
    "lock2"
    "open1"
    "open2"
    "leveldb-readrandom"
    "fsmark-nosync"
    "fsmark-fsync"
    "aim7-disk-rr"
    "build-haswell-ex"
    "build-westmere-ex"
    "kernbench-j3"
    "kernbench-j16"
    "same-file-power9"
    "grant-table"
    "litl-kyotocabinet"
    "litl-linear-regression"
    "litl-pca-ll"
    "litl-radiosity-ll"
    "litl-s-raytrace-ll"
    "litl-ssl-proxy"
    "litl-upscaledb"
    "litl-dedup"
};

/// Name and text of each shipped workload, in the order of tables.
pub fn library() -> &'static [(&'static str, &'static str)] {
    LIBRARY
}

/// The workload with this name; what contains a `/` or ends in `.toml` is the path of a file.
pub fn load(name_or_path: &str) -> Result<WorkloadFile, String> {
    load_with::<&str>(name_or_path, &[])
}

/// The same with fields replaced, each as `KEY=VALUE`: `workload.think=3us`.
pub fn load_with<S: AsRef<str>>(name_or_path: &str, sets: &[S]) -> Result<WorkloadFile, String> {
    let (text, file) = datafile::named("workload", "workloads", LIBRARY, name_or_path)?;
    file::read_with(&text, &file, sets).map_err(|error| error.to_string())
}
