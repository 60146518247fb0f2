//! libc's own functions, which ours hide.
//!
//! Each is looked up when the library is loaded, or at its first use if that comes earlier, and kept. `dlsym`
//! would find the first version of a name; where a name has an old version with another meaning (condition
//! variables before 2.3.2), the right one is asked for.
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::{mem, ptr};

/// A function of libc, by name, and by version where there are several.
pub(crate) struct Own {
    name: &'static CStr,
    version: Option<&'static CStr>,
    found: AtomicPtr<c_void>,
}

impl Own {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, found: AtomicPtr::new(ptr::null_mut()) }
    }

    pub(crate) const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Looks it up, if it was not; null if there is none.
    pub(crate) fn resolve(&self) -> *mut c_void {
        // ord: M1 alone: every thread finds the same function
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.look_up();
            // ord: M2 alone: every thread finds the same function
            self.found.store(found, Ordering::Relaxed);
        }
        found
    }

    /// The function as `F`, which must be a function pointer of the type that the name has in libc.
    ///
    /// # Safety
    ///
    /// `F` is that type.
    pub(crate) unsafe fn get<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let found = self.resolve();
        // SAFETY: a function was found, and the caller says that `F` is its type.
        (!found.is_null()).then(|| unsafe { mem::transmute_copy(&found) })
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: the names are NUL-terminated; the handle means "after this library".
        unsafe {
            if let Some(version) = self.version {
                let found = libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr());
                if !found.is_null() {
                    return found;
                }
            }
            libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr())
        }
    }
}

/// Defines functions that call libc's function of the same name, and answer `ENOSYS` if there is none.
macro_rules! own {
    ($($(#[$version:literal])? fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        /// Looks all of them up.
        pub(crate) fn resolve() {
            $($name::OWN.resolve();)*
        }

        $(
        mod $name {
            pub(super) static OWN: $crate::libc_own::Own = $crate::libc_own::own!(@own $name $($version)?);
        }

        /// libc's function of this name.
        ///
        /// # Safety
        ///
        /// As for libc's.
        pub(crate) unsafe fn $name($($argument: $type),*) -> core::ffi::c_int {
            // SAFETY: the type is the one that POSIX gives the name; the caller keeps to libc's contract.
            unsafe {
                match $name::OWN.get::<unsafe extern "C-unwind" fn($($type),*) -> core::ffi::c_int>() {
                    Some(function) => function($($argument),*),
                    None => libc::ENOSYS,
                }
            }
        }
        )*
    };
    (@own $name:ident) => {
        $crate::libc_own::Own::new(const {
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name without NUL"),
            }
        })
    };
    (@own $name:ident $version:literal) => {
        $crate::libc_own::Own::versioned(
            const {
                match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without NUL"),
                }
            },
            const {
                match core::ffi::CStr::from_bytes_with_nul(concat!($version, "\0").as_bytes()) {
                    Ok(version) => version,
                    Err(_) => panic!("a version without NUL"),
                }
            },
        )
    };
}
pub(crate) use own;
