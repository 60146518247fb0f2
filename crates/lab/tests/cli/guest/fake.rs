//! A script that looks like QEMU, and the command told to use it.
use crate::common::{self, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) const BOOT: &str = r#"{"record":"boot","version":1,"vcpus":4,"nodes":1,"hypervisor":"TCG","tsc_hz":1000,"x2apic":true,"steal_time":false,"kick_hypercall":false,"yield_hypercall":false,"boot_ns":5000}"#;
pub(crate) const OVER: &str = r#"{"record":"end","ok":true}"#;
pub(crate) const FAILED: &str = r#"{"record":"end","ok":false}"#;

/// A vCPU and a result, as a build says them.
pub(crate) fn work(lock: &str, seconds: u64, finished: bool) -> String {
    let ns = seconds * 1_000_000_000;
    let vcpu = |vcpu| {
        format!(
            r#"{{"record":"vcpu","vcpu":{vcpu},"acquisitions":100,"work_ns":3000000000,"slow_ns":1000000000,"halts":5,"halted_ns":7,"kicks_sent":6,"kicks_woke":5,"ticks":9}}"#
        )
    };
    let wake = r#"{"record":"wake","p50_ns":2500,"p99_ns":70000,"max_ns":80000,"count":10}"#;
    let result = format!(
        r#"{{"record":"result","workload":"build","lock":"{lock}","elapsed_ns":{ns},"operations":400,"finished":{finished},"correct":true,"wait_p50_ns":100,"wait_p99_ns":200,"wait_max_ns":300,"fairness":{{"min":50,"max":100}},"rate":77}}"#
    );
    [vcpu(0), vcpu(1), vcpu(2), vcpu(3), wake.to_owned(), result].join("\n")
}

/// `echo` of some lines.
pub(crate) fn say(lines: &[&str]) -> String {
    format!("cat <<'EOF'\n{}\nEOF\n", lines.join("\n"))
}

/// A directory with a fake emulator and a fake image.
pub(crate) struct Fake {
    dir: TempDir,
}

impl Fake {
    /// The shell script sees the guest's words in `$words`, the accelerator in `$accel`, and all in `$all`.
    pub(crate) fn new(script: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let head = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'QEMU emulator version 0.0 (fake)'; exit; }\n\
                    all=$*\n\
                    while [ $# -gt 0 ]; do case $1 in -append) words=$2;; -accel) accel=$2;; esac; shift; done\n";
        let fake = Self { dir };
        fs::write(fake.qemu(), format!("{head}{script}\n")).expect("written");
        fs::set_permissions(fake.qemu(), fs::Permissions::from_mode(0o755)).expect("changed");
        fs::write(fake.path("image"), "").expect("written");
        fake
    }

    pub(crate) fn qemu(&self) -> PathBuf {
        self.path("qemu")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The command under TCG with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = stanchion(&["--accel", "tcg"]);
        command.arg("--qemu").arg(self.qemu()).arg("--image").arg(self.path("image")).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        Printed::of(&self.command(arguments).output().expect("the program starts"))
    }
}

/// `stanchion guest`.
pub(crate) fn stanchion(arguments: &[&str]) -> Command {
    common::command(&[&["guest"], arguments].concat())
}

/// What the command has printed.
#[derive(Debug)]
pub(crate) struct Printed {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Printed {
    pub(crate) fn of(output: &Output) -> Self {
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}
