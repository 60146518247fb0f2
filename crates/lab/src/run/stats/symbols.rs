//! What is at an address of a program that has ended: function and line, else function, else place in a file.
use super::file::{Module, Snapshot};
use addr2line::Loader;
use core::ops::Range;
use object::{Object, ObjectSegment, ReadCache};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

struct Image {
    loader: Loader,
    /// Places in the file, and addresses without relocation.
    segments: Vec<(Range<u64>, u64)>,
}

/// Functions that hand a lock on to pthread's, in which nobody has to look for it.
const BETWEEN: [&str; 8] = [
    "__gthread_",
    "__gthrw_",
    "std::mutex::",
    "std::recursive_mutex::",
    "std::lock_guard<",
    "std::unique_lock<",
    "std::scoped_lock<",
    "std::__mutex_base",
];

/// Names the functions in which locks were first taken, the innermost first, without what only hands on.
pub(crate) fn name_places(Snapshot { locks, modules, .. }: &mut Snapshot) {
    // Those that say nothing are kept, too.
    let mut images: HashMap<&Path, Option<Image>> = HashMap::new();
    for lock in locks {
        let mut found = Vec::new();
        for &address in &lock.frames {
            // A return address is behind the call.
            let Some(call) = address.checked_sub(1) else { continue };
            let is_of_call = |it: &&Module| it.process == lock.process && (it.start..it.end).contains(&call);
            let Some(module) = modules.iter().find(is_of_call) else {
                found.push(format!("{address:#x}"));
                continue;
            };
            let offset = (call - module.start).saturating_add(module.offset);
            let path = Path::new(OsStr::from_bytes(&module.path));
            let image = images.entry(path).or_insert_with(|| Image::open(path)).as_ref();
            let names = image.and_then(|image| image.at(offset)).filter(|names| !names.is_empty());
            found.extend(names.unwrap_or_else(|| {
                let name =
                    path.file_name().map_or_else(|| "code without a file".into(), OsStr::to_string_lossy);
                vec![format!("{name}+{offset:#x}")]
            }));
        }
        let between = |name: &String| BETWEEN.iter().any(|prefix| name.starts_with(prefix));
        if !found.iter().all(between) {
            found.drain(..found.iter().take_while(|name| between(name)).count());
        }
        lock.first_taken = found;
    }
}

impl Image {
    fn open(path: &Path) -> Option<Self> {
        // A device or a pipe would be read for ever.
        if !path.is_absolute() || !path.is_file() {
            return None;
        }
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (offset..offset.saturating_add(length), segment.address())
        });
        Some(Self { segments: segments.collect(), loader: Loader::new(path).ok()? })
    }

    /// The functions at an offset of the file: one, and those that it was inlined into.
    fn at(&self, offset: u64) -> Option<Vec<String>> {
        let (place, address) = self.segments.iter().find(|(place, _)| place.contains(&offset))?;
        let address = address.checked_add(offset - place.start).filter(|address| *address < u64::MAX)?;
        let mut found = Vec::new();
        let mut frames = self.loader.find_frames(address).ok();
        while let Some(frame) = frames.as_mut().and_then(|frames| frames.next().ok().flatten()) {
            let Some(name) = frame.function.as_ref().and_then(|name| name.demangle().ok()) else { continue };
            let place = frame.location.and_then(|location| {
                let file = Path::new(location.file?).file_name()?.to_string_lossy().into_owned();
                Some(format!(" ({file}:{})", location.line?))
            });
            found.push(format!("{name}{}", place.unwrap_or_default()));
        }
        if found.is_empty()
            && let Some(name) = self.loader.find_symbol(address)
        {
            found.push(demangled(name));
        }
        Some(found)
    }
}

/// A name of the symbol table. One that no compiler has mangled is as it is: `f` would become `float`.
fn demangled(name: &str) -> String {
    let is_mangled = ["_Z", "_R"].iter().any(|begin| name.starts_with(begin));
    if is_mangled { addr2line::demangle_auto(name.into(), None).into_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_are_no_types_of_other_languages() {
        for name in ["f", "i", "main", "a"] {
            assert_eq!(demangled(name), name);
        }
        assert_eq!(demangled("_ZN3foo3barEv"), "foo::bar()");
        assert_eq!(demangled("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
    }
    use crate::run::elf::tests::header64;

    #[test]
    fn a_program_at_the_end_of_the_address_space_is_borne() {
        let mut bytes = header64(62, 2, 1);
        (bytes[32], bytes[54], bytes[56]) = (64, 56, 1);
        // What is loaded: 200 bytes from the start of the file, to that address.
        for number in [5 << 32 | 1, 0, u64::MAX - 100, 0, 200, 200, 1] {
            bytes.extend(u64::to_le_bytes(number));
        }
        bytes.resize(200, 0);
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("written");
        let image = Image::open(file.path()).expect("a program");
        assert_eq!([99, 100, 101].map(|offset| image.at(offset)), [Some(Vec::new()), None, None]);
    }
}
