//! Where the CPUs are, from `/sys`: siblings, shared caches, nodes.
use super::sample::Reach;
use stanchion_sim::machine::Topology;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// One CPU and what it is part of; each part goes by its lowest CPU or its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub cpu: usize,
    core: usize,
    group: usize,
    socket: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub all: Vec<Place>,
    /// Links between sockets, by the firmware's distances: the nearest other socket is one hop away.
    hops: Vec<Vec<u8>>,
}

/// A kernel list such as `0-3,8`.
pub(crate) fn listed(text: &str) -> Vec<usize> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse::<usize>().ok()?)
    };
    text.trim().split(',').filter_map(part).flatten().collect()
}

impl Places {
    /// Looks below `root`, which is `/sys/devices/system` but for tests. What it does not tell counts as one.
    pub(crate) fn read(root: &Path, cpus: &[usize]) -> Self {
        let text = |path: String| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let list = |path: String| listed(&text(path));
        let node = |node| (node, list(format!("node/node{node}/cpulist")));
        let nodes: Vec<(usize, Vec<usize>)> = list("node/online".into()).into_iter().map(node).collect();
        let place = |&cpu: &usize| {
            let first_of = |path: String| list(path).first().copied();
            let caches = (0..8).filter_map(|index| {
                let cache = format!("cpu/cpu{cpu}/cache/index{index}");
                let level: usize = text(format!("{cache}/level")).trim().parse().ok()?;
                Some((level, first_of(format!("{cache}/shared_cpu_list"))?))
            });
            let package =
                text(format!("cpu/cpu{cpu}/topology/physical_package_id")).trim().parse().unwrap_or(0);
            let core = first_of(format!("cpu/cpu{cpu}/topology/thread_siblings_list")).unwrap_or(cpu);
            let socket =
                nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map_or(package, |&(node, _)| node);
            // A virtual machine may keep quiet about its shared cache: then the socket counts as sharing one.
            let group =
                caches.filter(|&(level, _)| level >= 3).max().map_or(usize::MAX - socket, |(_, first)| first);
            Place { cpu, core, group, socket }
        };
        let all: Vec<Place> = cpus.iter().map(place).collect();
        let sockets: BTreeSet<usize> = all.iter().map(|place| place.socket).collect();
        let far = |a: usize, b: usize| -> usize {
            let place = nodes.iter().position(|&(node, _)| node == b);
            let row = text(format!("node/node{a}/distance"));
            place.and_then(|place| row.split_whitespace().nth(place)?.parse().ok()).unwrap_or(0)
        };
        let pairs = sockets.iter().flat_map(|&a| sockets.iter().map(move |&b| (a, b)));
        let ranks: BTreeSet<usize> = pairs.filter(|(a, b)| a != b).map(|(a, b)| far(a, b)).collect();
        let hop = |a, b| if a == b { 0 } else { ranks.range(..far(a, b)).count() as u8 + 1 };
        let hops = sockets.iter().map(|&a| sockets.iter().map(|&b| hop(a, b)).collect()).collect();
        Self { all, hops }
    }

    pub(crate) fn reach(a: &Place, b: &Place) -> Reach {
        match (a.socket == b.socket, a.group == b.group, a.core == b.core) {
            (false, ..) => Reach::Remote,
            (_, false, _) => Reach::Socket,
            (.., false) => Reach::Group,
            (true, true, true) => Reach::Core,
        }
    }

    /// Up to `most` pairs of CPUs for each distance there is, spread over the machine.
    pub(crate) fn pairs(&self, most: usize) -> BTreeMap<Reach, Vec<(usize, usize)>> {
        let mut pairs: BTreeMap<Reach, Vec<(usize, usize)>> = BTreeMap::new();
        for (index, a) in self.all.iter().enumerate() {
            for b in &self.all[index + 1..] {
                pairs.entry(Self::reach(a, b)).or_default().push((a.cpu, b.cpu));
            }
        }
        for list in pairs.values_mut() {
            let step = list.len().div_ceil(most).max(1);
            *list = list.iter().copied().step_by(step).collect();
        }
        pairs
    }

    /// The shape for the simulator, which is even: as many as the largest part has. With more CPUs
    /// than there are it does not fit.
    pub(super) fn topology(&self) -> Topology {
        let most = |part: fn(&Place) -> usize, of: fn(&Place) -> usize| {
            let parts: BTreeSet<_> = self.all.iter().map(|place| (of(place), part(place))).collect();
            let parts = Vec::from_iter(parts);
            parts.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap_or(1) as u16
        };
        Topology {
            sockets: most(|place| place.socket, |_| 0),
            groups: most(|place| place.group, |place| place.socket),
            cores: most(|place| place.core, |place| place.group),
            threads: most(|place| place.cpu, |place| place.core),
            hops: self.hops.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A machine of two sockets with two core groups of one core of two threads each.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let put = |path: String, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("created");
            fs::write(path, text).expect("written");
        };
        put("node/online".into(), "0-1\n");
        put("node/node0/cpulist".into(), "0-1,4-5\n");
        put("node/node1/cpulist".into(), "2-3,6-7\n");
        put("node/node0/distance".into(), "10 21\n");
        put("node/node1/distance".into(), "21 10\n");
        for cpu in 0..8 {
            let pair = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
            put(format!("cpu/cpu{cpu}/topology/thread_siblings_list"), &pair);
            put(format!("cpu/cpu{cpu}/cache/index3/level"), "3\n");
            put(format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), &pair);
        }
        dir
    }

    #[test]
    fn sockets_groups_and_siblings_are_found() {
        let tree = tree();
        let places = Places::read(tree.path(), &(0..8).collect::<Vec<_>>());
        let topology = places.topology();
        assert_eq!(topology.cpu_count(), 8);
        assert_eq!((topology.sockets, topology.groups, topology.cores, topology.threads), (2, 2, 1, 2));
        assert_eq!(topology.hops, [[0, 1], [1, 0]]);
        let pairs = places.pairs(100);
        let counts: Vec<(Reach, usize)> = pairs.iter().map(|(&reach, pairs)| (reach, pairs.len())).collect();
        assert_eq!(counts, [(Reach::Core, 4), (Reach::Socket, 8), (Reach::Remote, 16)]);
        assert!(places.pairs(3).values().all(|pairs| pairs.len() <= 3));
    }

    #[test]
    fn a_part_of_a_machine_and_a_silent_one() {
        let tree = tree();
        let topology = Places::read(tree.path(), &[0, 1, 4]).topology();
        assert_eq!((topology.sockets, topology.groups, topology.cores, topology.threads), (1, 2, 1, 2));
        assert_eq!(topology.cpu_count(), 4, "three CPUs make no even machine");
        let nothing = tempfile::tempdir().expect("a temporary directory");
        assert_eq!(Places::read(nothing.path(), &[0, 1]).topology(), Topology::flat(2));
    }

    #[test]
    fn kernel_lists() {
        assert_eq!(listed("0-2,7\n"), [0, 1, 2, 7]);
        assert!(listed("").is_empty());
    }
}
