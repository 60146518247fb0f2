//! What a program's file says about itself: class, machine, loader, and functions it takes from libraries.
use object::elf::{ET_DYN, ET_EXEC, FileHeader32, FileHeader64, Machine, PT_INTERP};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object};
use std::env::consts::ARCH;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The loader that the file in `path` asks for; none if it is linked statically, or a library. The error says
/// why this machine can neither start nor load it, as the end of a sentence.
pub(crate) fn loader(path: &Path) -> Result<Option<PathBuf>, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let data = ReadCache::new(file);
    match FileKind::parse(&data) {
        Ok(FileKind::Elf64) => read(&data),
        Ok(FileKind::Elf32) => {
            let machine = FileHeader32::<Endianness>::parse(&data)
                .and_then(|header| Ok(name(header.e_machine(header.endian()?))));
            Err(format!("is a 32-bit program ({}); the library is 64-bit", machine.map_err(damaged)?))
        }
        _ => Err("is neither an ELF program nor a script that begins with '#!'".to_owned()),
    }
}

fn read(data: &ReadCache<File>) -> Result<Option<PathBuf>, String> {
    let header = FileHeader64::<Endianness>::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let made_for = name(header.e_machine(endian));
    // The command runs on the machine that it was compiled for, `riscv64` where files say `riscv`.
    let is_ours = ARCH.starts_with(&made_for);
    if !is_ours || header.is_big_endian() != cfg!(target_endian = "big") {
        let other = if is_ours { "the other byte order" } else { &made_for };
        return Err(format!("is a program for {other}, and this machine is {ARCH}"));
    }
    if ![ET_EXEC, ET_DYN].contains(&header.e_type(endian)) {
        return Err("is an ELF file, but no program".to_owned());
    }
    for segment in header.program_headers(endian, data).map_err(damaged)? {
        if segment.p_type(endian) == PT_INTERP
            && let Some(path) = segment.interpreter(endian, data).map_err(damaged)?
        {
            return Ok(Some(PathBuf::from(OsStr::from_bytes(path))));
        }
    }
    Ok(None)
}

fn name(machine: Machine) -> String {
    match machine.name() {
        Some(name) => name.trim_start_matches("EM_").to_lowercase(),
        None => format!("machine number {}", machine.0),
    }
}

fn damaged(error: object::Error) -> String {
    format!("is a damaged ELF file: {error}")
}

/// Whether the file imports a function that the interposer replaces; one that cannot be read does not.
pub(crate) fn takes_locks(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let data = ReadCache::new(file);
    let Ok(file) = object::File::parse(&data) else { return false };
    let Ok(mut imports) = file.imports() else { return false };
    imports.any(|import| import.is_ok_and(|import| import.name().name().is_some_and(is_lock_function)))
}

/// Functions of POSIX and C11 threads for locks and condition variables, not for their attributes.
fn is_lock_function(name: &[u8]) -> bool {
    let families = ["pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_", "mtx_", "cnd_"];
    families.iter().any(|family| name.starts_with(family.as_bytes()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use object::elf::{EM_386, EM_AARCH64, EM_RISCV, EM_X86_64};
    use std::fs;
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
            let output = Command::new("cc")
                .args(["-o".as_ref(), to.as_os_str(), from.as_os_str()])
                .args(flags)
                .output();
            output.expect("the compiler starts").status.success().then_some(to)
        }
    }

    const HOST: Machine = if cfg!(target_arch = "aarch64") {
        EM_AARCH64
    } else if cfg!(target_arch = "riscv64") {
        EM_RISCV
    } else {
        EM_X86_64
    };

    /// The error for a file of these bytes.
    fn refused(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        fs::write(&path, bytes).expect("written");
        loader(&path).expect_err("refused")
    }

    #[test]
    fn foreign_and_32_bit_programs_are_told_from_their_headers() {
        let foreign = if HOST == EM_AARCH64 { EM_X86_64 } else { EM_AARCH64 };
        let error = refused(&header64(foreign.0, ET_DYN.0, 1));
        assert!(error.contains(&format!("for {},", name(foreign))) && error.ends_with(ARCH), "{error}");
        assert!(refused(&header64(0xbeef, ET_DYN.0, 1)).contains("machine number 48879"));
        assert!(refused(&header64(HOST.0, ET_DYN.0, 2)).contains("byte order"));
        let error = refused(&header32(EM_386.0));
        assert!(error.contains("32-bit program (386)"), "{error}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(refused(&header64(HOST.0, object::elf::ET_REL.0, 1)).contains("no program"));
        assert!(refused(b"echo hello\n").contains("neither an ELF program nor a script"));
        assert!(refused(b"").contains("neither"));
        let whole = header64(HOST.0, ET_DYN.0, 1);
        assert!(refused(&whole[..40]).contains("damaged"), "{}", refused(&whole[..40]));
    }

    #[test]
    fn a_program_of_this_machine_without_segments_has_no_loader() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        fs::write(&path, header64(HOST.0, ET_EXEC.0, 1)).expect("written");
        assert_eq!(loader(&path), Ok(None));
    }

    #[test]
    fn files_that_fuzzing_begins_with_are_sound() {
        for path in crate::tests::corpus("elf") {
            assert!(loader(&path).err().is_none_or(|why| why.contains(" program ")), "{}", path.display());
        }
    }

    #[test]
    fn locks_and_their_attributes_are_told_apart() {
        for name in ["pthread_mutex_lock", "pthread_cond_wait", "pthread_spin_init", "mtx_lock", "cnd_wait"] {
            assert!(is_lock_function(name.as_bytes()), "{name}");
        }
        for name in ["pthread_mutexattr_init", "pthread_create", "pthread_condattr_init", "mutex_lock"] {
            assert!(!is_lock_function(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn compiled_programs_are_told_apart() {
        let Some(build) = Compiler::find() else { return };
        let locks = build.program(
            "locks",
            "#include <pthread.h>\npthread_mutex_t m; int main(void) { return pthread_mutex_lock(&m); }",
            &[],
        );
        let plain = build.program("plain", "int main(void) { return 0; }", &[]);
        assert!(takes_locks(&locks) && !takes_locks(&plain));
        assert!(loader(&locks).expect("a program").is_some());
        if let Some(fixed) = build.try_program("fixed", "int main(void) { return 0; }", &["-static"]) {
            assert_eq!(loader(&fixed), Ok(None));
        }
    }
}
