//! The report channel: the first serial port.
use super::arch;
use super::locked::Locked;
use core::fmt::{self, Write};
use core::hint::spin_loop;

const PORT: u16 = 0x3F8;
const LINE_CONTROL: u16 = PORT + 3;
const LINE_STATUS: u16 = PORT + 5;
const CAN_TAKE: u8 = 1 << 5;

struct Port;

static CHANNEL: Locked<Port> = Locked::new(Port);

/// Sets the port up: 8 bits, no parity, queues on, no interrupts.
pub(super) fn prepare() {
    const DIVISOR_ACCESS: u8 = 0x80;
    for (port, value) in [
        (PORT + 1, 0),
        (LINE_CONTROL, DIVISOR_ACCESS),
        (PORT, 1),
        (PORT + 1, 0),
        (LINE_CONTROL, 3),
        (PORT + 2, 7),
        (PORT + 4, 3),
    ] {
        arch::out8(port, value);
    }
}

impl Write for Port {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            while arch::in8(LINE_STATUS) & CAN_TAKE == 0 {
                spin_loop();
            }
            arch::out8(PORT, byte);
        }
        Ok(())
    }
}

/// Writes one line. Lines never mix.
pub(super) fn line(text: fmt::Arguments<'_>) {
    CHANNEL.with(|port| put(port, text));
}

/// Writes one line for a machine that is about to end: also if whoever writes a line will never finish it.
pub(super) fn last_line(text: fmt::Arguments<'_>) {
    let mut port = Port;
    CHANNEL.with_timeout(TIMEOUT_POLLS, |free| {
        if !free {
            put(&mut port, format_args!(""));
        }
        put(&mut port, text);
    });
}

/// Polls for the end of somebody's line, of a second or so.
const TIMEOUT_POLLS: u32 = 1 << 22;

fn put(port: &mut Port, text: fmt::Arguments<'_>) {
    // Writing to the port never fails; what is displayed may say that it does, and then the line is cut.
    let _ = port.write_fmt(text);
    let _ = port.write_str("\n");
}
