//! Where a lock is used from: return addresses, and the piece of the address space that each of them is in.
//!
//! Pieces are read from `/proc/self/maps` when an address is in none that is known. Asking the dynamic loader
//! would take its lock, which a thread may hold that waits for ours. A piece that was unmapped (`dlclose`) is
//! still taken for what it was.
use crate::maps::{self, Piece};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, Ordering};
use stanchion_wire::stats::{FRAMES, File, Module};

/// Return addresses, the innermost first, without ours.
#[derive(Default)]
pub(crate) struct Stack {
    pub(super) frames: [u64; FRAMES],
    pub(super) depth: usize,
}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    /// The first byte of this library; the linker defines it.
    static __ehdr_start: libc::Elf64_Ehdr;
}

impl Stack {
    /// The place that called into this library.
    pub(crate) fn innermost(&self) -> Option<u64> {
        self.frames[..self.depth].first().copied()
    }
}

/// Whether an address is in this library.
fn is_ours(address: usize) -> bool {
    let start = (&raw const __ehdr_start).addr();
    // SAFETY: the linker's header, with as many program headers behind it as it says; both are mapped with
    // the library.
    let end = unsafe {
        let header = &__ehdr_start;
        let first = (&raw const __ehdr_start).byte_add(header.e_phoff as usize).cast::<libc::Elf64_Phdr>();
        (0..usize::from(header.e_phnum))
            .map(|number| &*first.add(number))
            .filter(|segment| segment.p_type == libc::PT_LOAD)
            .map(|segment| (segment.p_vaddr + segment.p_memsz) as usize)
            .max()
            .unwrap_or(0)
    };
    address >= start && address < start + end
}

/// The stack of the calling thread. The unwinder takes a lock only if code was registered by hand, as a JIT
/// may do; `records.rs` sees to it that this does not lead here again.
pub(crate) fn stack() -> Stack {
    extern "C" fn each(context: *mut c_void, stack: *mut c_void) -> c_int {
        // SAFETY: `stack` is the one below, and the context is the unwinder's.
        let (stack, address) = unsafe { (&mut *stack.cast::<Stack>(), _Unwind_GetIP(context)) };
        if address != 0 && !(stack.depth == 0 && is_ours(address)) {
            stack.frames[stack.depth] = address as u64;
            stack.depth += 1;
        }
        // Anything but 0 ends the walk.
        c_int::from(stack.depth == FRAMES || address == 0)
    }
    let mut stack = Stack::default();
    // SAFETY: the function and its argument are of the types that the unwinder asks for, and live through the
    // call.
    unsafe { _Unwind_Backtrace(each, (&raw mut stack).cast()) };
    stack
}

/// Notes the pieces in which the addresses are, for the process with this index plus one.
pub(super) fn note(file: &File, process: u32, stack: &Stack) {
    for &address in &stack.frames[..stack.depth] {
        // ord: F6 alone: entries say themselves whether they are complete
        let used = file.header.modules_used.load(Ordering::Relaxed) as usize;
        let known = file.modules.iter().take(used).any(|module| {
            // ord: F7 pairs F9: a complete entry is read
            // ord: F8 alone: after F7, written before
            module.length.load(Ordering::Acquire) != 0
                && module.process.load(Ordering::Relaxed) == process
                && (module.start.load(Ordering::Relaxed)..module.end.load(Ordering::Relaxed))
                    .contains(&address)
        });
        if !known && used < file.modules.len() {
            look_up(file, process, address);
        }
    }
}

/// Notes the piece that has the address.
fn look_up(file: &File, process: u32, address: u64) {
    maps::find(address, |piece| add(piece, file, process));
}

fn add(piece: &Piece<'_>, file: &File, process: u32) {
    // ord: F10 alone: a number of one's own is all that is needed
    let number = file.header.modules_used.fetch_add(1, Ordering::Relaxed) as usize;
    let Some(Module { process: of, length, start, end, offset, path }) = file.modules.get(number) else {
        return;
    };
    // ord: F11 alone: published by F9
    of.store(process, Ordering::Relaxed);
    for (field, value) in [(start, piece.start), (end, piece.end), (offset, piece.offset)] {
        // ord: F12 alone: published by F9
        field.store(value, Ordering::Relaxed);
    }
    let written = write_text(path, piece.path);
    // ord: F9 pairs F7: the rest of the entry comes first
    length.store(written + 1, Ordering::Release);
}

/// As much of the text as there is room for; its length.
pub(super) fn write_text(to: &[AtomicU8], text: &[u8]) -> u32 {
    for (cell, byte) in to.iter().zip(text) {
        // ord: F13 alone: published by whoever writes the length
        cell.store(*byte, Ordering::Relaxed);
    }
    to.len().min(text.len()) as u32
}
