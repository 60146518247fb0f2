//! `cargo xtask fastpath`: shows in the emitted code that lock events cost nothing when off.
//!
//! The example `fastpath` of the `stanchion` crate holds functions in pairs, with events compiled in and left
//! out. Their fast paths must have as many instructions, and the unlock of the queue spinlock must be one
//! byte store and nothing else. The listing is read as x86-64 in AT&T syntax.
use crate::built;
use crate::process::shell;
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use xshell::cmd;

const PREFIX: &str = "fastpath_";
const OFF: &str = "_events_off";
const ON: &str = "_events_on";
const RELEASE: &str = "fastpath_qspin_release";

/// The instructions of each function, a blank between their words; no directives, labels or comments.
type Functions = BTreeMap<String, Vec<String>>;

pub(crate) fn run(root: &Path, show: bool) -> Result<bool> {
    if cfg!(not(target_arch = "x86_64")) {
        println!("fastpath: skipped, the listing is read on x86-64 only");
        return Ok(true);
    }
    let sh = shell(root)?;
    let target = built::target(root).join("fastpath");
    let listing = target.join("fastpath.s");
    sh.create_dir(&target)?;
    // Several units of code would spread the listing over several files.
    cmd!(
        sh,
        "cargo rustc -p stanchion --release --example fastpath -- -C codegen-units=1 --emit=asm={listing}"
    )
    .run()?;
    let listing = sh.read_file(&listing);
    let listing = listing.context("there is no listing; touch crates/stanchion/examples/fastpath.rs")?;
    let functions = functions_of(&listing);
    for (name, instructions) in &functions {
        println!("{name:<44} {:>4} instructions", instructions.len());
        for instruction in instructions.iter().filter(|_| show) {
            println!("        {instruction}");
        }
    }
    let wrong = judge(&functions);
    for line in &wrong {
        println!("fastpath: {line}");
    }
    println!("fastpath: {} functions, {} findings", functions.len(), wrong.len());
    Ok(wrong.is_empty())
}

fn judge(functions: &Functions) -> Vec<String> {
    let names = functions.keys();
    let stems = names.filter_map(|name| name.strip_suffix(OFF).or_else(|| name.strip_suffix(ON)));
    let stems: BTreeSet<&str> = stems.collect();
    let mut wrong = Vec::new();
    for stem in &stems {
        let [off, on] = [OFF, ON].map(|events| format!("{stem}{events}"));
        match [&off, &on].map(|name| functions.get(name).map(Vec::len)) {
            [Some(without), Some(with)] if without == with => {}
            [Some(without), Some(with)] => {
                wrong.push(format!("{stem}: {without} instructions with events off, {with} with events on"));
            }
            [None, _] => wrong.push(format!("{on} has no partner {off}")),
            [_, None] => wrong.push(format!("{off} has no partner {on}")),
        }
    }
    if stems.is_empty() {
        wrong.push(format!("no pair {PREFIX}*{OFF} and {PREFIX}*{ON} in the listing"));
    }
    match functions.get(RELEASE).map(Vec::as_slice) {
        None => wrong.push(format!("{RELEASE} is not in the listing")),
        Some([store, end]) if stores_byte(store) && end.starts_with("ret") => {}
        Some(all) => wrong.push(format!("{RELEASE} is not one byte store: {}", all.join("; "))),
    }
    wrong
}

/// Whether an instruction does nothing but to write a byte to memory.
fn stores_byte(instruction: &str) -> bool {
    instruction.starts_with("movb ") && instruction.ends_with(')')
}

fn functions_of(assembly: &str) -> Functions {
    let mut found = Functions::new();
    let mut open = None;
    for line in assembly.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with(".cfi_endproc") || line.starts_with(".Lfunc_end") {
            open = None;
        } else if let Some(label) = line.strip_suffix(':') {
            if label.starts_with(PREFIX) {
                open = Some(label);
            }
        } else if !line.is_empty()
            && !line.starts_with('.')
            && let Some(name) = open
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            found.entry(name.to_owned()).or_default().push(words.join(" "));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, instructions: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), instructions.iter().map(|&line| line.to_owned()).collect())
    }

    fn release(instructions: &[&str]) -> Vec<String> {
        let off = function("fastpath_mcs_events_off", &["retq"]);
        let on = function("fastpath_mcs_events_on", &["retq"]);
        judge(&[off, on, function(RELEASE, instructions)].into())
    }

    #[test]
    fn equal_pairs_and_one_byte_store_pass() {
        let listing = [
            function("fastpath_mcs_events_off", &["movl $1, %eax", "retq"]),
            function("fastpath_mcs_events_on", &["movl $1, %eax", "retq"]),
            function(RELEASE, &["movb $0, (%rdi)", "retq"]),
        ];
        assert_eq!(judge(&listing.into()), Vec::<String>::new());
    }

    #[test]
    fn unequal_and_lone_functions_are_found() {
        let listing = [
            function("fastpath_mcs_events_off", &["retq"]),
            function("fastpath_mcs_events_on", &["incl (%rax)", "retq"]),
            function("fastpath_tas_events_on", &["retq"]),
        ];
        assert_eq!(
            judge(&listing.into()),
            [
                "fastpath_mcs: 1 instructions with events off, 2 with events on",
                "fastpath_tas_events_on has no partner fastpath_tas_events_off",
                "fastpath_qspin_release is not in the listing",
            ]
        );
    }

    #[test]
    fn an_empty_listing_proves_nothing() {
        assert_eq!(judge(&Functions::new()).len(), 2);
    }

    #[test]
    fn a_release_that_does_more_is_found() {
        assert_eq!(
            release(&["xchgb %al, (%rdi)", "retq"]),
            ["fastpath_qspin_release is not one byte store: xchgb %al, (%rdi); retq"]
        );
        assert_eq!(
            release(&["movl $0, (%rdi)", "jmp wake@PLT"]),
            ["fastpath_qspin_release is not one byte store: movl $0, (%rdi); jmp wake@PLT"]
        );
        assert_eq!(release(&["retq"]), ["fastpath_qspin_release is not one byte store: retq"]);
        let store = "movb $0, (%rdi)";
        for more in ["lock decl (%rdi)", "pushq %rbx", "callq *(%rax)", "movl %eax, 4(%rdi,%rcx,8)", store] {
            assert_eq!(release(&[more, store, "retq"]).len(), 1, "{more}");
        }
        for leaves in ["jmp slow@PLT", "jne .LBB0_2", "ud2"] {
            assert_eq!(release(&[store, leaves]).len(), 1, "{leaves}");
        }
    }

    #[test]
    fn byte_stores_are_told_from_loads_and_wider_ones() {
        for store in
            ["movb $0, (%rdi)", "movb %r8b, (%rdi)", "movb %al, 4(%rdi,%rcx,8)", "movb $0, counter(%rip)"]
        {
            assert!(stores_byte(store), "{store}");
            assert_eq!(release(&[store, "retq"]), Vec::<String>::new(), "{store}");
        }
        for other in [
            "movb (%rdi), %al",
            "movl $0, (%rdi)",
            "movq %rax, %fs:16",
            "incl counter(%rip)",
            "pushq %rbx",
            "sete (%rdi)",
            "cmpxchgl %ecx, (%rdi)",
            "cmpl $0, (%rdi)",
            "leaq (%rdi), %rax",
            "retq",
            "jmpq *(%rax)",
            "movl %eax, %ecx",
            "lock decl (%rdi)",
            "xchgb %al, (%rdi)",
            "callq *(%rax)",
        ] {
            assert!(!stores_byte(other), "{other}");
        }
    }

    const EMITTED: &str = "\
\t.text
\t.section\t.text.fastpath_tas_events_off,\"ax\",@progbits
\t.globl\tfastpath_tas_events_off
\t.p2align\t4
\t.type\tfastpath_tas_events_off,@function
fastpath_tas_events_off:
.Lfunc_begin0:
\t.cfi_startproc
\tmovl\t$1, %ecx
\txorl\t%eax, %eax # zero
\tlock\t\tcmpxchgl\t%ecx, (%rdi)
\tjne\t.LBB0_2
.LBB0_1:
\tretq
.LBB0_2:
\tjmp\tslow_path@PLT
.Lfunc_end0:
\t.size\tfastpath_tas_events_off, .Lfunc_end0-fastpath_tas_events_off
\t.cfi_endproc
other:
\tud2
fastpath_qspin_release:
\t.cfi_startproc
\t#APP
\t#NO_APP
\tmovb\t$0, (%rdi)
\tretq
\t.cfi_endproc
";

    #[test]
    fn functions_are_cut_out() {
        let found = functions_of(EMITTED);
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["fastpath_qspin_release", "fastpath_tas_events_off"]);
        assert_eq!(
            found["fastpath_tas_events_off"],
            [
                "movl $1, %ecx",
                "xorl %eax, %eax",
                "lock cmpxchgl %ecx, (%rdi)",
                "jne .LBB0_2",
                "retq",
                "jmp slow_path@PLT",
            ]
        );
        assert_eq!(found["fastpath_qspin_release"], ["movb $0, (%rdi)", "retq"]);
    }
}
