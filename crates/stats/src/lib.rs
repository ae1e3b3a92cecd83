//! Statistics of a benchmark: intervals, tests, ranks, fronts, distributions,
//! agreement, a mixed model and a power helper.
//!
//! Everything here is a pure function of its arguments. The only randomness
//! is NumPy's PCG64 stream, started anew from a fixed seed for every
//! interval, so the same input gives the same figures on every machine.
//!
//! This crate never reads files, clocks or environment variables, keeps no
//! global state, and knows nothing of cases, submissions or any other word
//! of the domain: callers hand in numbers and keys.
//!
//! One subject per module:
//!
//! | module | subject |
//! | --- | --- |
//! | [`seed`], [`pcg64`] | NumPy's `SeedSequence` and `PCG64`, bit for bit |
//! | [`bootstrap`] | percentile interval of a mean |
//! | [`paired`], [`pairwise`], [`holm`] | differences of configurations on common keys |
//! | [`unpaired`] | differences of stated rates (Bernoulli panel) |
//! | [`flips`], [`mcnemar`] | binary outcomes under two conditions |
//! | [`proportion`] | Wilson and Clopper-Pearson intervals |
//! | [`rank`], [`pareto`] | order of rows, efficient rows |
//! | [`percentile`], [`distribution`], [`histogram`] | distributions |
//! | [`attempts`], [`groups`] | spread within a unit, leave-one-group-out |
//! | [`agreement`] | Krippendorff's alpha, Jaccard, coverage and F1 |
//! | [`mixed`] | logistic regression with crossed random intercepts |
//! | [`power`] | smallest difference that the paired test detects |

pub mod agreement;
pub mod attempts;
pub mod bootstrap;
pub mod distribution;
pub mod flips;
pub mod groups;
pub mod histogram;
pub mod holm;
pub mod mcnemar;
pub mod mixed;
pub mod paired;
pub mod pairwise;
pub mod pareto;
pub mod pcg64;
pub mod percentile;
pub mod power;
pub mod proportion;
pub mod rank;
pub mod seed;
pub mod special;
pub mod summary;
pub mod unpaired;

/// Two-sided 95% quantile of the standard normal distribution, as f64.
pub const Z_95: f64 = 1.959_963_984_540_054;
