//! `STANCHION=verbose`: what the library does in this program, in two lines on standard error when it is
//! loaded.
use crate::config;
use crate::maps;
use crate::say::Line;
use core::ffi::{CStr, c_char};
use stanchion::{native, tunables};

/// A function of each sort of object. A library has all of a sort, as a rule.
const ONE_OF_EACH: [&CStr; 4] =
    [c"pthread_mutex_lock", c"pthread_rwlock_rdlock", c"pthread_spin_lock", c"pthread_cond_wait"];

/// Says it, if the words ask for it. Called while the program is loaded.
pub(crate) fn tell() {
    if !config::is_verbose() {
        return;
    }
    let mut line = Line::new();
    line.add(concat!("stanchion ", env!("CARGO_PKG_VERSION"), " in ").as_bytes()).add(program());
    // SAFETY: a call without arguments, which cannot fail.
    line.add(b" (process ").number(unsafe { libc::getpid() }.cast_unsigned()).add(b"): ");
    let Some(choice) = config::choice() else {
        line.add(b"lock=libc, nothing is replaced").say();
        return;
    };
    line.add(b"replaces mutexes by lock=").add(choice.name());
    line.add(b", and reader-writer locks, spin locks and condition variables").say();
    let mut line = Line::new();
    line.add(
        b"stanchion: left to libc: what is robust, priority-inheriting or -protecting, or process-shared",
    );
    for name in ONE_OF_EACH {
        tell_who_comes_first(&mut line, name);
    }
    line.add(if tunables::paravirt() { b"; waiters sleep" } else { b"; waiters spin (nopv)" });
    let facts = native::facts();
    line.add(match (facts.restartable_release, facts.asymmetric_release) {
        (true, _) => b"; releases by restartable sequences",
        (false, true) => b"; releases by membarrier",
        (false, false) => b"; releases by fences, as membarrier is refused",
    });
    line.say();
}

/// Adds whose function of this name the program calls, if that is not ours.
fn tell_who_comes_first(line: &mut Line, name: &CStr) {
    // SAFETY: the name ends with a zero; the handle means "as the program calls it".
    let called = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.addr() as u64;
    let ours = (tell as fn() as *const ()).addr() as u64;
    maps::find(called, |called| {
        if maps::find(ours, |ours| ours.path == called.path) == Some(false) {
            line.add(b"; not replaced: ")
                .add(name.to_bytes())
                .add(b" of ")
                .add(called.path)
                .add(b" comes first");
        }
    });
}

/// The program's name.
fn program() -> &'static [u8] {
    unsafe extern "C" {
        static program_invocation_short_name: *const c_char;
    }
    // SAFETY: glibc has the variable, and has set it before it calls what is called at load: null, or a
    // string that stays.
    unsafe {
        if program_invocation_short_name.is_null() {
            b"?"
        } else {
            CStr::from_ptr(program_invocation_short_name).to_bytes()
        }
    }
}
