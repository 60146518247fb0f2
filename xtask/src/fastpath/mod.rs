//! `cargo xtask fastpath`: shows in the emitted code that lock events cost nothing when off.
//!
//! The example `fastpath` of the `stanchion` crate holds functions in pairs, with events compiled in
//! and left out. Their fast paths must have as many instructions, and the unlock of the queue spinlock
//! must be one byte store. The example is built as one unit of code, for the listing to be one file.
mod asm;

use crate::built;
use crate::process::shell;
use anyhow::{Context as _, Result};
use asm::Function;
use std::path::Path;
use std::process::ExitCode;
use xshell::cmd;

const PREFIX: &str = "fastpath_";
const OFF: &str = "_events_off";
const ON: &str = "_events_on";
const RELEASE: &str = "fastpath_qspin_release";

/// Builds the example, reads its assembly and judges it.
pub(crate) fn run(root: &Path, show: bool) -> Result<ExitCode> {
    if cfg!(not(target_arch = "x86_64")) {
        println!("fastpath: skipped, the listing is read on x86-64 only");
        return Ok(ExitCode::SUCCESS);
    }
    let functions = asm::functions(&emit(root)?, PREFIX);
    for function in &functions {
        println!("{:<44} {:>4} instructions", function.name, function.instructions.len());
        if show {
            function.instructions.iter().for_each(|instruction| println!("        {instruction}"));
        }
    }
    let wrong = judge(&functions);
    for line in &wrong {
        println!("fastpath: {line}");
    }
    println!("fastpath: {} functions, {} findings", functions.len(), wrong.len());
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The assembly of the example.
fn emit(root: &Path) -> Result<String> {
    let sh = shell(root)?;
    let target = built::target(root).join("fastpath");
    let listing = target.join("fastpath.s");
    sh.create_dir(&target)?;
    // Several units of code would spread the listing over several files.
    let units = "profile.release.codegen-units=1";
    cmd!(sh, "cargo rustc -p stanchion --release --example fastpath --config {units} --target-dir {target} -- --emit=asm={listing}").run()?;
    sh.read_file(&listing).with_context(|| format!("there is no listing; remove {}", target.display()))
}

/// What is wrong with the functions; empty when they hold what is claimed.
fn judge(functions: &[Function]) -> Vec<String> {
    let find = |name: &str| functions.iter().find(|function| function.name == name);
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for function in functions {
        if let Some(stem) = function.name.strip_suffix(OFF) {
            pairs += 1;
            match find(&format!("{stem}{ON}")) {
                None => wrong.push(format!("{} has no partner {stem}{ON}", function.name)),
                Some(on) if on.instructions.len() != function.instructions.len() => wrong.push(format!(
                    "{stem}: {} instructions with events off, {} with events on",
                    function.instructions.len(),
                    on.instructions.len()
                )),
                Some(_) => {}
            }
        } else if let Some(stem) = function.name.strip_suffix(ON)
            && find(&format!("{stem}{OFF}")).is_none()
        {
            wrong.push(format!("{} has no partner {stem}{OFF}", function.name));
        }
    }
    if pairs == 0 {
        wrong.push(format!("no pair {PREFIX}*{OFF} and {PREFIX}*{ON} in the listing"));
    }
    match find(RELEASE) {
        None => wrong.push(format!("{RELEASE} is not in the listing")),
        Some(release) => wrong.extend(judge_release(release)),
    }
    wrong
}

/// The release must be one byte store and nothing that locks the bus or calls out.
fn judge_release(release: &Function) -> Vec<String> {
    let stores: Vec<&String> = release.instructions.iter().filter(|line| asm::stores(line)).collect();
    let mut wrong = Vec::new();
    if stores.len() != 1 {
        wrong.push(format!("{RELEASE} stores {} times, once is claimed", stores.len()));
    } else if !asm::stores_byte(stores[0]) {
        wrong.push(format!("{RELEASE} stores more than a byte: {}", stores[0]));
    }
    for line in &release.instructions {
        if asm::is_locked(line) {
            wrong.push(format!("{RELEASE} locks: {line}"));
        } else if asm::leaves(line) {
            wrong.push(format!("{RELEASE} calls out: {line}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, instructions: &[&str]) -> Function {
        Function {
            name: name.to_owned(),
            instructions: instructions.iter().map(|&line| line.to_owned()).collect(),
        }
    }

    fn release(instructions: &[&str]) -> Vec<String> {
        judge_release(&function(RELEASE, instructions))
    }

    #[test]
    fn equal_pairs_and_one_byte_store_pass() {
        let listing = [
            function("fastpath_mcs_events_off", &["movl $1, %eax", "retq"]),
            function("fastpath_mcs_events_on", &["movl $1, %eax", "retq"]),
            function(RELEASE, &["movb $0, (%rdi)", "retq"]),
        ];
        assert_eq!(judge(&listing), Vec::<String>::new());
    }

    #[test]
    fn unequal_and_lone_functions_are_found() {
        let listing = [
            function("fastpath_mcs_events_off", &["retq"]),
            function("fastpath_mcs_events_on", &["incl (%rax)", "retq"]),
            function("fastpath_tas_events_on", &["retq"]),
        ];
        assert_eq!(
            judge(&listing),
            [
                "fastpath_mcs: 1 instructions with events off, 2 with events on",
                "fastpath_tas_events_on has no partner fastpath_tas_events_off",
                "fastpath_qspin_release is not in the listing",
            ]
        );
    }

    #[test]
    fn an_empty_listing_proves_nothing() {
        assert_eq!(judge(&[]).len(), 2);
    }

    #[test]
    fn a_release_that_does_more_is_found() {
        assert_eq!(
            release(&["xchgb %al, (%rdi)", "retq"]),
            ["fastpath_qspin_release locks: xchgb %al, (%rdi)"]
        );
        assert_eq!(
            release(&["movl $0, (%rdi)", "jmp wake@PLT"]),
            [
                "fastpath_qspin_release stores more than a byte: movl $0, (%rdi)",
                "fastpath_qspin_release calls out: jmp wake@PLT",
            ]
        );
        assert_eq!(release(&["retq"]), ["fastpath_qspin_release stores 0 times, once is claimed"]);
    }
}
