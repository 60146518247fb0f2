//! docs/ci-times.md: how long the jobs of the last recorded run of each speed took.
use super::job::Speed;
use super::summary::{Ended, Outcome};
use core::fmt::Write as _;
use core::time::Duration;
use std::path::Path;
use std::process::Command;
use std::{fs, io, thread};

/// Path of the page.
pub(super) const PATH: &str = "docs/ci-times.md";

const INTRO: &str = "\
# How long CI takes

Written by `cargo xtask ci --record`; do not edit it by hand. Each table is the last run of its speed that was recorded.
Two jobs run at a time, of those that build in `target/debug` one. A job's seconds include those in which the other has the CPUs.
";

/// Writes the table of a run, and keeps those of other speeds.
pub(super) fn record(root: &Path, speed: Speed, ended: &[Ended], took: Duration) -> io::Result<()> {
    let path = root.join(PATH);
    let old = fs::read_to_string(&path).unwrap_or_default();
    fs::write(&path, replaced(&old, speed, &section(&circumstances(root), ended, took)))?;
    println!("{PATH} is written");
    Ok(())
}

/// Machine, commit, compiler.
fn circumstances(root: &Path) -> String {
    let said = |words: &[&str]| {
        let output = Command::new(words[0]).args(&words[1..]).current_dir(root).output();
        let output = output.ok().filter(|output| output.status.success());
        output.map_or_else(
            || "unknown".to_owned(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        )
    };
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "{}, {} CPUs, {}, commit {}",
        model.map_or("unknown", |(_, model)| model.trim()),
        thread::available_parallelism().map_or(1, usize::from),
        said(&["rustc", "--version"]),
        said(&["git", "rev-parse", "--short", "HEAD"]),
    )
}

fn section(circumstances: &str, ended: &[Ended], took: Duration) -> String {
    let mut out = format!("\n{circumstances}\n\n| job | seconds | of CPU | |\n|---|---:|---:|---|\n");
    for job in ended {
        let how = match job.outcome {
            Outcome::Ok => "",
            Outcome::Failed { .. } => "failed",
            Outcome::Skipped(_) => "skipped",
        };
        let (took, cpu) = (job.took.as_secs_f64(), job.cpu.as_secs_f64());
        let _ = writeln!(out, "| {} | {took:.0} | {cpu:.0} | {how} |", job.name);
    }
    let cpu: f64 = ended.iter().map(|job| job.cpu.as_secs_f64()).sum();
    let _ = writeln!(out, "| all | {:.0} | {cpu:.0} | |", took.as_secs_f64());
    out
}

/// The page with another section.
fn replaced(old: &str, speed: Speed, section: &str) -> String {
    let mut out = INTRO.to_owned();
    for each in [Speed::Quick, Speed::Landing, Speed::Night] {
        let title = format!("\n## {}\n", each.name());
        let kept = old.split_once(&title).map(|(_, rest)| rest.split("\n## ").next().unwrap_or_default());
        if let Some(section) = if each == speed { Some(section) } else { kept } {
            out += &title;
            out += section;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_replaces_the_table_of_its_speed_only() {
        let of = |seconds| {
            let took = Duration::from_secs(seconds);
            section("a machine", &[Ended { name: "fmt", outcome: Outcome::Ok, took, cpu: took * 2 }], took)
        };
        let one = replaced("", Speed::Landing, &of(3));
        assert!(
            one.starts_with(INTRO) && one.contains("## what lands") && one.contains("| fmt | 3 | 6 |  |"),
            "{one}"
        );
        let two = replaced(&one, Speed::Quick, &of(1));
        let again = replaced(&two, Speed::Landing, &of(2));
        assert!(two.contains("| fmt | 3 |") && two.contains("| fmt | 1 |"), "{two}");
        assert!(
            again.contains("| fmt | 2 |") && again.contains("| fmt | 1 |") && !again.contains("| fmt | 3 |")
        );
        assert_eq!(again.matches("## ").count(), 2);
    }
}
