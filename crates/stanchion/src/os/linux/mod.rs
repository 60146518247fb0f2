//! Linux: what `../absent.rs` lists, by its system calls and the C library.
mod futex;
mod memory;
mod places;
mod priority;
mod rseq;
mod threads;
mod time;

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod processor;

pub(crate) use futex::{wait, wait_for, wait_in_any_process, wake, wake_at, wake_at_in_any_process};
pub(crate) use memory::{
    map, membarrier, register_barrier, register_restarts, restart_everywhere, unmap, wipe_on_fork,
};
pub(crate) use places::{cpu, cpu_for_sure, cpu_is_at_hand, cpus_of_node, some_number};
pub(crate) use priority::of_caller as priority;
pub(crate) use processor::{prefetch_write, store_unless_marked, ticks, ticks_are_steady};
pub(crate) use threads::{has_ended, on_fork, process, thread, variable, yield_slice};
pub(crate) use time::{prepare_clock, sleep, time};

/// Has a function called when the program is loaded, before there are threads.
macro_rules! at_load {
    ($function:path) => {
        // SAFETY: the section holds pointers to functions that the loader calls once each before `main`, with
        // C's calling convention; the function is one of those, and needs nothing that is set up later than
        // that.
        #[used]
        #[unsafe(link_section = ".init_array")]
        static AT_LOAD: extern "C" fn() = $function;
    };
}
pub(crate) use at_load;
