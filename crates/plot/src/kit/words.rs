//! How figures put numbers into words: the same rounding everywhere.

use faultboard_domain::rounding;
use faultboard_domain::score::Estimate;
use faultboard_domain::view::Difference;

use crate::figure::percent;

/// A share as a percentage with one digit, or a dash.
pub(crate) fn share(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or_else(|| "–".to_owned(), percent)
}

/// A difference of shares in points, with its sign: `+3.6`, `−1.2`, `0.0`.
pub(crate) fn points(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or_else(|| "–".to_owned(), rounding::points)
}

/// A number with its sign, in so many digits; what rounds to zero has none.
pub(crate) fn signed(value: f64, digits: usize) -> String {
    rounding::signed(value, digits)
}

/// `p = 0.012`, `p < 0.001`.
pub(crate) fn p_value(p: Option<f64>) -> String {
    p.filter(|p| p.is_finite()).map_or_else(
        || "p unknown".to_owned(),
        |p| format!("p {}", rounding::p_equals(p)),
    )
}

/// A p alone in a column.
pub(crate) fn p_alone(p: Option<f64>) -> String {
    p.filter(|p| p.is_finite())
        .map_or_else(|| "–".to_owned(), rounding::p_value)
}

/// `(95 % interval 41.2 to 68.0)` with a blank in front, or nothing.
pub(crate) fn interval(ci95: Option<(f64, f64)>, show: fn(Option<f64>) -> String) -> String {
    ci95.map_or_else(String::new, |(low, high)| {
        format!(
            " (95 % interval {} to {})",
            show(Some(low)),
            show(Some(high))
        )
    })
}

/// `54.3 % (95 % interval 41.2 to 68.0) of 28 cases`.
pub(crate) fn estimate(e: &Estimate) -> String {
    format!(
        "{} %{} of {}",
        share(Some(e.mean)),
        interval(e.ci95, share),
        crate::figure::plural(e.n as usize, "case", "cases")
    )
}

/// `+3.6 points (95 % interval −2.0 to +9.0), p = 0.210, on 28 cases`.
pub(crate) fn difference(d: &Difference) -> String {
    format!(
        "{} points{}, {}, on {}",
        points(Some(d.mean)),
        interval(d.ci95, points),
        p_value(d.p),
        crate::figure::plural(d.n as usize, "case", "cases")
    )
}

/// A count in few letters: `950`, `12.3k`, `2.46M`.
pub(crate) fn short(value: f64) -> String {
    let a = value.abs();
    if a >= 1e9 {
        format!("{:.2}G", value / 1e9)
    } else if a >= 1e6 {
        format!("{:.2}M", value / 1e6)
    } else if a >= 1e4 {
        format!("{:.0}k", value / 1e3)
    } else if a >= 1e3 {
        format!("{:.1}k", value / 1e3)
    } else if a >= 10.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else if a >= 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_words() {
        assert_eq!(
            [0.036, -0.012, 0.000_01, -0.000_01].map(|v| points(Some(v))),
            ["+3.6", "−1.2", "0.0", "0.0"]
        );
        assert_eq!(points(None), "–");
        assert_eq!(p_value(Some(0.0004)), "p < 0.001");
        assert_eq!(
            [950.0, 1_234.0, 12_345.0, 2_460_000.0, 0.5].map(short),
            ["950", "1.2k", "12k", "2.46M", "0.50"]
        );
    }
}
