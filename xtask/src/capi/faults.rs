//! Faults of the C library that its test programs must notice: a function is replaced by a broken one when
//! the program is loaded.
use crate::capi::check::{Installed, Tally, command_for, judge};
use crate::capi::programs::{Linking, PROGRAMS, Toolchain};
use crate::capi::shared::{failed, must_succeed};
use std::process::Command;
use std::{fs, io};

/// A fault: what is wrong, the program that must notice it, and the broken function.
struct Fault {
    says: &'static str,
    program: &'static str,
    code: &'static str,
    /// Whether the program hangs, until its own clock ends it.
    hangs: bool,
}

const fn fault(says: &'static str, program: &'static str, code: &'static str) -> Fault {
    Fault { says, program, code, hangs: false }
}

const fn hang(says: &'static str, program: &'static str, code: &'static str) -> Fault {
    Fault { hangs: true, ..fault(says, program, code) }
}

const FAULTS: &[Fault] = &[
    fault(
        "a lock that excludes nobody",
        "tests/locks.c",
        "int stanchion_unfair_q_lock(void *l) { return NONE(l, 4) ? EINVAL : 0; } int \
         stanchion_unfair_q_unlock(void *l) { return NONE(l, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a lock that does not wait",
        "tests/locks.c",
        "int stanchion_qspin_trylock(void *); int stanchion_qspin_lock(void *l) { \
         int e = stanchion_qspin_trylock(l); return e == EBUSY ? 0 : e; }",
    ),
    fault(
        "an unlock that looks at a lock that is gone",
        "tests/locks.c",
        "#include <dlfcn.h>\n#include <unistd.h>\nint stanchion_mutex_unlock(volatile char *l) { static int calls; \
         int e = ((int (*)(volatile char *))dlsym((void *)-1L, \"stanchion_mutex_unlock\"))(l); \
         if (e == 0 && calls++ % 2 == 0) { usleep(2000); e = *l & 0; } return e; }",
    ),
    fault(
        "a fair release that is a plain one",
        "tests/others.c",
        "int stanchion_mutex_unlock(void *); int stanchion_mutex_unlock_fair(void *l) { return \
         stanchion_mutex_unlock(l); }",
    ),
    fault(
        "a trylock that always succeeds",
        "tests/locks.c",
        "int stanchion_ticket_trylock(void *l) { return NONE(l, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a trylock that changes errno",
        "tests/locks.c",
        "int stanchion_cna_trylock(void *l) { errno = EBUSY; return NONE(l, 4) ? EINVAL : EBUSY; }",
    ),
    fault(
        "a timedlock that never waits",
        "tests/locks.c",
        "int stanchion_mutex_timedlock(void *l, void *at) { return NONE(l, 4) || NONE(at, 8) ? EINVAL \
         : ETIMEDOUT; }",
    ),
    fault(
        "an unlock that does not",
        "tests/locks.c",
        "int stanchion_xen_pv_unlock(void *l) { return NONE(l, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a null pointer that is no error",
        "tests/locks.c",
        "int stanchion_qspin_unlock(char *l) { if (l == 0) return 0; *l = 0; return NONE(l, 4) ? \
         EINVAL : 0; }",
    ),
    fault(
        "a misaligned pointer that is no error",
        "tests/locks.c",
        "int stanchion_byte_unlock(char *l) { if (l == 0) return EINVAL; *l = 0; return 0; }",
    ),
    fault(
        "a checked mutex that anybody unlocks",
        "tests/locks.c",
        "int stanchion_checked_mutex_unlock(char *l) { if (NONE(l, 8)) return EINVAL; *l = 0; return \
         0; }",
    ),
    fault(
        "a checked mutex that is locked twice",
        "tests/locks.c",
        "int stanchion_checked_mutex_lock(void *l) { return NONE(l, 8) ? EINVAL : 0; }",
    ),
    fault(
        "readers that ignore a writer",
        "tests/rwlocks.c",
        "int stanchion_rwlock_tryrdlock(void *l) { return NONE(l, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a writer that does not wait",
        "tests/rwlocks.c",
        "int stanchion_rwlock_trywrlock(void *); int stanchion_rwlock_wrlock(void *l) { \
         int e = stanchion_rwlock_trywrlock(l); return e == EBUSY ? 0 : e; }",
    ),
    fault(
        "read locks that are not counted",
        "tests/rwlocks.c",
        "int stanchion_rwlock_rdlock(void *l) { return NONE(l, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a downgrade that stays a writer",
        "tests/rwlocks.c",
        "int stanchion_percpu_rwlock_downgrade(void *l) { return NONE(l, 8) ? EINVAL : 0; }",
    ),
    fault(
        "a writer that ignores readers",
        "tests/rwlocks.c",
        "int stanchion_percpu_rwlock_trywrlock(void *l) { return NONE(l, 8) ? EINVAL : 0; }",
    ),
    fault(
        "a timed writer that gives up early",
        "tests/rwlocks.c",
        "int stanchion_percpu_rwlock_timedwrlock(void *l, void *at) { return NONE(l, 8) || NONE(at, \
         8) ? EINVAL : ETIMEDOUT; }",
    ),
    hang(
        "a signal that wakes nobody",
        "tests/others.c",
        "int stanchion_cond_signal(void *c) { return NONE(c, 8) ? EINVAL : 0; }",
    ),
    hang(
        "a broadcast that wakes one",
        "tests/others.c",
        "int stanchion_cond_signal(void *); int stanchion_cond_broadcast(void *c) { return \
         stanchion_cond_signal(c); }",
    ),
    hang(
        "a wait that keeps the mutex",
        "tests/others.c",
        "int stanchion_cond_wait(void *c, void *m) { return NONE(c, 8) || NONE(m, 4) ? EINVAL : 0; }",
    ),
    fault(
        "a wait that takes every clock",
        "tests/others.c",
        "int stanchion_cond_clockwait(void *c, void *m, int k, void *at) { (void)k; return NONE(c, 8) \
         || NONE(m, 4) || NONE(at, 8) ? EINVAL : ETIMEDOUT; }",
    ),
    fault(
        "events that are not counted",
        "tests/others.c",
        "int stanchion_event_read(void *n, unsigned long *t) { if (!n || NONE(t, 8)) return EINVAL; \
         *t = 0; return 0; }",
    ),
    fault(
        "tunables that stay as they are",
        "tests/others.c",
        "int stanchion_tunable_set(void *n, unsigned v) { (void)v; return n ? 0 : EINVAL; }",
    ),
    fault("a switch that does nothing", "tests/others.c", "void stanchion_set_nopv(_Bool on) { (void)on; }"),
    fault(
        "a trylock that always succeeds, under the wrapper",
        "tests/wrapper.cpp",
        "int stanchion_mutex_trylock(void *l) { (void)l; return 0; }",
    ),
    hang(
        "notifications that are lost, under the wrapper",
        "tests/wrapper.cpp",
        "int stanchion_cond_broadcast(void *c) { (void)c; return 0; }",
    ),
];

/// How a program ends that its own clock ends: SIGALRM.
const TIME_IS_OVER: &str = "signal: 14";

/// What every fault starts with; where no object can be is an error that the faults leave as it is, unless
/// they are about it.
const START: &str = "#include <errno.h>\n#define NONE(p, size) (!(p) || (unsigned long)(p) % (size))\n";

/// Tries each fault; the tally says whether it was noticed, and that nothing is noticed where nothing is
/// wrong.
pub(crate) fn check(tally: &mut Tally, installed: &Installed, toolchain: &Toolchain) -> io::Result<()> {
    for program in PROGRAMS.iter().filter(|program| program.is_test()) {
        let ended = run(installed, toolchain, program.source, "", false)?;
        tally.note(&format!("{} with nothing replaced", program.source), ended);
    }
    for fault in FAULTS {
        match run(installed, toolchain, fault.program, fault.code, fault.hangs)? {
            Ok(()) => tally.note(fault.says, Err(format!("{} does not notice", fault.program))),
            Err(how) if how.contains(TIME_IS_OVER) != fault.hangs => tally.note(fault.says, Err(how)),
            Err(how) => tally.note(&format!("noticed: {}: {how}", fault.says), Ok(())),
        }
    }
    Ok(())
}

/// How the program ends if the functions of `code` take the place of the library's.
fn run(
    installed: &Installed,
    toolchain: &Toolchain,
    source: &str,
    code: &str,
    hangs: bool,
) -> io::Result<Result<(), String>> {
    let library = installed.programs.join("fault.so");
    fs::write(library.with_extension("c"), format!("{START}{code}"))?;
    let mut compiler = Command::new(toolchain.c);
    compiler.args(["-shared", "-fPIC"]).arg(library.with_extension("c")).arg("-o").arg(&library);
    must_succeed(&mut compiler)?;
    let program = PROGRAMS.iter().find(|program| program.source == source);
    let program = program.ok_or_else(|| failed(format!("no program {source}")))?;
    let path = installed.programs.join(toolchain.program(program, &Linking::Shared));
    let mut command = command_for(installed, &path);
    // The program's own clock ends it then. A fault that makes it hang is noticed so; any other program has
    // ended long before.
    command.env("LD_PRELOAD", &library).env("CHECK_SECONDS", if hangs { "8" } else { "100" });
    judge(&mut command, None)
}
