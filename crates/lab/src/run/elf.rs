//! What a program's file says about itself: class, machine, loader, and the functions it takes from
//! libraries.
use object::elf::{
    EM_386, EM_AARCH64, EM_ARM, EM_MIPS, EM_PPC, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, ET_DYN, ET_EXEC,
    FileHeader32, FileHeader64, PT_INTERP,
};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Machines by their names; a file for any other is told by its number.
const MACHINES: &[(u16, &str)] = &[
    (EM_X86_64.0, "x86-64"),
    (EM_AARCH64.0, "aarch64"),
    (EM_386.0, "i386"),
    (EM_ARM.0, "arm"),
    (EM_RISCV.0, "riscv"),
    (EM_PPC.0, "ppc"),
    (EM_PPC64.0, "ppc64"),
    (EM_S390.0, "s390"),
    (EM_MIPS.0, "mips"),
];

/// The machine this command was compiled for, which is the one it runs on.
const HOST: u16 = if cfg!(target_arch = "x86_64") {
    EM_X86_64.0
} else if cfg!(target_arch = "aarch64") {
    EM_AARCH64.0
} else if cfg!(target_arch = "riscv64") {
    EM_RISCV.0
} else {
    0
};

/// A file that the loader of this machine can start, or load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// The loader it asks for; none if it is linked statically, or a library.
    pub loader: Option<PathBuf>,
}

/// What kind of file stands in `path`; the error says what this machine cannot do with it, as the end of a
/// sentence.
pub(crate) fn image(path: &Path) -> Result<Image, String> {
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    let data = ReadCache::new(file);
    match FileKind::parse(&data) {
        Ok(FileKind::Elf64) => read::<FileHeader64<Endianness>>(&data),
        Ok(FileKind::Elf32) => {
            let machine = FileHeader32::<Endianness>::parse(&data)
                .and_then(|header| Ok(machine(header.e_machine(header.endian()?))));
            Err(format!("is a 32-bit program ({}); the library is 64-bit", machine.map_err(damaged)?))
        }
        _ => Err("is neither an ELF program nor a script that begins with '#!'".to_owned()),
    }
}

fn read<Header: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> Result<Image, String> {
    let header = Header::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let for_machine = header.e_machine(endian);
    if for_machine.0 != HOST || header.is_big_endian() != cfg!(target_endian = "big") {
        let other =
            if for_machine.0 == HOST { "the other byte order".to_owned() } else { machine(for_machine) };
        return Err(format!("is a program for {other}, and this machine is {}", name(HOST)));
    }
    if ![ET_EXEC, ET_DYN].contains(&header.e_type(endian)) {
        return Err("is an ELF file, but no program".to_owned());
    }
    let mut loader = None;
    for segment in header.program_headers(endian, data).map_err(damaged)? {
        if segment.p_type(endian) == PT_INTERP
            && let Some(path) = segment.interpreter(endian, data).map_err(damaged)?
        {
            loader = Some(PathBuf::from(OsStr::from_bytes(path)));
        }
    }
    Ok(Image { loader })
}

fn damaged(error: object::Error) -> String {
    format!("is a damaged ELF file: {error}")
}

fn machine(number: object::elf::Machine) -> String {
    name(number.0)
}

fn name(number: u16) -> String {
    MACHINES
        .iter()
        .find(|(known, _)| *known == number)
        .map_or_else(|| format!("machine number {number}"), |(_, name)| (*name).to_owned())
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
    use std::fs;

    /// The error for a file of these bytes.
    fn refused(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        fs::write(&path, bytes).expect("written");
        image(&path).expect_err("refused")
    }

    #[test]
    fn foreign_and_32_bit_programs_are_told_from_their_headers() {
        let foreign = if HOST == EM_AARCH64.0 { EM_X86_64.0 } else { EM_AARCH64.0 };
        let error = refused(&testing::header64(foreign, ET_DYN.0, 1));
        assert!(error.contains(&name(foreign)) && error.contains(&name(HOST)), "{error}");
        assert!(refused(&testing::header64(0xbeef, ET_DYN.0, 1)).contains("machine number 48879"));
        assert!(refused(&testing::header64(HOST, ET_DYN.0, 2)).contains("byte order"));
        let error = refused(&testing::header32(EM_386.0));
        assert!(error.contains("32-bit program (i386)"), "{error}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(refused(&testing::header64(HOST, object::elf::ET_REL.0, 1)).contains("no program"));
        assert!(refused(b"echo hello\n").contains("neither an ELF program nor a script"));
        assert!(refused(b"").contains("neither"));
        let whole = testing::header64(HOST, ET_DYN.0, 1);
        assert!(refused(&whole[..40]).contains("damaged"), "{}", refused(&whole[..40]));
    }

    #[test]
    fn a_program_of_this_machine_without_segments_has_no_loader() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("file");
        fs::write(&path, testing::header64(HOST, ET_EXEC.0, 1)).expect("written");
        assert_eq!(image(&path), Ok(Image { loader: None }));
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
        assert!(image(&locks).expect("a program").loader.is_some());
        if let Some(fixed) = build.try_program("fixed", "int main(void) { return 0; }", &["-static"]) {
            assert_eq!(image(&fixed), Ok(Image { loader: None }));
        }
    }
}
