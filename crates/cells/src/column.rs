//! A column of a table, told once: its name, what is better, its value in a row, and how people read it.
//! Tables for terminals and pages, CSV, JSON and Arrow follow.
use serde::Serialize;

/// What values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// Whole numbers that are not negative.
    Whole,
    /// Other numbers.
    Real,
    /// Yes or no.
    Truth,
}

/// A value in a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Of a column of texts.
    Text(String),
    /// Of a column of whole numbers.
    Whole(u64),
    /// Of a column of numbers.
    Real(f64),
    /// Of a column of yes and no.
    Truth(bool),
    /// Unknown, or not measured.
    Nothing,
}

impl core::fmt::Display for Value {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Text(text) => out.write_str(text),
            Self::Whole(number) => number.fmt(out),
            Self::Real(number) => number.fmt(out),
            Self::Truth(truth) => truth.fmt(out),
            Self::Nothing => Ok(()),
        }
    }
}

/// What can be a value; what may not be there, too.
pub trait Figure {
    /// Of a column of them.
    const KIND: Kind;
    /// As a value.
    fn value(self) -> Value;
}

/// Types of values: each with its kind, named like its variant, and how it becomes what that holds.
macro_rules! figures {
    ($($type:ty, $kind:ident, $make:expr;)*) => {$(
        impl Figure for $type {
            const KIND: Kind = Kind::$kind;
            fn value(self) -> Value {
                Value::$kind($make(self))
            }
        }
    )*};
}

figures! {
    String, Text, core::convert::identity;
    &str, Text, str::to_owned;
    u64, Whole, core::convert::identity;
    u32, Whole, u64::from;
    usize, Whole, |number| number as u64;
    f64, Real, core::convert::identity;
    bool, Truth, core::convert::identity;
}

impl<T: Figure> Figure for Option<T> {
    const KIND: Kind = T::KIND;
    fn value(self) -> Value {
        self.map_or(Value::Nothing, T::value)
    }
}

type Of<R, T> = Box<dyn Fn(&R) -> T + Send + Sync>;

enum Show<R> {
    Plainly,
    Number(fn(f64) -> String),
    Row(Of<R, Option<String>>),
}

/// A column of a table whose rows are made of `R`.
pub struct Column<R> {
    /// What files call it; empty if they do not have it.
    pub name: String,
    /// What people read above it; empty if they do not see it.
    pub title: &'static str,
    /// Whether its larger values are the better ones; else the smaller ones are, if any.
    pub more_is_better: bool,
    /// What its values are.
    pub kind: Kind,
    /// A number at an axis of a plot; none if it is not plotted.
    pub tick: Option<fn(f64) -> String>,
    value: Of<R, Value>,
    show: Show<R>,
}

impl<R> Column<R> {
    /// A column of this name, for files.
    pub fn new<T: Figure>(name: impl Into<String>, value: impl Fn(&R) -> T + Send + Sync + 'static) -> Self {
        Self {
            name: name.into(),
            title: "",
            more_is_better: false,
            kind: T::KIND,
            tick: None,
            value: Box::new(move |row| value(row).value()),
            show: Show::Plainly,
        }
    }

    /// A column with this title, for people.
    pub fn told<T: Figure>(title: &'static str, value: impl Fn(&R) -> T + Send + Sync + 'static) -> Self {
        Self::new("", value).titled(title)
    }

    /// A column that files and people call the same.
    pub fn called<T: Figure>(name: &'static str, value: impl Fn(&R) -> T + Send + Sync + 'static) -> Self {
        Self::new(name, value).titled(name)
    }

    /// For people, too.
    #[must_use]
    pub fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Its larger values are better.
    #[must_use]
    pub fn more_is_better(self) -> Self {
        Self { more_is_better: true, ..self }
    }

    /// Its numbers as people read them.
    #[must_use]
    pub fn shown(self, form: fn(f64) -> String) -> Self {
        Self { show: Show::Number(form), ..self }
    }

    /// What people read, of all that the row has; nothing where it has nothing.
    #[must_use]
    pub fn shown_by(self, show: impl Fn(&R) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { show: Show::Row(Box::new(show)), ..self }
    }

    /// Numbers at the axis of its plot.
    #[must_use]
    pub fn ticked(self, tick: fn(f64) -> String) -> Self {
        Self { tick: Some(tick), ..self }
    }

    /// The value of a row.
    pub fn value(&self, row: &R) -> Value {
        (self.value)(row)
    }

    /// The same as a number, if it is one.
    pub fn number(&self, row: &R) -> Option<f64> {
        match self.value(row) {
            Value::Whole(number) => Some(number as f64),
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    /// The value of a row as people read it, if it has one.
    pub fn text(&self, row: &R) -> Option<String> {
        match &self.show {
            Show::Row(show) => show(row),
            _ => match self.value(row) {
                Value::Nothing => None,
                Value::Real(number) => Some(self.form(number)),
                Value::Whole(number) if matches!(self.show, Show::Number(_)) => {
                    Some(self.form(number as f64))
                }
                value => Some(value.to_string()),
            },
        }
    }

    /// A number that stands for several rows, as people read those of one.
    pub fn form(&self, number: f64) -> String {
        if let Show::Number(form) = self.show { form(number) } else { number.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_told_as_its_column_says_and_what_is_not_there_is_not() {
        let plain = Column::new("x", |row: &Option<u64>| *row).titled("the x");
        assert_eq!(
            (plain.kind, plain.value(&Some(3)), plain.text(&Some(3))),
            (Kind::Whole, Value::Whole(3), Some("3".into()))
        );
        assert_eq!(
            (plain.value(&None), plain.text(&None), plain.number(&None)),
            (Value::Nothing, None, None)
        );
        let formed = plain.shown(|number| format!("{number:.1}"));
        assert_eq!(
            (formed.text(&Some(3)), formed.form(0.25), formed.text(&None)),
            (Some("3.0".into()), "0.2".into(), None)
        );
        let by_row = formed.shown_by(|row| row.map(|number| format!("<{number}>")));
        assert_eq!((by_row.text(&Some(3)), by_row.number(&Some(3))), (Some("<3>".into()), Some(3.0)));
    }
}
