//! Who runs the guest's instructions: KVM where it works, which only trying can tell.
use super::qemu::Machine;
use super::session::{self, Timeouts};
use super::setting::Setting;
use super::transcript::{Ending, State};
use clap::ValueEnum;
use core::time::Duration;
use lab_kit::interrupt;
use rustix::fs::{Access, access};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Where the kernel offers it.
const DEVICE: &str = "/dev/kvm";
/// With KVM a guest is up in a fraction of a second.
const TIMEOUTS: Timeouts = Timeouts { boot: Duration::from_secs(5), work: Duration::from_secs(5) };

/// Who runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Accel {
    /// KVM if it works here, else TCG
    Auto,
    /// The processor's own virtualisation
    Kvm,
    /// QEMU's translator, a host thread for each vCPU
    Tcg,
}

impl Accel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "KVM or TCG",
            Self::Kvm => "KVM",
            Self::Tcg => "TCG",
        }
    }
}

/// Decides between the two, and says why it is not KVM if that was tried.
pub(crate) fn settle(setting: &mut Setting, machine: &Machine) {
    if setting.accel == Accel::Auto {
        setting.accel = Accel::Kvm;
        if let Err(reason) = offered(Path::new(DEVICE)).and_then(|()| boots(setting, machine)) {
            setting.accel = Accel::Tcg;
            setting.accel_reason = Some(reason);
        }
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
fn boots(setting: &Setting, machine: &Machine) -> Result<(), String> {
    let mut command = machine.command(setting, "workload=boot");
    let session = session::run(&mut command, TIMEOUTS, None, &mut |_| interrupt::requested())
        .map_err(|error| error.to_string())?;
    if session.ending == Ending::NotUp {
        return Err(format!("the guest did not come up under KVM in {} s", TIMEOUTS.boot.as_secs()));
    }
    match session.state() {
        State::Finished | State::Unfinished => Ok(()),
        State::Failed { reason } | State::Killed { reason } => Err(format!("under KVM {reason}")),
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
