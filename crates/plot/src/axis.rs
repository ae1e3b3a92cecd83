//! Ticks: round numbers that fit a range.

/// Round ticks of a linear axis that cover `[low, high]` with about `about` steps.
/// The first is at or below `low`, the last at or above `high`.
pub(crate) fn linear(low: f64, high: f64, about: usize) -> Vec<f64> {
    let (low, high) = if high > low {
        (low, high)
    } else {
        (low - 0.5, low + 0.5)
    };
    let raw = (high - low) / about.max(1) as f64;
    let magnitude = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * magnitude)
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(10.0 * magnitude);
    let first = (low / step + 1e-9).floor();
    let last = (high / step - 1e-9).ceil();
    (first as i64..=last as i64)
        .map(|i| i as f64 * step)
        .collect()
}

/// Ticks of a logarithmic axis inside `[low, high]`, both above zero: 1, 2 and 5
/// of each decade, or only 1 where there are many decades.
pub(crate) fn logarithmic(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    let steps: &[f64] = if decades > 4.0 {
        &[1.0]
    } else {
        &[1.0, 2.0, 5.0]
    };
    let mut out = Vec::new();
    let first = low.log10().floor() as i32;
    let last = high.log10().ceil() as i32;
    for exponent in first..=last {
        for step in steps {
            let value = step * 10_f64.powi(exponent);
            if value >= low * 0.999_999 && value <= high * 1.000_001 {
                out.push(value);
            }
        }
    }
    out
}

/// The range of a logarithmic axis around values: a little wider, to a tick below
/// and above, and never less than one step from 1 to 5.
pub(crate) fn log_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
    if !(low.is_finite() && low > 0.0 && high > 0.0) {
        return (0.1, 10.0);
    }
    let (low, high) = (low / 1.25, high * 1.25);
    if high / low < 5.0 {
        let middle = low.sqrt() * high.sqrt();
        return (middle / 2.3, middle * 2.3);
    }
    (low, high)
}

/// A number of dollars without superfluous zeros.
pub(crate) fn dollars(value: f64) -> String {
    if value >= 1000.0 {
        return format!("{:.0}k", value / 1000.0);
    }
    // Enough digits for 1, 2 and 5 of any decade.
    let digits = (-value.log10()).ceil().clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_cover_and_are_round() {
        assert_eq!(
            linear(0.42, 0.83, 5),
            [0.4, 0.5, 0.6, 0.7, 0.8, 0.9].map(|v: f64| (v * 10.0).round() * 0.1)
        );
        assert_eq!(linear(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert!(linear(5.0, 5.0, 4).len() >= 2);
    }

    #[test]
    fn log_ticks_and_ranges() {
        assert_eq!(
            logarithmic(0.09, 2.1)
                .iter()
                .map(|v| dollars(*v))
                .collect::<Vec<_>>(),
            ["0.1", "0.2", "0.5", "1", "2"]
        );
        assert_eq!(logarithmic(1e-3, 1e3).len(), 7);
        let (low, high) = log_range([2.0].into_iter());
        assert!(low < 2.0 && high > 2.0 && high / low > 5.0);
        assert!(logarithmic(low, high).len() >= 2);
        assert_eq!(log_range(std::iter::empty()), (0.1, 10.0));
    }

    #[test]
    fn dollar_labels() {
        assert_eq!(
            [0.005, 0.2, 1.0, 50.0, 2000.0].map(dollars),
            ["0.005", "0.2", "1", "50", "2k"]
        );
    }
}
