//! `lock@WHERE=NAME`: another lock for some mutexes than for the rest of the process.
//!
//! WHERE is `0xADDRESS` of the mutex itself; or FILE, the program's or a library's name without its
//! directory, from whose code the mutex is used first; or `FILE+0xOFFSET`, one such place, as `--stats` tells
//! it. A `*` at the end of FILE stands for anything. The first word that fits counts.
//!
//! A mutex is decided upon at its first use, and notes the decision beside its kind (IW2). The words are kept
//! as they were when they were read: the program may change its environment, or write over it.
use crate::config;
use crate::descriptor::keeping_errno;
use crate::locks::{Choice, NO_SUCH_LOCK};
use crate::maps;
use crate::object::Mutex;
use crate::stats::stack;
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};

pub(crate) const PREFIX: &[u8] = b"lock@";

/// So many bytes of words are kept, if there are rules among them.
const MOST: usize = 1024;

/// The words. Whoever settles the lock of the process at the same time writes the same.
static KEPT: [AtomicU8; MOST] = [const { AtomicU8::new(0) }; MOST];

/// Keeps the words, before anybody decides.
pub(crate) fn keep(words: &[u8]) -> Result<(), &'static str> {
    if words.len() > MOST {
        return Err("more than 1024 bytes of words are too many where one is lock@");
    }
    for (cell, &byte) in KEPT.iter().zip(words) {
        // ord: M70 alone: published by M5
        cell.store(byte, Ordering::Relaxed);
    }
    Ok(())
}

/// Where a rule applies.
enum Where<'a> {
    Mutex(u64),
    Code { file: &'a [u8], offset: Option<u64> },
}

/// The rule of a word; `None` if it is none, the error is why it is a bad one.
pub(crate) fn parse(word: &[u8]) -> Option<Result<Choice, &'static str>> {
    let (place, name) = split(word)?;
    Some(match (Where::parse(place), config::lock_named(name)) {
        (None, _) => Err("lock@ takes 0xADDRESS, FILE or FILE+0xOFFSET"),
        (_, None) => Err(NO_SUCH_LOCK),
        (Some(_), Some(choice)) => Ok(choice),
    })
}

fn split(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = word.strip_prefix(PREFIX)?;
    let at = rest.iter().rposition(|&byte| byte == b'=')?;
    Some((&rest[..at], &rest[at + 1..]))
}

impl<'a> Where<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        if text.starts_with(b"0x") {
            return hex(text).map(Self::Mutex);
        }
        let (file, offset) = match text.iter().rposition(|&byte| byte == b'+') {
            Some(at) if text[at + 1..].starts_with(b"0x") => (&text[..at], Some(hex(&text[at + 1..])?)),
            _ => (text, None),
        };
        (!file.is_empty()).then_some(Self::Code { file, offset })
    }

    fn fits(&self, mutex: u64, code: Option<u64>) -> bool {
        match *self {
            Self::Mutex(address) => address == mutex,
            Self::Code { file, offset } => {
                let fits = |piece: &maps::Piece<'_>, at: u64| {
                    is_like(piece.file(), file)
                        // The place itself, or the one to return to.
                        && offset.is_none_or(|offset| offset.wrapping_sub(at - piece.start + piece.offset) <= 1)
                };
                code.is_some_and(|at| maps::find(at, |piece| fits(piece, at)).unwrap_or(false))
            }
        }
    }
}

fn hex(text: &[u8]) -> Option<u64> {
    u64::from_str_radix(core::str::from_utf8(text.strip_prefix(b"0x")?).ok()?, 16).ok()
}

fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    pattern.strip_suffix(b"*").map_or(name == pattern, |start| name.starts_with(start))
}

/// The lock of this mutex, in a process that has rules.
#[cold]
pub(crate) fn choice_of(mutex: &Mutex, process: Choice) -> Choice {
    thread_local!(static DECIDES: Cell<bool> = const { Cell::new(false) });
    if let Some(choice) = mutex.decided() {
        return choice;
    }
    // Walking the stack may itself use a mutex, of the unwinder: that one is like the rest of the process.
    let found = if DECIDES.replace(true) {
        process
    } else {
        let found = keeping_errno(|| first_that_fits(mutex)).unwrap_or(process);
        DECIDES.set(false);
        found
    };
    mutex.decide(found)
}

fn first_that_fits(mutex: &Mutex) -> Option<Choice> {
    let address = ptr::from_ref(mutex).addr() as u64;
    let stack = stack();
    // The return address may be the first byte behind the code that called.
    let code = stack.innermost().map(|address| address - 1);
    // ord: M71 alone: whoever decides has found the choice, by M4
    let words: [u8; MOST] = core::array::from_fn(|at| KEPT[at].load(Ordering::Relaxed));
    config::each(words.split(|&byte| byte == 0).next()?).find_map(|word| {
        let (place, name) = split(word)?;
        Where::parse(place)?.fits(address, code).then(|| config::lock_named(name))?
    })
}
