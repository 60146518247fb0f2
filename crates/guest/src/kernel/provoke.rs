//! Ways to end badly, on request: `provoke=NAME` on the kernel command line. `cargo xtask guest --check` sees
//! that each is told apart.
use super::arch;
use alloc::string::String;
use alloc::vec::Vec;
use core::arch::asm;
use core::hint::black_box;

const WORD: &str = "provoke=";

/// Splits the request off the command line.
pub(super) fn split(line: &str) -> (Option<&str>, String) {
    let request = line.split_whitespace().find_map(|word| word.strip_prefix(WORD));
    let rest: Vec<&str> = line.split_whitespace().filter(|word| !word.starts_with(WORD)).collect();
    (request, rest.join(" "))
}

/// Does what is asked for; the error is one line for humans.
pub(super) fn provoke(what: &str) -> Result<(), &'static str> {
    match what {
        "panic" => panic!("as provoked"),
        "exception" => {
            // In the first section of the image, so that the check knows how its address begins.
            // SAFETY: the instruction raises an exception, which ends the run.
            unsafe { asm!(".pushsection .text.boot", "2: ud2", ".popsection", "jmp 2b") }
        }
        "null" => {
            let nowhere: *const u8 = core::ptr::without_provenance(black_box(0x10));
            // SAFETY: the first page is not mapped on purpose: the read raises an exception, which ends the
            // run.
            black_box(unsafe { nowhere.read_volatile() });
        }
        "overflow" => {
            black_box(deeper(black_box(1 << 20)));
        }
        "memory" => {
            black_box(Vec::<u8>::with_capacity(black_box(1 << 32)));
        }
        "reset" => arch::reset(),
        _ => {
            return Err(
                "provoke= on the command line: is none of panic exception null overflow memory reset",
            );
        }
    }
    Ok(())
}

/// Calls itself until the stack is at its end.
fn deeper(depth: u32) -> u32 {
    let mine = black_box([depth; 64]);
    if depth == 0 { 0 } else { deeper(depth - 1).wrapping_add(mine[black_box(3)]) }
}
