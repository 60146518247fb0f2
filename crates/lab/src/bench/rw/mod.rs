//! What reader-writer locks have of their own in `stanchion bench rw`: two more flags ([`args`]), the locks
//! ([`contenders`]), and the loop with its check ([`worker`]). All else is as for mutexes, which are locks
//! with one kind of access.
mod args;
mod contender;
mod contenders;
mod worker;

pub(crate) use args::RwArgs;
pub(crate) use contender::RwContender;
pub(crate) use contenders::{all, take_pthread_lock};
pub(crate) use worker::run;
