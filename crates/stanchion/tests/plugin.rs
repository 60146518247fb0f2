//! A plugin with the library inside is unloaded by `dlclose`, and the host's threads that used its locks live
//! on.
#![cfg(feature = "std")]

#[path = "support/sanitizer.rs"]
mod sanitizer;

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::{env, fs, thread};

const THREADS: usize = 6;
const ROUNDS: usize = 20;
const TIMES: u64 = 500;
const NAME: &str = "libplugin.so";

type Work = extern "C" fn(u64) -> u64;

/// The plugin, built like this test.
fn built() -> PathBuf {
    let me = env::current_exe().expect("the test has a path");
    let target = me.parent().and_then(Path::parent).expect("it is in target/debug/deps");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "stanchion", "--example", "plugin"]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--target-dir").arg(target.parent().expect("target"));
    assert!(cargo.status().expect("cargo starts").success());
    let plugin = target.parent().expect("target").join("debug/examples").join(NAME);
    assert!(plugin.exists(), "{}", plugin.display());
    plugin
}

fn is_loaded() -> bool {
    fs::read_to_string("/proc/self/maps").expect("a list of what is mapped").contains(NAME)
}

/// Loads it; a handle, and the function.
fn load(path: &CStr) -> (*mut c_void, Work) {
    // SAFETY: the path ends with a zero; what runs at load is Rust's, and the library's own.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null());
    // SAFETY: the handle is of a library that is loaded, and the name ends with a zero.
    let work = unsafe { libc::dlsym(handle, c"plugin_work".as_ptr()) };
    assert!(!work.is_null());
    // SAFETY: the plugin defines it as a function of this type.
    (handle, unsafe { core::mem::transmute::<*mut c_void, Work>(work) })
}

/// A child is born, in which nothing is called that is gone.
fn assert_forks() {
    let mut status = 0;
    // SAFETY: the child ends at once, and is waited for; the status has a place.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(0),
            child => assert_eq!(libc::waitpid(child, &raw mut status, 0), child),
        }
    }
    assert_eq!(status, 0, "how the child ended");
}

#[test]
fn threads_outlive_a_plugin_whose_locks_they_used() {
    if sanitizer::skips("it does not know what is unloaded") {
        return;
    }
    let path = CString::new(built().as_os_str().as_bytes()).expect("no zero");
    let (loaded, used, unloaded) =
        (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    let function = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    loaded.wait();
                    let work = function.load(Ordering::Relaxed);
                    // SAFETY: it is the address that `load` returned, and the plugin stays until all have
                    // been at `used`.
                    let work = unsafe { core::mem::transmute::<usize, Work>(work) };
                    work(TIMES);
                    used.wait();
                    unloaded.wait();
                    for _ in 0..20 {
                        thread::yield_now();
                        thread::sleep(Duration::from_micros(50));
                    }
                }
            });
        }
        for _ in 0..ROUNDS {
            let (handle, work) = load(&path);
            assert!(is_loaded());
            function.store(work as usize, Ordering::Relaxed);
            loaded.wait();
            used.wait();
            assert_eq!(work(1), THREADS as u64 * TIMES + 1, "nobody is lost, and it is a fresh copy");
            // SAFETY: the handle is of `load`, and nobody is in the plugin or will call it by this address.
            assert_eq!(unsafe { libc::dlclose(handle) }, 0);
            assert!(!is_loaded(), "it is really gone");
            assert_forks();
            unloaded.wait();
        }
    });
}
