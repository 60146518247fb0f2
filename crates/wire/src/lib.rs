//! What one program writes and another one reads: files of the interposer ([`stats`], [`trace`]), read by
//! `stanchion run`, and the serial line of a guest ([`guest`]), read by `stanchion guest`. Writer and reader
//! share this crate and nothing else.
//!
//! All numbers of files are little-endian. A reader refuses another version, and trusts nothing in one of its
//! own: it was written by a program that may do anything.
#![no_std]
#![forbid(unsafe_code)]
#![expect(
    missing_docs,
    reason = "fields and constants say by their names what they are; where not, a comment does"
)]
pub mod guest;
pub mod stats;
pub mod trace;

/// Little-endian numbers at fixed places of bytes that are long enough.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn u32(&self, at: usize) -> u32 {
        self.0[at..at + 4].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
    }

    pub fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    /// A string of which one less than `length` bytes were written, in a field of `room`.
    pub fn text(&self, at: usize, length: u32, room: usize) -> &'a [u8] {
        &self.0[at..at + (length as usize).saturating_sub(1).min(room)]
    }
}
