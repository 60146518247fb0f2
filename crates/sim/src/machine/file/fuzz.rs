//! Files that somebody or something spoiled: whatever the text, there is a machine that can be simulated, or
//! one line.
use super::{MachineFile, apply_set, read, read_with, write};
use crate::machine::{SchedulerKind, Topology, library};

/// Changes tried to each shipped file.
const ROUNDS: u64 = 60;

/// Values that are likely to be wrong somewhere, and some that are right.
const VALUES: [&str; 22] = [
    "0",
    "1",
    "-1",
    "3",
    "1.5",
    "1e9",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"none\"",
    "\"40us\"",
    "\"1s\"",
    "\"pinned\"",
    "\"ll-sc\"",
    "[]",
    "[[]]",
    "[[0]]",
    "{}",
    "1979-05-27",
    "99999999999999999999",
    "0xffffffffffffffff",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }
}

/// `text` with something done to it.
fn spoiled(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        let value_of = |line: &str| line.split_once(" = ").map(|(_, value)| value.to_owned());
        let key_of = |line: &str| line.split_once(" = ").map(|(key, _)| key.to_owned());
        match random.below(6) {
            0 => drop(lines.remove(a)),
            1 => lines.swap(a, b),
            2 => {
                if let (Some(key), Some(value)) = (key_of(&lines[a]), value_of(&lines[b])) {
                    lines[a] = format!("{key} = {value}");
                }
            }
            3 => {
                if let Some(key) = key_of(&lines[a]) {
                    lines[a] = format!("{key} = {}", VALUES[random.below(VALUES.len())]);
                }
            }
            4 => lines.truncate(a.max(1)),
            _ => {
                let mut bytes = lines[a].clone().into_bytes();
                for _ in 0..=random.below(4) {
                    let at = random.below(bytes.len() + 1);
                    bytes.insert(at, random.below(256) as u8);
                }
                lines[a] = String::from_utf8_lossy(&bytes).into_owned();
            }
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

/// What a simulation takes for granted.
fn assert_can_be_simulated(file: &MachineFile) {
    let (topology, host) = (&file.machine.topology, &file.machine.host);
    assert!((1..=Topology::MOST_CORES).contains(&topology.core_count()) && topology.cpu_count() <= 16_383);
    let sockets = usize::from(topology.sockets);
    assert!(topology.hops.len() == sockets && topology.hops.iter().all(|row| row.len() == sockets));
    assert!(file.machine.memory.hit > 0 && file.machine.memory.poll > 0, "time goes on while a vCPU spins");
    match &host.scheduler {
        SchedulerKind::Pinned => (),
        SchedulerKind::FairShare(fair) => assert!(fair.slice > 0),
        SchedulerKind::RoundRobin(round) => assert!(round.slice > 0),
    }
    assert_eq!(&read(&write(file), "written").expect("what is written can be read"), file);
}

/// One line that begins with where the fault is.
fn assert_is_one_line(error: &str, place: &str) {
    assert!(error.starts_with(place) && error.lines().count() == 1 && error.len() < 1000, "{error:?}");
}

#[test]
fn spoiled_files_are_refused_in_one_line_or_can_be_simulated() {
    let (mut refused, mut accepted) = (0, 0);
    for (seed, (_, text)) in library().iter().enumerate() {
        let mut random = Random(seed as u64);
        for _ in 0..ROUNDS {
            match read(&spoiled(text, &mut random), "spoiled.toml") {
                Ok(file) => {
                    accepted += 1;
                    assert_can_be_simulated(&file);
                }
                Err(error) => {
                    refused += 1;
                    assert_is_one_line(&error.to_string(), "spoiled.toml:");
                }
            }
        }
    }
    // Both ways have to be walked for this to show anything.
    assert!(refused > 200 && accepted > 20, "{refused} {accepted}");
}

#[test]
fn bytes_at_random_are_no_machine() {
    let mut random = Random(1);
    for _ in 0..2000 {
        let alphabet = b"[]{}=\"'\n.,#a1-\\\xc3\xa4\0 ";
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| alphabet[random.below(alphabet.len())]).collect();
        let error = read(&String::from_utf8_lossy(&bytes), "noise.toml").expect_err("no machine");
        assert_is_one_line(&error.to_string(), "noise.toml:");
    }
    let deep = format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_is_one_line(&read(&deep, "deep.toml").expect_err("no machine").to_string(), "deep.toml:");
}

#[test]
fn any_field_can_be_set_to_anything() {
    let (_, text) = library()[0];
    let file = read(text, "x").expect("it is shipped");
    let written = write(&file);
    let mut table = "";
    let (mut accepted, mut random) = (0, Random(2));
    for line in written.lines() {
        if let Some(inner) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = inner;
        }
        let Some((key, _)) = line.split_once(" = ") else { continue };
        let path = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
        for value in core::array::from_fn::<_, 5, _>(|_| VALUES[random.below(VALUES.len())])
            .into_iter()
            .chain(["x\ny"])
        {
            match read_with(text, "x.toml", &[format!("{path}={value}")]) {
                Ok(file) => {
                    accepted += 1;
                    assert_can_be_simulated(&file);
                }
                // A setting may make another field wrong; then that is named, with the setting behind it.
                Err(error) => assert_is_one_line(
                    &error.to_string(),
                    if error.file.is_empty() { "--set " } else { "x.toml:" },
                ),
            }
        }
    }
    assert!(accepted > 20, "{accepted}");
    assert!(apply_set(&file, "memory.hit=2").is_ok());
}
