//! What clap has to say about bad input, in one line with the nearest valid names.
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The one line for an error that is not a request for help.
pub fn one_line(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let near = text(ContextKind::SuggestedArg)
        .or_else(|| text(ContextKind::SuggestedSubcommand))
        .or_else(|| text(ContextKind::SuggestedValue))
        .or_else(|| text(ContextKind::ValidValue))
        .or_else(|| text(ContextKind::ValidSubcommand));
    let near =
        near.filter(|near| !near.is_empty()).map(|near| format!(": nearest are {near}")).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => format!("unknown flag '{argument}'{near}"),
        ErrorKind::InvalidSubcommand => {
            format!("unknown command '{}'{near}", text(ContextKind::InvalidSubcommand).unwrap_or_default())
        }
        ErrorKind::InvalidValue => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            if value.is_empty() {
                format!("{argument} needs a value")
            } else {
                format!("'{value}' is no value of {argument}{near}")
            }
        }
        ErrorKind::ArgumentConflict => {
            format!("{argument} cannot be used with {}", text(ContextKind::PriorArg).unwrap_or_default())
        }
        // A group of one flag is named in brackets of its own.
        ErrorKind::MissingRequiredArgument if argument.starts_with("<-") => {
            format!("{} is missing", argument.trim_start_matches('<').replace(">>", ">"))
        }
        ErrorKind::MissingRequiredArgument => format!("{argument} is missing"),
        // The first line of clap's own text says the rest well enough.
        _ => error.to_string().lines().next().unwrap_or("bad input").trim_start_matches("error: ").to_owned(),
    }
}
