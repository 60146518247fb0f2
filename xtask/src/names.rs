//! Unknown names are answered with the nearest valid ones.

/// The up to three of `valid` that are nearest to `given`, nearest first.
pub(crate) fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> =
        valid.into_iter().map(|name| (strsim::damerau_levenshtein(given, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_comes_first() {
        assert_eq!(nearest("tydi", ["fmt", "tidy", "test", "doc"])[0], "tidy");
    }

    #[test]
    fn at_most_three_names_are_offered() {
        assert_eq!(nearest("x", ["a", "b", "c", "d"]).len(), 3);
    }
}
