//! What happens when the library is loaded, as far as it may not happen later. Looking up libc's functions
//! takes the loader's lock, and forgets `dlerror`. Registering for `membarrier` is slow in a process with
//! many threads. Whoever comes before finds things out by itself.
use crate::{cancel, condition, config, fork, mutex, rwlock, spin, two, verbose};

// SAFETY: the section holds pointers to functions that the loader calls once each before `main`, with C's
// calling convention; what is called needs nothing that is set up later than that.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        cancel::resolve();
        condition::libc_s::resolve();
        mutex::libc_s::resolve();
        rwlock::libc_s::resolve();
        spin::libc_s::resolve();
        fork::watch();
        let _ = config::choice();
        stanchion::native::watch::look_around(two::look_at);
        // Settles how locks are released, while the process has one thread.
        let _ = stanchion::native::facts();
        verbose::tell();
    }
    at_load
};
