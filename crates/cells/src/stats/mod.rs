//! The statistics of all front ends: measurements of one thing ([`Summary`] by their middle, [`Estimate`] by
//! their mean), how one is to another ([`Ratio`]), and the systems that fits come to ([`solve`]).
mod ratio;
mod summary;

pub use ratio::{MARKS, PAIRS_ENOUGH, Ratio, Sides};
pub use summary::{
    Estimate, Summary, are_two_kinds, jain, median, median_error, median_interval, or_infinite_each,
    short_percent, solve,
};

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact in binary")]
mod tests;
