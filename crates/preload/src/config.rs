//! The environment word `STANCHION`: which lock, and how.
//!
//! `lock=NAME`, `lock@WHERE=NAME` (`rules.rs`), `nopv`, `verbose` (`verbose.rs`), `stats=PATH` or `stats`,
//! `record=PATH`, and any tunable as `NAME=NUMBER`, separated by commas. Anything that is not understood
//! leaves the whole process to libc, with one line on standard error that says why.
use crate::fork;
use crate::locks::{ALGORITHMS, Choice, NO_SUCH_LOCK, zero_is_free};
use crate::say::{Line, say};
use crate::{rules, stats, trace};
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
    // ord: M4 pairs M5: whether there are rules was settled before
    match CHOICE.load(Ordering::Acquire) {
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
    let mut asked = Asked {
        choice: Some(Choice::DEFAULT),
        counts: None,
        records: None,
        has_rules: false,
        is_verbose: false,
    };
    let chosen = match asked.read(words) {
        Ok(()) => asked.choice.filter(|&choice| zero_is_free(choice)).map_or(LIBC, |choice| choice.0),
        Err(Refused { word, why }) => {
            complain(word, why);
            asked.is_verbose = false; // that was all
            LIBC
        }
    };
    if asked.has_rules {
        // ord: M64 alone: published by M5
        HAS_RULES.store(true, Ordering::Relaxed);
    }
    // ord: M73 alone: published by M5
    IS_VERBOSE.store(asked.is_verbose, Ordering::Relaxed);
    // ord: M5 pairs M4: whether there are rules comes before the choice; whoever loses takes the winner's
    // answer, which is the same
    let first = CHOICE.compare_exchange(UNKNOWN, chosen, Ordering::Release, Ordering::Relaxed).is_ok();
    if let Some(path) = asked.counts.filter(|_| first && chosen != LIBC)
        && let Err(why) = stats::start(path)
    {
        say(&[b"stanchion: STANCHION: `stats=", path, b"`: ", why.as_bytes(), b"; nothing is counted"]);
    }
    if let Some(path) = asked.records.filter(|_| first && chosen != LIBC)
        && let Err(why) = trace::start(path)
    {
        say(&[b"stanchion: STANCHION: `record=", path, b"`: ", why.as_bytes(), b"; nothing is recorded"]);
    }
    if chosen == Choice::DEFAULT.0 && asked.is_plain() && fork::generation() == 0 {
        // ord: M46 alone: the other way is right in any case
        IS_PLAIN.store(true, Ordering::Relaxed);
    }
    choice()
}

/// Whether some mutexes have other locks than the process.
static HAS_RULES: AtomicBool = AtomicBool::new(false);

/// See [`HAS_RULES`].
#[inline(always)]
pub(crate) fn has_rules() -> bool {
    // ord: M65 alone: settled before the choice that led here (M4)
    HAS_RULES.load(Ordering::Relaxed)
}

/// Whether the words ask to be told what the library does.
static IS_VERBOSE: AtomicBool = AtomicBool::new(false);

/// See [`IS_VERBOSE`]. For after [`choice`].
pub(crate) fn is_verbose() -> bool {
    // ord: M74 alone: settled before the choice (M5)
    IS_VERBOSE.load(Ordering::Relaxed)
}

/// The lock of this name.
pub(crate) fn lock_named(name: &[u8]) -> Option<Choice> {
    let found = ALGORITHMS.iter().position(|algorithm| algorithm.name.as_bytes() == name)?;
    Some(Choice(found as u8))
}

/// The single words.
pub(crate) fn each(words: &[u8]) -> impl Iterator<Item = &[u8]> {
    words.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

fn words() -> &'static [u8] {
    // SAFETY: the name is NUL-terminated; the result is null or a NUL-terminated string, which stays as long
    // as nobody changes the environment; it is read once, at the first use of a lock, and a program that
    // changes its environment then has a race already.
    unsafe {
        let value: *const c_char = libc::getenv(c"STANCHION".as_ptr());
        if value.is_null() { b"" } else { CStr::from_ptr(value).to_bytes() }
    }
}

struct Refused {
    word: &'static [u8],
    why: &'static str,
}

/// What the words ask for.
struct Asked {
    /// The lock; `None` for libc's.
    choice: Option<Choice>,
    /// Where to count.
    counts: Option<&'static [u8]>,
    /// Where to record.
    records: Option<&'static [u8]>,
    /// Some mutexes have locks of their own.
    has_rules: bool,
    is_verbose: bool,
}

impl Asked {
    /// Whether plain mutexes may go the shortest way, where nothing is looked at.
    fn is_plain(&self) -> bool {
        self.counts.is_none() && self.records.is_none() && !self.has_rules
    }

    /// Takes the words in. Tunables are set on the way.
    fn read(&mut self, words: &'static [u8]) -> Result<(), Refused> {
        each(words).try_for_each(|word| self.read_word(word))?;
        if self.has_rules {
            rules::keep(words).map_err(|why| Refused { word: rules::PREFIX, why })?;
        }
        Ok(())
    }

    fn read_word(&mut self, word: &'static [u8]) -> Result<(), Refused> {
        if let Some(rule) = rules::parse(word) {
            let choice = rule.map_err(|why| Refused { word, why })?;
            if !zero_is_free(choice) {
                return Err(Refused { word, why: "no such lock" });
            }
            self.has_rules = true;
            return Ok(());
        }
        let mut parts = word.splitn(2, |&byte| byte == b'=');
        let refused = |why| Err(Refused { word, why });
        match (parts.next().unwrap_or(b""), parts.next()) {
            (b"", None) => {}
            (b"nopv", None) => tunables::set_paravirt(false),
            (b"verbose", None) => self.is_verbose = true,
            (b"stats", path) => self.counts = Some(path.unwrap_or(b"")),
            (b"record", Some(path)) => self.records = Some(path),
            (b"lock", Some(b"libc")) => self.choice = None,
            (b"lock", Some(value)) => match lock_named(value) {
                Some(found) => self.choice = Some(found),
                None => return refused(NO_SUCH_LOCK),
            },
            (name, Some(value)) => match (tunable(name), number(value)) {
                (Some(tunable), Some(number)) => tunables::set(tunable, number),
                (Some(_), None) => return refused("not a number"),
                (None, _) => return refused("not understood"),
            },
            (_, None) => return refused("not understood"),
        }
        Ok(())
    }
}

fn tunable(name: &[u8]) -> Option<Tunable> {
    tunables::ALL.iter().copied().find(|tunable| tunable.name().as_bytes() == name)
}

fn number(digits: &[u8]) -> Option<u32> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}

fn complain(word: &[u8], why: &str) {
    let mut line = Line::new();
    line.add(b"stanchion: STANCHION: `").add(word).add(b"`: ").add(why.as_bytes());
    line.add(b"; the program runs with libc's own locks (lock= takes libc");
    for algorithm in ALGORITHMS {
        line.add(b" ").add(algorithm.name.as_bytes());
    }
    line.add(b")").say();
}
