//! Where hardware threads are, and how far from each other.

/// Sockets, core groups, cores and hardware threads.
///
/// CPUs are numbered the way Linux does on most machines: first one thread of every core, socket by socket,
/// then the second thread of every core, and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Sockets (NUMA nodes).
    pub sockets: u16,
    /// Groups of cores that share a last-level cache, in a socket.
    pub groups: u16,
    /// Cores in a group.
    pub cores: u16,
    /// Hardware threads in a core.
    pub threads: u16,
    /// `hops[a][b]`: how many links lie between sockets `a` and `b`; 0 on the diagonal.
    pub hops: Vec<Vec<u8>>,
}

/// How far two cores are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// The same core.
    Core,
    /// Another core of the group.
    Group,
    /// Another group of the socket.
    Socket,
    /// Another socket, so many hops away.
    Remote(u8),
}

impl Topology {
    /// Most cores a machine may have.
    pub const MOST_CORES: usize = 512;

    /// A machine of one socket with `cores` cores of one thread and one shared cache.
    pub fn flat(cores: u16) -> Self {
        Self { sockets: 1, groups: 1, cores, threads: 1, hops: Self::one_hop(1) }
    }

    /// Hops between `sockets` sockets of which each has a link to each other one.
    pub fn one_hop(sockets: u16) -> Vec<Vec<u8>> {
        (0..sockets).map(|a| (0..sockets).map(|b| u8::from(a != b)).collect()).collect()
    }

    /// Cores of the machine.
    pub fn core_count(&self) -> usize {
        usize::from(self.sockets) * usize::from(self.groups) * usize::from(self.cores)
    }

    /// Hardware threads of the machine.
    pub fn cpu_count(&self) -> usize {
        self.core_count() * usize::from(self.threads)
    }

    /// Core groups of the machine.
    pub fn group_count(&self) -> usize {
        usize::from(self.sockets) * usize::from(self.groups)
    }

    /// The core of CPU `cpu`.
    pub fn core_of(&self, cpu: usize) -> usize {
        cpu % self.core_count()
    }

    /// The core group of core `core`, counted over the whole machine.
    pub fn group_of(&self, core: usize) -> usize {
        core / usize::from(self.cores)
    }

    /// The socket of core `core`.
    pub fn socket_of(&self, core: usize) -> usize {
        self.group_of(core) / usize::from(self.groups)
    }

    /// How far core `a` is from core `b`.
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        if a == b {
            Distance::Core
        } else if self.group_of(a) == self.group_of(b) {
            Distance::Group
        } else if self.socket_of(a) == self.socket_of(b) {
            Distance::Socket
        } else {
            Distance::Remote(self.hops[self.socket_of(a)][self.socket_of(b)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_sockets() -> Topology {
        Topology { sockets: 2, groups: 2, cores: 3, threads: 2, hops: vec![vec![0, 1], vec![1, 0]] }
    }

    #[test]
    fn siblings_are_a_whole_machine_apart_in_number() {
        let topology = two_sockets();
        assert_eq!((topology.core_count(), topology.cpu_count(), topology.group_count()), (12, 24, 4));
        assert_eq!(topology.core_of(13), 1);
    }

    #[test]
    fn distances_grow_with_the_levels() {
        let topology = two_sockets();
        let distances = [0, 1, 3, 6].map(|core| topology.distance(0, core));
        assert_eq!(distances, [Distance::Core, Distance::Group, Distance::Socket, Distance::Remote(1)]);
        assert!(distances.is_sorted());
    }
}
