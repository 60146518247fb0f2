//! What the accesses of the current context do to memory, and who notices.
use super::super::cells::{Plain, address_of};
use super::super::chooser::bit;
use super::super::failure::Kind;
use super::super::fault::Fault;
use super::super::plan::Coin;
use super::super::trace::What;
use super::super::{CONTEXTS, Ctx};
use super::{Engine, Status, Update};
use stanchion_core::nodes::{State, Tag};
use stanchion_core::{CpuId, Domain, NodeId};

/// The heavy barrier fails once in so many times.
const BARRIER_FAILS_ONE_IN: u64 = 3;

impl Engine {
    /// The oldest buffered store of `ctx` becomes visible.
    pub(super) fn drain(&mut self, ctx: Ctx) {
        if let Some(pending) = self.buffers.pop(ctx) {
            self.commit(ctx, What::Drained, pending.cell(), pending.value);
        }
    }

    pub(super) fn drain_all(&mut self, ctx: Ctx) {
        while self.buffers.filled() & bit(ctx) != 0 {
            self.drain(ctx);
        }
    }

    /// `ctx` writes a cell, and everybody sees it.
    #[inline]
    fn commit(&mut self, ctx: Ctx, what: What, cell: &dyn Plain, value: u64) {
        let (address, before) = (address_of(cell), cell.get());
        self.check_existence(ctx, address, false);
        let state = |node| self.domain.wait_node(node).state();
        let node = self.domain.node_at(address).map(|node| (node, state(node)));
        cell.set(value);
        if before != value {
            for poller in 0..CONTEXTS {
                if self.status[poller] == Status::Polling(address) {
                    self.set_ready(poller);
                }
            }
        }
        if let Some((node, state)) = node {
            self.node_changed(ctx, node, state, (before, value));
        }
        let now = self.now();
        let numbers = &self.numbers;
        let owner = |cpu: CpuId| numbers.owner(cpu);
        let seen = self.watch.as_mut().map_or(Ok(()), |watch| watch.wrote(ctx, address, value, now, owner));
        if self.trace.is_some() {
            self.note(ctx, what, address, before, value);
        }
        if let Err(failure) = seen
            && self.failure.is_none()
        {
            self.failure = Some(failure);
        }
    }

    /// The state of the node of a wait was `before`, and `ctx` has changed it: as [`stanchion_core::nodes`]
    /// says, and nobody but its waiter while it waits.
    fn node_changed(&mut self, ctx: Ctx, node: NodeId, before: State, tags: (u64, u64)) {
        use State::{Abandoned, Free, Granted, Leased, Roused, Waiting};
        let after = self.domain.wait_node(node).state();
        let waiter = self.domain.waiter_with(node).filter(|_| before != Free).unwrap_or(ctx);
        let generation = |tag: u64| tag >> Tag::STATE_BITS;
        if (generation(tags.0) == generation(tags.1)) == ((before, after) == (Free, Leased)) {
            let what =
                format!("c{ctx} made a node {after:?} that was {before:?}, of the wrong generation (IN1)");
            self.fail(Kind::Transition, what);
        }
        let now = self.now();
        // Who has given up, and could not step down, rouses whoever stands in its place.
        let passes_on = self.watch.as_ref().is_some_and(|watch| watch.comes_back(ctx));
        let own = waiter == ctx || passes_on && !self.owns_lock_of(ctx, node);
        if let Some(watch) = &mut self.watch {
            let steps_down = own && before == Roused && matches!(after, Waiting | Abandoned);
            let asks = steps_down && watch.asks(ctx, self.domain.wait_node(node).report().lock);
            let seen =
                watch.queues.as_mut().map(|queues| queues.changed(ctx, node, (before, after), own, now));
            if let Some(Err(failure)) = seen {
                self.fail(failure.kind, failure.what);
            }
            if asks {
                self.fail(Kind::Leftover, format!("c{ctx} competes no more, and still asks for the lock"));
            }
        }
        match (before, after) {
            (Free, Leased) => self.domain.waits_with(node, ctx),
            (Leased, Waiting | Roused | Free) | (Abandoned, Leased) => {}
            (Waiting, Roused) => {
                if waiter != ctx {
                    self.hasten(waiter);
                }
            }
            (Waiting | Roused, Granted) if waiter != ctx => {
                self.hasten(waiter);
                if let Some(watch) = &mut self.watch {
                    watch.is_handed_over(ctx, waiter);
                }
            }
            (Roused, Waiting) | (Waiting | Roused | Granted, Free) if waiter == ctx => {}
            // The owner chooses again.
            (Roused, Waiting) if self.owns_lock_of(ctx, node) => {}
            (Waiting | Roused, Abandoned) if waiter == ctx => {
                if let Some(watch) = &mut self.watch {
                    watch.is_leaving(ctx);
                }
                self.is_at_risk(ctx, true);
                self.leaves_its_place();
            }
            // An heir that has given up comes back if it had no barrier.
            (Abandoned, Waiting | Roused) if after == Waiting || self.plan.faults.has(Fault::NoBarrier) => {
                self.domain.waits_with(node, ctx);
                let of = self.domain.wait_node(node).report().lock;
                let is_own = self.watch.as_mut().is_none_or(|watch| watch.takes_over(ctx, of));
                if !is_own {
                    self.fail(Kind::Transition, format!("c{ctx} took over a node of another lock"));
                }
            }
            _ if before == after => {}
            _ => {
                let what = format!("c{ctx} made a node {after:?} that was {before:?}, and c{waiter}'s");
                self.fail(Kind::Transition, what);
            }
        }
    }

    /// Whether `ctx` owns the lock at which `node` stands.
    fn owns_lock_of(&self, ctx: Ctx, node: NodeId) -> bool {
        let lock = self.domain.wait_node(node).report().lock;
        self.watch.as_ref().is_some_and(|watch| watch.owns(ctx, lock))
    }

    /// `ctx` is about to read or write a cell.
    #[inline]
    fn check_existence(&mut self, ctx: Ctx, address: usize, read: bool) {
        if self.watch.as_ref().is_some_and(|watch| watch.is_gone(address, read)) && self.failure.is_none() {
            let what = format!("c{ctx} used the first lock, which its last holder had destroyed");
            self.fail(Kind::Destroyed, what);
        }
    }

    /// What the current context reads.
    #[inline]
    pub(in crate::explore) fn load(&mut self, cell: &dyn Plain) -> u64 {
        let address = address_of(cell);
        self.check_existence(self.current, address, true);
        let value = self.buffers.forwarded(self.current, address).unwrap_or_else(|| cell.get());
        if let Some(watch) = &mut self.watch {
            watch.read(self.current, self.level[self.current], address, value);
        }
        self.tell(What::Load, address, value, value);
        value
    }

    /// A plain store by the current context, buffered if the run has buffers.
    pub(super) fn store(&mut self, cell: &dyn Plain, value: u64, visible_at_once: bool) {
        if self.running && self.plan.faults.has(Fault::StoreBuffers) && !visible_at_once {
            let before = cell.get();
            self.buffers.push(self.current, cell, value, self.steps);
            self.tell(What::Buffered, address_of(cell), before, value);
        } else {
            self.flush();
            self.commit(self.current, What::Store, cell, value);
        }
    }

    /// A read-modify-write by the current context; returns what was there.
    pub(super) fn update(&mut self, cell: &dyn Plain, update: &Update<'_>) -> u64 {
        self.flush();
        self.check_existence(self.current, address_of(cell), false);
        let before = cell.get();
        if let Some(watch) = &mut self.watch {
            watch.read(self.current, self.level[self.current], address_of(cell), before);
        }
        let (what, after) = match *update {
            Update::Swap(value) => (What::Swap, value),
            Update::Exchange(from, to) if from == before => (What::Exchange, to),
            Update::Exchange(..) => {
                self.tell(What::ExchangeFails, address_of(cell), before, before);
                return before;
            }
            Update::Add(sum) => (What::Add, sum(before)),
        };
        self.commit(self.current, what, cell, after);
        before
    }

    /// The current context found no node to queue with.
    #[cold]
    pub(in crate::explore) fn goes_without_node(&mut self) {
        let (me, level) = (self.current, self.level[self.current]);
        if let Some(watch) = &mut self.watch {
            watch.goes_without_node(me, level);
        }
    }

    /// The current context is about to queue.
    pub(in crate::explore) fn goes_slow(&mut self) {
        let (me, level) = (self.current, self.level[self.current]);
        if let Some(watch) = &mut self.watch {
            watch.goes_slow(me, level);
        }
    }

    /// The current context's buffer becomes visible.
    #[inline]
    pub(super) fn flush(&mut self) {
        if self.buffers.filled() & bit(self.current) != 0 {
            self.drain_all(self.current);
        }
    }

    /// The heavy side of the asymmetric barrier; `false` if it could not be had.
    pub(super) fn flush_all(&mut self) -> bool {
        if self.plan.faults.has(Fault::NoBarrier) && self.coin(Coin::BarrierFails, BARRIER_FAILS_ONE_IN) == 0
        {
            self.tell(What::BarrierFails, 0, 0, 0);
            return false;
        }
        self.tell(What::Barrier, 0, 0, 0);
        (0..CONTEXTS).for_each(|ctx| self.drain_all(ctx));
        true
    }

    /// Nobody is left to go on: what is still buffered becomes visible.
    pub(in crate::explore) fn settle(&mut self) {
        (0..CONTEXTS).for_each(|ctx| self.drain_all(ctx));
    }
}
