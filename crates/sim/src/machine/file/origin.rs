//! Where a machine's numbers come from, and how far a fit may move them.
use core::fmt;

/// What kind of evidence a number rests on, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Measured on the machine itself; the text says with what.
    Measured,
    /// Stands in a publication, which the text names.
    Published,
    /// Fitted to a publication's results or to benchmarks; the text says to which.
    Fit,
    /// Recalled from publications without looking them up; the text says how far they spread.
    Recalled,
    /// A reasoned starting point for a fit.
    Prior,
    /// Nothing better was known.
    Guess,
    /// Chosen while results that it decides were in view, so these are no predictions of it; the text says
    /// which.
    Seen,
    /// Given on a command line.
    Set,
}

impl Evidence {
    /// Every kind of evidence with its word in files.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Measured, "measured"),
        (Self::Published, "published"),
        (Self::Fit, "fit"),
        (Self::Recalled, "recalled"),
        (Self::Prior, "prior"),
        (Self::Guess, "guess"),
        (Self::Seen, "seen"),
        (Self::Set, "set"),
    ];

    /// The word for this in files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(evidence, _)| *evidence == self).map_or("", |(_, word)| word)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.word())
    }
}

/// Where the number of a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The field's path, or a table's path and `.others` for all fields in and below it that have no source
    /// of their own.
    pub field: String,
    /// What it rests on.
    pub evidence: Evidence,
    /// The publication, the method, the spread.
    pub text: String,
}

/// How well a number is known before a fit: log-normal around the file's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The field's path.
    pub field: String,
    /// The relative width: the standard deviation of the logarithm.
    pub sigma: f64,
}
