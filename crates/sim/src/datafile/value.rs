//! A value of a data file, detached from the text that it came from.
use core::fmt;
use toml::de::DeValue;

/// A value; numbers keep the digits that were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A whole number.
    Integer(String),
    /// A number with decimals or an exponent, or one that is none.
    Float(String),
    /// A string.
    Text(String),
    /// True or false.
    Flag(bool),
    /// An array.
    List(Vec<Value>),
    /// What no field has: dates, tables within arrays. The TOML name of its type.
    Other(&'static str),
}

impl Value {
    /// The value of a parsed document.
    pub(crate) fn new(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::Integer(integer) if integer.radix() == 10 => Self::Integer(integer.as_str().to_owned()),
            DeValue::Integer(integer) => match u64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Self::Integer(number.to_string()),
                Err(_) => Self::Other("integer"),
            },
            DeValue::Float(float) => Self::Float(float.as_str().to_owned()),
            DeValue::String(text) => Self::Text(text.clone().into_owned()),
            DeValue::Boolean(flag) => Self::Flag(*flag),
            DeValue::Array(items) => Self::List(items.iter().map(|item| Self::new(item.get_ref())).collect()),
            DeValue::Datetime(_) | DeValue::Table(_) => Self::Other(value.type_str()),
        }
    }

    /// The value that a command line says: as in a file, but a string needs no quotes.
    pub(crate) fn from_argument(text: &str) -> Self {
        match DeValue::parse(text) {
            Ok(value) => Self::new(value.get_ref()),
            Err(_) => Self::Text(text.to_owned()),
        }
    }

    /// The whole number that this is.
    pub(crate) fn whole(&self) -> Option<u64> {
        match self {
            Self::Integer(digits) => super::scaled(digits, 1),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(digits) | Self::Float(digits) => out.write_str(digits),
            Self::Text(text) => write!(out, "\"{text}\""),
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::List(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index == 0 { "" } else { ", " })?;
                }
                out.write_str("]")
            }
            Self::Other(kind) => write!(out, "<{kind}>"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_values_and_strings_need_no_quotes() {
        assert_eq!(Value::from_argument("120.5"), Value::Float("120.5".into()));
        assert_eq!(Value::from_argument("pinned"), Value::Text("pinned".into()));
        assert_eq!(Value::from_argument("2.5us"), Value::Text("2.5us".into()));
        assert_eq!(Value::from_argument("\"2.5us\""), Value::Text("2.5us".into()));
        assert_eq!(Value::from_argument("0x10").whole(), Some(16));
        assert_eq!(Value::from_argument("[[1, 100]]").to_string(), "[[1, 100]]");
        assert_eq!(Value::from_argument(""), Value::Text(String::new()));
    }
}
