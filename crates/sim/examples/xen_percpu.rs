//! What the prediction of the Xen network experiment depends on: for each change of an assumption the bytes
//! of a piece are fitted anew to the 15 Gb/s of `rw-simple`, and the other locks predicted.
//!
//! `cargo run --release -p stanchion-sim --example xen_percpu` prints the table of
//! `docs/runs/2026-11-22-xen-percpu`, which was made with `workload.lookups-out=3` and
//! `workload.critical=100`; with arguments, each of them settings with commas between them, the rows of
//! those.
use stanchion_sim::{MS, Spec, machine, run, workload};

const PUBLISHED: f64 = 15.0;
const SEEDS: u64 = 2;
/// Steps of a bisection.
const STEPS: u32 = 9;

/// Throughput in Gb/s.
fn rate(lock: &str, sets: &[String]) -> f64 {
    let (of_workload, of_machine): (Vec<&String>, Vec<&String>) =
        sets.iter().partition(|set| set.starts_with("workload."));
    let mut of_machine: Vec<String> = of_machine.into_iter().cloned().collect();
    of_machine.push("host.scheduler=pinned".to_owned());
    let machine = machine::load_with("haswell-ep-2x10x2", &of_machine).expect("fields of a machine").machine;
    let workload = workload::load_with("grant-table", &of_workload).expect("fields of a workload").workload;
    let one = |seed| {
        let spec = Spec {
            machine: &machine,
            workload: &workload,
            lock,
            tunings: &[],
            contexts: 40,
            seed,
            time: 5 * MS,
            warm_up: MS,
            record: None,
            most_events: u64::MAX,
        };
        run(&spec, &|| false).unwrap_or_else(|failure| panic!("{lock}: {failure:?}")).ops_per_second() / 1e9
    };
    (1..=SEEDS).map(one).sum::<f64>() / SEEDS as f64
}

fn main() {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let usual = [
        "",
        "workload.lookups-out=2",
        "workload.lookups-out=5",
        "workload.critical=50",
        "workload.critical=200",
        "workload.queues=8",
        "workload.queues=40",
        "workload.backend=262,workload.backend-kib=87,workload.guests=350,workload.guests-kib=317",
        "workload.backend=1050,workload.backend-kib=348,workload.guests=1400,workload.guests-kib=1270",
        "speed.sibling-computes-percent=130",
        "speed.sibling-computes-percent=170",
    ];
    let rows = if typed.is_empty() { usual.map(str::to_owned).to_vec() } else { typed };
    println!(
        "| changed | bytes fitted | rw-simple | percpu-rw+rw-simple | percpu-rw | ratio |\n|---|---|---|---|---|---|"
    );
    for row in rows {
        let with_bytes = |bytes: f64| {
            let mut sets: Vec<String> =
                row.split(',').filter(|set| !set.is_empty()).map(str::to_owned).collect();
            sets.push(format!("workload.bytes={bytes:.0}"));
            sets
        };
        let (mut low, mut high) = (64_f64.ln(), 65_536_f64.ln());
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if rate("rw-simple", &with_bytes(middle.exp())) < PUBLISHED {
                low = middle;
            } else {
                high = middle;
            }
        }
        let bytes = f64::midpoint(low, high).exp();
        let [simple, half, percpu] =
            ["rw-simple", "percpu-rw+rw-simple", "percpu-rw"].map(|lock| rate(lock, &with_bytes(bytes)));
        let name = if row.is_empty() { "nothing" } else { &row };
        println!(
            "| `{name}` | {bytes:.0} | {simple:.1} | {half:.1} | {percpu:.1} | {:.2} |",
            percpu / simple
        );
    }
}
