//! Moves workers between CPUs while they wait and hold, as the kernel's `torture_shuffle` does.
use super::rng::Rng;
use super::slot::Slot;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// The CPUs this process may use.
pub(crate) struct Shuffle {
    allowed: CpuSet,
    cpus: Vec<usize>,
}

impl Shuffle {
    /// Asks for the CPUs, and whether threads may be bound at all.
    pub(crate) fn probe() -> std::io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        // Binding to what is already allowed changes nothing, but needs the same permission.
        sched_setaffinity(None, &allowed)?;
        let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        Ok(Self { allowed, cpus })
    }

    /// Binds the worker in `slot` to one random CPU, or to all but one, or sets it free. True if it moved.
    pub(crate) fn one(&self, slot: &Slot, rng: &mut Rng) -> bool {
        let chosen = self.cpus[rng.usize(..self.cpus.len())];
        let mut set = CpuSet::new();
        match rng.u8(..3) {
            0 => set.set(chosen),
            1 if self.cpus.len() > 1 => {
                set = self.allowed;
                set.unset(chosen);
            }
            _ => set = self.allowed,
        }
        // While `with` runs the thread cannot leave, so its number cannot have gone to a stranger.
        let moved = slot.thread.with(|tid| sched_setaffinity(Pid::from_raw(tid), &set).is_ok());
        moved.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::rng::stream;

    #[test]
    fn a_thread_is_moved_and_an_empty_slot_is_not() {
        let shuffle = Shuffle::probe().expect("this process may bind its own threads");
        let (slot, mut rng) = (Slot::default(), stream(1, 1));
        assert!(!shuffle.one(&slot, &mut rng), "nobody is there to move");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                slot.thread.open(rustix::thread::gettid().as_raw_nonzero().get());
                for _ in 0..20 {
                    assert!(shuffle.one(&slot, &mut rng));
                    let now = sched_getaffinity(None).unwrap();
                    assert!(now.count() >= 1 && now.count() <= shuffle.allowed.count());
                }
                slot.thread.close();
            });
        });
    }
}
