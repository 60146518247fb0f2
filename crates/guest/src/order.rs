//! What the guest is to do, as it stands on the kernel command line: words of the form `name=value`.
//!
//! | word | for | default | what it is |
//! |---|---|---|---|
//! | `workload` | all | `boot` | `boot` (say hello), `torture`, `conform`, `build`, `counter` or `rw` |
//! | `lock` | all but `boot` | `all` | a lock of the catalogue, or for `torture` and `conform` `all` |
//! | `seed` | all | 1 | of every random decision |
//! | `stall` | all | see below | nobody gets a lock that is wanted for so long, or a conformance test takes so long: the run has failed |
//! | `seconds` | `torture` `counter` `rw` | 10 | how long each lock is at work |
//! | `tick` | all but `boot` | see below | period of the timer interrupt |
//! | `readers-percent` | `torture` `rw` | 50, 95 | how many of a hundred sections under reader-writer locks only read |
//! | `limit` | `build` | 120 | seconds after which it is given up |
//! | `rate` | `build` `counter` `rw` | 0 | turns of the compute loop in a millisecond of work; 0: measured at the start |
//! | `slow-above` | `build` `counter` `rw` | `2us` | a longer acquisition counts as time in the slow path |
//! | `inside`, `outside` | `counter` `rw` | `200ns`, `1us` | work in a section, and between two |
//!
//! The words of `build` stand in [`BuildOrder`]. Times are numbers with `ns`, `us`, `ms` or `s`; a bare
//! number is nanoseconds, or seconds for `seconds`, `limit` and `stall`, which is a minute for `conform` and
//! ten seconds elsewhere. The tick takes locks under `torture` (`1ms`; with more than four vCPUs, it and the
//! stall are longer in proportion); elsewhere it only looks whether somebody is stuck (`100ms`).
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// A millisecond.
const MS: u64 = 1_000_000;
/// A second.
const S: u64 = 1_000 * MS;
/// A day: no time is longer.
const LONGEST: u64 = 86_400 * S;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Nothing: all vCPUs come up, and the machine ends.
    Boot,
    /// The kernel's locktorture.
    Torture,
    /// The conformance tests.
    Conform,
    /// A load like a kernel build; see `src/work/build.rs`.
    Build,
    /// Every vCPU takes the same lock, in a loop.
    Counter,
    /// The same with readers.
    Rw,
}

/// The names of workloads.
const WORKLOADS: [(&str, Workload); 6] = [
    ("boot", Workload::Boot),
    ("torture", Workload::Torture),
    ("conform", Workload::Conform),
    ("build", Workload::Build),
    ("counter", Workload::Counter),
    ("rw", Workload::Rw),
];

impl Workload {
    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        WORKLOADS.iter().find(|(_, workload)| *workload == self).map_or("", |(name, _)| name)
    }
}

/// The words of `workload=build`: those of the simulator's behaviour of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOrder {
    /// `jobs`: tasks that take turns on the vCPUs (make -j); 0: one for each vCPU.
    pub jobs: u32,
    /// `job`: units of work all in all, each a burst and a section.
    pub job: u64,
    /// `burst`: work between two sections.
    pub burst: u64,
    /// `critical`: work in a section.
    pub critical: u64,
    /// `varies-percent`: how much longer or shorter a burst may be.
    pub varies_percent: u64,
    /// `locks`: how many there are.
    pub locks: u32,
    /// `hot-percent`: how many of a hundred sections are on the first lock; 0: all locks are equal.
    pub hot_percent: u64,
    /// `lines`: cache lines that a section writes.
    pub lines: u32,
    /// `blocks-after`: a task blocks after so much work on average; 0: never.
    pub blocks_after: u64,
    /// `blocks-for`: for how long.
    pub blocks_for: u64,
}

impl BuildOrder {
    /// `preset=kernbench-j16`, the default, or `kernbench-j3`: the parameters of the workload file of that
    /// name, but for the size of the job, which is ten seconds of work.
    fn preset(name: &str) -> Option<Self> {
        let j16 = Self {
            jobs: 16,
            job: 200_000,
            burst: 50_000,
            critical: 500,
            varies_percent: 50,
            locks: 4,
            hot_percent: 0,
            lines: 1,
            blocks_after: 13 * MS,
            blocks_for: MS,
        };
        match name {
            "kernbench-j16" => Some(j16),
            "kernbench-j3" => Some(Self { jobs: 3, blocks_after: 14 * MS, ..j16 }),
            _ => None,
        }
    }
}

/// All that the command line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// What is run.
    pub workload: Workload,
    /// The name of a lock, or `all`.
    pub lock: String,
    /// Of every random decision.
    pub seed: u64,
    /// How long one lock is at work, in nanoseconds.
    pub duration: u64,
    /// When a job of fixed size is given up, in nanoseconds.
    pub limit: u64,
    /// How long nobody may get a lock that is wanted, in nanoseconds.
    pub stall: u64,
    /// Period of the timer interrupt in nanoseconds; 0: none.
    pub tick: u64,
    /// How many of a hundred sections only read, where readers share.
    pub readers_percent: u64,
    /// Turns of the compute loop in a millisecond of work; 0: to be measured.
    pub rate: u64,
    /// A longer acquisition counts as time in the slow path, in nanoseconds.
    pub slow_above: u64,
    /// Work in a section, in nanoseconds.
    pub inside: u64,
    /// Work between two, in nanoseconds.
    pub outside: u64,
    /// The words of the build.
    pub build: BuildOrder,
}

impl Order {
    /// Reads the command line; the error is one line for humans.
    pub fn parse(line: &str) -> Result<Self, String> {
        let pairs = || line.split_whitespace().map(|word| word.split_once('=').ok_or(word));
        if let Some(word) = pairs().find_map(Result::err) {
            return Err(format!("'{word}' on the command line is no name=value"));
        }
        let given = |wanted: &str| pairs().flatten().rfind(|(name, _)| *name == wanted);
        let workload = match given("workload") {
            None => Workload::Boot,
            Some((_, given)) => {
                WORKLOADS.iter().find(|(name, _)| *name == given).map(|(_, workload)| *workload).ok_or_else(
                    || format!("workload={given}: is none of boot torture conform build counter rw"),
                )?
            }
        };
        let preset = given("preset").map_or("kernbench-j16", |(_, preset)| preset);
        let build = BuildOrder::preset(preset)
            .ok_or_else(|| format!("preset={preset}: is none of kernbench-j16 kernbench-j3"))?;
        let tortures = workload == Workload::Torture;
        let mut order = Self {
            workload,
            lock: "all".to_owned(),
            seed: 1,
            duration: 10 * S,
            limit: 120 * S,
            stall: if workload == Workload::Conform { 60 * S } else { 10 * S },
            tick: if tortures { MS } else { 100 * MS },
            readers_percent: if tortures { 50 } else { 95 },
            rate: 0,
            slow_above: 2_000,
            inside: 200,
            outside: 1_000,
            build,
        };
        for (name, value) in pairs().flatten() {
            order.take(name, value)?;
        }
        let several = matches!(workload, Workload::Boot | Workload::Torture | Workload::Conform);
        if order.lock == "all" && !several {
            return Err(format!("workload={} measures one lock at a boot; say lock=NAME", workload.name()));
        }
        Ok(order)
    }

    /// One word.
    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |least, most| number(name, value, least, most);
        let time = |least| time(name, value, 1, least);
        let seconds = || self::time(name, value, S, MS);
        let build = &mut self.build;
        match name {
            "workload" | "preset" => {}
            "lock" => value.clone_into(&mut self.lock),
            "seed" => self.seed = number(0, u64::MAX)?,
            "seconds" => self.duration = seconds()?,
            "limit" => self.limit = seconds()?,
            "stall" => self.stall = seconds()?,
            "tick" => self.tick = time(0)?,
            "readers-percent" => self.readers_percent = number(0, 100)?,
            "rate" => self.rate = number(0, 1 << 40)?,
            "slow-above" => self.slow_above = time(0)?,
            "inside" => self.inside = time(0)?,
            "outside" => self.outside = time(0)?,
            "jobs" => build.jobs = number(0, 16_383)? as u32,
            "job" => build.job = number(1, 1 << 40)?,
            "burst" => build.burst = time(1)?,
            "critical" => build.critical = time(0)?,
            "varies-percent" => build.varies_percent = number(0, 100)?,
            "locks" => build.locks = number(1, 4096)? as u32,
            "hot-percent" => build.hot_percent = number(0, 100)?,
            "lines" => build.lines = number(0, 16)? as u32,
            "blocks-after" => build.blocks_after = time(0)?,
            "blocks-for" => build.blocks_for = time(0)?,
            _ => return Err(format!("'{name}={value}' on the command line: there is no word '{name}'")),
        }
        Ok(())
    }
}

/// A whole number in `least..=most`.
fn number(name: &str, value: &str, least: u64, most: u64) -> Result<u64, String> {
    let found = value.parse().ok().filter(|number| (least..=most).contains(number));
    found.ok_or_else(|| format!("{name}={value}: must be a whole number from {least} to {most}"))
}

/// A time in nanoseconds, not below `least`; a bare number is in units of `unit`.
fn time(name: &str, value: &str, unit: u64, least: u64) -> Result<u64, String> {
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, suffix) = value.split_at(digits);
    let unit = match suffix {
        "" => Some(unit),
        "ns" => Some(1),
        "us" => Some(1_000),
        "ms" => Some(MS),
        "s" => Some(S),
        _ => None,
    };
    let found = unit.zip(count.parse::<u64>().ok()).and_then(|(unit, count)| count.checked_mul(unit));
    found.filter(|nanos| (least..=LONGEST).contains(nanos)).ok_or_else(|| {
        format!("{name}={value}: must be a time from {least}ns to a day, as in 500ns, 20us, 3ms or 10s")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        Order::parse(line).expect_err("must be refused")
    }

    #[test]
    fn an_empty_line_boots() {
        let order = Order::parse("  ").expect("an empty line is an order");
        assert_eq!((order.workload, order.lock.as_str(), order.seed), (Workload::Boot, "all", 1));
    }

    #[test]
    fn words_are_taken_in_any_order_and_the_last_one_counts() {
        let order =
            Order::parse("burst=20us seed=7 lock=ticket workload=build limit=30 jobs=3 seed=9 stall=500ms");
        let order = order.expect("a good line");
        assert_eq!((order.workload, order.lock.as_str(), order.seed), (Workload::Build, "ticket", 9));
        assert_eq!((order.build.burst, order.build.jobs, order.limit), (20_000, 3, 30 * S));
        assert_eq!(order.stall, 500 * MS);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        assert_eq!(refused("quiet"), "'quiet' on the command line is no name=value");
        assert_eq!(refused("sed=1"), "'sed=1' on the command line: there is no word 'sed'");
        assert_eq!(refused("workload=x"), "workload=x: is none of boot torture conform build counter rw");
        assert_eq!(refused("workload=build"), "workload=build measures one lock at a boot; say lock=NAME");
        assert_eq!(refused("preset=j4"), "preset=j4: is none of kernbench-j16 kernbench-j3");
        assert_eq!(refused("hot-percent=101"), "hot-percent=101: must be a whole number from 0 to 100");
        let times = [
            "tick=1.5ms",
            "tick=",
            "tick=ms",
            "tick=-1",
            "tick=99999999999999999999s",
            "seconds=0",
            "tick=2d",
        ];
        for word in times {
            let expected = format!("{word}: must be a time from ");
            assert!(refused(word).starts_with(&expected), "{word}: {}", refused(word));
        }
    }

    #[test]
    fn torture_has_ticks_of_its_own() {
        assert_eq!(Order::parse("workload=torture").expect("a good line").tick, MS);
        assert_eq!(Order::parse("workload=rw lock=qrw").expect("a good line").tick, 100 * MS);
        assert_eq!(Order::parse("workload=rw lock=qrw tick=4ms").expect("a good line").tick, 4 * MS);
    }

    #[test]
    fn presets_are_the_simulator_s_workloads() {
        let files = [
            ("kernbench-j16", include_str!("../../../workloads/kernbench-j16.toml")),
            ("kernbench-j3", include_str!("../../../workloads/kernbench-j3.toml")),
        ];
        for (name, file) in files {
            let file: toml::Table = file.parse().expect("a workload file is TOML");
            let words: alloc::vec::Vec<String> = file["workload"]
                .as_table()
                .expect("it has parameters")
                .iter()
                .filter(|(word, _)| !["behaviour", "placement", "unit", "job"].contains(&word.as_str()))
                .map(|(word, value)| {
                    format!("{word}={}", alloc::string::ToString::to_string(value).trim_matches('"'))
                })
                .collect();
            let line = format!("workload=build lock=byte {}", words.join(" "));
            let preset = format!("workload=build lock=byte preset={name}");
            assert_eq!(
                Order::parse(&line).map(|order| order.build),
                Order::parse(&preset).map(|order| order.build)
            );
            assert_eq!(words.len(), 9, "{name} has no parameters that the guest does not know");
        }
    }

    #[test]
    fn every_workload_has_its_name() {
        for (name, workload) in WORKLOADS {
            assert_eq!(workload.name(), name);
        }
    }
}
