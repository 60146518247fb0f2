//! `cargo xtask guest`: builds the kernel image. `--check` boots it as `crates/guest/tests/checks.toml` has
//! it: does it come up, are ways to end told apart, and are locks without exclusion noticed?
use crate::built;
use crate::files::{self, entries};
use crate::process::{self, shell, succeeds};
use anyhow::{Result, ensure};
use core::time::Duration;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;
use xshell::cmd;

#[derive(clap::Args)]
pub(crate) struct Request {
    /// Run clippy on the kernel as well
    #[arg(long)]
    lint: bool,
    /// Boot it in QEMU in all the ways that its checks know, and see that each ends as it should
    #[arg(long)]
    check: bool,
    /// With --check: only checks whose names contain this
    #[arg(long, value_name = "WORD", requires = "check")]
    only: Option<String>,
    /// With --check: QEMU's program
    #[arg(long, value_name = "PATH", default_value = "qemu-system-x86_64")]
    qemu: String,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let sh = shell(root)?;
    if request.lint {
        let kernel = KERNEL.split(' ');
        cmd!(sh, "cargo clippy {kernel...} -- -D warnings").run()?;
    }
    let (kernel, options) = (KERNEL.split(' '), LINKED.split(' ').flat_map(|option| ["-C", option]));
    let script = root.join("crates/guest/kernel.ld");
    cmd!(sh, "cargo rustc {kernel...} --quiet -- {options...} -C link-arg=-Wl,-T,{script}").run()?;
    let image = built::target(root).join("guest/stanchion-guest");
    println!("{}", image.display());
    Ok(!request.check || check(root, &image, &request.qemu, request.only.as_deref())?)
}

/// The kernel, for a command of cargo.
const KERNEL: &str = "-p stanchion-guest --bin stanchion-guest --features kernel --profile guest";

/// Makes a program for a machine without an operating system of the host's standard library.
const LINKED: &str = "relocation-model=static relro-level=off link-arg=-nostartfiles link-arg=-nostdlib \
    link-arg=-static link-arg=-no-pie link-arg=-Wl,--build-id=none,--no-eh-frame-hdr";

const CHECKS: &str = "crates/guest/tests/checks.toml";
const LIMIT: Duration = Duration::from_mins(1);
/// That of one run of several.
const LIMIT_OF_A_TRY: Duration = Duration::from_secs(20);
/// The machine, but for its vCPUs and what it runs.
const MACHINE: &str = "-M q35 -nodefaults -no-user-config -display none -monitor none -serial stdio \
    -device isa-debug-exit,iobase=0xf4,iosize=0x04 -no-reboot -accel tcg,thread=multi -cpu max -m 256";

/// One boot and how it has to end; unless it says otherwise, well.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Check {
    name: String,
    vcpus: u16,
    /// The kernel command line.
    line: String,
    /// More arguments for QEMU.
    more: String,
    ends: End,
    records: Vec<String>,
    says: Vec<String>,
    /// Runs at most, until one is as it should be: it is a matter of chance whether a lock that is broken in
    /// few instructions shows it, and it may keep all vCPUs with interrupts off, so that nobody is left to
    /// say so.
    tries: u32,
}

impl Default for Check {
    fn default() -> Self {
        let (name, line, more) = Default::default();
        let records = ["boot", "end"].map(str::to_owned).into();
        let says = vec![r#""ok":true"#.to_owned()];
        Self { name, vcpus: 4, line, more, ends: End::Ok, records, says, tries: 1 }
    }
}

/// QEMU's exit status.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Ok = 33,
    Failed = 35,
    Panicked = 37,
    /// The processor resets itself, which ends QEMU by `-no-reboot`.
    Reset = 0,
}

fn check(root: &Path, image: &Path, qemu: &str, only: Option<&str>) -> Result<bool> {
    ensure!(succeeds(&[qemu, "--version"]), "no {qemu} here; Debian's package is qemu-system-x86");
    process::catch_interrupts()?;
    // Two files: a warning of QEMU's may not land within a record.
    let [log, err] = ["log", "err"].map(|name| image.with_extension(name));
    let mut failed = 0;
    let mut checks = entries::<Check>(root, CHECKS, "check")?;
    checks.retain(|check| only.is_none_or(|word| check.name.contains(word)));
    ensure!(!checks.is_empty(), "no check has `{}` in its name", only.unwrap_or_default());
    for check in &checks {
        let mut tried = 0;
        let (judged, printed, wall) = loop {
            tried += 1;
            let limit = if check.tries > 1 { LIMIT_OF_A_TRY } else { LIMIT };
            let gone = process::run(&mut check.machine(qemu, image), [&log, &err], limit)?;
            let status = gone.in_time().and_then(|status| status.code());
            let printed = files::text(&log)? + &files::text(&err)?;
            match check.judge(status, &printed) {
                Err(trouble) if tried < check.tries && check.is_chance(status) => {
                    println!("{:<20} {trouble}: run {} follows", check.name, tried + 1);
                }
                judged => break (judged, printed, gone.wall),
            }
        };
        let verdict = if judged.is_ok() { "ok" } else { "FAILED" };
        println!("{:<20} {verdict} in {:.2} s", check.name, wall.as_secs_f64());
        if let Err(trouble) = judged {
            println!("{trouble}; it printed:\n{printed}");
            failed += 1;
        }
    }
    Ok(failed == 0)
}

impl Check {
    fn machine(&self, qemu: &str, image: &Path) -> Command {
        let mut machine = Command::new(qemu);
        machine.args(MACHINE.split_whitespace()).args(["-smp", &self.vcpus.to_string()]);
        machine.args(self.more.split_whitespace());
        machine.arg("-kernel").arg(image).args(["-append", &self.line]);
        machine
    }

    /// Whether a run may have ended with this status though the lock is broken: it hung, nothing was noticed,
    /// or something else was.
    fn is_chance(&self, status: Option<i32>) -> bool {
        status.is_none_or(|code| [End::Ok as i32, self.ends as i32].contains(&code))
    }

    /// Judges a run that ended with this status, or had to be killed, and printed this.
    fn judge(&self, status: Option<i32>, printed: &str) -> Result<()> {
        let wanted = self.ends as i32;
        let told = status.map_or("it hung".to_owned(), |code| format!("QEMU's exit status is {code}"));
        ensure!(status == Some(wanted), "{told}, not {wanted}");
        for record in &self.records {
            let begins = format!("{{\"record\":\"{record}\"");
            ensure!(printed.contains(&begins), "there is no record '{record}'");
        }
        for text in &self.says {
            ensure!(printed.contains(text), "it does not say '{text}'");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ends_otherwise_is_noticed() {
        let check = Check::default();
        let trouble =
            |status, printed: &str| check.judge(status, printed).err().map(|error| error.to_string());
        let good = "{\"record\":\"boot\"}\n{\"record\":\"end\",\"ok\":true}\n";
        let ok = Some(33);
        assert_eq!(trouble(ok, good), None);
        assert_eq!(trouble(None, good).as_deref(), Some("it hung, not 33"));
        assert_eq!(trouble(Some(0), good).as_deref(), Some("QEMU's exit status is 0, not 33"));
        assert_eq!(trouble(ok, "{\"record\":\"boot\"}\n").as_deref(), Some("there is no record 'end'"));
        let wrong = good.replace("true", "false");
        assert_eq!(trouble(ok, &wrong).as_deref(), Some("it does not say '\"ok\":true'"));
    }

    #[test]
    fn a_machine_that_resets_or_panics_is_no_chance() {
        let check = Check { ends: End::Failed, tries: 8, ..Check::default() };
        let chances =
            [None, Some(33), Some(35), Some(37), Some(0), Some(1)].map(|code| check.is_chance(code));
        assert_eq!(chances, [true, true, true, false, false, false]);
    }

    #[test]
    fn checks_have_names_of_their_own() {
        let checks: Vec<Check> =
            entries(&crate::workspace::root(), CHECKS, "check").unwrap_or_else(|error| panic!("{error:#}"));
        for check in &checks {
            assert_eq!(checks.iter().filter(|other| other.name == check.name).count(), 1, "{}", check.name);
        }
    }
}
