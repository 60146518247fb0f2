//! Where the processor goes when it is interrupted: the code between it and the handlers.
//!
//! The compiled code, the standard library's precompiled part included, uses the 128 bytes below its stack
//! pointer and the SSE registers. So interrupts come in on stacks of their own, and save what they would
//! overwrite. A handler may enable interrupts again: the stub first moves the vCPU's pointer to its interrupt
//! stack down by [`SLICE`], and back up at the end, with interrupts disabled at both (IG5).
use super::cpu::INTERRUPT_STACK;
use core::arch::global_asm;

/// Bytes of interrupt stack for each level of nesting, the guard page below included.
pub(super) const SLICE: usize = 36 * 1024;
/// Three levels of ticks, a kick on top, and one more that stays unused.
pub(super) const LEVELS: usize = 5;

/// The vectors of interrupts, by class, which is a vector's upper four bits: a kick comes in where a tick has
/// to wait.
pub(super) const TIMER: u8 = 0x40;
pub(super) const KICK: u8 = 0xE0;
pub(super) const SPURIOUS: u8 = 0xFF;

/// What the stub of an exception leaves on the stack.
#[repr(C)]
pub(super) struct Frame {
    pub(super) registers: [u64; 15],
    pub(super) vector: u64,
    pub(super) error: u64,
    pub(super) rip: u64,
    pub(super) cs: u64,
    pub(super) flags: u64,
    pub(super) rsp: u64,
    pub(super) ss: u64,
}

global_asm!(
    r#"
    .macro interrupt name, handler
    .globl \name
\name:
    sub qword ptr gs:[{INTERRUPT_STACK}], {SLICE}
    push rbp
    mov rbp, rsp
    push rax
    push rcx
    push rdx
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    sub rsp, 512
    and rsp, -64
    fxsave64 [rsp]
    cld
    call \handler
    fxrstor64 [rsp]
    lea rsp, [rbp - 72]
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    pop rdx
    pop rcx
    pop rax
    pop rbp
    add qword ptr gs:[{INTERRUPT_STACK}], {SLICE}
    iretq
    .endm

    .text
    interrupt stub_timer, {timer}
    interrupt stub_kick, {kick}
    .globl stub_spurious
stub_spurious:
    iretq

    // One entry of 16 bytes for each exception; those that push no error code themselves get a zero.
    .balign 16
    .globl stub_exceptions
stub_exceptions:
    .set vector, 0
    .rept 32
    .balign 16
    .if (0x60227d00 >> vector) & 1
    .else
    push 0
    .endif
    push vector
    jmp stub_exception
    .set vector, vector + 1
    .endr
    .balign 16

stub_exception:
    push rax
    push rcx
    push rdx
    push rbx
    push rbp
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    push r12
    push r13
    push r14
    push r15
    cld
    mov rdi, rsp
    and rsp, -16
    call {exception}
    ud2
    "#,
    INTERRUPT_STACK = const INTERRUPT_STACK,
    SLICE = const SLICE,
    timer = sym super::interrupts::timer,
    kick = sym super::interrupts::kick,
    exception = sym super::interrupts::exception,
);

unsafe extern "C" {
    static stub_timer: u8;
    static stub_kick: u8;
    static stub_spurious: u8;
    static stub_exceptions: [[u8; 16]; 32];
}

/// Each interrupt's vector and the address of its stub.
pub(super) fn interrupts() -> [(u8, usize); 3] {
    [
        (TIMER, (&raw const stub_timer).addr()),
        (KICK, (&raw const stub_kick).addr()),
        (SPURIOUS, (&raw const stub_spurious).addr()),
    ]
}

/// The address of an exception's stub.
pub(super) fn exception(vector: usize) -> usize {
    (&raw const stub_exceptions).addr() + vector * 16
}
