//! Reader-writer locks under the thread sanitizer, which `STANCHION_SANITIZER` in the environment announces.

/// The sanitizer knows neither `membarrier` nor fences: where it is, accesses are ordered by themselves from
/// now on.
pub(crate) fn fence_if_sanitized() {
    if std::env::var_os("STANCHION_SANITIZER").is_some() {
        stanchion::native::force_fenced_release();
    }
}
