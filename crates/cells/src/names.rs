//! Unknown names are answered with the nearest valid ones.

/// The up to three of `valid` that are nearest to `given`, nearest first.
pub fn nearest<'a>(given: &str, valid: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> =
        valid.into_iter().map(|name| (strsim::damerau_levenshtein(given, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(3).map(|(_, name)| name).collect()
}
