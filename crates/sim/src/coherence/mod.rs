//! What a memory access costs: a directory of cache lines, who has them, and who queues for them.
//!
//! The directory answers one question: a core wants to read (or to own) a line now; when does it have it? It
//! keeps for each line the owner, the sharers and until when the line is busy with requests granted before;
//! so requests are served in the order in which they are made, and a request that comes while the line is on
//! its way waits for it.
//!
//! What is modelled: transfer costs by distance; invalidation by where the sharers sit; a line that is busy
//! for part of each transfer; the *snoop window*, in which the old owner still hits; readers that take a
//! written line; cores that ask before they need a line; a shared cache a group that serves readers one after
//! the other (read storms); jitter. What is not: capacity (nothing is ever evicted), bandwidth shared between
//! lines, and the order in which a real interconnect arbitrates between sockets.
mod line;
mod protocol;
mod request;

use crate::machine::{Distance, Machine, Memory, Topology};
use crate::random::Random;
use crate::time::{Time, percent};
use line::{Line, NOBODY, any_bit};
use protocol::Rules;

pub(crate) use request::{Asked, Served};

/// All lines of a machine.
pub(crate) struct Directory {
    memory: Memory,
    rules: &'static dyn Rules,
    lines: Vec<Line>,
    /// Until when each group's shared cache is busy with each line: `line * groups + group`.
    group_busy: Vec<Time>,
    groups: usize,
    group_cores: usize,
    group_sockets: usize,
    cores: usize,
    /// Distance class of each pair of cores: 0 core, 1 group, 2 socket, 3 one hop, 4 two hops…
    classes: Vec<u8>,
    dirty: Vec<Time>,
    upgrade: Vec<Time>,
    random: Random,
}

/// The class of a distance.
fn class(distance: Distance) -> usize {
    match distance {
        Distance::Core => 0,
        Distance::Group => 1,
        Distance::Socket => 2,
        Distance::Remote(hops) => 2 + usize::from(hops.max(1)),
    }
}

impl Directory {
    pub(crate) fn new(machine: &Machine, lines: usize, random: Random) -> Self {
        let (topology, memory) = (&machine.topology, &machine.memory);
        let cores = topology.core_count();
        assert!(cores <= Topology::MOST_CORES, "machine files are checked when they are read");
        let mut classes = Vec::with_capacity(cores * cores);
        for a in 0..cores {
            classes.extend((0..cores).map(|b| class(topology.distance(a, b)) as u8));
        }
        let farthest = usize::from(classes.iter().copied().max().unwrap_or(0)).max(2);
        let by_class = |near: [Time; 3], remote: Time| -> Vec<Time> {
            let far = (3..=farthest).map(|class| remote + memory.hop * (class as Time - 3));
            near.into_iter().chain(far).collect()
        };
        Self {
            rules: protocol::rules(memory.protocol),
            dirty: by_class([memory.hit, memory.group_dirty, memory.socket_dirty], memory.remote_dirty),
            upgrade: by_class([memory.hit, memory.upgrade, memory.upgrade_socket], memory.upgrade_remote),
            memory: memory.clone(),
            lines: vec![Line::UNUSED; lines],
            group_busy: vec![0; lines * topology.group_count()],
            groups: topology.group_count(),
            group_cores: usize::from(topology.cores),
            group_sockets: usize::from(topology.groups),
            cores,
            classes,
            random,
        }
    }

    #[inline]
    fn class(&self, a: usize, b: usize) -> usize {
        usize::from(self.classes[a * self.cores + b])
    }

    /// The group of a core.
    #[inline]
    pub(crate) fn group(&self, core: usize) -> usize {
        core / self.group_cores
    }

    /// The socket of a core.
    #[inline]
    pub(crate) fn socket(&self, core: usize) -> usize {
        core / self.group_cores / self.group_sockets
    }

    /// `latency`, a little longer or shorter.
    #[inline]
    fn jittered(&mut self, latency: Time) -> Time {
        let width = Time::from(self.memory.jitter_percent);
        if width == 0 {
            return latency;
        }
        let draw = self.random.below(2 * width + 1);
        (latency * (100 - width + draw)) / 100
    }

    /// Whether `core` can read (or, if `writes`, write) the line at once; when, if the line is on its way to
    /// it.
    #[inline]
    fn hits(&self, line: usize, core: usize, writes: bool, now: Time) -> Option<Time> {
        let entry = &self.lines[line];
        let core_id = core as u16;
        if entry.owner == core_id {
            return Some(entry.arrives.max(now));
        }
        if entry.previous == core_id && now < entry.previous_until {
            return Some(now);
        }
        // A copy of a line that is still on its way to its last owner comes after it.
        (!writes && entry.shares(core)).then_some(entry.arrives.max(now))
    }

    /// `core` wants to read the line.
    #[inline]
    pub(crate) fn read(&mut self, line: usize, core: usize, asked: impl Into<Asked>) -> Served {
        let asked = asked.into();
        if let Some(at) = self.hits(line, core, false, asked.now) {
            return Served { at: at + self.memory.hit, missed: at > asked.now, taken_from: None };
        }
        let at = self.fetch(line, core, asked).max(asked.now + self.memory.hit);
        let Line { owner, previous, previous_until, .. } = self.lines[line];
        let taken_from = (owner == core as u16).then_some((usize::from(previous), previous_until));
        Served { at, missed: true, taken_from }
    }

    /// A copy for `core`, which has none. When it arrives.
    fn fetch(&mut self, line: usize, core: usize, asked: Asked) -> Time {
        let moves = self.memory.migratory && self.lines[line].written;
        let owner = self.lines[line].owner;
        let group = self.group(core);
        if owner != NOBODY {
            let latency = self.dirty[self.class(core, usize::from(owner))];
            let latency = self.jittered(latency);
            let snoop = percent(latency, self.memory.snoop_read_percent);
            let occupancy = percent(latency, self.memory.occupancy_percent);
            let entry = &mut self.lines[line];
            let start = asked.start(entry, entry.busy);
            // The line must have reached its owner, who gets to do what it wanted it for.
            let at = (start + latency).max(entry.arrives + self.memory.rmw).max(asked.now);
            entry.busy = start + occupancy;
            entry.previous = owner;
            entry.previous_until = (start + snoop).max(entry.arrives + self.memory.rmw);
            if moves {
                (entry.owner, entry.arrives, entry.written) = (core as u16, at, false);
            } else {
                entry.owner = NOBODY;
                entry.add(usize::from(owner));
                entry.add(core);
            }
            return at;
        }
        let in_group = self.has_sharer_in(line, group);
        let (latency, nearest) = if in_group {
            (self.memory.group_clean, None)
        } else {
            let nearest = self.nearest_class(line, core);
            (self.rules.clean_from_outside(&self.memory, nearest.map(|class| self.dirty[class])), nearest)
        };
        let latency = self.jittered(latency);
        let at = if in_group {
            let busy = &mut self.group_busy[line * self.groups + group];
            let start = asked.start(&self.lines[line], *busy);
            *busy = start + self.memory.group_occupancy;
            start + latency
        } else {
            // Memory (or the forwarder) serves one socket after the other, but is not held up by the way
            // there.
            let occupancy =
                nearest.map_or(0, |_| percent(self.memory.group_occupancy, self.memory.outside_percent));
            let entry = &mut self.lines[line];
            let start = asked.start(entry, entry.busy);
            entry.busy = start + occupancy;
            start + latency
        };
        self.lines[line].add(core);
        at
    }

    /// Since when `core` has no copy any more, if another one reads the line and takes it from this one.
    pub(crate) fn lost_at(&self, line: usize, core: usize) -> Option<Time> {
        let entry = &self.lines[line];
        let is_taken = entry.is_unwritten() && entry.previous == core as u16;
        is_taken.then_some(entry.previous_until)
    }

    /// Further readers of the same group: each is served `group_occupancy` after the one before. Returns that
    /// interval.
    pub(crate) fn storm(&mut self, line: usize, core: usize, first: Time, readers: usize) -> Time {
        let interval = self.memory.group_occupancy;
        let group = self.group(core);
        let busy = &mut self.group_busy[line * self.groups + group];
        *busy = (*busy).max(first) + interval * readers as Time;
        interval
    }

    /// Notes that `core` has a copy, which came with a storm.
    #[inline]
    pub(crate) fn joins(&mut self, line: usize, core: usize) {
        let entry = &mut self.lines[line];
        if entry.is_unwritten() {
            let first = core::mem::replace(&mut entry.owner, NOBODY);
            entry.add(usize::from(first));
        }
        if entry.owner == NOBODY {
            entry.add(core);
        }
    }

    fn has_sharer_in(&self, line: usize, group: usize) -> bool {
        let (first, last) = (group * self.group_cores, (group + 1) * self.group_cores);
        let entry = &self.lines[line];
        entry.sharers > 0 && any_bit(&entry.shared_by, first, last)
    }

    /// How far the nearest core with a copy is.
    fn nearest_class(&self, line: usize, core: usize) -> Option<usize> {
        let mut nearest = None;
        if self.lines[line].sharers > 0 {
            self.lines[line].each_sharer(|sharer| {
                let class = self.class(core, sharer);
                nearest = Some(nearest.map_or(class, |least: usize| least.min(class)));
            });
        }
        nearest
    }

    /// `core` wants to own the line, to write it. `hidden`: how much of the latency something before has
    /// hidden.
    #[inline]
    pub(crate) fn own(&mut self, line: usize, core: usize, asked: impl Into<Asked>, hidden: Time) -> Served {
        let asked = asked.into();
        if let Some(at) = self.hits(line, core, true, asked.now) {
            let entry = &mut self.lines[line];
            entry.written |= entry.owner == core as u16;
            entry.written_at = at;
            return Served { at, missed: at > asked.now, taken_from: None };
        }
        let at = self.take(line, core, asked, hidden);
        (self.lines[line].written, self.lines[line].written_at) = (true, at);
        Served { at, missed: true, taken_from: None }
    }

    fn take(&mut self, line: usize, core: usize, asked: Asked, hidden: Time) -> Time {
        let owner = self.lines[line].owner;
        let latency = if owner != NOBODY {
            self.dirty[self.class(core, usize::from(owner))]
        } else if self.lines[line].sharers > 0 {
            let invalidation = self.invalidation(line, core);
            if self.lines[line].shares(core) {
                invalidation
            } else {
                let fetch = if self.has_sharer_in(line, self.group(core)) {
                    self.memory.group_clean
                } else {
                    let nearest = self.nearest_class(line, core).map(|class| self.dirty[class]);
                    self.rules.clean_from_outside(&self.memory, nearest)
                };
                fetch.max(invalidation)
            }
        } else {
            self.memory.memory
        };
        let latency = self.jittered(latency);
        let snoop = percent(latency, self.memory.snoop_percent);
        let occupancy = percent(latency, self.memory.occupancy_percent);
        let group_busy = {
            // A write cannot overtake the readers that are being served.
            let first = line * self.groups;
            self.group_busy[first..first + self.groups].iter().copied().max().unwrap_or(0)
        };
        let entry = &mut self.lines[line];
        let start = asked.start(entry, entry.busy.max(group_busy));
        let wait = latency.saturating_sub(hidden).max(self.memory.hit);
        let at = (start + wait).max(entry.arrives + self.memory.rmw).max(asked.now);
        entry.busy = start + occupancy;
        entry.previous = owner; // perhaps nobody
        entry.previous_until = (start + snoop).max(entry.arrives + self.memory.rmw);
        entry.owner = core as u16;
        entry.arrives = at;
        entry.clear();
        at
    }

    /// What it costs `core` to have all other copies dropped.
    fn invalidation(&self, line: usize, core: usize) -> Time {
        let entry = &self.lines[line];
        let others = u64::from(entry.sharers) - u64::from(entry.shares(core));
        let (mut farthest, mut sockets) = (0, 0_u64);
        if entry.sharers <= 4 {
            let mut seen = [usize::MAX; 4];
            entry.each_sharer(|sharer| {
                farthest = farthest.max(self.class(core, sharer));
                let socket = self.socket(sharer);
                if socket != self.socket(core) && !seen.contains(&socket) {
                    seen[sockets as usize] = socket;
                    sockets += 1;
                }
            });
        } else {
            let socket_cores = self.group_cores * self.group_sockets;
            for socket in 0..self.cores / socket_cores {
                let (first, last) = (socket * socket_cores, (socket + 1) * socket_cores);
                if any_bit(&entry.shared_by, first, last) {
                    if socket == self.socket(core) {
                        let group = self.group(core) * self.group_cores;
                        let is_outside = [(first, group), (group + self.group_cores, last)]
                            .iter()
                            .any(|&(from, to)| from < to && any_bit(&entry.shared_by, from, to));
                        farthest = farthest.max(if is_outside { 2 } else { 1 });
                    } else {
                        farthest = farthest.max(self.class(core, first));
                        sockets += 1;
                    }
                }
            }
        }
        self.upgrade[farthest]
            + self.memory.upgrade_per_socket * sockets.saturating_sub(1)
            + self.memory.upgrade_per_core * others.saturating_sub(1)
    }

    /// Whether the line is on its way to another core than `core` (a reservation would be lost); until when.
    pub(crate) fn in_flight_elsewhere(&self, line: usize, core: usize, now: Time) -> Option<Time> {
        let entry = &self.lines[line];
        // The last owner, even if somebody has asked for a copy since.
        let last = if entry.owner == NOBODY { entry.previous } else { entry.owner };
        (last != core as u16 && entry.arrives > now).then_some(entry.arrives)
    }

    /// A write became visible.
    #[inline]
    pub(crate) fn written(&mut self, line: usize) {
        self.lines[line].version = self.lines[line].version.wrapping_add(1);
    }

    /// Changes with each visible write.
    #[inline]
    pub(crate) fn version(&self, line: usize) -> u32 {
        self.lines[line].version
    }

    /// A random number below `bound`, for arbitration.
    pub(crate) fn draw(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    /// Whether a compare-exchange is a load-linked and a store-conditional.
    #[inline]
    pub(crate) fn reserves(&self) -> bool {
        self.rules.reserves()
    }
}

#[cfg(test)]
mod tests;
