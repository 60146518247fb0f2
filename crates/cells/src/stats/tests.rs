//! Means, intervals and ratios that can be worked out by hand.
use super::summary::student;
use super::*;

#[test]
fn unpaired_rounds_have_welchs_interval() {
    let [own, other] = [[1.0_f64, 2.0, 3.0], [0.0, 0.5, 1.0]].map(|logs| logs.map(f64::exp));
    // Means differ by 1.5; the variance of that is 1/3 + 0.25/3, with 2.94 degrees of freedom, taken as
    // 2.
    let ratio = Ratio::of_unpaired(&[(&own, &other)]).expect("a ratio");
    let half = 4.303 * (1.25_f64 / 3.0).sqrt();
    let (low, high) = ratio.interval.expect("an interval");
    assert!((ratio.ratio.ln() - 1.5).abs() < 1e-12 && ratio.pairs == 3, "{ratio:?}");
    assert!((low.ln() - 1.5 + half).abs() < 1e-12 && (high.ln() - 1.5 - half).abs() < 1e-12, "{ratio:?}");
    let twice = Ratio::of_unpaired(&[(&own, &other), (&own, &other)]).expect("a ratio");
    assert!((twice.ends().1 - high).abs() < 1e-9, "the same rounds again tell nothing new: {twice:?}");
    assert_eq!(Ratio::of_unpaired(&[(&own, &other[..1])]).expect("a ratio").interval, None);
    assert_eq!(Ratio::of_unpaired(&[(&own, &[0.0])]), None);
    assert_eq!(Ratio::of_unpaired(&[]), None);
    let same = Ratio::of_unpaired(&[(&[2.0, 2.0], &[2.0, 2.0])]).expect("a ratio");
    assert_eq!(same.interval, Some((1.0, 1.0)));
}

#[test]
fn jain_s_index_knows_its_two_ends() {
    assert!((jain(&[7, 7, 7, 7]) - 1.0).abs() < 1e-12);
    assert!((jain(&[9, 0, 0, 0]) - 0.25).abs() < 1e-12);
    assert!((jain(&[]) - 1.0).abs() < 1e-12);
    assert!((jain(&[0, 0]) - 1.0).abs() < 1e-12);
}

#[test]
fn systems_are_solved() {
    let found = solve(vec![vec![4.0, 1.0], vec![1.0, 3.0]], vec![1.0, 2.0]);
    assert!((found[0] - 1.0 / 11.0).abs() < 1e-12 && (found[1] - 7.0 / 11.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn medians_of_odd_even_and_no_values() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    assert_eq!(median(&[]), 0.0);
}

#[test]
fn the_interval_of_a_median_is_exact_and_needs_six_values() {
    let counted = |count: u32| median_interval(&(1..=count).rev().map(f64::from).collect::<Vec<_>>());
    assert_eq!([counted(0), counted(1), counted(5)], [None; 3]);
    // What tables of the sign test have for 5 % on two sides.
    assert_eq!([counted(6), counted(8)], [Some((1.0, 6.0)), Some((1.0, 8.0))]);
    assert_eq!([counted(9), counted(10)], [Some((2.0, 8.0)), Some((2.0, 9.0))]);
    assert_eq!([counted(20), counted(100)], [Some((6.0, 15.0)), Some((40.0, 61.0))]);
    let (low, high) = counted(5000).expect("many");
    assert!((low - 2431.0).abs() <= 1.0 && (high - 2570.0).abs() <= 1.0, "{low} {high}");
    assert_eq!(median_error(&[0.02, -0.01, 0.03, -0.04, 0.05, 0.06], 1), "3.5 % (1.0–6.0)");
    assert_eq!(median_error(&[-0.5], 0), "50 % (one value)");
    assert_eq!(median_error(&[0.1, 0.3], 0), "20 % (too few for an interval)");
}

#[test]
fn a_summary_keeps_range_deviation_and_order() {
    let summary = Summary::of(vec![10.0, 8.0, 12.0, 10.0, 11.0]);
    assert_eq!((summary.median, summary.min, summary.max, summary.mad), (10.0, 8.0, 12.0, 1.0));
    assert_eq!(summary.rounds[1], 8.0);
    assert_eq!(summary.spread(), 0.2);
    for negative in [vec![-10.0, -8.0, -12.0, -10.0, -11.0], vec![0.0, 0.0, -10.0, 10.0, 10.0]] {
        assert!(Summary::of(negative.clone()).noise() < 2.0, "{negative:?}");
    }
}

#[test]
fn one_far_round_is_an_outlier_and_small_noise_is_not() {
    assert!(Summary::of(vec![10.0, 10.1, 9.9, 10.0, 5.0]).has_outlier());
    assert!(!Summary::of(vec![10.0, 10.1, 9.9, 10.0, 9.0]).has_outlier());
    assert!(!Summary::of(vec![10.0, 5.0]).has_outlier());
}

fn in_one_digit((from, to): (f64, f64)) -> String {
    format!("{from:.1}..{to:.1}")
}

#[test]
fn what_is_of_two_kinds_has_no_middle() {
    let told = |values: &[f64]| Summary::of(values.to_vec()).told(|value| format!("{value:.1}"));
    assert_eq!(told(&[2.0, 3.0, 8.0]), "2.0..8.0");
    assert_eq!(told(&[2.0, 2.1, 2.2]), "2.1 ±4.8%");
    assert_eq!(told(&[2.0, 2.9]), "2.5 ±18%");
    assert_eq!(told(&[2.0]), "2.0");
    assert_eq!(told(&[0.0, 0.0]), "0.0 ±0.0%", "what is the same is of one kind");
    assert_eq!(told(&[f64::INFINITY; 2]), "inf ±0.0%");
    let ratios = |loads: &[Sides]| Some(in_one_digit(Ratio::of(loads)?.range?));
    let (steady, both) = (([2.0, 2.0], [1.0, 1.0]), ([1.0, 4.0], [1.0, 1.0]));
    assert_eq!(ratios(&[(&steady.0, &steady.1)]), None);
    assert_eq!(ratios(&[(&steady.0, &steady.1), (&both.0, &both.1)]), None, "a mean over loads has a middle");
    assert_eq!(ratios(&[(&both.0, &both.0)]), None, "both sides are of them in the same rounds");
    assert_eq!(ratios(&[(&[400.0, 600.0], &[100.0, 100.0])]).as_deref(), Some("4.0..6.0"));
    assert_eq!((ratios(&[]), ratios(&[(&[], &[])])), (None, None));
    let told = |loads: &[Sides]| Ratio::of(loads).map(|ratio| ratio.to_string());
    assert_eq!(told(&[(&both.0, &both.1)]).as_deref(), Some("1.00..4.00"), "in place of the interval");
    assert_eq!(told(&[(&steady.0, &steady.1)]).as_deref(), Some("2.00 (2.00–2.00)"));
    let three = ([1.0, 4.0, 1.0], [1.0; 3]);
    let (undone, even) = (([2.0, 0.5, 2.0], [1.0; 3]), ([1.0, 1.4, 1.0], [1.0; 3]));
    let hidden = told(&[(&three.0, &three.1), (&undone.0, &undone.1)]);
    assert_eq!(hidden.as_deref(), Some("~1.41 (1.41–1.41)"), "two loads that undo each other");
    assert!(told(&[(&even.0, &even.1), (&even.0, &even.1)]).is_some_and(|told| told.starts_with("1.12 (")));
}

#[test]
fn rounds_without_pairs_are_of_two_kinds_if_those_of_a_load_are() {
    let ratios = |loads: &[Sides]| Some(in_one_digit(Ratio::of_unpaired(loads)?.range?));
    let (steady, both) = ([2.0, 2.2, 2.0], [1.0, 4.0]);
    assert_eq!(ratios(&[(&steady, &steady)]), None);
    assert_eq!(ratios(&[(&both, &steady)]).as_deref(), Some("0.5..2.0"));
    assert_eq!(ratios(&[(&[400.0, 600.0], &[100.0, 100.0])]).as_deref(), Some("4.0..6.0"));
    assert_eq!(ratios(&[(&steady, &both)]).as_deref(), Some("0.5..2.2"));
    assert_eq!(ratios(&[(&both, &both)]).as_deref(), Some("0.2..4.0"), "no round goes with another");
    let ones = [1.0; 3];
    let mixed = |rounds: &[f64]| {
        let ratio = Ratio::of_unpaired(&[(rounds, &ones), (&[2.0, 0.5, 2.0, 1.0], &ones)]).expect("a ratio");
        assert_eq!(ratio.range, None);
        ratio.mixed
    };
    assert!(mixed(&[1.0, 4.0, 1.0]), "loads that undo each other");
    assert!(mixed(&[1.0; 3]) && !mixed_alone(&[1.0, 1.4, 1.0]) && mixed_alone(&[1.0, 1.0, 1.0, 4.0]));
    assert_eq!((ratios(&[]), ratios(&[(&[], &[])])), (None, None));
}

/// Of three rounds beside others that may be more; with two loads that are the same.
fn mixed_alone(rounds: &[f64]) -> bool {
    let load: Sides = (rounds, &[1.0; 3]);
    Ratio::of_unpaired(&[load, load]).expect("a ratio").mixed
}

#[test]
fn what_is_decided_is_by_what_is_told() {
    let often = [0.9, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
    let both = Ratio::of(&[(&often, &[1.0; 7])]).expect("rounds");
    assert!(both.interval.is_some_and(|(low, _)| low > 1.0), "by its mean it would be clear: {both:?}");
    assert!(!both.is_clear() && both.may_be(1.0) && both.middle().is_none(), "{both}");
    assert_eq!((both.to_string().as_str(), both.ends()), ("0.90..2.00", both.range.expect("of two kinds")));
    let always = Ratio::of(&[(&[1.2, 2.0, 2.0, 2.0, 2.0], &[1.0; 5])]).expect("rounds");
    assert!(always.is_clear() && !always.may_be(1.0), "{always}");
}

#[test]
fn a_ratio_is_paired_within_rounds_and_told_with_its_interval_only() {
    // The machine becomes ten times slower in between, the ratio stays.
    let ratio = Ratio::of(&[(&[2.0, 20.0, 4.0, 2.0, 6.0], &[1.0, 10.0, 2.0, 1.0, 3.0])]).expect("rounds");
    assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.is_clear() && ratio.pairs == 5, "{ratio:?}");
    let four = Ratio::of_pairs(&[(2.0, 1.0); 4]).expect("pairs");
    assert!(!four.is_clear() && !four.may_be(1.0), "{four:?}");
    assert_eq!(ratio.told().as_deref(), Some("2.00 (2.00–2.00)"));
    let unclear = Ratio::of(&[(&[1.0, 1.4], &[1.0, 1.0])]).expect("rounds");
    assert!(!unclear.is_clear() && unclear.may_be(1.0), "{unclear:?}");
    let single = Ratio::of(&[(&[3.0], &[1.0])]).expect("a round");
    assert!(single.told().is_none() && !single.is_clear());
    assert_eq!(single.to_string(), "3.00 (one value)");
    assert_eq!(Ratio::of(&[(&[1.0], &[0.0])]), None);
    // Of two losses the larger one would be taken for the better.
    assert_eq!(Ratio::of(&[(&[-1.0], &[-2.0])]), None);
    assert_eq!(Ratio::of(&[(&[], &[])]), None);
    assert_eq!(Ratio::of(&[]), None);
}

#[test]
fn quantiles_fall_towards_the_normal_one_without_a_step() {
    let quantiles: Vec<f64> = (1..200).map(student).collect();
    assert!(quantiles.windows(2).all(|pair| pair[0] > pair[1]));
    assert!((student(60) - 2.000).abs() < 2e-3 && (student(120) - 1.980).abs() < 2e-3);
}

#[test]
fn the_interval_covers_the_truth_about_as_often_as_it_says() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut draw = || 1.0 + random.f64() + random.f64();
    let truth = ((0..1_000_000).map(|_| draw().ln()).sum::<f64>() / 1e6).exp();
    for rounds in [3, 5, 15] {
        let covered = (0..300).filter(|_| {
            let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (draw(), 1.0)).collect();
            Ratio::of_pairs(&pairs).is_some_and(|ratio| ratio.may_be(truth))
        });
        // 95 % of 300 is 285; a binomial with that mean is hardly ever below 270.
        let covered = covered.count();
        assert!((270..=300).contains(&covered), "{covered} of 300 with {rounds} rounds");
    }
}

#[test]
fn a_mean_has_its_range_and_interval() {
    let mean = Estimate::of(vec![8.0, 10.0, 12.0]);
    assert_eq!((mean.mean, mean.min, mean.max), (10.0, 8.0, 12.0));
    // s = 2, so 4.303 * 2 / sqrt 3.
    assert!((mean.ci95.expect("three values") - 4.9687).abs() < 1e-3);
    assert!((mean.relative().expect("positive") - 0.49687).abs() < 1e-4);
}

#[test]
fn one_value_has_no_interval_and_none_have_no_mean() {
    assert_eq!(Estimate::of(vec![5.0]).ci95, None);
    assert_eq!(Estimate::of(vec![]), Estimate { values: vec![], ..Estimate::default() });
    assert_eq!(Estimate::of(vec![0.0, 0.0]).relative(), None);
}
