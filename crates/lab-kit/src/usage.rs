//! What clap has to say about bad input, in one line.

/// What clap says before it tells the usage, with what is missing and the nearest valid names.
pub fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let said = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said: Vec<&str> = said.map(str::trim).filter(|line| !line.is_empty()).collect();
    said.join("; ").trim_start_matches("error: ").replace(":; ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn a_refusal_is_one_line_with_what_is_missing_or_near() {
        let refusal = |words: &[&str]| {
            let load = Arg::new("load").long("load").value_parser(["light", "heavy"]);
            let command = Command::new("a").arg(load).arg(Arg::new("FILE").required(true));
            one_line(&command.try_get_matches_from(words).expect_err("bad input"))
        };
        assert_eq!(refusal(&["a"]), "the following required arguments were not provided: <FILE>");
        assert_eq!(
            refusal(&["a", "--lod", "light", "b"]),
            "unexpected argument '--lod' found; tip: a similar argument exists: '--load'"
        );
        let value = refusal(&["a", "--load", "hevy", "b"]);
        assert!(value.starts_with("invalid value 'hevy' for '--load <load>'") && value.contains("'heavy'"));
        assert!(!refusal(&["a", "--load", "x\ny", "b"]).contains('\n'));
    }
}
