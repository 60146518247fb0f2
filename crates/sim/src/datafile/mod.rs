//! Reading data files (machines and the like): TOML as flat paths with their lines, exact decimals, and refusals of one line.
//!
//! A reader of a kind of file knows its fields and their ranges as data; what is here knows neither. Everything is checked by
//! hand instead of by serde, because a refusal has to name the line, the field and what would be allowed.
mod decimal;
mod document;
mod error;
mod value;

pub(crate) use decimal::{nanoseconds, scaled, time, time_text};
pub(crate) use document::Document;
pub use error::FileError;
pub(crate) use error::{clip, nearest};
pub(crate) use value::Value;
