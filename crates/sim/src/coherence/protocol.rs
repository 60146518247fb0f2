//! In what coherence protocols differ, as far as a lock notices.
use crate::machine::{Memory, Protocol};
use crate::time::Time;

/// The rules of one protocol.
pub(super) trait Rules {
    /// The latency of a clean line that no cache of the reader's group has. `nearest`: what a dirty line
    /// would cost from where the nearest copy is; `None`: no cache has one.
    fn clean_from_outside(&self, memory: &Memory, nearest: Option<Time>) -> Time;

    /// Whether a compare-exchange consists of a load that reserves and a store that may find the reservation
    /// lost.
    fn reserves(&self) -> bool {
        false
    }
}

/// See [`Protocol::Mesi`].
struct Mesi;
impl Rules for Mesi {
    fn clean_from_outside(&self, memory: &Memory, nearest: Option<Time>) -> Time {
        // Memory answers, but not before the home has heard that nobody has a dirty copy.
        nearest.map_or(memory.memory, |nearest| nearest.max(memory.memory))
    }
}

/// See [`Protocol::Mesif`].
struct Mesif;
impl Rules for Mesif {
    fn clean_from_outside(&self, memory: &Memory, nearest: Option<Time>) -> Time {
        nearest.unwrap_or(memory.memory)
    }
}

/// See [`Protocol::Moesi`].
struct Moesi;
impl Rules for Moesi {
    fn clean_from_outside(&self, memory: &Memory, nearest: Option<Time>) -> Time {
        // The owner of a shared dirty line answers; a clean one comes from whoever is nearer, a cache or
        // memory.
        nearest.map_or(memory.memory, |nearest| nearest.min(memory.memory))
    }
}

/// See [`Protocol::LlSc`].
struct LlSc;
impl Rules for LlSc {
    fn clean_from_outside(&self, memory: &Memory, nearest: Option<Time>) -> Time {
        nearest.unwrap_or(memory.memory)
    }
    fn reserves(&self) -> bool {
        true
    }
}

/// The rules of `protocol`.
pub(super) fn rules(protocol: Protocol) -> &'static dyn Rules {
    match protocol {
        Protocol::Mesi => &Mesi,
        Protocol::Mesif => &Mesif,
        Protocol::Moesi => &Moesi,
        Protocol::LlSc => &LlSc,
    }
}
