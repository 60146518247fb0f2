//! Thread counts: numbers, ranges, and multiples of the CPUs.

/// More threads than this is a typing error.
pub const MOST: usize = 4096;

/// What an overcommit curve is made of: half the CPUs, then one to sixteen times.
const DEFAULT_MULTIPLES: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// The ends of that curve and its first steps.
const QUICK_MULTIPLES: [f64; 3] = [1.0, 2.0, 16.0];

/// One thread, and the multiples of the CPUs that show who collapses.
pub fn default_counts(cpus: usize, quick: bool) -> Vec<usize> {
    let multiples: &[f64] = if quick { &QUICK_MULTIPLES } else { &DEFAULT_MULTIPLES };
    let counts = multiples.iter().map(|multiple| times(*multiple, cpus)).chain([1]);
    sorted(counts.filter(|&count| count <= MOST).collect())
}

/// Counts such as `1,2,4-8,16-64:16,2x,0.5x`, ascending and each once.
pub fn parse(list: &str, cpus: usize) -> Result<Vec<usize>, String> {
    let mut counts = Vec::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let (range, step) = word.split_once(':').map_or((word, "1"), |(range, step)| (range, step));
        match range.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (one(first, cpus)?, one(last, cpus)?);
                let step = step.parse().ok().filter(|&step| step > 0);
                let step = step.ok_or_else(|| format!("the step of '{word}' is not a number above 0"))?;
                if first > last {
                    return Err(format!("the range '{word}' goes down"));
                }
                counts.extend((first..=last).step_by(step));
            }
            None if word.contains(':') => return Err(format!("'{word}' has a step but is no range")),
            None => counts.push(one(word, cpus)?),
        }
    }
    if counts.is_empty() {
        return Err("no thread count was given: write for example 1,2,4-8,2x".to_owned());
    }
    Ok(sorted(counts))
}

fn one(word: &str, cpus: usize) -> Result<usize, String> {
    let form = "write a number, a range such as 1-8, or a multiple of the CPUs such as 2x";
    let count = match word.strip_suffix('x') {
        Some(multiple) => {
            let multiple: f64 =
                multiple.parse().map_err(|_| format!("'{word}' is no thread count: {form}"))?;
            if !multiple.is_finite() || multiple <= 0.0 {
                return Err(format!("'{word}' threads cannot be run: the least is 1"));
            }
            times(multiple, cpus)
        }
        None => word.parse().map_err(|_| format!("'{word}' is no thread count: {form}"))?,
    };
    match count {
        0 => Err(format!("'{word}' threads cannot be run: the least is 1")),
        count if count > MOST => Err(format!("'{word}' is too many threads: the most is {MOST}")),
        count => Ok(count),
    }
}

fn times(multiple: f64, cpus: usize) -> usize {
    ((multiple * cpus as f64).round() as usize).max(1)
}

fn sorted(mut counts: Vec<usize>) -> Vec<usize> {
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_go_from_half_to_sixteen_times() {
        assert_eq!(default_counts(2, false), [1, 2, 4, 8, 16, 32]);
        assert_eq!(default_counts(1, false), [1, 2, 4, 8, 16]);
        assert_eq!(default_counts(64, false), [1, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(default_counts(2, true), [1, 2, 4, 32]);
    }

    #[test]
    fn numbers_ranges_steps_and_multiples() {
        assert_eq!(parse("4,1,2", 2), Ok(vec![1, 2, 4]));
        assert_eq!(parse("1-4", 2), Ok(vec![1, 2, 3, 4]));
        assert_eq!(parse("8-32:8,2x,0.5x", 2), Ok(vec![1, 4, 8, 16, 24, 32]));
    }

    #[test]
    fn absurd_counts_are_refused_by_name() {
        for (list, part) in [
            ("0", "least is 1"),
            ("0x", "least is 1"),
            ("-3", "no thread count"),
            ("5000", "most is 4096"),
            ("4000x", "most is 4096"),
            ("99999999999999999999", "no thread count"),
            ("many", "no thread count"),
            ("8-4", "goes down"),
            ("1-8:0", "step"),
            ("4:2", "no range"),
            ("", "no thread count"),
        ] {
            let error = parse(list, 2).expect_err(list);
            assert!(error.contains(part) && !error.contains('\n'), "{list}: {error}");
        }
    }
}
