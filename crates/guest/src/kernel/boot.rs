//! The first instructions: from QEMU's 32-bit entry (PVH) into 64-bit mode, and the way there for the other
//! vCPUs.
//!
//! PVH enters in 32-bit protected mode without paging, with the address of the start information in EBX. The
//! other vCPUs wake up in 16-bit mode on a page below 1 MiB (the trampoline), and go from there to 64-bit
//! mode in one step.
//!
//! Both use the same page tables: the first 4 GiB, mapped onto themselves by pages of 2 MiB (IG2).
use core::arch::global_asm;

/// Where the trampoline is copied to: a page of conventional memory that no firmware table stands in. Its
/// number is the vector of the start-up IPI.
pub(super) const TRAMPOLINE: u32 = 0x8000;

/// Bytes of the first vCPU's stack.
const BOOT_STACK: usize = 256 * 1024;

const CR0_PROTECTED: u32 = 1;
/// Monitor the coprocessor, report its errors, honour write protection, page.
const CR0_SET: u32 = 1 << 1 | 1 << 5 | 1 << 16 | 1 << 31 | CR0_PROTECTED;
/// Do not emulate the coprocessor; caches on.
const CR0_CLEAR: u32 = !(1 << 2 | 1 << 3 | 1 << 29 | 1 << 30);
/// Page entries of 8 bytes; SSE state by `fxsave`; SSE exceptions.
const CR4_SET: u32 = 1 << 5 | 1 << 9 | 1 << 10;
const EFER: u32 = 0xC000_0080;
const EFER_LONG_MODE: u32 = 1 << 8;
const PRESENT_WRITABLE: u32 = 0b11;
const LARGE: u32 = 1 << 7;

global_asm!(
    r#"
    .section .note.Xen, "a", @note
    .balign 4
    .long 4, 8, 18          // bytes of the name and of the value, XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad stanchion_entry

    .section .bss.boot, "aw", @nobits
    .balign 4096
    .globl boot_pml4
boot_pml4: .skip 4096
boot_pdpt: .skip 4096
    .globl boot_directories
boot_directories: .skip 4 * 4096
    .skip 4096
    .globl boot_stack
boot_stack: .skip {BOOT_STACK}
boot_stack_top:

    .section .rodata.boot, "a"
    .balign 8
boot_gdt:
    .quad 0
    .quad 0x00af9a000000ffff // 0x08: code, 64 bits
    .quad 0x00cf92000000ffff // 0x10: data
boot_gdt_end:
boot_gdt_pointer:
    .word boot_gdt_end - boot_gdt - 1
    .long boot_gdt

    // From 32-bit mode as from 16-bit mode; a far jump has to follow.
    .macro enter_long_mode
    mov eax, cr4
    or eax, {CR4_SET}
    mov cr4, eax
    mov eax, offset boot_pml4
    mov cr3, eax
    mov ecx, {EFER}
    rdmsr
    or eax, {EFER_LONG_MODE}
    wrmsr
    mov eax, cr0
    and eax, {CR0_CLEAR}
    or eax, {CR0_SET}
    mov cr0, eax
    .endm

    .section .text.boot, "ax"
    .code32
    .globl stanchion_entry
stanchion_entry:
    cli
    cld
    mov esp, offset boot_stack_top
    mov ebp, ebx            // the start information

    mov eax, offset boot_pdpt
    or eax, {PRESENT_WRITABLE}
    mov dword ptr [boot_pml4], eax
    mov eax, offset boot_directories
    or eax, {PRESENT_WRITABLE}
    xor ecx, ecx
2:  mov dword ptr [boot_pdpt + ecx * 8], eax
    add eax, 4096
    inc ecx
    cmp ecx, 4
    jne 2b
    mov eax, {PRESENT_WRITABLE} | {LARGE}
    xor ecx, ecx
3:  mov dword ptr [boot_directories + ecx * 8], eax
    add eax, 0x200000
    inc ecx
    cmp ecx, 4 * 512
    jne 3b

    enter_long_mode
    lgdt [boot_gdt_pointer]
    push 0x08
    mov eax, offset boot_long
    push eax
    retf

    .code64
boot_long:
    mov eax, 0x10
    mov ds, eax
    mov es, eax
    mov ss, eax
    mov fs, eax
    mov gs, eax
    mov rsp, offset boot_stack_top
    mov edi, ebp
    xor ebp, ebp
    call {first}
    ud2

    // The copy of this runs at {TRAMPOLINE}, so it names nothing in itself but by that.
    .section .rodata.trampoline, "a"
    .code16
    .globl trampoline_start
trampoline_start:
    jmp short 2f
    .balign 8
    .word boot_gdt_end - boot_gdt - 1
    .long boot_gdt
2:  cli
    cld
    xor ax, ax
    mov ds, ax
    .byte 0x66              // with a base of 32 bits
    lgdt [{TRAMPOLINE} + 8]
    enter_long_mode
    .byte 0x66, 0xea        // a far jump with an address of 32 bits
    .long trampoline_long
    .word 0x08
    .globl trampoline_end
trampoline_end:

    .section .text.boot, "ax"
    .code64
trampoline_long:
    mov eax, 0x10
    mov ds, eax
    mov es, eax
    mov ss, eax
    mov fs, eax
    mov gs, eax
    mov rsp, qword ptr [{stack}]
    mov rdi, qword ptr [{cpu}]
    xor ebp, ebp
    call {other}
    ud2
    "#,
    BOOT_STACK = const BOOT_STACK,
    PRESENT_WRITABLE = const PRESENT_WRITABLE,
    LARGE = const LARGE,
    CR0_CLEAR = const CR0_CLEAR,
    CR0_SET = const CR0_SET,
    CR4_SET = const CR4_SET,
    EFER = const EFER,
    EFER_LONG_MODE = const EFER_LONG_MODE,
    TRAMPOLINE = const TRAMPOLINE,
    first = sym super::first_vcpu,
    other = sym super::smp::other_vcpu,
    stack = sym super::smp::STACK,
    cpu = sym super::smp::CPU,
);

unsafe extern "C" {
    /// The boot vCPU's stack, from its lowest byte.
    pub(super) static boot_stack: u8;
    /// Four page directories, for a GiB each.
    pub(super) static boot_directories: [core::sync::atomic::AtomicU64; 4 * 512];
    pub(super) static trampoline_start: u8;
    pub(super) static trampoline_end: u8;
    pub(super) static image_end: u8;
}
