//! The records of a guest: lines of JSON on its serial line, told apart by `record`.
//!
//! The guest writes them (`Display`), without memory of its own, since it may be out of it. The laboratory
//! reads them, with the feature `serde`. Texts are whatever each of the two has: `T`.
//!
//! A reader passes over fields and kinds that it does not know. A field that is an `Option` may be missing. A
//! change that would make a reader wrong is a new [`VERSION`].
use core::fmt::{self, Display, Formatter, Write};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub const VERSION: u32 = 1;

/// What a field may hold.
pub trait Value {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result;

    /// Writes a field behind others, if it is there.
    fn member(&self, name: &str, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, ",\"{name}\":")?;
        self.write(f)
    }
}

macro_rules! as_displayed {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    )*};
}

as_displayed! { bool u16 u32 u64 }

macro_rules! as_text {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_char('"')?;
                write!(Escaping(f), "{self}")?;
                f.write_char('"')
            }
        }
    )*};
}

as_text! { &str &dyn Display }

impl<V: Value> Value for Option<V> {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => value.write(f),
            None => f.write_str("null"),
        }
    }

    fn member(&self, name: &str, f: &mut Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |value| value.member(name, f))
    }
}

/// Writes text the way it stands within a JSON string.
struct Escaping<'a, 'b>(&'a mut Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' | '\\' => write!(self.0, "\\{c}")?,
                '\n' => self.0.write_str("\\n")?,
                '\0'..='\x1f' | '\x7f' => write!(self.0, "\\u{:04x}", u32::from(c))?,
                _ => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Structs whose fields are those of records, by the same names.
macro_rules! fields {
    ($($(#[$meta:meta])* $name:ident$(<$text:ident>)? { $($(#[$of:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
        pub struct $name$(<$text>)? {
            $($(#[$of])* pub $field: $kind,)*
        }

        impl$(<$text: Value>)? Value for $name$(<$text>)? {
            fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
                $(self.$field.member(stringify!($field), f)?;)*
                Ok(())
            }

            /// Their fields are the record's own.
            fn member(&self, _name: &str, f: &mut Formatter<'_>) -> fmt::Result {
                self.write(f)
            }
        }
    )*};
}

fields! {
    /// The machine as the guest found it.
    Hardware<T> {
        version: u32,
        vcpus: u16,
        nodes: u16,
        hypervisor: T,
        tsc_hz: u64,
        x2apic: bool,
        steal_time: bool,
        kick_hypercall: bool,
        yield_hypercall: bool,
        /// From the guest's first instruction to this record.
        boot_ns: u64,
        /// In bytes.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        free_memory: Option<u64>,
    }

    /// A conformance test.
    Test<T> {
        name: T,
        outcome: TestOutcome,
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        detail: Option<T>,
    }

    Vcpu {
        /// Its number.
        vcpu: u16,
        acquisitions: u64,
        /// In the workload itself.
        work_ns: u64,
        /// In slow paths of the lock.
        slow_ns: u64,
        idle_ns: Option<u64>,
        halts: u64,
        halted_ns: u64,
        kicks_sent: u64,
        /// Kicks that found the vCPU halted.
        kicks_woke: u64,
        ticks: u64,
    }

    /// From a kick to the kicked vCPU running again.
    #[derive(Copy)]
    Wake {
        p50_ns: u64,
        p99_ns: u64,
        max_ns: u64,
        count: u64,
    }

    /// What came of a workload.
    Work<T> {
        workload: T,
        lock: T,
        elapsed_ns: u64,
        operations: u64,
        /// False if the time was over first.
        finished: bool,
        /// False if a lock let somebody in who had to wait.
        correct: bool,
        wait_p50_ns: Option<u64>,
        wait_p99_ns: Option<u64>,
        wait_max_ns: Option<u64>,
        fairness: Option<Fairness>,
        reads: Option<u64>,
        writes: Option<u64>,
        /// What a millisecond of work is, in turns of the guest's compute loop.
        rate: Option<u64>,
        /// Pieces of work that there were.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        job: Option<u64>,
        /// Operations by interrupt handlers, and how deep those were nested.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        in_handlers: Option<u64>,
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
        deepest: Option<u64>,
    }
}

/// The vCPUs with the fewest and the most acquisitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Fairness {
    pub min: u64,
    pub max: u64,
}

impl Value for Fairness {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"min\":{},\"max\":{}}}", self.min, self.max)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "lowercase"))]
pub enum TestOutcome {
    #[default]
    Ok,
    Failed,
    Ignored,
}

impl TestOutcome {
    /// As `cargo test` tells it; but who searches a log for failures is not to find one that is `expected`.
    pub fn told(self, expected: bool) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed if expected => "failed, as expected",
            Self::Failed => "FAILED",
            Self::Ignored => "ignored",
        }
    }
}

impl Value for TestOutcome {
    fn write(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "\"ok\"",
            Self::Failed => "\"failed\"",
            Self::Ignored => "\"ignored\"",
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Deserialize), serde(tag = "record", rename_all = "lowercase"))]
pub enum Record<T> {
    /// The first.
    Boot(Hardware<T>),
    Test(Test<T>),
    Progress {
        done: u64,
        of: u64,
        what: T,
    },
    /// A line as the kernel's locktorture prints it.
    Stat {
        lock: Option<T>,
        line: T,
    },
    Vcpu(Vcpu),
    Wake(Wake),
    Result(Work<T>),
    Failure {
        what: T,
        detail: T,
    },
    /// The guest's kernel gave up.
    Panic {
        message: T,
    },
    /// The last: whether all went well.
    End {
        ok: bool,
    },
    /// A kind that a later guest may have.
    #[cfg_attr(feature = "serde", serde(other))]
    Unknown,
}

impl<T: Value> Display for Record<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (kind, fields): (&str, &[(&str, &dyn Value)]) = match self {
            Self::Boot(hardware) => ("boot", &[("", hardware)]),
            Self::Test(test) => ("test", &[("", test)]),
            Self::Progress { done, of, what } => ("progress", &[("done", done), ("of", of), ("what", what)]),
            Self::Stat { lock, line } => ("stat", &[("lock", lock), ("line", line)]),
            Self::Vcpu(vcpu) => ("vcpu", &[("", vcpu)]),
            Self::Wake(wake) => ("wake", &[("", wake)]),
            Self::Result(work) => ("result", &[("", work)]),
            Self::Failure { what, detail } => ("failure", &[("what", what), ("detail", detail)]),
            Self::Panic { message } => ("panic", &[("message", message)]),
            Self::End { ok } => ("end", &[("ok", ok)]),
            Self::Unknown => ("unknown", &[]),
        };
        write!(f, "{{\"record\":\"{kind}\"")?;
        fields.iter().try_for_each(|(name, value)| value.member(name, f))?;
        f.write_char('}')
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    use super::*;
    use alloc::string::ToString as _;

    fn work() -> Work<&'static str> {
        let fairness = Some(Fairness { min: 3, max: 7 });
        let (workload, lock) = ("torture", "byte");
        Work { workload, lock, correct: true, fairness, deepest: Some(2), ..Work::default() }
    }

    #[test]
    fn a_record_is_one_line_of_json() {
        let expected = r#"{"record":"result","workload":"torture","lock":"byte","elapsed_ns":0,"operations":0,"finished":false,"correct":true,"fairness":{"min":3,"max":7},"deepest":2}"#;
        assert_eq!(Record::Result(work()).to_string(), expected);
        assert_eq!(Record::<&str>::End { ok: true }.to_string(), r#"{"record":"end","ok":true}"#);
    }

    #[test]
    fn text_is_escaped_also_when_it_comes_in_pieces() {
        let text = format_args!("{}\\{}", "a \"quote\"\n", "bell \x07 ü");
        let line = Record::<&dyn Display>::Panic { message: &text }.to_string();
        assert_eq!(line, r#"{"record":"panic","message":"a \"quote\"\n\\bell \u0007 ü"}"#);
    }

    #[test]
    #[cfg(feature = "serde")]
    fn what_is_written_is_read() {
        let hardware = Hardware { version: VERSION, hypervisor: "TCG", x2apic: true, ..Hardware::default() };
        let outcomes = [TestOutcome::Ok, TestOutcome::Failed, TestOutcome::Ignored];
        let tests = outcomes.map(|outcome| Record::Test(Test { name: "a::b", outcome, detail: Some("why") }));
        let others = [
            Record::Boot(hardware.clone()),
            Record::Boot(Hardware { free_memory: Some(1 << 40), ..hardware }),
            Record::Progress { done: 1, of: u64::MAX, what: "byte" },
            Record::Stat { lock: Some("byte"), line: "Writes:  Total: 1" },
            Record::Vcpu(Vcpu { vcpu: 3, idle_ns: Some(4), ticks: 5, ..Vcpu::default() }),
            Record::Wake(Wake { p50_ns: 1, p99_ns: 2, max_ns: 3, count: 4 }),
            Record::Result(work()),
            Record::Failure { what: "stall", detail: "nobody gets lock 0" },
            Record::Panic { message: "as provoked" },
            Record::End { ok: false },
            Record::Unknown,
        ];
        for record in tests.into_iter().chain(others) {
            let line = record.to_string();
            let read: Record<&str> = serde_json::from_str(&line).expect("it can be read");
            assert_eq!(read, record, "{line}");
        }
        let odd = "a \"quote\"\n\\ bell \u{7} \u{7f} ü";
        let line = Record::Panic { message: odd }.to_string();
        let read: Record<alloc::string::String> = serde_json::from_str(&line).expect("it can be read");
        assert_eq!(read, Record::Panic { message: odd.into() });
    }
}
