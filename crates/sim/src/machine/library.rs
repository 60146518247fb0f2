//! The machines that come with the simulator.
use super::file::{self, MachineFile};
use super::shipped::LIBRARY;
use crate::datafile;

/// Name and text of each shipped machine, by name.
pub fn library() -> &'static [(&'static str, &'static str)] {
    LIBRARY
}

/// The machine with this name; what contains a `/` or ends in `.toml` is the path of a file.
pub fn load(name_or_path: &str) -> Result<MachineFile, String> {
    load_with::<&str>(name_or_path, &[])
}

/// The same with fields replaced, each as `KEY=VALUE`.
pub fn load_with<S: AsRef<str>>(name_or_path: &str, sets: &[S]) -> Result<MachineFile, String> {
    let (text, file) = datafile::named("machine", "machines", LIBRARY, name_or_path)?;
    file::read_with(&text, &file, sets).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SchedulerKind;

    fn shipped() -> impl Iterator<Item = (&'static str, MachineFile)> {
        library().iter().map(|(name, _)| (*name, load(name).unwrap_or_else(|error| panic!("{error}"))))
    }

    #[test]
    fn each_file_of_the_directory_is_shipped_under_its_name() {
        let directory =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines")).expect("it is there");
        let mut files: Vec<String> = directory
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let names: Vec<&str> = library().iter().map(|(name, _)| *name).collect();
        assert_eq!(files, names);
        for (name, file) in shipped() {
            assert_eq!(file.machine.name, name);
            assert!(
                (3..=6).contains(&file.head.len()),
                "{name}: what it is, and who published results of it"
            );
        }
    }

    #[test]
    fn every_cost_of_a_shipped_machine_has_a_source() {
        for (name, file) in shipped() {
            let without: Vec<_> = file::unsourced(&file).collect();
            assert!(without.is_empty(), "{name}: {without:?}");
        }
    }

    #[test]
    fn what_is_farther_takes_longer() {
        for (name, file) in shipped() {
            let memory = &file.machine.memory;
            let dirty = [
                memory.hit,
                memory.group_clean,
                memory.group_dirty,
                memory.socket_dirty,
                memory.remote_dirty,
            ];
            let upgrades = [memory.rmw, memory.upgrade, memory.upgrade_socket, memory.upgrade_remote];
            assert!(
                dirty.is_sorted() && upgrades.is_sorted() && memory.group_clean < memory.memory,
                "{name}"
            );
            assert!(memory.upgrade_remote < memory.remote_dirty, "{name}: an upgrade carries no data");
            let host = &file.machine.host;
            assert!(host.kick_idle <= host.kick && host.wake_busy <= host.wake_idle, "{name}");
            if host.scheduler == SchedulerKind::Pinned {
                assert_eq!(host.pause_loop, None, "{name}: nobody to yield to");
            }
        }
    }

    #[test]
    fn names_and_paths_are_told_apart() {
        let error = load("haswel-ex").expect_err("no such machine");
        assert!(error.starts_with("unknown machine 'haswel-ex': nearest are haswell-ex-4x8, "), "{error}");
        for path in ["./no/such", "no-such.toml"] {
            let error = load(path).expect_err("no such file");
            assert!(error.starts_with(&format!("{path}: cannot be read: ")), "{error}");
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/small-vm.toml");
        assert_eq!(load(path), load("small-vm"));
        let error = load_with("small-vm", &["memory.hit=0"]).expect_err("time has to go on");
        assert!(error.starts_with("--set memory.hit=0: must be"), "{error}");
    }
}
