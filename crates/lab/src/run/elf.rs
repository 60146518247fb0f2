//! What a program's file says about itself: class, machine, loader, and the functions it takes from
//! libraries.
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
        Ok(FileKind::Elf64) => read::<FileHeader64<Endianness>>(&data),
        Ok(FileKind::Elf32) => {
            let machine = FileHeader32::<Endianness>::parse(&data)
                .and_then(|header| Ok(name(header.e_machine(header.endian()?))));
            Err(format!("is a 32-bit program ({}); the library is 64-bit", machine.map_err(damaged)?))
        }
        _ => Err("is neither an ELF program nor a script that begins with '#!'".to_owned()),
    }
}

fn read<Header: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> Result<Option<PathBuf>, String> {
    let header = Header::parse(data).map_err(damaged)?;
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

/// The name of a machine: `x86_64`.
fn name(machine: Machine) -> String {
    match machine.name() {
        Some(name) => name.trim_start_matches("EM_").to_lowercase(),
        None => format!("machine number {}", machine.0),
    }
}

fn damaged(error: object::Error) -> String {
    format!("is a damaged ELF file: {error}")
}

/// Whether the file takes one of the functions that the interposer replaces from a library. A file that
/// cannot be read does not: this is for a warning.
pub(crate) fn takes_locks(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let data = ReadCache::new(file);
    let Ok(file) = object::File::parse(&data) else { return false };
    let Ok(mut imports) = file.imports() else { return false };
    imports.any(|import| {
        let name = import.ok().and_then(|import| import.name().name().map(<[u8]>::to_vec));
        name.is_some_and(|name| core::str::from_utf8(&name).is_ok_and(is_lock_function))
    })
}

/// Functions of POSIX threads and C11 threads that work on locks and condition variables, not on their
/// attributes.
fn is_lock_function(name: &str) -> bool {
    ["pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_", "mtx_", "cnd_"]
        .iter()
        .any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing;
    use object::elf::{EM_386, EM_AARCH64, EM_RISCV, EM_X86_64};
    use std::fs;

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
        let error = refused(&testing::header64(foreign.0, ET_DYN.0, 1));
        assert!(error.contains(&format!("for {},", name(foreign))) && error.ends_with(ARCH), "{error}");
        assert!(refused(&testing::header64(0xbeef, ET_DYN.0, 1)).contains("machine number 48879"));
        assert!(refused(&testing::header64(HOST.0, ET_DYN.0, 2)).contains("byte order"));
        let error = refused(&testing::header32(EM_386.0));
        assert!(error.contains("32-bit program (386)"), "{error}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(refused(&testing::header64(HOST.0, object::elf::ET_REL.0, 1)).contains("no program"));
        assert!(refused(b"echo hello\n").contains("neither an ELF program nor a script"));
        assert!(refused(b"").contains("neither"));
        let whole = testing::header64(HOST.0, ET_DYN.0, 1);
        assert!(refused(&whole[..40]).contains("damaged"), "{}", refused(&whole[..40]));
    }

    #[test]
    fn a_program_of_this_machine_without_segments_has_no_loader() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        fs::write(&path, testing::header64(HOST.0, ET_EXEC.0, 1)).expect("written");
        assert_eq!(loader(&path), Ok(None));
    }

    #[test]
    fn locks_and_their_attributes_are_told_apart() {
        for name in ["pthread_mutex_lock", "pthread_cond_wait", "pthread_spin_init", "mtx_lock", "cnd_wait"] {
            assert!(is_lock_function(name), "{name}");
        }
        for name in ["pthread_mutexattr_init", "pthread_create", "pthread_condattr_init", "mutex_lock"] {
            assert!(!is_lock_function(name), "{name}");
        }
    }

    #[test]
    fn compiled_programs_are_told_apart() {
        let Some(build) = testing::Compiler::find() else { return };
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
