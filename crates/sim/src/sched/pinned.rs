//! Each vCPU has a CPU for itself: vCPU *n* runs on CPU *n* whenever it is runnable.
use super::{Boost, Expiry, Housekeeping, Leave, Pcpu, Pick, Placement, Scheduler, Vcpu};
use crate::time::Time;

/// Knows of each vCPU only whether it can run.
#[derive(Debug)]
pub(crate) struct Pinned {
    runnable: Vec<bool>,
}

impl Pinned {
    /// For `vcpus` sleeping vCPUs.
    ///
    /// # Panics
    /// If there are more vCPUs than CPUs.
    pub(crate) fn new(pcpus: usize, vcpus: usize) -> Self {
        assert!(vcpus <= pcpus, "{vcpus} vCPUs cannot be pinned to {pcpus} CPUs");
        Self { runnable: vec![false; pcpus] }
    }
}

impl Scheduler for Pinned {
    fn wake(&mut self, vcpu: Vcpu, _waker: Option<Pcpu>, _now: Time) -> Placement {
        debug_assert!(!self.runnable[vcpu], "vCPU {vcpu} is woken while it is awake");
        self.runnable[vcpu] = true;
        Placement { pcpu: vcpu, preempts: false, asks_again: None }
    }

    fn leave(&mut self, pcpu: Pcpu, why: Leave, _now: Time) {
        self.runnable[pcpu] = why != Leave::Halted;
    }

    fn pick(&mut self, pcpu: Pcpu, _now: Time) -> Option<Pick> {
        self.runnable[pcpu].then_some(Pick { vcpu: pcpu, until: Time::MAX })
    }

    fn expire(&mut self, _pcpu: Pcpu, _now: Time) -> Expiry {
        Expiry::Stays(Time::MAX)
    }

    fn boost(&mut self, _pcpu: Pcpu, _target: Vcpu, _now: Time) -> Boost {
        Boost::No
    }

    fn is_wanted(&self, _pcpu: Pcpu) -> bool {
        false
    }

    fn housekeeping(&mut self, _now: Time) -> Housekeeping {
        Housekeeping::default()
    }
}
