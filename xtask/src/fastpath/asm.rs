//! Reads the assembly rustc emits (x86-64, AT&T syntax) function by function.

/// The instructions of one function; directives, labels and comments are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// Symbol name.
    pub(crate) name: String,
    /// One instruction per entry, blanks normalised.
    pub(crate) instructions: Vec<String>,
}

/// The functions of `assembly` whose names begin with `prefix`, in order.
pub(crate) fn functions(assembly: &str, prefix: &str) -> Vec<Function> {
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
pub(crate) fn is_locked(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic == "lock" || mnemonic.starts_with("xchg")
}

/// Whether control leaves the function other than by returning.
pub(crate) fn leaves(instruction: &str) -> bool {
    let mnemonic = mnemonic(instruction);
    mnemonic.starts_with("call")
        || (mnemonic.starts_with('j') && !operand_text(instruction).starts_with(".L"))
}

/// Whether an instruction writes memory, `push` included.
pub(crate) fn stores(instruction: &str) -> bool {
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
pub(crate) fn stores_byte(instruction: &str) -> bool {
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
        let found = functions(EMITTED, "fastpath_");
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
