//! Machines that this one emulates: how to build for them, and how to run what was built.
use crate::process::succeeds;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

#[derive(Debug)]
pub(crate) struct Foreign {
    /// As rustc calls it, with `--target`.
    pub(crate) triple: &'static str,
    cc: &'static str,
    cxx: &'static str,
    /// Runs a program that stands behind it, with the libraries that are installed beside this machine's own.
    emulator: [&'static str; 3],
}

pub(crate) const AARCH64: Foreign = Foreign {
    triple: "aarch64-unknown-linux-gnu",
    cc: "aarch64-linux-gnu-gcc",
    cxx: "aarch64-linux-gnu-g++",
    emulator: ["qemu-aarch64", "-L", "/"],
};

/// The one of this name, for a command line.
pub(crate) fn named(triple: &str) -> Result<&'static Foreign, String> {
    let known = (triple == AARCH64.triple).then_some(&AARCH64);
    known.ok_or_else(|| format!("no emulated machine of that name is known; there is {}", AARCH64.triple))
}

impl Foreign {
    pub(crate) fn compiler(&self, cpp: bool) -> &'static str {
        if cpp { self.cxx } else { self.cc }
    }

    /// A command that runs `program`, which is for this machine, with a library preloaded.
    pub(crate) fn command(&self, program: &Path, preload: Option<&Path>) -> Command {
        let mut command = Command::new(self.emulator[0]);
        command.args(&self.emulator[1..]);
        if let Some(library) = preload {
            // Only the program is to see it: the emulator itself could not load it.
            let mut variable = OsString::from("LD_PRELOAD=");
            variable.push(library);
            command.arg("-E").arg(variable);
        }
        command.arg(program);
        command
    }

    /// Variables that have cargo link for it, and run its programs by the emulator.
    pub(crate) fn for_cargo(&self) -> [(String, String); 2] {
        let prefix = format!("CARGO_TARGET_{}", self.triple.to_uppercase().replace('-', "_"));
        [
            (format!("{prefix}_LINKER"), self.cc.to_owned()),
            (format!("{prefix}_RUNNER"), self.emulator.join(" ")),
        ]
    }

    /// What is missing here to build for it and to run it: commands, with the package that has them.
    pub(crate) fn missing(&self) -> Vec<String> {
        let tools = [self.cc, self.cxx, self.emulator[0]];
        let tools = tools.into_iter().filter(|tool| !succeeds(&[tool, "--version"]));
        let mut missing: Vec<String> = tools.map(str::to_owned).collect();
        let std = Command::new("rustc").args(["--print", "target-libdir", "--target", self.triple]).output();
        if !std.is_ok_and(|std| Path::new(String::from_utf8_lossy(&std.stdout).trim()).is_dir()) {
            missing.push(format!("Rust's standard library (rustup target add {})", self.triple));
        }
        if !Path::new("/lib/ld-linux-aarch64.so.1").exists() {
            missing.push("the machine's C library (libc6:arm64)".to_owned());
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_sees_what_is_preloaded() {
        let foreign = named("aarch64-unknown-linux-gnu").expect("known");
        let command = foreign.command(Path::new("p"), Some(Path::new("/l.so")));
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["-L", "/", "-E", "LD_PRELOAD=/l.so", "p"]);
        assert_eq!(command.get_envs().count(), 0);
        assert!(named("pdp11").expect_err("unknown").contains("aarch64"));
    }
}
