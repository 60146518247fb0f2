//! Weakening one ordering of the lock code at run time, and knowing which sites a run reached.
//!
//! The operations of the model's cells are `#[track_caller]`, so each knows the file and the line of the lock
//! code that it stands in. A [`Weakening`] names such a place; the model then performs what stands there with
//! a weaker ordering. No lock is recompiled, so all orderings can be tried one by one.
use crate::run;
use core::fmt;
use core::panic::Location;
use core::str::FromStr;
use stanchion_core::order::Kind;

/// One ordering made weaker: `FILE:LINE:OPERATION=KIND`, as in
/// `crates/family/src/byte.rs:75:compare_exchange=Relaxed`.
///
/// `compare_exchange.failure` is the ordering of a failed exchange, `store_then_load.fence` and
/// `heavy_barrier` are the fences that these stand for; a fence goes to `nothing`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    file: String,
    line: u32,
    op: String,
    to: Option<Kind>,
}

impl FromStr for Weakening {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is no weakening; write FILE:LINE:OPERATION=KIND");
        let (place, to) = text.split_once('=').ok_or_else(form)?;
        let mut parts = place.split(':');
        let (Some(file), Some(line), Some(op), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(form());
        };
        let to = match to {
            "nothing" => None,
            "Relaxed" => Some(Kind::Relaxed),
            "Acquire" => Some(Kind::Acquire),
            "Release" => Some(Kind::Release),
            "AcqRel" => Some(Kind::AcqRel),
            other => return Err(format!("`{other}` is no ordering to weaken to")),
        };
        let line = line.parse().map_err(|_| form())?;
        Ok(Self { file: file.to_owned(), line, op: op.to_owned(), to })
    }
}

impl fmt::Display for Weakening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}=", self.file, self.line, self.op)?;
        match self.to {
            Some(kind) => write!(f, "{kind:?}"),
            None => f.write_str("nothing"),
        }
    }
}

impl Weakening {
    fn is_at(&self, at: &Location<'_>, op: &str) -> bool {
        self.line == at.line() && self.op == op && at.file().ends_with(&self.file)
    }
}

/// The ordering with which the operation `op` at `at` is performed, where the code says `kind`. `None`: a
/// fence is left out.
pub(crate) fn ordering(at: &'static Location<'static>, op: &'static str, kind: Kind) -> Option<Kind> {
    run::reach(at, op);
    run::with_weakening(|weakening| match weakening {
        Some(weakening) if weakening.is_at(at, op) => {
            run::hit();
            weakening.to
        }
        _ => Some(kind),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weakenings_are_read() {
        let weakening: Weakening = "src/a.rs:7:load=Relaxed".parse().expect("well-formed");
        assert_eq!(
            weakening,
            Weakening { file: "src/a.rs".into(), line: 7, op: "load".into(), to: Some(Kind::Relaxed) }
        );
        let fence: Weakening = "a.rs:1:fence=nothing".parse().expect("well-formed");
        assert_eq!(fence.to, None);
        assert_eq!(fence.to_string(), "a.rs:1:fence=nothing");
        assert_eq!(weakening.to_string(), "src/a.rs:7:load=Relaxed");
        for wrong in ["a.rs:1:load", "a.rs:load=Relaxed", "a.rs:1:load=Strong", "a.rs:x:load=Relaxed"] {
            assert!(wrong.parse::<Weakening>().is_err(), "{wrong}");
        }
    }
}
