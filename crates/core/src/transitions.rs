//! Word-transition tables: what a lock word may do, as data.
//!
//! A lock's file lists every change of its word in the notation `(tail, pending, locked)`. In debug builds
//! each write of a lock looks its row up; tools that see whole words (the simulator) can check all three
//! fields at once and count which rows were reached.

/// The three fields of a lock word. Locks without a queue leave the tail at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Raw code of the last waiter; a ticket lock's next ticket.
    pub tail: u16,
    /// The second byte: pending bit, or what the head of a paravirtual queue left for the releaser.
    pub pending: u8,
    /// 1 while held.
    pub locked: u8,
}

/// What one transition does to one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Not touched, whatever it is.
    Same,
    /// From the first class of values into the second.
    Goes(Is, Is),
}

/// A class of values of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// Exactly this.
    Value(u16),
    /// Anything but zero.
    NonZero,
    /// Any value from the first to the second, both included.
    Within(u16, u16),
    /// Anything.
    Any,
}

impl Is {
    /// Whether `value` belongs to the class.
    pub const fn holds(self, value: u16) -> bool {
        match self {
            Is::Value(expected) => value == expected,
            Is::NonZero => value != 0,
            Is::Within(low, high) => low <= value && value <= high,
            Is::Any => true,
        }
    }
}

impl Change {
    /// Whether a field may go from `before` to `after` under this change.
    pub const fn allows(self, before: u16, after: u16) -> bool {
        match self {
            Change::Same => before == after,
            Change::Goes(from, to) => from.holds(before) && to.holds(after),
        }
    }
}

/// One row of a table: a named change of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What happens, in the field's words.
    pub name: &'static str,
    /// What happens to the tail.
    pub tail: Change,
    /// What happens to the second byte.
    pub pending: Change,
    /// What happens to the locked byte.
    pub locked: Change,
}

impl Row {
    /// A row that changes nothing yet: what follows says which fields change.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self { name, tail: Change::Same, pending: Change::Same, locked: Change::Same }
    }

    /// Whoever finds the lock free takes it.
    #[must_use]
    pub const fn claim(name: &'static str) -> Self {
        Self::named(name).locked(Is::Value(0), Is::Value(1))
    }

    /// The holder gives the lock up.
    #[must_use]
    pub const fn release(name: &'static str) -> Self {
        Self::named(name).locked(Is::Value(1), Is::Value(0))
    }

    /// A waiter becomes the last in the queue.
    #[must_use]
    pub const fn queue(name: &'static str) -> Self {
        Self::named(name).tail(Is::Any, Is::NonZero)
    }

    /// The same, and the tail goes from one class to another.
    #[must_use]
    pub const fn tail(self, from: Is, to: Is) -> Self {
        Self { tail: Change::Goes(from, to), ..self }
    }

    /// The same, and the second byte goes from one class to another.
    #[must_use]
    pub const fn pending(self, from: Is, to: Is) -> Self {
        Self { pending: Change::Goes(from, to), ..self }
    }

    /// The same, and the locked byte goes from one class to another.
    #[must_use]
    pub const fn locked(self, from: Is, to: Is) -> Self {
        Self { locked: Change::Goes(from, to), ..self }
    }
}

/// Which field of a word a single write touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The tail half.
    Tail,
    /// The second byte.
    Pending,
    /// The locked byte.
    Locked,
}

/// All that a lock word may do.
#[derive(Clone, Copy, Debug)]
pub struct Table(pub &'static [Row]);

impl Table {
    /// The first row that allows the word to go from `before` to `after`.
    pub fn row(&self, before: Word, after: Word) -> Option<&'static Row> {
        self.0.iter().find(|row| {
            row.tail.allows(before.tail, after.tail)
                && row.pending.allows(u16::from(before.pending), u16::from(after.pending))
                && row.locked.allows(u16::from(before.locked), u16::from(after.locked))
        })
    }

    /// Whether some row changes `field` from `before` to `after`.
    pub fn allows(&self, field: Field, before: u16, after: u16) -> bool {
        self.0.iter().any(|row| {
            let change = match field {
                Field::Tail => row.tail,
                Field::Pending => row.pending,
                Field::Locked => row.locked,
            };
            change != Change::Same && change.allows(before, after)
        })
    }

    /// In debug builds, panics unless some row changes `field` from what `before` says to `after`. In other
    /// builds it does nothing, reading `before` included.
    #[inline(always)]
    pub fn check<T: Into<u16>>(&self, field: Field, before: impl FnOnce() -> T, after: impl Into<u16>) {
        if cfg!(debug_assertions) {
            self.enforce(field, before().into(), after.into());
        }
    }

    /// A function of its own: [`check`](Self::check) is inlined into every lock in every world.
    fn enforce(&self, field: Field, before: u16, after: u16) {
        assert!(
            self.allows(field, before, after),
            "no row of the transition table takes {field:?} from {before} to {after}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table = Table(&[Row::claim("acquire"), Row::queue("queue")]);

    fn word(tail: u16, pending: u8, locked: u8) -> Word {
        Word { tail, pending, locked }
    }

    #[test]
    fn a_row_is_found_only_for_its_own_change() {
        assert_eq!(TABLE.row(word(4, 0, 0), word(4, 0, 1)).map(|row| row.name), Some("acquire"));
        assert_eq!(TABLE.row(word(4, 0, 1), word(8, 0, 1)).map(|row| row.name), Some("queue"));
        assert_eq!(TABLE.row(word(4, 0, 1), word(8, 0, 0)), None);
    }

    #[test]
    #[should_panic(expected = "no row of the transition table takes Locked from 1 to 0")]
    fn a_write_that_no_row_knows_panics_in_debug_builds() {
        TABLE.check(Field::Locked, || 1u8, 0u8);
    }
}
