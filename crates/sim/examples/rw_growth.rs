//! How the cost of reader-writer locks grows with the machine: reads of all CPUs at once, and a writer that
//! looks at all CPUs.
//!
//! `cargo run --release -p stanchion-sim --example rw_growth -- DIRECTORY` prints two tables and draws two
//! pictures.
use core::fmt::Write;
use stanchion_sim::{Cause, MS, Outcome, Spec, Time, machine, run, workload};
use std::path::Path;

const LOCKS: [&str; 3] = ["rw-simple", "qrw", "percpu-rw"];
const COUNTS: [usize; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1536];
const SEEDS: u64 = 2;
/// What the writer does between two writes, in nanoseconds.
const WRITER_THINKS: u32 = 100_000;

fn outcome(lock: &str, sets: &[&str], contexts: usize, seed: u64, time: Time) -> Outcome {
    let machine = machine::load("power9-16x12x8").expect("a shipped machine").machine;
    let workload = workload::load_with("read-mostly", sets).expect("a shipped workload").workload;
    let spec = Spec {
        machine: &machine,
        workload: &workload,
        lock,
        tunings: &[],
        contexts,
        seed,
        time,
        warm_up: MS,
        record: None,
        most_events: u64::MAX,
    };
    run(&spec, &|| false).unwrap_or_else(|failure| panic!("{lock} {contexts}: {failure:?}"))
}

/// The mean of a quantity over the seeds.
fn mean(of: impl Fn(u64) -> f64) -> f64 {
    (1..=SEEDS).map(of).sum::<f64>() / SEEDS as f64
}

/// Reads in a microsecond for each CPU, if all read all the time.
fn reads(lock: &str, contexts: usize) -> f64 {
    let sets = ["workload.readers-percent=100"];
    mean(|seed| outcome(lock, &sets, contexts, seed, MS).ops_per_second() / 1e6 / contexts as f64)
}

/// What a write costs the only writer, in microseconds, beside readers that come once in so long: all of its
/// time but that in its section and between two.
fn write_cost(lock: &str, readers_think: &str, contexts: usize) -> f64 {
    let think = format!("workload.think={readers_think}");
    let writer = format!("workload.writers-think={WRITER_THINKS}");
    let sets = ["workload.readers-percent=100", "workload.writers=1", &think, &writer];
    mean(|seed| {
        let run = outcome(lock, &sets, contexts, seed, 20 * MS);
        let useful = [Cause::Computing, Cause::Holding, Cause::Sleeping];
        let useful: Time = useful.iter().map(|&cause| run.causes[0][cause as usize]).sum();
        (run.causes[0].iter().sum::<Time>() - useful) as f64 / 1e6 / run.ops[0].max(1) as f64
    })
}

/// A column of a table: what it is, and a value for each count.
type Column = (String, Vec<f64>);

fn table(title: &str, columns: &[Column]) -> String {
    let mut text = format!("{title}\n\n| CPUs |");
    for (name, _) in columns {
        text.extend([" ", name.as_str(), " |"]);
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(columns.len()));
    for (row, count) in COUNTS.iter().enumerate() {
        let _ = write!(text, "\n| {count} |");
        for (_, values) in columns {
            let _ = write!(text, " {:.4} |", values[row]);
        }
    }
    text.push('\n');
    text
}

/// A picture with logarithmic axes.
fn picture(title: &str, columns: &[Column]) -> String {
    let values = || columns.iter().flat_map(|(_, values)| values).copied().filter(|value| *value > 0.0);
    let low = values().fold(f64::MAX, f64::min).log10().floor();
    let high = values().fold(f64::MIN, f64::max).log10().ceil();
    let x = |count: usize| 70.0 + (count as f64).log2() / 11.0 * 520.0;
    let y = |value: f64| 340.0 - (value.max(10_f64.powf(low)).log10() - low) / (high - low).max(1.0) * 290.0;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"390\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"760\" height=\"390\" fill=\"white\"/>\n",
    );
    let _ = writeln!(svg, "<text x=\"70\" y=\"24\" font-size=\"14\">{title}</text>");
    for count in COUNTS {
        let _ = writeln!(svg, "<text x=\"{:.0}\" y=\"360\" text-anchor=\"middle\">{count}</text>", x(count));
    }
    let _ = writeln!(svg, "<text x=\"330\" y=\"380\" text-anchor=\"middle\">CPUs</text>");
    for power in low as i32..=high as i32 {
        let at = y(10_f64.powi(power));
        let _ = writeln!(
            svg,
            "<line x1=\"70\" x2=\"600\" y1=\"{at:.0}\" y2=\"{at:.0}\" stroke=\"#ddd\"/><text x=\"62\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            at + 4.0,
            10_f64.powi(power)
        );
    }
    for ((name, values), colour) in columns.iter().zip(["#c33", "#36c", "#283", "#a60", "#707"]) {
        let points: Vec<String> = COUNTS
            .iter()
            .zip(values)
            .map(|(&count, &value)| format!("{:.0},{:.0}", x(count), y(value)))
            .collect();
        let last = y(values.last().copied().unwrap_or(1.0));
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"606\" y=\"{last:.0}\" fill=\"{colour}\">{name}</text>",
            points.join(" ")
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn main() -> std::io::Result<()> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let column = |name: &str, of: &dyn Fn(usize) -> f64| (name.to_owned(), COUNTS.map(of).to_vec());
    let reading: Vec<Column> =
        LOCKS.iter().map(|lock| column(lock, &|contexts| reads(lock, contexts))).collect();
    let writing: Vec<Column> = [
        ("percpu-rw, readers elsewhere", "percpu-rw", "1s"),
        ("percpu-rw, a read each 100 us", "percpu-rw", "100us"),
        ("qrw, a read each 100 us", "qrw", "100us"),
    ]
    .into_iter()
    .map(|(name, lock, think)| column(name, &|contexts| write_cost(lock, think, contexts)))
    .collect();
    let titles = [
        "Reads in a microsecond for each CPU, all reading",
        "Microseconds that a write costs the only writer",
    ];
    for (title, columns, file) in [(titles[0], &reading, "reads.svg"), (titles[1], &writing, "writes.svg")] {
        println!("{}", table(title, columns));
        std::fs::write(Path::new(&directory).join(file), picture(title, columns))?;
    }
    Ok(())
}
