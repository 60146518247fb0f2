//! `cargo xtask fastpath`: shows in the emitted code that lock events cost nothing when off.
//!
//! The example `fastpath` of the `stanchion` crate holds functions in pairs, with events compiled in
//! and left out. Their fast paths must have as many instructions, and the unlock of the queue spinlock
//! must be one byte store. The example is built as one unit of code, for the listing to be one file, which is
//! read as x86-64 in AT&T syntax.
use crate::built;
use crate::process::shell;
use anyhow::{Context as _, Result};
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
    let functions = functions_of(&emit(root)?, PREFIX);
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
    let stores: Vec<&String> = release.instructions.iter().filter(|line| stores(line)).collect();
    let mut wrong = Vec::new();
    if stores.len() != 1 {
        wrong.push(format!("{RELEASE} stores {} times, once is claimed", stores.len()));
    } else if !stores_byte(stores[0]) {
        wrong.push(format!("{RELEASE} stores more than a byte: {}", stores[0]));
    }
    for line in &release.instructions {
        if is_locked(line) {
            wrong.push(format!("{RELEASE} locks: {line}"));
        } else if leaves(line) {
            wrong.push(format!("{RELEASE} calls out: {line}"));
        }
    }
    wrong
}

/// The instructions of one function; directives, labels and comments are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    /// Symbol name.
    name: String,
    /// One instruction per entry, blanks normalised.
    instructions: Vec<String>,
}

/// The functions of `assembly` whose names begin with `prefix`, in order.
fn functions_of(assembly: &str, prefix: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut open: Option<Function> = None;
    for line in assembly.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let ends = line.starts_with(".cfi_endproc") || line.starts_with(".Lfunc_end");
        if ends {
            found.extend(open.take());
        } else if let Some(label) = line.strip_suffix(':') {
            if label.starts_with(prefix) {
                found.extend(open.take());
                open = Some(Function { name: label.to_owned(), instructions: Vec::new() });
            }
        } else if !line.is_empty()
            && !line.starts_with('.')
            && let Some(function) = &mut open
        {
            function.instructions.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found.extend(open);
    found
}

/// Whether an instruction is a locked read-modify-write; `xchg` with memory locks by itself.
fn is_locked(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic == "lock" || mnemonic.starts_with("xchg")
}

/// Whether control leaves the function other than by returning.
fn leaves(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic.starts_with("call")
        || (mnemonic.starts_with('j') && !operand_text(instruction).starts_with(".L"))
}

/// Whether an instruction writes memory, `push` included.
fn stores(instruction: &str) -> bool {
    const READ_ONLY: [&str; 14] = [
        "cmp", "test", "lea", "nop", "prefetch", "j", "call", "ucomis", "comis", "vucomis", "vcomis", "mul",
        "div", "idiv",
    ];
    let mnemonic = mnemonic(instruction);
    if mnemonic.starts_with("push") {
        return true;
    }
    let compare_exchange = mnemonic.starts_with("cmpxchg");
    let bit_test = matches!(mnemonic, "bt" | "btw" | "btl" | "btq");
    if !compare_exchange && (bit_test || READ_ONLY.iter().any(|start| mnemonic.starts_with(start))) {
        return false;
    }
    operands(operand_text(instruction)).last().is_some_and(|last| is_memory(last))
}

/// Whether a store writes a single byte.
fn stores_byte(instruction: &str) -> bool {
    const BYTES: [&str; 20] = [
        "%al", "%bl", "%cl", "%dl", "%ah", "%bh", "%ch", "%dh", "%sil", "%dil", "%bpl", "%spl", "%r8b",
        "%r9b", "%r10b", "%r11b", "%r12b", "%r13b", "%r14b", "%r15b",
    ];
    let operands = operands(operand_text(instruction));
    mnemonic(instruction) == "movb" || operands.first().is_some_and(|first| BYTES.contains(first))
}

fn mnemonic(instruction: &str) -> &str {
    instruction.split(' ').next().unwrap_or_default()
}

fn operand_text(instruction: &str) -> &str {
    instruction.split_once(' ').map_or("", |(_, operands)| operands)
}

/// Splits at the commas outside brackets.
fn operands(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .collect()
}

fn is_memory(operand: &str) -> bool {
    operand.contains(['(', ':']) || (!operand.is_empty() && !operand.starts_with(['%', '$']))
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
        let found = functions_of(EMITTED, "fastpath_");
        let names: Vec<&str> = found.iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["fastpath_tas_events_off", "fastpath_qspin_release"]);
        assert_eq!(
            found[0].instructions,
            [
                "movl $1, %ecx",
                "xorl %eax, %eax",
                "lock cmpxchgl %ecx, (%rdi)",
                "jne .LBB0_2",
                "retq",
                "jmp slow_path@PLT",
            ]
        );
        assert_eq!(found[1].instructions, ["movb $0, (%rdi)", "retq"]);
    }

    #[test]
    fn stores_are_told_from_loads() {
        for store in [
            "movb $0, (%rdi)",
            "movl %eax, 4(%rdi,%rcx,8)",
            "movq %rax, %fs:16",
            "incl counter(%rip)",
            "pushq %rbx",
            "sete (%rdi)",
            "cmpxchgl %ecx, (%rdi)",
        ] {
            assert!(stores(store), "{store}");
        }
        for other in [
            "movb (%rdi), %al",
            "cmpl $0, (%rdi)",
            "leaq (%rdi), %rax",
            "retq",
            "jmpq *(%rax)",
            "movl %eax, %ecx",
        ] {
            assert!(!stores(other), "{other}");
        }
    }

    #[test]
    fn bytes_locks_and_exits_are_known() {
        assert!(
            stores_byte("movb $0, (%rdi)")
                && stores_byte("mov %r8b, (%rdi)")
                && !stores_byte("movl $0, (%rdi)")
        );
        assert!(
            is_locked("lock decl (%rdi)") && is_locked("xchgb %al, (%rdi)") && !is_locked("movb $0, (%rdi)")
        );
        assert!(
            leaves("callq *(%rax)") && leaves("jmp slow@PLT") && !leaves("jne .LBB0_2") && !leaves("retq")
        );
    }
}
