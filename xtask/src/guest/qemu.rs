//! One run of the guest in QEMU, with what it says and how it ends.
use crate::process::{self, Ended};
use core::time::Duration;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

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
    pub(super) printed: String,
    pub(super) took: Duration,
}

impl Run {
    /// Whether there is a record of this name.
    pub(super) fn has(&self, record: &str) -> bool {
        self.says(&format!("{{\"record\":\"{record}\""))
    }

    /// Whether this text occurs.
    pub(super) fn says(&self, text: &str) -> bool {
        self.printed.contains(text)
    }
}

impl Machine<'_> {
    /// Boots `image` in `qemu`, emulated. `log`, and a file beside it, are overwritten.
    pub(super) fn run(&self, qemu: &str, image: &Path, log: &Path) -> io::Result<Run> {
        let vcpus = self.vcpus.to_string();
        let image = image.to_string_lossy();
        let mut words =
            vec![qemu, "-M", "q35", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none"];
        words.extend(["-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-no-reboot"]);
        words.extend(["-accel", "tcg,thread=multi", "-cpu", "max", "-m", "256", "-smp", &vcpus]);
        words.extend(self.more);
        words.extend(["-kernel", &image, "-append", self.line]);
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let complaints = log.with_extension("err");
        let (ended, took) =
            process::start(&words, &[], Path::new("."), log, &complaints)?.wait(self.limit)?;
        let status = match ended {
            Ended::Exited(status) => Some(status),
            Ended::Signalled(_) | Ended::TimedOut => None,
            Ended::Interrupted => return Err(io::ErrorKind::Interrupted.into()),
        };
        let printed = [fs::read(log)?, fs::read(complaints)?].concat();
        Ok(Run { status, printed: String::from_utf8_lossy(&printed).into_owned(), took })
    }
}
