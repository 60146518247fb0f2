//! Who runs the guest's instructions: KVM where it works, which only trying can tell.
use super::args::Wish;
use super::qemu::Machine;
use super::record::Record;
use super::report::Accel;
use super::session::{self, Audience, Timeouts};
use super::transcript::{Ending, State};
use core::time::Duration;
use lab_kit::interrupt;
use rustix::fs::{Access, access};
use std::path::Path;

/// Where the kernel offers it.
const DEVICE: &str = "/dev/kvm";
/// With KVM a guest is up in a fraction of a second.
const TIMEOUTS: Timeouts = Timeouts { boot: Duration::from_secs(5), work: Duration::from_secs(5) };

/// The accelerator, and why it is not KVM if that was to be tried.
pub(crate) fn choose(wish: Wish, machine: &Machine) -> (Accel, Option<String>) {
    match wish {
        Wish::Kvm => (Accel::Kvm, None),
        Wish::Tcg => (Accel::Tcg, None),
        Wish::Auto => match offered(Path::new(DEVICE)).and_then(|()| boots(machine)) {
            Ok(()) => (Accel::Kvm, None),
            Err(reason) => (Accel::Tcg, Some(reason)),
        },
    }
}

/// Whether we may use it at all.
fn offered(device: &Path) -> Result<(), String> {
    if !device.exists() {
        return Err(format!("there is no {}", device.display()));
    }
    access(device, Access::READ_OK | Access::WRITE_OK)
        .map_err(|error| format!("{} cannot be used ({error})", device.display()))
}

/// Whether the guest comes up and ends.
fn boots(machine: &Machine) -> Result<(), String> {
    let mut command = machine.command(Accel::Kvm, "workload=boot");
    let session =
        session::run(&mut command, TIMEOUTS, None, &mut Nobody).map_err(|error| error.to_string())?;
    if session.ending == Ending::NotUp {
        return Err(format!("the guest did not come up under KVM in {} s", TIMEOUTS.boot.as_secs()));
    }
    match session.transcript.state(session.ending, &session.exit) {
        State::Finished | State::Unfinished => Ok(()),
        State::Failed { reason } | State::Killed { reason } => Err(format!("under KVM {reason}")),
    }
}

/// Waits for nothing but the end.
struct Nobody;

impl Audience for Nobody {
    fn record(&mut self, _: &Record) {}

    fn idle(&mut self) {}

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_not_tried() {
        let error = offered(Path::new("/dev/no-kvm")).expect_err("missing");
        assert_eq!(error, "there is no /dev/no-kvm");
        assert!(offered(Path::new("/dev/null")).is_ok());
    }
}
