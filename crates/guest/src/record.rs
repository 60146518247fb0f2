//! The records of a run: each is one line of JSON on the report channel, for the program that started the
//! guest.
use crate::machine::Machine;
use core::fmt::{self, Display, Formatter, Write};

/// What a field holds.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// A whole number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// Text, escaped as JSON wants it.
    Text(&'a dyn Display),
    /// Further fields.
    Fields(&'a [Field<'a>]),
}

/// A name and what it holds. Names are ours and need no escapes.
pub type Field<'a> = (&'a str, Value<'a>);

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a &'a str> for Value<'a> {
    fn from(text: &'a &'a str) -> Self {
        Self::Text(text)
    }
}

/// A record as one line.
pub struct Record<'a> {
    /// Which one it is.
    pub name: &'a str,
    /// All that it says.
    pub fields: &'a [Field<'a>],
}

impl Display for Record<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"record\":\"{}\"", self.name)?;
        for field in self.fields {
            f.write_char(',')?;
            write_field(f, field)?;
        }
        f.write_char('}')
    }
}

fn write_field(f: &mut Formatter<'_>, (name, value): &Field<'_>) -> fmt::Result {
    write!(f, "\"{name}\":")?;
    match value {
        Value::Number(number) => write!(f, "{number}"),
        Value::Flag(flag) => write!(f, "{flag}"),
        Value::Text(text) => {
            f.write_char('"')?;
            write!(Escaping(f), "{text}")?;
            f.write_char('"')
        }
        Value::Fields(fields) => {
            f.write_char('{')?;
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    f.write_char(',')?;
                }
                write_field(f, field)?;
            }
            f.write_char('}')
        }
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

/// Puts a record on the machine's report channel.
pub fn emit<M: Machine>(name: &str, fields: &[Field<'_>]) {
    M::emit(format_args!("{}", Record { name, fields }));
}

/// What went wrong.
pub fn failure<M: Machine>(what: &str, detail: &dyn Display) {
    emit::<M>("failure", &[("what", Value::Text(&what)), ("detail", Value::Text(detail))]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_record_is_one_line_of_json() {
        let fairness = [("min", 3.into()), ("max", 7.into())];
        let fields = [
            ("lock", Value::Text(&"byte")),
            ("correct", true.into()),
            ("fairness", Value::Fields(&fairness)),
        ];
        let line = Record { name: "result", fields: &fields }.to_string();
        let expected = r#"{"record":"result","lock":"byte","correct":true,"fairness":{"min":3,"max":7}}"#;
        assert_eq!(line, expected);
        assert_eq!(Record { name: "end", fields: &[] }.to_string(), r#"{"record":"end"}"#);
    }

    #[test]
    fn text_is_escaped_also_when_it_comes_in_pieces() {
        let text = format_args!("{}\\{}", "a \"quote\"\n", "bell \x07 ü");
        let line = Record { name: "panic", fields: &[("message", Value::Text(&text))] }.to_string();
        assert_eq!(line, r#"{"record":"panic","message":"a \"quote\"\n\\bell \u0007 ü"}"#);
    }
}
