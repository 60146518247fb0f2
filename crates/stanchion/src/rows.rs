//! The rows of the locks that this build has: the product's, and with the feature `family` those of
//! `stanchion-family`, too.
#[cfg(not(feature = "family"))]
pub(crate) use stanchion_core::{catalogue, events, mutex_rows, rwlock_rows, tunables};
#[cfg(feature = "family")]
pub(crate) use stanchion_family::{catalogue, events, mutex_rows, rwlock_rows, tunables};
