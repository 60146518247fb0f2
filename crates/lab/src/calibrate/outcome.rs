//! From figures to a machine: which figure is which field, and what was not measured.
use super::places::Places;
use super::sample::{Figure, Figures, Reach, What};
use lab_kit::units::format_ns;
use stanchion_sim::machine::file::{self, Evidence, MachineFile};
use stanchion_sim::machine::{Protocol, SchedulerKind};
use stanchion_sim::{NS, Time};

/// Where numbers come from that were not measured.
pub(super) const DEFAULTS: &str = "small-vm";
/// Per cent of the quartiles around a median that deserve a warning.
const MOST_SPREAD: f64 = 0.25;

/// How much a field of a machine that calibrate wrote varied while it was measured, if that was too much.
pub(crate) fn varied(file: &MachineFile, path: &str) -> Option<f64> {
    let (_, spread) = file.source_of(path)?.text.rsplit_once("spread ")?;
    let share = spread.strip_suffix(" %")?.parse::<f64>().ok()? / 100.0;
    (share > MOST_SPREAD).then_some(share)
}

pub(super) fn machine(
    name: &str,
    about: &str,
    date: &str,
    places: &Places,
    figures: &Figures,
) -> Result<MachineFile, String> {
    let mut file = stanchion_sim::machine::load(DEFAULTS)?;
    let how = "Times are medians; `spread` is half the distance of the quartiles.";
    file.head = vec![about.to_owned(), format!("Written by `stanchion calibrate` on {date}. {how}")];
    file.priors.clear();
    file.sources.clear();
    name.clone_into(&mut file.machine.name);
    about.clone_into(&mut file.machine.about);
    file.machine.topology = places.topology();
    file.machine.memory.protocol = protocol(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    let host = &mut file.machine.host;
    (host.preempted_hint, host.hypercalls) = (true, false);
    // Without a tick in sight it would only be guessed.
    (host.tick_period, host.tick_cost) = (0, 0);
    let mut builder = Builder { file, figures, date };
    for (what, figure) in figures.all() {
        builder.put(what.field, figure.median, &figure, &what.title());
    }
    builder.memory();
    builder.host();
    let _ = builder.sleepers();
    builder.scheduler();
    let mut file = builder.file;
    let text = format!("not measured by calibrate: the value of {DEFAULTS}");
    for path in file::unsourced(&file).collect::<Vec<_>>() {
        file.set_source(path, Evidence::Guess, &text);
    }
    // What is written must be what will be read.
    let text = file::write(&file);
    file::read(&text, name).map_err(|error| format!("the machine cannot be written: {error}"))
}

/// Who moves lines how, by the maker of the processor.
fn protocol(cpuinfo: &str) -> Protocol {
    let has = |word: &str| cpuinfo.lines().take(30).any(|line| line.contains(word));
    if has("AuthenticAMD") || has("HygonGenuine") {
        Protocol::Moesi
    } else if has("GenuineIntel") {
        Protocol::Mesif
    } else if cfg!(any(target_arch = "aarch64", target_arch = "powerpc64")) {
        Protocol::LlSc
    } else {
        Protocol::Mesi
    }
}

struct Builder<'a> {
    file: MachineFile,
    figures: &'a Figures,
    date: &'a str,
}

impl Builder<'_> {
    fn measured(&mut self, path: &str, figure: &Figure, how: &str) {
        let (date, count, spread) = (self.date, figure.values, figure.spread * 100.0);
        let text = format!("stanchion calibrate on {date}, {how}; median of {count}, spread {spread:.0} %");
        self.file.set_source(path, Evidence::Measured, &text);
    }

    fn put(&mut self, path: &str, value: f64, figure: &Figure, how: &str) {
        if file::set_number(&mut self.file.machine, path, value) {
            self.measured(path, figure, how);
        }
    }

    /// A reader takes a line that was written elsewhere, if a write that follows costs nearly nothing, and no
    /// upgrade. Between the nearest cores that were measured.
    fn readers(&mut self) {
        let costs = |reach| {
            let costs = [What::OWN_AFTER_READ, What::UPGRADE].map(|what| self.figures.get(what.at(reach)));
            costs[0].clone().zip(costs[1].clone())
        };
        let nearest = [Reach::Group, Reach::Socket, Reach::Remote].into_iter().find_map(costs);
        if let Some((own, upgrade)) = nearest {
            self.file.machine.memory.migratory = own.median < upgrade.median / 2.0;
            self.measured(
                "memory.migratory",
                &own,
                "what a write costs after a read of a line written there",
            );
        }
    }

    fn memory(&mut self) {
        if let Some(shared) = self.figures.get(What::SHARED_CACHE) {
            // Others may have driven the chain out of the cache: a clean line is no farther than a dirty one.
            let dirty = self.figures.get(What::DIRTY_READ.at(Reach::Group));
            let clean = dirty.map_or(shared.median, |dirty| shared.median.min(dirty.median));
            let how = "load from the shared cache, at most that of a line written by another core";
            self.put("memory.group-clean", clean, &shared, how);
        }
        self.readers();
        if let Some(ahead) = self.figures.get(What::LOOK_AHEAD) {
            self.file.machine.memory.look_ahead = (ahead.median > 1.0).then(|| picoseconds(&ahead));
            self.measured("memory.look-ahead", &ahead, &What::LOOK_AHEAD.title());
        }
        for (reach, dirty, upgrade) in [
            (Reach::Group, "memory.group-dirty", "memory.upgrade"),
            (Reach::Socket, "memory.socket-dirty", "memory.upgrade-socket"),
            (Reach::Remote, "memory.remote-dirty", "memory.upgrade-remote"),
        ] {
            let [read, own, shared] = [What::DIRTY_READ, What::DIRTY_OWN, What::UPGRADE]
                .map(|what| self.figures.get(what.at(reach)));
            if let (Some(read), Some(own)) = (read, own) {
                // Locks read such a line as often as they take it: the middle of the two.
                let middle = f64::midpoint(read.median, own.median);
                self.put(dirty, middle, &read, "read and read-modify-write of a line written elsewhere");
            }
            if let Some(shared) = shared {
                self.put(upgrade, shared.median, &shared, &What::UPGRADE.at(reach).title());
            }
        }
        // As between the nearest cores; threads of one share their caches.
        let reaches = [Reach::Group, Reach::Socket, Reach::Remote, Reach::Core];
        for (path, what) in [
            ("memory.occupancy-percent", What::OCCUPANCY),
            ("memory.snoop-percent", What::SNOOP),
            ("memory.snoop-read-percent", What::SNOOP_READ),
        ] {
            if let Some(figure) = reaches.iter().find_map(|&reach| self.figures.get(what.at(reach))) {
                self.put(path, (figure.median * 100.0).round(), &figure, what.title().trim());
            }
        }
    }

    fn host(&mut self) {
        let barrier = self.figures.get(What::BARRIER_PAIR).or_else(|| self.figures.get(What::BARRIER_ALONE));
        self.file.machine.host.heavy_barrier = barrier.as_ref().map(picoseconds);
        let path = "host.heavy-barrier";
        match barrier {
            Some(barrier) => self.measured(path, &barrier, "membarrier with another thread running"),
            None => self.file.set_source(path, Evidence::Measured, "the kernel refuses membarrier"),
        }
        let path = "host.tick-period";
        if let Some(period) = self.figures.get(What::TICK_PERIOD) {
            self.file.machine.host.tick_period = picoseconds(&period);
            self.measured(path, &period, "beat of the gaps in a clock loop");
        } else {
            self.file.set_source(path, Evidence::Measured, "no beat in the gaps of a clock loop");
            self.file.set_source("host.tick-cost", Evidence::Guess, "no tick was seen");
        }
    }

    /// Waking and switching, from what they cost together: a yield is one switch, a hand-over is a wait, a
    /// switch and a wake. None where one of them was not measured.
    fn sleepers(&mut self) -> Option<()> {
        let (yielded, yields) = (self.figures.get(What::YIELD_SWITCH)?, self.figures.get(What::YIELD)?);
        let switch = (yielded.median - yields.median).max(100.0);
        self.put("host.switch", switch, &yielded, "a yield to another thread less one alone");
        let (hand_over, halt) = (self.figures.get(What::HAND_OVER)?, self.figures.get(What::HALT)?);
        let kick = (hand_over.median - halt.median - switch).max(100.0);
        self.put("host.kick", kick, &hand_over, "futex hand-over on one CPU less wait and switch");
        let (across, wake) = (self.figures.get(What::KICK_IDLE)?, self.figures.get(What::WAKE_IDLE)?);
        // A CPU that a hypervisor gives to others meanwhile makes a wake-up longer, never shorter.
        let (kick, woken) = (across.lower_quartile, wake.lower_quartile);
        self.file.machine.host.kick_across = Some((kick * 1e3).round() as Time);
        let how = "futex wake of a sleeper whose CPU idles, the lower quartile";
        self.measured("host.kick-across", &across, how);
        if let Some(entry) = self.figures.get(What::IDLE_ENTRY) {
            // The time counts from before the call. A hypervisor is quick at some times and slow at others.
            let left = (entry.mean - halt.median).max(0.0) * 1e3;
            self.file.machine.host.idle_entry = (left > 1e3).then_some(left.round() as Time);
            self.measured(
                "host.idle-entry",
                &entry,
                "for how long wakes are quick, of which this is the mean",
            );
        }
        let delay = (woken - kick - switch).max(1.0);
        let how = "from the wake to the sleeper, less kick and switch, by lower quartiles";
        self.put("host.wake-idle", delay, &wake, how);
        let how = "on one CPU the sleeper is queued when the wake returns";
        self.put("host.wake-busy", 0.0, &hand_over, how);
        Some(())
    }

    fn scheduler(&mut self) {
        let tick = self.file.machine.host.tick_period;
        let wanted = [What::TURN, What::TICK_PERIOD, What::PREEMPTS_ON_WAKE, What::PULL];
        let [turn, period, preempts, pull] = wanted.map(|what| self.figures.get(what));
        let SchedulerKind::FairShare(fair) = &mut self.file.machine.host.scheduler else { return };
        fair.granularity = tick;
        fair.quota = None;
        if let Some(turn) = &turn {
            fair.slice = slice(picoseconds(turn), tick);
        }
        if let Some(preempts) = &preempts {
            fair.wake_preemption = (preempts.median >= 0.5).then_some(0);
        }
        if let Some(pull) = &pull {
            fair.idle_pull = pull.median < 1e6;
        }
        for (name, figure, how) in [
            ("slice", turn, "turns of two busy threads on one CPU"),
            ("granularity", period, "the tick"),
            ("wake-preemption", preempts, "share of woken threads that ran at once beside a busy one"),
            ("idle-pull", pull, "until a CPU that fell idle ran a thread that waited elsewhere"),
        ] {
            let Some(figure) = figure else { continue };
            let median = figure.median;
            let shown = if median <= 1.0 { format!("{median:.2}") } else { format_ns(median) };
            self.measured(&format!("host.fair-share.{name}"), &figure, &format!("{how} ({shown})"));
        }
    }
}

fn picoseconds(figure: &Figure) -> Time {
    (figure.median * 1e3).round() as Time
}

/// The slice behind turns of this length, which end at ticks: in the middle of what fits.
fn slice(turn: Time, tick: Time) -> Time {
    if tick == 0 {
        return turn.max(NS * 1000);
    }
    let ticks = ((turn + tick / 2) / tick).max(1);
    ticks * tick - tick / 2
}

pub(super) fn warnings(places: &Places, figures: &Figures) -> Vec<String> {
    let varies = |(what, figure): &(What, Figure)| {
        figure.spread > MOST_SPREAD && !what.is_share() && figure.median > 1.0
    };
    let told = |(what, figure): (What, Figure)| format!("{} (±{:.0} %)", what.title(), figure.spread * 100.0);
    let list = figures.all().filter(varies).map(told).collect::<Vec<_>>().join("; ");
    let (described, measured) = (places.topology().cpu_count(), places.all.len());
    let others = crate::bench::other_runnable();
    let no_tick = figures.get(What::TICK_PERIOD).is_none();
    let uneven = format!("{measured} CPUs in uneven parts: the file describes {described} in even ones");
    let busy = format!("{others} other threads are ready to run: wake-ups and turns are theirs as well");
    let doubts = [
        (cfg!(debug_assertions), "this is a debug build: its figures are not the machine's".to_owned()),
        (!list.is_empty(), format!("these varied much, measure again on a quieter machine: {list}")),
        (described != measured, uneven),
        (others > 0, busy),
        (no_tick, "no tick was found: turns end at any moment in the file".to_owned()),
    ];
    doubts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, doubt)| doubt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::places::Places;
    use stanchion_sim::machine::Topology;
    use std::path::Path;

    fn made(figures: &Figures) -> MachineFile {
        let places = Places::read(Path::new("/nowhere"), &[0, 1]);
        machine("mine", "a test", "2026-01-01", &places, figures).expect("readable")
    }

    #[test]
    fn what_was_measured_is_in_the_file_with_its_source() {
        let mut figures = Figures::default();
        for (what, value) in [
            (What::RMW, 4.25),
            (What::LOOK_AHEAD, 86.5),
            (What::UPGRADE.at(Reach::Group), 33.0),
            (What::TICK_PERIOD, 4e6),
            (What::TURN, 3.99e6),
            (What::PREEMPTS_ON_WAKE, 0.0),
            (What::BARRIER_PAIR, 8_600.0),
            (What::YIELD_SWITCH, 2_000.0),
            (What::YIELD, 500.0),
            (What::HAND_OVER, 3_000.0),
            (What::HALT, 500.0),
            (What::KICK_IDLE, 4_000.0),
            (What::WAKE_IDLE, 45_500.0),
        ] {
            (0..5).for_each(|_| figures.add(what, value));
        }
        let file = made(&figures);
        let (memory, host) = (&file.machine.memory, &file.machine.host);
        assert_eq!((memory.rmw, memory.upgrade), (4_250, 33_000));
        assert_eq!((memory.look_ahead, host.hypercalls), (Some(86_500), false));
        assert_eq!((host.switch, host.kick, host.wake_idle), (1_500_000, 1_000_000, 40_000_000));
        assert_eq!(host.kick_across, Some(4_000_000));
        assert_eq!(host.tick_period, 4_000_000_000);
        assert_eq!(host.heavy_barrier, Some(8_600_000));
        let SchedulerKind::FairShare(fair) = &host.scheduler else {
            panic!("operating systems share fairly")
        };
        assert_eq!(
            (fair.granularity, fair.slice, fair.wake_preemption),
            (4_000_000_000, 2_000_000_000, None)
        );
        let source = file.source_of("memory.rmw").expect("told");
        assert_eq!(source.evidence, Evidence::Measured);
        assert!(source.text.contains("median of 5") && source.text.contains("2026-01-01"), "{}", source.text);
    }

    #[test]
    fn without_figures_every_number_says_that_it_is_a_default() {
        let file = made(&Figures::default());
        assert_eq!(file.machine.topology, Topology::flat(2));
        for path in file::number_fields().filter(|path| file::number(&file.machine, path).is_some()) {
            let source = file.source_of(path).expect(path);
            assert_eq!(source.evidence, Evidence::Guess, "{path}");
        }
    }

    #[test]
    fn turns_that_end_at_ticks_leave_the_slice_between_two() {
        assert_eq!(slice(3_990, 4_000), 2_000);
        assert_eq!(slice(8_100, 4_000), 6_000);
        assert_eq!(slice(3_000_000, 0), 3_000_000);
    }

    #[test]
    fn a_reader_that_need_not_upgrade_has_taken_the_line() {
        let are_taken = |nearest, farthest| {
            let mut figures = Figures::default();
            for (reach, own) in [(Reach::Group, nearest), (Reach::Remote, farthest)] {
                figures.add(What::UPGRADE.at(reach), 33.0);
                figures.add(What::OWN_AFTER_READ.at(reach), own);
            }
            made(&figures).machine.memory.migratory
        };
        assert!(are_taken(16.0, 33.0) && !are_taken(17.0, 2.0));
        assert!(!made(&Figures::default()).machine.memory.migratory);
    }

    #[test]
    fn a_core_that_looks_nowhere_ahead_has_no_such_time() {
        let mut figures = Figures::default();
        figures.add(What::LOOK_AHEAD, 0.5);
        assert_eq!(made(&figures).machine.memory.look_ahead, None);
    }

    #[test]
    fn the_maker_of_the_processor_decides_the_protocol() {
        assert_eq!(protocol("vendor_id\t: AuthenticAMD\n"), Protocol::Moesi);
        assert_eq!(protocol("vendor_id\t: GenuineIntel\n"), Protocol::Mesif);
    }
}
