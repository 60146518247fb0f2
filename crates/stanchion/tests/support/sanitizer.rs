//! Tests under the thread sanitizer, which `STANCHION_SANITIZER` in the environment announces.

/// Whether the calling test is to be skipped because the sanitizer is there; says why.
pub(crate) fn skips(reason: &str) -> bool {
    let skip = std::env::var_os("STANCHION_SANITIZER").is_some();
    if skip {
        eprintln!("skipped under the sanitizer: {reason}");
    }
    skip
}
