//! The reader-writer locks that can be simulated and explored, by name: one list for both worlds, as `locks`
//! is for mutexes.
use crate::arena::{Arena, Placed};
use stanchion_core::transitions::Word;
use stanchion_core::{CpuId, PerCpuRwLock, Platform, RawRwLock, ReaderCell, ReaderClass, TooManyReaders};
use stanchion_family::FamilyPlatform;
use stanchion_family::catalogue;
use std::rc::Rc;

/// A reader-writer lock of any kind, standing in the memory of a simulated machine.
pub(crate) trait AnyRwLock {
    /// See [`RawRwLock::acquire_read`].
    fn acquire_read(&self) -> Result<(), TooManyReaders>;
    /// See [`RawRwLock::release_read`].
    fn release_read(&self);
    /// See [`RawRwLock::acquire_write`].
    fn acquire_write(&self);
    /// See [`RawRwLock::release_write`].
    fn release_write(&self);
    /// See [`RawRwLock::word`].
    fn word(&self) -> Word;
}

impl<L: RawRwLock> AnyRwLock for Placed<L> {
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        L::acquire_read(self)
    }
    fn release_read(&self) {
        L::release_read(self);
    }
    fn acquire_write(&self) {
        L::acquire_write(self);
    }
    fn release_write(&self) {
        L::release_write(self);
    }
    fn word(&self) -> Word {
        L::word(self)
    }
}

/// A world with several classes of per-CPU reader-writer locks.
pub(crate) trait Classes: FamilyPlatform {
    /// A class of it.
    type Class: ReaderClass<Self>;

    /// Calls `f` with class `index`, of which 0 is the world's own.
    fn with_class<R>(index: usize, f: impl FnOnce(&Self::Class) -> R) -> R;
}

/// The number of a class whose cells need not exist yet.
struct Number(usize);

impl<P: Platform> ReaderClass<P> for Number {
    fn cell(&self, _cpu: CpuId) -> Option<&ReaderCell<P>> {
        None
    }
    fn id(&self) -> usize {
        self.0
    }
}

/// A per-CPU lock and the number of its class.
struct InClass<P: Classes, B: RawRwLock<Platform = P>> {
    lock: Placed<PerCpuRwLock<P, B>>,
    class: usize,
}

impl<P: Classes, B: RawRwLock<Platform = P>> AnyRwLock for InClass<P, B> {
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        P::with_class(self.class, |class| self.lock.acquire_read_in(class).map(drop))
    }
    fn release_read(&self) {
        P::with_class(self.class, |class| self.lock.release_read_in(class));
    }
    fn acquire_write(&self) {
        P::with_class(self.class, |class| self.lock.acquire_write_in(class));
    }
    fn release_write(&self) {
        P::with_class(self.class, |class| self.lock.release_write_in(class));
    }
    fn word(&self) -> Word {
        self.lock.word()
    }
}

/// One row of the list.
#[derive(Clone, Copy)]
pub(crate) struct RwKind {
    /// The name on command lines and in files.
    pub(crate) name: &'static str,
    /// Whether it is there to be compared with another lock of the list only.
    pub(crate) variant: bool,
    /// Makes one, on a line of its own, of the class with this number if it has classes.
    pub(crate) make: fn(&Rc<Arena>, usize) -> Box<dyn AnyRwLock>,
}

/// A lock without classes, by its own name.
pub(crate) fn kind<L: RawRwLock>() -> RwKind {
    RwKind { name: L::NAME, variant: false, make: |arena, _| Box::new(arena.place(L::new())) }
}

/// A lock whose readers have cells, made for a class.
trait Celled: RawRwLock {
    fn placed(arena: &Rc<Arena>, class: usize) -> Box<dyn AnyRwLock>;
}

impl<P: Classes, B: RawRwLock<Platform = P>> Celled for PerCpuRwLock<P, B> {
    fn placed(arena: &Rc<Arena>, class: usize) -> Box<dyn AnyRwLock> {
        Box::new(InClass::<P, B> { lock: arena.place(PerCpuRwLock::new_in(&Number(class))), class })
    }
}

macro_rules! make {
    (counted $lock:ty) => {
        kind::<$lock>().make
    };
    (celled $lock:ty) => {
        <$lock>::placed
    };
}

macro_rules! kinds {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        vec![$(RwKind {
            name: $name,
            variant: catalogue::rwlock($name).is_variant(),
            make: make!($readers $lock),
        }),*]
    };
}

/// Every reader-writer lock of the catalogue, in the order of tables.
pub(crate) fn all<P: Classes>() -> Vec<RwKind> {
    stanchion_family::for_each_rwlock! { P; kinds; }
}
