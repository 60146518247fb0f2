//! The records of a run on the report channel, for the program that started the guest.
use crate::machine::Machine;
use core::fmt::Display;
use stanchion_wire::guest::Value;
pub use stanchion_wire::guest::{Fairness, Hardware, Record, Test, TestOutcome, VERSION, Vcpu, Wake, Work};

/// Puts a record on the machine's report channel.
pub fn emit<M: Machine>(record: &Record<impl Value>) {
    M::emit(format_args!("{record}"));
}

/// What went wrong.
pub fn failure<M: Machine>(what: &str, detail: &dyn Display) {
    emit::<M>(&Record::Failure::<&dyn Display> { what: &what, detail });
}

/// Whether all went well.
pub fn end<M: Machine>(ok: bool) {
    emit::<M>(&Record::<&str>::End { ok });
}
