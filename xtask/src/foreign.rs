//! Machines that this one emulates: how to build for them, and how to run what was built.
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Such a machine.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// As rustc calls it, with `--target`.
    pub(crate) triple: &'static str,
    cc: &'static str,
    cxx: &'static str,
    /// Runs a program that stands behind it; with the libraries that a package manager installed beside this
    /// machine's own.
    emulator: [&'static str; 3],
    /// The emulator's flag for a variable that only the program is to see.
    variable: &'static str,
}

/// All that are known.
pub(crate) const ALL: &[Foreign] = &[Foreign {
    triple: "aarch64-unknown-linux-gnu",
    cc: "aarch64-linux-gnu-gcc",
    cxx: "aarch64-linux-gnu-g++",
    emulator: ["qemu-aarch64", "-L", "/"],
    variable: "-E",
}];

/// The one of this name, for a command line.
pub(crate) fn named(triple: &str) -> Result<&'static Foreign, String> {
    ALL.iter().find(|foreign| foreign.triple == triple).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|foreign| foreign.triple).collect();
        format!("no emulated machine of that name is known; there is {}", known.join(", "))
    })
}

impl Foreign {
    /// What compiles C, or C++, for it.
    pub(crate) fn compiler(&self, cpp: bool) -> &'static str {
        if cpp { self.cxx } else { self.cc }
    }

    /// A command that runs `program`, which is for this machine, with a library preloaded.
    pub(crate) fn command(&self, program: &Path, preload: Option<&Path>) -> Command {
        let mut command = Command::new(self.emulator[0]);
        command.args(&self.emulator[1..]);
        if let Some(library) = preload {
            // The emulator itself could not load it.
            let mut variable = OsString::from("LD_PRELOAD=");
            variable.push(library);
            command.arg(self.variable).arg(variable);
        }
        command.arg(program);
        command
    }

    /// Has cargo link for it, and run its programs by the emulator.
    pub(crate) fn for_cargo(&self, cargo: &mut Command) {
        let prefix = format!("CARGO_TARGET_{}", self.triple.to_uppercase().replace('-', "_"));
        cargo
            .env(format!("{prefix}_LINKER"), self.cc)
            .env(format!("{prefix}_RUNNER"), self.emulator.join(" "));
    }

    /// What is missing here to build for it and to run it: commands, with the package that has them.
    pub(crate) fn missing(&self) -> Vec<String> {
        let runs = |words: &[&str]| {
            Command::new(words[0]).args(&words[1..]).output().is_ok_and(|output| output.status.success())
        };
        let mut missing = Vec::new();
        for tool in [self.cc, self.cxx, self.emulator[0]] {
            if !runs(&[tool, "--version"]) {
                missing.push(tool.to_owned());
            }
        }
        let libraries =
            Command::new("rustc").args(["--print", "target-libdir", "--target", self.triple]).output();
        let has_std =
            libraries.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
        if !has_std {
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
