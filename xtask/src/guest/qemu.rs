//! One run of the guest in QEMU, with what it says and how it ends.
use core::time::Duration;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Whether there is such a program.
pub(super) fn is_there(qemu: &str) -> bool {
    Command::new(qemu).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A machine to boot.
pub(super) struct Machine<'a> {
    pub(super) vcpus: u16,
    /// The kernel command line.
    pub(super) line: &'a str,
    /// More arguments for QEMU.
    pub(super) more: &'a [&'a str],
    /// QEMU is killed after so long.
    pub(super) limit: Duration,
}

/// How a run ended.
pub(super) struct Run {
    /// QEMU's exit status; `None` if it had to be killed.
    pub(super) status: Option<i32>,
    /// All that came in by the serial port, and QEMU's complaints.
    pub(super) said: String,
    pub(super) took: Duration,
}

impl Run {
    /// Whether there is a record of this name.
    pub(super) fn has(&self, record: &str) -> bool {
        self.says(&format!("{{\"record\":\"{record}\""))
    }

    /// Whether this text occurs.
    pub(super) fn says(&self, text: &str) -> bool {
        self.said.contains(text)
    }
}

impl Machine<'_> {
    /// Boots `image` in `qemu`, emulated. `log` is overwritten.
    pub(super) fn run(&self, qemu: &str, image: &Path, log: &Path) -> io::Result<Run> {
        let output = File::create(log)?;
        let began = Instant::now();
        let mut command = Command::new(qemu);
        command
            .args(["-M", "q35", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"])
            .args(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-no-reboot"])
            .args(["-accel", "tcg,thread=multi", "-cpu", "max", "-m", "256", "-smp", &self.vcpus.to_string()])
            .args(self.more)
            .arg("-kernel")
            .arg(image)
            .args(["-append", self.line])
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let mut child = command.spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status.code();
            }
            if began.elapsed() > self.limit {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let said = String::from_utf8_lossy(&fs::read(log)?).into_owned();
        Ok(Run { status, said, took: began.elapsed() })
    }
}
