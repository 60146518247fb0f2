//! How many contexts each CPU has, and the nearest CPU that has none or too many.
//!
//! Everything that a wake-up or an idle CPU asks is answered from bit sets, a word at a time: 24 words for
//! 1536 CPUs.
use super::Pcpu;
use crate::machine::Topology;
use crate::random::Random;
use core::ops::Range;

/// A set of small numbers.
#[derive(Clone, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(capacity: usize) -> Self {
        Self(vec![0; capacity.div_ceil(64)])
    }

    fn set(&mut self, at: usize, on: bool) {
        let bit = 1 << (at % 64);
        if on {
            self.0[at / 64] |= bit;
        } else {
            self.0[at / 64] &= !bit;
        }
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// The first member that is in `range`.
    fn first_in(&self, range: Range<usize>) -> Option<usize> {
        let mut at = range.start;
        while at < range.end {
            let rest = self.0[at / 64] >> (at % 64);
            if rest != 0 {
                let found = at + rest.trailing_zeros() as usize;
                return (found < range.end).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The first member of `range` from `start` on, which is in the range, and around its end.
    fn first_around(&self, start: usize, range: Range<usize>) -> Option<usize> {
        self.first_in(start..range.end).or_else(|| self.first_in(range.start..start))
    }
}

/// Who has how much, waiting or running.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    topology: Topology,
    /// The hardware thread that each CPU is.
    threads: Vec<usize>,
    /// The CPU of each hardware thread; of those that are not used, any.
    cpus: Vec<Pcpu>,
    /// Contexts that wait or run, by CPU.
    loads: Vec<u32>,
    /// Hardware threads in use with no context.
    idle: Bits,
    /// Hardware threads with more than one.
    crowded: Bits,
    /// Hardware threads with contexts, by core.
    busy_threads: Vec<u16>,
    /// Cores with threads in use none of which has a context.
    idle_cores: Bits,
}

impl Occupancy {
    /// For the CPUs that are these hardware threads.
    pub(super) fn new(topology: &Topology, threads: &[usize]) -> Self {
        let (all, cores) = (topology.cpu_count(), topology.core_count());
        let (mut idle, mut idle_cores, mut cpus) = (Bits::new(all), Bits::new(cores), vec![0; all]);
        for (pcpu, &thread) in threads.iter().enumerate() {
            idle.set(thread, true);
            idle_cores.set(topology.core_of(thread), true);
            cpus[thread] = pcpu;
        }
        Self {
            topology: topology.clone(),
            threads: threads.to_vec(),
            cpus,
            loads: vec![0; threads.len()],
            idle,
            crowded: Bits::new(all),
            busy_threads: vec![0; cores],
            idle_cores,
        }
    }

    /// The CPUs of each group, then of each socket, then of the machine.
    pub(super) fn all_domains(&self) -> Vec<Vec<Pcpu>> {
        let core = |pcpu: Pcpu| self.topology.core_of(self.threads[pcpu]);
        let group = |pcpu: Pcpu| self.topology.group_of(core(pcpu));
        let socket = |pcpu: Pcpu| self.topology.socket_of(core(pcpu));
        let mut domains = vec![Vec::new(); self.topology.group_count() + usize::from(self.topology.sockets)];
        for pcpu in 0..self.threads.len() {
            domains[group(pcpu)].push(pcpu);
            domains[self.topology.group_count() + socket(pcpu)].push(pcpu);
        }
        domains.push((0..self.threads.len()).collect());
        domains
    }

    pub(super) fn load(&self, pcpu: Pcpu) -> u32 {
        self.loads[pcpu]
    }

    /// One context more on `pcpu`.
    pub(super) fn add(&mut self, pcpu: Pcpu) {
        let thread = self.threads[pcpu];
        self.loads[pcpu] += 1;
        match self.loads[pcpu] {
            1 => {
                let core = self.topology.core_of(thread);
                self.busy_threads[core] += 1;
                self.idle_cores.set(core, false);
                self.idle.set(thread, false);
            }
            2 => self.crowded.set(thread, true),
            _ => {}
        }
    }

    /// One context less on `pcpu`.
    pub(super) fn remove(&mut self, pcpu: Pcpu) {
        let thread = self.threads[pcpu];
        self.loads[pcpu] -= 1;
        match self.loads[pcpu] {
            0 => {
                let core = self.topology.core_of(thread);
                self.busy_threads[core] -= 1;
                self.idle_cores.set(core, self.busy_threads[core] == 0);
                self.idle.set(thread, true);
            }
            1 => self.crowded.set(thread, false),
            _ => {}
        }
    }

    /// `pcpu` if it has no context; else the nearest that has none. Among equally near ones, whole idle cores
    /// come first and then whoever comes next in number, so that no CPU is everybody's favourite.
    pub(super) fn idle_near(&self, pcpu: Pcpu) -> Option<Pcpu> {
        let here = self.threads[pcpu];
        if self.idle.has(here) {
            return Some(pcpu);
        }
        let core = self.topology.core_of(here);
        let thread = self.domains(core).into_iter().find_map(|cores| {
            let whole = self.idle_cores.first_around(core, cores.clone());
            let idle_of =
                |core: usize| self.rows(core, core..core + 1).find_map(|(_, one)| self.idle.first_in(one));
            let any =
                || self.rows(core, cores.clone()).find_map(|(start, row)| self.idle.first_around(start, row));
            whole.and_then(idle_of).or_else(any)
        });
        thread.map(|thread| self.cpus[thread])
    }

    /// `pcpu` or another CPU of its core group, the nearest one, if one has no context.
    pub(super) fn idle_in_group(&self, pcpu: Pcpu) -> Option<Pcpu> {
        let group = |pcpu: Pcpu| self.topology.group_of(self.topology.core_of(self.threads[pcpu]));
        // The search goes from near to far, so what is out of the group means that nobody in it idles.
        self.idle_near(pcpu).filter(|&found| group(found) == group(pcpu))
    }

    /// The CPU with most contexts in the smallest domain around `pcpu` where one has two or more. Visits each
    /// such CPU of that domain, which is a group as long as its CPUs share the work at all.
    pub(super) fn crowded_near(&self, pcpu: Pcpu) -> Option<Pcpu> {
        let core = self.topology.core_of(self.threads[pcpu]);
        self.domains(core).into_iter().find_map(|cores| {
            let mut most: Option<Pcpu> = None;
            for (start, cpus) in self.rows(core, cores) {
                for part in [start..cpus.end, cpus.start..start] {
                    let mut from = part.start;
                    while let Some(thread) = self.crowded.first_in(from..part.end) {
                        let found = self.cpus[thread];
                        if most.is_none_or(|most| self.loads[found] > self.loads[most]) {
                            most = Some(found);
                        }
                        from = thread + 1;
                    }
                }
            }
            most
        })
    }

    /// The cores of the group, the socket and the machine around `core`.
    fn domains(&self, core: usize) -> [Range<usize>; 3] {
        let (group, socket) = (self.topology.group_of(core), self.topology.socket_of(core));
        let in_group = usize::from(self.topology.cores);
        let in_socket = in_group * usize::from(self.topology.groups);
        [
            group * in_group..(group + 1) * in_group,
            socket * in_socket..(socket + 1) * in_socket,
            0..self.topology.core_count(),
        ]
    }

    /// For the first, second, ... hardware threads of cores: that of `core`, and those of `cores`.
    fn rows(&self, core: usize, cores: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let all = self.topology.core_count();
        (0..usize::from(self.topology.threads))
            .map(move |thread| (thread * all + core, thread * all + cores.start..thread * all + cores.end))
    }
}

/// A CPU for each of `vcpus` contexts to begin with: evenly over sockets, then groups, then cores, then
/// hardware threads, in random order. The CPUs are the hardware threads `threads`.
pub(super) fn homes(topology: &Topology, threads: &[usize], vcpus: usize, random: &mut Random) -> Vec<Pcpu> {
    let mut keyed: Vec<(u64, Pcpu)> = (0..threads.len()).map(|pcpu| (random.next(), pcpu)).collect();
    keyed.sort_unstable();
    let cores = topology.core_count();
    let (mut on_core, mut on_group, mut on_socket) = (vec![0; cores], vec![0; cores], vec![0; cores]);
    // Always the CPU with least on its socket, then on its group, then on its core.
    let mut order = Vec::with_capacity(threads.len());
    while !keyed.is_empty() && order.len() < vcpus {
        let place = |pcpu: Pcpu| {
            let core = topology.core_of(threads[pcpu]);
            (core, topology.group_of(core), topology.socket_of(core))
        };
        let rank = |&(_, pcpu): &(u64, Pcpu)| {
            let (core, group, socket) = place(pcpu);
            (on_core[core], on_socket[socket], on_group[group])
        };
        let Some(next) = (0..keyed.len()).min_by_key(|&index| rank(&keyed[index])) else { break };
        let (_, pcpu) = keyed.remove(next);
        let (core, group, socket) = place(pcpu);
        on_core[core] += 1;
        on_group[group] += 1;
        on_socket[socket] += 1;
        order.push(pcpu);
    }
    let mut homes: Vec<Pcpu> = (0..vcpus).map(|vcpu| order[vcpu % order.len()]).collect();
    random.shuffle(&mut homes);
    homes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CPUs 0 to 7 are the first threads of cores 0 to 7, CPUs 8 to 15 the second.
    fn two_sockets() -> Topology {
        Topology { sockets: 2, groups: 2, cores: 2, threads: 2, hops: vec![vec![0, 1], vec![1, 0]] }
    }

    #[test]
    fn the_nearest_idle_cpu_is_found() {
        let all: Vec<usize> = (0..16).collect();
        let mut occupancy = Occupancy::new(&two_sockets(), &all);
        let found: Vec<Option<Pcpu>> = (0..17)
            .map(|_| {
                let found = occupancy.idle_near(2);
                found.inspect(|&pcpu| occupancy.add(pcpu))
            })
            .collect();
        // Itself, the group's other core, both siblings; the same for the other group of the socket; then the
        // other socket.
        let expected = [2, 3, 10, 11, 0, 1, 8, 9, 4, 5, 6, 7, 12, 13, 14, 15];
        assert_eq!(found[..16], expected.map(Some));
        assert_eq!(found[16], None);
    }

    #[test]
    fn the_nearest_crowded_cpu_is_found() {
        let all: Vec<usize> = (0..16).collect();
        let mut occupancy = Occupancy::new(&two_sockets(), &all);
        for (pcpu, load) in [(0, 1), (5, 4), (9, 2), (8, 3)] {
            (0..load).for_each(|_| occupancy.add(pcpu));
        }
        assert_eq!([2, 1, 6].map(|pcpu| occupancy.crowded_near(pcpu)), [Some(8), Some(8), Some(5)]);
        occupancy.remove(8);
        occupancy.remove(8);
        assert_eq!(occupancy.crowded_near(2), Some(9));
        occupancy.remove(9);
        assert_eq!(occupancy.crowded_near(2), Some(5));
    }

    #[test]
    fn only_given_hardware_threads_are_used() {
        let some = [13, 3, 12];
        let mut occupancy = Occupancy::new(&two_sockets(), &some);
        let found: Vec<Option<Pcpu>> =
            (0..4).map(|_| occupancy.idle_near(0).inspect(|&pcpu| occupancy.add(pcpu))).collect();
        assert_eq!(found, [Some(0), Some(2), Some(1), None]);
        let homes = homes(&two_sockets(), &some, 6, &mut Random::new(1, 1));
        assert_eq!(
            (0..3).map(|pcpu| homes.iter().filter(|&&home| home == pcpu).count()).collect::<Vec<_>>(),
            [2, 2, 2]
        );
    }

    #[test]
    fn contexts_begin_spread_out() {
        let (topology, all) = (two_sockets(), (0..16).collect::<Vec<usize>>());
        for seed in 0..20 {
            let homes = homes(&topology, &all, 4, &mut Random::new(seed, 1));
            let mut groups: Vec<usize> =
                homes.iter().map(|&home| topology.group_of(topology.core_of(home))).collect();
            groups.sort_unstable();
            assert_eq!(groups, [0, 1, 2, 3], "one in each group");
        }
    }
}
