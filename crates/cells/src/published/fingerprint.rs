//! What a result was made by, in sixteen digits each: the numbers of machines and workloads, and the traces
//! of runs. Traces change with the code of the locks and of the simulator.
use super::tables::Table;
use core::fmt::Debug;
use stanchion_sim::machine::Machine;
use stanchion_sim::workload::Workload;

/// FNV-1a.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Fields that came after results were registered, where they say nothing: such a machine is what it was.
const LATER: [&str; 5] = [
    "kick_across: None, ",
    "idle_entry: None, ",
    "look_ahead: None, ",
    "hypercalls: true, ",
    "migratory: false, ",
];

fn print(value: &impl Debug) -> String {
    let text = LATER.iter().fold(format!("{value:?}"), |text, field| text.replace(field, ""));
    written(hash(text.bytes()))
}

/// As it stands in files.
pub(super) fn written(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Of what a file has.
pub fn of_bytes(bytes: &[u8]) -> String {
    written(hash(bytes.iter().copied()))
}

/// Of all numbers of a machine, not of what is said about them.
pub fn of_machine(machine: &Machine) -> String {
    print(&Machine { about: String::new(), ..machine.clone() })
}

/// Of all numbers of a workload.
pub fn of_workload(workload: &Workload) -> String {
    print(&Workload { about: String::new(), ..workload.clone() })
}

/// Of several runs.
pub fn of_traces(traces: impl IntoIterator<Item = u64>) -> String {
    written(hash(traces.into_iter().flat_map(u64::to_le_bytes)))
}

/// Of what a table runs: its machine, and the workloads, contexts and virtual time of its rows.
pub(super) fn of_table(table: &Table) -> (String, String) {
    let machine = table.rows.first().map(|row| of_machine(&row.machine)).unwrap_or_default();
    let rows = table.rows.iter().map(|row| (&row.label, row.contexts, of_workload(&row.workload)));
    (machine, print(&(table.milliseconds, rows.collect::<Vec<_>>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_sim::machine;

    #[test]
    fn a_fingerprint_changes_with_each_number_and_not_with_words() {
        let load = |set: &str| of_machine(&machine::load_with("small-vm", &[set]).expect("shipped").machine);
        assert_eq!(load("about=other words"), load("about=words"));
        assert_ne!(load("memory.hop=1"), load("memory.hop=2"));
        assert_ne!(load("host.kick-across=1us"), load("host.kick-across=2us"));
        assert_ne!(load("host.kick-across=1us"), load("host.kick-across=none"));
        let machine = machine::load("small-vm").expect("shipped").machine;
        assert!(LATER.iter().all(|field| format!("{machine:?}").contains(field)));
        assert_ne!(of_traces([1, 2]), of_traces([2, 1]));
        assert_eq!(of_traces([]).len(), 16);
    }
}
