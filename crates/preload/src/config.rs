//! The environment word `STANCHION`: which lock, and how.
//!
//! `lock=NAME`, `nopv`, `stats=PATH` or `stats`, `record=PATH`, and any tunable as `NAME=NUMBER`, separated by commas. Anything that is not understood leaves the whole process to
//! libc, with one line on standard error that says why.
use crate::fork;
use crate::locks::{ALGORITHMS, Choice, zero_is_free};
use crate::{stats, trace};
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use stanchion::tunables;
use stanchion_core::Tunable;

/// Everything is left to libc.
const LIBC: u8 = u8::MAX;
/// Nobody has asked yet.
const UNKNOWN: u8 = u8::MAX - 1;

/// The lock of the process.
static CHOICE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The lock of the process; `None` if everything is left to libc.
#[inline(always)]
pub(crate) fn choice() -> Option<Choice> {
    // ord: M4 alone: a choice is final, and a constant hangs on it
    match CHOICE.load(Ordering::Relaxed) {
        LIBC => None,
        UNKNOWN => settle(),
        choice => Some(Choice(choice)),
    }
}

/// Whether plain mutexes go the shortest way: the process has the default lock, and never forked.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

/// See [`IS_PLAIN`].
#[inline(always)]
pub(crate) fn is_plain() -> bool {
    // ord: M34 alone: the other way is right in any case
    IS_PLAIN.load(Ordering::Relaxed)
}

/// The process is the child of a fork, and has one thread.
pub(crate) fn forked() {
    // ord: M45 alone: the process has one thread
    IS_PLAIN.store(false, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn settle() -> Option<Choice> {
    let words = words();
    let (mut counts, mut records) = (None, None);
    let chosen = match read(words, &mut counts, &mut records) {
        Ok(Some(choice)) if zero_is_free(choice) => choice.0,
        Ok(_) => LIBC,
        Err(Refused { word, why }) => {
            complain(word, why);
            LIBC
        }
    };
    // ord: M5 alone: whoever loses takes the winner's answer, which is the same
    let first = CHOICE.compare_exchange(UNKNOWN, chosen, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if let Some(path) = counts.filter(|_| first && chosen != LIBC)
        && let Err(why) = stats::start(path)
    {
        say(&[b"stanchion: STANCHION: `stats=", path, b"`: ", why.as_bytes(), b"; nothing is counted"]);
    }
    if let Some(path) = records.filter(|_| first && chosen != LIBC)
        && let Err(why) = trace::start(path)
    {
        say(&[b"stanchion: STANCHION: `record=", path, b"`: ", why.as_bytes(), b"; nothing is recorded"]);
    }
    if chosen == Choice::DEFAULT.0 && counts.is_none() && records.is_none() && fork::generation() == 0 {
        // ord: M46 alone: the other way is right in any case
        IS_PLAIN.store(true, Ordering::Relaxed);
    }
    choice()
}

fn words() -> &'static [u8] {
    // SAFETY: the name is NUL-terminated; the result is null or a NUL-terminated string, which stays as long as nobody changes the
    // environment; it is read once, at the first use of a lock, and a program that changes its environment then has a race already.
    unsafe {
        let value: *const c_char = libc::getenv(c"STANCHION".as_ptr());
        if value.is_null() { b"" } else { CStr::from_ptr(value).to_bytes() }
    }
}

struct Refused {
    word: &'static [u8],
    why: &'static str,
}

/// The lock that the words ask for, `None` for libc's. Tunables are set on the way.
fn read(
    words: &'static [u8],
    counts: &mut Option<&'static [u8]>,
    records: &mut Option<&'static [u8]>,
) -> Result<Option<Choice>, Refused> {
    let mut choice = Some(Choice::DEFAULT);
    for word in words.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
        let mut parts = word.splitn(2, |&byte| byte == b'=');
        let (name, value) = (parts.next().unwrap_or(b""), parts.next());
        match (name, value) {
            (b"", None) => {}
            (b"nopv", None) => tunables::set_paravirt(false),
            (b"stats", path) => *counts = Some(path.unwrap_or(b"")),
            (b"record", Some(path)) => *records = Some(path),
            (b"lock", Some(b"libc")) => choice = None,
            (b"lock", Some(value)) => {
                let found = ALGORITHMS.iter().position(|algorithm| algorithm.name.as_bytes() == value);
                let Some(found) = found else { return Err(Refused { word, why: "no such lock" }) };
                choice = Some(Choice(found as u8));
            }
            (_, Some(value)) => match (tunable(name), number(value)) {
                (Some(tunable), Some(number)) => tunables::set(tunable, number),
                (Some(_), None) => return Err(Refused { word, why: "not a number" }),
                (None, _) => return Err(Refused { word, why: "not understood" }),
            },
            (_, None) => return Err(Refused { word, why: "not understood" }),
        }
    }
    Ok(choice)
}

fn tunable(name: &[u8]) -> Option<Tunable> {
    Tunable::ALL.iter().copied().find(|tunable| tunable.name().as_bytes() == name)
}

fn number(digits: &[u8]) -> Option<u32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn complain(word: &[u8], why: &str) {
    let mut names = [0_u8; 256];
    let mut length = 0;
    for piece in ALGORITHMS.iter().flat_map(|algorithm| [b" ", algorithm.name.as_bytes()]) {
        append(&mut names, &mut length, piece);
    }
    say(&[
        b"stanchion: STANCHION: `",
        word,
        b"`: ",
        why.as_bytes(),
        b"; the program runs with libc's own locks (lock= takes libc",
        &names[..length],
        b")",
    ]);
}

/// As much of the piece as there is room for.
fn append(line: &mut [u8], length: &mut usize, piece: &[u8]) {
    let end = (*length + piece.len()).min(line.len());
    line[*length..end].copy_from_slice(&piece[..end - *length]);
    *length = end;
}

/// One line on standard error, written at once.
fn say(pieces: &[&[u8]]) {
    let mut line = [0_u8; 512];
    let mut length = 0;
    for piece in pieces.iter().copied().chain([b"\n".as_slice()]) {
        append(&mut line, &mut length, piece);
    }
    line[length - 1] = b'\n';
    // SAFETY: the bytes are there. Nothing can be done if they cannot be written.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), length);
    }
}
