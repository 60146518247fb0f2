//! Parameters of behaviours as data: name, range and meaning stand in one place, beside the field that they
//! fill.
use super::Behaviour;
use crate::datafile::{Value, nanoseconds, scaled, time, time_text};
use crate::time::{NS, Time, US};

/// What a parameter may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// From the first time to the second.
    Span(Time, Time),
    /// A whole number.
    Count(u32, u32),
    /// A whole number of per cent.
    Percent(u32),
}

/// Where a parameter is in a behaviour.
pub(super) enum Place<'b> {
    Span(&'b mut Time),
    Count(&'b mut u32),
}

/// A type that parameters may have.
pub(super) trait HasPlace {
    fn place(&mut self) -> Place<'_>;
}

impl HasPlace for Time {
    fn place(&mut self) -> Place<'_> {
        Place::Span(self)
    }
}

impl HasPlace for u32 {
    fn place(&mut self) -> Place<'_> {
        Place::Count(self)
    }
}

/// A parameter of a behaviour.
pub(super) struct Parameter {
    /// Its name in the table `workload` of a file.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What it is if the file does not say, in picoseconds or as a number; `None`: the file has to.
    pub(super) absent: Option<u64>,
    /// Where it is; `None`: the behaviour is another one.
    pub(super) place: fn(&mut Behaviour) -> Option<Place<'_>>,
    /// What it is, for the documentation.
    pub(super) about: &'static str,
}

impl Place<'_> {
    /// What stands there, in picoseconds or as a number.
    pub(super) fn get(&self) -> u64 {
        match self {
            Self::Span(span) => **span,
            Self::Count(count) => u64::from(**count),
        }
    }

    pub(super) fn put(self, value: u64) {
        match self {
            Self::Span(span) => *span = value,
            Self::Count(count) => *count = value as u32,
        }
    }
}

impl Kind {
    /// The least and the most.
    pub(super) fn range(self) -> (u64, u64) {
        match self {
            Self::Span(least, most) => (least, most),
            Self::Count(least, most) => (u64::from(least), u64::from(most)),
            Self::Percent(most) => (0, u64::from(most)),
        }
    }

    /// What the parameter may be, as the end of "must be".
    pub(super) fn allowed(self) -> String {
        match self {
            Self::Span(least, most) => format!("a time from {} to {}", time_text(least), time_text(most)),
            Self::Count(least, most) => format!("a whole number from {least} to {most}"),
            Self::Percent(most) => format!("whole per cent from 0 to {most}"),
        }
    }

    /// What `value` says, in picoseconds or as a number.
    pub(super) fn read(self, value: &Value) -> Option<u64> {
        let number = match (self, value) {
            (Self::Span(..), Value::Integer(digits) | Value::Float(digits)) => scaled(digits, NS),
            (Self::Span(..), Value::Text(text)) => time(text),
            (Self::Count(..) | Self::Percent(_), _) => value.whole(),
            (Self::Span(..), _) => None,
        };
        let (least, most) = self.range();
        number.filter(|number| (least..=most).contains(number))
    }

    /// The text of a value in a file: what `read` reads.
    pub(super) fn text(self, value: u64) -> String {
        match self {
            Self::Span(..) if value < 10 * US => nanoseconds(value),
            Self::Span(..) => format!("\"{}\"", time_text(value)),
            Self::Count(..) | Self::Percent(_) => value.to_string(),
        }
    }

    /// A value as a fit counts it: nanoseconds, or the number.
    pub(super) fn number(self, value: u64) -> f64 {
        match self {
            Self::Span(..) => value as f64 / NS as f64,
            Self::Count(..) | Self::Percent(_) => value as f64,
        }
    }

    /// The nearest value that is allowed to what a fit counts.
    pub(super) fn nearest(self, number: f64) -> u64 {
        let scale = if matches!(self, Self::Span(..)) { NS as f64 } else { 1.0 };
        let (least, most) = self.range();
        ((number * scale).round() as u64).clamp(least, most)
    }
}

/// Declares the parameters of a behaviour: the type that holds them and the table that files are read by. The
/// type must be a variant of [`Behaviour`] under its own name.
macro_rules! parameters {
    (
        $(#[doc = $head:literal])+
        $behaviour:ident {
            $($(#[doc = $about:literal])+ $field:ident: $type:ty = $name:literal $kind:expr $(, or $absent:literal)?;)+
        }
    ) => {
        $(#[doc = $head])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $behaviour {
            $($(#[doc = $about])+ pub $field: $type,)+
        }

        impl $behaviour {
            /// Nothing said yet.
            pub(super) const BLANK: Self = Self { $($field: 0),+ };

            /// Its parameters, in the order of files.
            pub(super) const PARAMETERS: &'static [crate::workload::parameters::Parameter] = {
                use crate::workload::parameters::Kind::*;
                use crate::workload::parameters::{HasPlace, Parameter};
                &[$(Parameter {
                    name: $name,
                    kind: $kind,
                    absent: parameters!(@absent $($absent)?),
                    place: |behaviour| match behaviour {
                        crate::workload::Behaviour::$behaviour(held) => Some(held.$field.place()),
                        _ => None,
                    },
                    about: concat!($($about),+),
                }),+]
            };
        }
    };
    (@absent) => { None };
    (@absent $value:literal) => { Some($value) };
}

pub(super) use parameters;
