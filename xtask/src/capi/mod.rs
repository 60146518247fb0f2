//! What makes a C library of the workspace: its header, its installation, and `cargo xtask capi`, which
//! installs it below the target directory, looks at its symbols, and builds and runs programs with it.
mod bench;
mod faulty;
mod header;
mod install;
mod programs;
mod symbols;

pub(crate) use header::run as header;
pub(crate) use install::{Places, VERSION, install as install_to, run as install};

use anyhow::Result;
use bench::Bench;
use header::{FAMILY_HEADER, HEADER};
use install::functions_of;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn check(root: &Path) -> Result<ExitCode> {
    let mut bench = Bench::new(root)?;
    let places = Places {
        prefix: "/usr".into(),
        libdir: "lib".into(),
        destdir: Some(bench.destdir.clone()),
        family: true,
    };
    install_to(root, &places)?;
    let functions = functions_of(&bench.sh, &[HEADER, FAMILY_HEADER])?;
    let symbols = symbols::check(&bench, &functions);
    bench.note("the shared library has the headers' functions, versioned", symbols);
    let toolchains = programs::toolchains()?;
    for toolchain in &toolchains {
        programs::accept_headers(&mut bench, toolchain);
        programs::build_and_run(&mut bench, toolchain)?;
    }
    let first = &toolchains[0];
    let called = programs::called(&bench, first)?;
    let called = symbols::missing(&functions, &called, "called by no test program");
    bench.note("the test programs call every function of the headers", called);
    faulty::check(&mut bench, first, &functions)?;
    println!("capi: {} passed, {} failed", bench.passed, bench.failed);
    Ok(if bench.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
