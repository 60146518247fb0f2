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

pub(crate) fn check(root: &Path) -> Result<bool> {
    let toolchains = programs::toolchains()?;
    let mut bench = Bench::new(root, toolchains[0])?;
    install_to(root, &Places::usr(bench.destdir.clone(), "lib", true))?;
    let functions = functions_of(&bench.sh, &[HEADER, FAMILY_HEADER])?;
    let symbols = symbols::check(&bench, &functions);
    bench.note("the shared library has the headers' functions, versioned", symbols);
    for toolchain in &toolchains {
        bench.toolchain = *toolchain;
        programs::accept_headers(&mut bench);
        programs::build_and_run(&mut bench)?;
    }
    bench.toolchain = toolchains[0];
    let called = symbols::missing(&functions, &programs::called(&bench)?, "called by no test program");
    bench.note("the test programs call every function of the headers", called);
    faulty::check(&mut bench, &functions)?;
    println!("capi: {} passed, {} failed", bench.passed, bench.failed);
    Ok(bench.failed == 0)
}
