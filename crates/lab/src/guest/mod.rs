//! `stanchion guest`: the locks on real vCPUs, in a small kernel of our own under QEMU.
//!
//! What was typed becomes a [`setting`]. [`mod@run`] boots the guest for each lock and round, in [`qemu`]. A
//! boot is a [`session`]: the guest's bytes become lines and [`record`]s, those a [`transcript`], and that a
//! run in the [`report`], with [`figures`] for [`table`] and [`export`].
mod clock;
mod export;
mod figures;
mod qemu;
mod record;
mod report;
mod run;
mod session;
mod setting;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod transcript;
mod workload;

pub(crate) use run::run;
pub(crate) use setting::Args;
