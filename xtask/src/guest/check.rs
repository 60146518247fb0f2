//! What the guest is checked for: that it comes up, that each way to end is told apart, and that locks
//! without exclusion are noticed.
use super::qemu::{Machine, Run, is_there};
use crate::process;
use core::time::Duration;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// One boot and how it has to end.
struct Check {
    name: &'static str,
    vcpus: u16,
    line: &'static str,
    more: &'static [&'static str],
    /// QEMU's exit status.
    status: i32,
    /// Records that there have to be.
    records: &'static [&'static str],
    /// What has to be said.
    says: &'static [&'static str],
}

const OK: i32 = 33;
const FAILED: i32 = 35;
const PANICKED: i32 = 37;
/// The processor reset itself, which ends QEMU by `-no-reboot`.
const RESET: i32 = 0;

/// A boot that works.
const GOOD: Check = Check {
    name: "",
    vcpus: 4,
    line: "",
    more: &[],
    status: OK,
    records: &["boot", "end"],
    says: &[r#""ok":true"#],
};
/// One that fails.
const BAD: Check = Check { status: FAILED, records: &["failure", "end"], says: &[r#""ok":false"#], ..GOOD };

/// Two NUMA nodes of two vCPUs.
const TWO_NODES: &[&str] = &[
    "-object",
    "memory-backend-ram,id=a,size=128M",
    "-object",
    "memory-backend-ram,id=b,size=128M",
    "-numa",
    "node,cpus=0-1,memdev=a",
    "-numa",
    "node,cpus=2-3,memdev=b",
];

const CHECKS: &[Check] = &[
    Check { name: "boot", says: &[r#""vcpus":4,"nodes":1,"hypervisor":"TCG""#], ..GOOD },
    Check { name: "boot-one-vcpu", vcpus: 1, ..GOOD },
    Check { name: "boot-64-vcpus", vcpus: 64, says: &[r#""vcpus":64"#], ..GOOD },
    Check { name: "boot-pc", more: &["-M", "pc"], ..GOOD },
    Check { name: "boot-two-nodes", more: TWO_NODES, says: &[r#""nodes":2"#], ..GOOD },
    Check { name: "bad-word", line: "workload=none", says: &["is none of boot torture"], ..BAD },
    Check {
        name: "panic",
        line: "provoke=panic",
        status: PANICKED,
        records: &["boot", "panic"],
        says: &["as provoked"],
        ..GOOD
    },
    Check {
        name: "exception",
        line: "provoke=exception",
        says: &["exception 6 (invalid instruction) at rip 0x2"],
        ..BAD
    },
    Check { name: "null", line: "provoke=null", says: &["exception 14 (page fault)", "address 0x10"], ..BAD },
    Check {
        name: "overflow",
        line: "provoke=overflow",
        says: &["exception 14 (page fault)", "address 0x"],
        ..BAD
    },
    Check {
        name: "out-of-memory",
        line: "provoke=memory",
        status: PANICKED,
        records: &["panic"],
        says: &["memory allocation"],
        ..GOOD
    },
    Check {
        name: "triple-fault",
        line: "provoke=reset",
        status: RESET,
        records: &["boot"],
        says: &[],
        ..GOOD
    },
    Check {
        name: "torture-64-vcpus",
        vcpus: 64,
        line: "workload=torture lock=pv-qspin seconds=4 stall=60s",
        records: &["stat", "result", "end"],
        ..GOOD
    },
    Check {
        // The vCPUs come in while the first is at work already: their awakening is no kick of the lock's.
        // Shows about every other time if it is counted.
        name: "no-kicks-no-wakes",
        vcpus: 16,
        line: "workload=counter lock=byte seconds=1 rate=500000 stall=60s",
        records: &["wake", "result", "end"],
        says: &[r#""record":"wake","p50_ns":0,"p99_ns":0,"max_ns":0,"count":0"#],
        ..GOOD
    },
    Check {
        name: "torture-two-nodes",
        line: "workload=torture lock=cna seconds=4 stall=60s",
        more: TWO_NODES,
        records: &["stat", "result", "end"],
        ..GOOD
    },
    Check {
        name: "torture-no-exclusion",
        line: "workload=torture lock=busted-none seconds=2",
        says: &["exclusion"],
        ..BAD
    },
    Check {
        name: "torture-lost-kick",
        line: "workload=torture lock=busted-lost-kick seconds=4 stall=4s",
        says: &["stall"],
        ..BAD
    },
    Check {
        name: "torture-rw-count",
        line: "workload=torture lock=busted-rw-count seconds=2",
        says: &["exclusion"],
        ..BAD
    },
    Check {
        name: "conform",
        line: "workload=conform lock=qspin stall=60s",
        records: &["test", "result", "end"],
        ..GOOD
    },
    Check {
        name: "conform-no-exclusion",
        line: "workload=conform lock=busted-open",
        status: PANICKED,
        records: &["test", "panic"],
        says: &["somebody else is inside"],
        ..GOOD
    },
];

/// Boots the machine of each check whose name contains `only`.
pub(super) fn run(image: &Path, qemu: &str, only: Option<&str>) -> io::Result<ExitCode> {
    if !is_there(qemu) {
        println!("skipped: no {qemu} here; Debian's package is qemu-system-x86");
        return Ok(ExitCode::SUCCESS);
    }
    process::catch_interrupts()?;
    let log = image.with_extension("log");
    let mut failed = 0;
    for check in CHECKS.iter().filter(|check| only.is_none_or(|word| check.name.contains(word))) {
        let machine =
            Machine { vcpus: check.vcpus, line: check.line, more: check.more, limit: Duration::from_mins(1) };
        let run = machine.run(qemu, image, &log)?;
        let trouble = check.trouble(&run);
        let verdict = if trouble.is_none() { "ok" } else { "FAILED" };
        println!("{:<20} {verdict} in {:.2} s", check.name, run.took.as_secs_f64());
        if let Some(trouble) = trouble {
            println!("{trouble}; it printed:\n{}", run.printed);
            failed += 1;
        }
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Check {
    /// What is wrong with `run`.
    fn trouble(&self, run: &Run) -> Option<String> {
        if run.status != Some(self.status) {
            let status =
                run.status.map_or("it hung".to_owned(), |status| format!("QEMU's exit status is {status}"));
            return Some(format!("{status}, not {}", self.status));
        }
        if let Some(record) = self.records.iter().find(|record| !run.has(record)) {
            return Some(format!("there is no record '{record}'"));
        }
        self.says.iter().find(|text| !run.says(text)).map(|text| format!("it does not say '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: Option<i32>, printed: &str) -> Run {
        Run { status, printed: printed.to_owned(), took: Duration::ZERO }
    }

    #[test]
    fn a_run_that_ends_otherwise_is_noticed() {
        let good = "{\"record\":\"boot\"}\n{\"record\":\"end\",\"ok\":true}\n";
        assert_eq!(GOOD.trouble(&run(Some(OK), good)), None);
        assert_eq!(GOOD.trouble(&run(None, good)).as_deref(), Some("it hung, not 33"));
        assert_eq!(GOOD.trouble(&run(Some(RESET), good)).as_deref(), Some("QEMU's exit status is 0, not 33"));
        let unfinished = "{\"record\":\"boot\"}\n";
        assert_eq!(GOOD.trouble(&run(Some(OK), unfinished)).as_deref(), Some("there is no record 'end'"));
        let wrong = good.replace("true", "false");
        assert_eq!(GOOD.trouble(&run(Some(OK), &wrong)).as_deref(), Some("it does not say '\"ok\":true'"));
    }

    #[test]
    fn checks_have_names_of_their_own() {
        for check in CHECKS {
            assert_eq!(CHECKS.iter().filter(|other| other.name == check.name).count(), 1, "{}", check.name);
        }
    }
}
