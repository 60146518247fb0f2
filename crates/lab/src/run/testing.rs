//! What tests of this command share: headers made by hand, and programs compiled by the C compiler where
//! there is one.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// An ELF header of a 64-bit program without segments and sections. `order` is 1 for little-endian, 2 for
/// big-endian.
pub(crate) fn header64(machine: u16, kind: u16, order: u8) -> Vec<u8> {
    header(2, machine, kind, order, 64)
}

/// The same of a 32-bit, little-endian program.
pub(crate) fn header32(machine: u16) -> Vec<u8> {
    header(1, machine, 2, 1, 52)
}

fn header(class: u8, machine: u16, kind: u16, order: u8, length: usize) -> Vec<u8> {
    let two = |value: u16| if order == 2 { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut bytes = vec![0; length];
    bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, order, 1]);
    bytes[16..18].copy_from_slice(&two(kind));
    bytes[18..20].copy_from_slice(&two(machine));
    // The version, and the header's own size.
    bytes[if order == 2 { 23 } else { 20 }] = 1;
    bytes[length - 12..length - 10].copy_from_slice(&two(length as u16));
    bytes
}

/// The C compiler and a directory for what it makes.
pub(crate) struct Compiler {
    dir: TempDir,
}

impl Compiler {
    /// None where no compiler is installed.
    pub(crate) fn find() -> Option<Self> {
        Command::new("cc").arg("--version").output().ok()?;
        Some(Self { dir: tempfile::tempdir().expect("a temporary directory") })
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Compiles `source` to the program `name`.
    pub(crate) fn program(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        self.try_program(name, source, flags).expect("a correct program compiles")
    }

    /// The same, or none where a library is missing, such as the static libc.
    pub(crate) fn try_program(&self, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
        let (from, to) = (self.dir.path().join(format!("{name}.c")), self.dir.path().join(name));
        fs::write(&from, source).expect("written");
        let output =
            Command::new("cc").args(["-o".as_ref(), to.as_os_str(), from.as_os_str()]).args(flags).output();
        output.expect("the compiler starts").status.success().then_some(to)
    }
}
