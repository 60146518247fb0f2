//! What the contexts of a simulation do: named behaviours written in Rust, with parameters from files
//! (`workloads/*.toml`).
//!
//! A behaviour is the life of one context, told with the words of `Here`: compute, touch, acquire, release,
//! sleep, count. To add one: a file like `free`, a variant of [`Behaviour`], a row of `BEHAVIOURS`, and a
//! file in `workloads/` that uses it.
mod aim7;
mod build;
mod file;
mod free;
mod fsmark;
mod futex_chain;
mod library;
mod locktorture;
mod open_close;
mod parameters;
mod pool;
mod reference;
mod same_file;
mod score;
mod table_io;
mod will_it_scale;

#[cfg(test)]
mod tests;

use crate::here::Here;
use crate::replay::{Replay, Tally};
use crate::time::Time;
use parameters::Parameter;

pub use aim7::Aim7;
pub use build::Build;
pub use file::{WorkloadFile, number, number_fields, read, read_with, set_number, write};
pub use free::Free;
pub use fsmark::Fsmark;
pub use futex_chain::FutexChain;
pub use library::{library, load, load_with};
pub use locktorture::Locktorture;
pub use open_close::OpenClose;
pub use reference::{behaviour_tables, workload_table};
pub use same_file::SameFile;
pub use score::Score;
pub use table_io::TableIo;
pub use will_it_scale::WillItScale;

/// A workload, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The name on command lines and in files.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// What results are counted in: units of work in `per`, or seconds if there is a `job`.
    pub unit: String,
    /// The time for which units of work are counted.
    pub per: Time,
    /// How many units of work the whole job has, if results are the time that it takes.
    pub job: Option<u64>,
    /// Where contexts are put if they have CPUs of their own.
    pub placement: Placement,
    /// What contexts do.
    pub behaviour: Behaviour,
}

/// The behaviours there are, with their parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Behaviour {
    /// Critical section, think time, lock choice: the form that users write themselves.
    Free(Free),
    /// One lock, rare delays.
    Locktorture(Locktorture),
    /// System calls with a hot lock and perhaps a second one.
    WillItScale(WillItScale),
    /// Threads of a process that open and close files of their own.
    OpenClose(OpenClose),
    /// Compilers in a guest.
    Build(Build),
    /// One file opened and closed by all.
    SameFile(SameFile),
    /// Waiters of a sleeping mutex at one hash chain.
    FutexChain(FutexChain),
    /// Files created by many.
    Fsmark(Fsmark),
    /// Many tasks on all CPUs.
    Aim7(Aim7),
    /// Traffic between guests through tables behind read locks.
    TableIo(TableIo),
    /// A recorded program; not in files.
    Replay(Replay),
}

/// Name, blank form and parameters of each behaviour, in the order of the documentation.
const BEHAVIOURS: [(&str, Behaviour, &[Parameter]); 10] = [
    ("free", Behaviour::Free(Free::BLANK), Free::PARAMETERS),
    ("locktorture", Behaviour::Locktorture(Locktorture::BLANK), Locktorture::PARAMETERS),
    ("will-it-scale", Behaviour::WillItScale(WillItScale::BLANK), WillItScale::PARAMETERS),
    ("open-close", Behaviour::OpenClose(OpenClose::BLANK), OpenClose::PARAMETERS),
    ("build", Behaviour::Build(Build::BLANK), Build::PARAMETERS),
    ("same-file", Behaviour::SameFile(SameFile::BLANK), SameFile::PARAMETERS),
    ("futex-chain", Behaviour::FutexChain(FutexChain::BLANK), FutexChain::PARAMETERS),
    ("fsmark", Behaviour::Fsmark(Fsmark::BLANK), Fsmark::PARAMETERS),
    ("aim7", Behaviour::Aim7(Aim7::BLANK), Aim7::PARAMETERS),
    ("table-io", Behaviour::TableIo(TableIo::BLANK), TableIo::PARAMETERS),
];

/// Where contexts go on a machine on which each has a CPU of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One socket after the other gets one, cores before their second threads: what a load balancer does.
    Spread,
    /// The cores of one socket, then its second threads, then the next socket: what a benchmark that pins
    /// does.
    Compact,
    /// The cores of one socket, then those of the next; second threads last.
    CoresFirst,
    /// Anywhere, by the seed.
    Random,
}

impl Placement {
    /// Every placement with its name in files.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Spread, "spread"),
        (Self::Compact, "compact"),
        (Self::CoresFirst, "cores-first"),
        (Self::Random, "random"),
    ];
}

/// Which locks a workload can be run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Mutexes only: nobody only reads.
    Mutexes,
    /// Reader-writer locks only.
    RwLocks,
    /// Either: under a mutex readers are alone, too.
    Either,
}

/// What a run needs to know of a behaviour.
pub(crate) trait Lives {
    /// How many locks it uses.
    fn locks(&self, contexts: usize) -> usize;
    /// How many lines of shared data.
    fn lines(&self, contexts: usize) -> usize;
    /// Which locks it can be run with.
    fn takes(&self) -> Takes {
        Takes::Mutexes
    }
    /// How many classes of locks it has: which may be of different kinds, and whose per-CPU locks have cells
    /// of their own.
    fn classes(&self) -> usize {
        1
    }
    /// The class of a lock.
    fn class_of(&self, _lock: usize) -> usize {
        0
    }
    /// The life of one context. It may go on for ever: the run ends it.
    fn live(&self, here: &Here);
    /// What happened at each lock, from the first one on, if that is kept.
    fn tallies(&self) -> Vec<Tally> {
        Vec::new()
    }
    /// Units of work in a second, with what was left out of the simulation.
    fn corrected(&self, per_second: f64, _contexts: usize) -> f64 {
        per_second
    }
}

impl Workload {
    /// Which locks it can be run with.
    pub fn takes(&self) -> Takes {
        self.behaviour.prepare().takes()
    }
}

impl Behaviour {
    /// Makes the behaviour ready for one run; contexts share what it returns.
    pub(crate) fn prepare(&self) -> Box<dyn Lives> {
        match self {
            Self::Free(free) => Box::new(free.clone()),
            Self::Locktorture(locktorture) => Box::new(locktorture.clone()),
            Self::WillItScale(calls) => Box::new(calls.clone()),
            Self::OpenClose(files) => Box::new(open_close::Running::new(files.clone())),
            Self::Build(build) => Box::new(build::Running::new(build.clone())),
            Self::SameFile(same) => Box::new(same.clone()),
            Self::FutexChain(chain) => Box::new(futex_chain::Running::new(chain.clone())),
            Self::Fsmark(fsmark) => Box::new(fsmark.clone()),
            Self::Aim7(aim7) => Box::new(aim7::Running::new(aim7.clone())),
            Self::TableIo(table) => Box::new(table_io::Running::new(table.clone())),
            Self::Replay(replay) => replay.prepare(),
        }
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        let same = |other: &Behaviour| core::mem::discriminant(other) == core::mem::discriminant(self);
        BEHAVIOURS.iter().find(|(_, blank, _)| same(blank)).map_or("", |(name, ..)| name)
    }

    /// Its parameters.
    fn parameters(&self) -> &'static [Parameter] {
        BEHAVIOURS.iter().find(|(name, ..)| *name == self.name()).map_or(&[], |(.., parameters)| parameters)
    }
}
