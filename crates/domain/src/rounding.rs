//! How numbers are rounded and printed: the one place for tables, figures,
//! remarks and downloads that people read, so that the same number reads the
//! same wherever it stands. Never decides what a number means.

/// A fraction as per cent with one decimal, without the sign: `0.679` is `67.9`.
pub fn percent(fraction: f64) -> String {
    format!("{:.1}", clean(fraction * 100.0, 1))
}

/// A difference of fractions in points with one decimal and its sign: `+3.6`, `−1.2`, `0.0`.
pub fn points(fraction: f64) -> String {
    signed(fraction * 100.0, 1)
}

/// A number with its sign, a true minus, and no sign on zero.
pub fn signed(value: f64, decimals: usize) -> String {
    let value = clean(value, decimals);
    let text = format!("{:.decimals$}", value.abs());
    if value > 0.0 {
        format!("+{text}")
    } else if value < 0.0 {
        format!("\u{2212}{text}")
    } else {
        text
    }
}

/// A number with fixed decimals and thin groups of three: `12 345.6`.
pub fn number(value: f64, decimals: usize) -> String {
    let value = clean(value, decimals);
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(w, r)| (w, Some(r)));
    let mut out = String::with_capacity(text.len() + 4);
    if value < 0.0 {
        out.push('\u{2212}');
    }
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A p value with three decimals, `<0.001` below what those show.
pub fn p_value(p: f64) -> String {
    if p < 0.0005 {
        "<0.001".to_owned()
    } else {
        format!("{:.3}", clean(p.min(1.0), 3))
    }
}

/// The same after `p`: `= 0.031`, `< 0.001`.
pub fn p_equals(p: f64) -> String {
    let text = p_value(p);
    text.strip_prefix('<')
        .map_or_else(|| format!("= {text}"), |rest| format!("< {rest}"))
}

/// Rounds first, so that nothing prints as `-0.0`.
fn clean(value: f64, decimals: usize) -> f64 {
    let scale = 10f64.powi(i32::try_from(decimals).unwrap_or(0));
    let rounded = (value * scale).round() / scale;
    if rounded == 0.0 { 0.0 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_one_precision_and_one_zero() {
        assert_eq!(percent(0.679), "67.9");
        assert_eq!(percent(1.0), "100.0");
        assert_eq!(percent(-0.0001), "0.0");
        assert_eq!(points(0.036), "+3.6");
        assert_eq!(points(-0.0119), "\u{2212}1.2");
        assert_eq!(points(-0.0001), "0.0");
        assert_eq!(number(1_234_567.25, 1), "1\u{202f}234\u{202f}567.3");
        assert_eq!(number(-12.0, 0), "\u{2212}12");
    }

    #[test]
    fn halves_go_away_from_zero_and_p_never_reads_as_none() {
        // As f64 this is a little less than a half of the last digit.
        assert_eq!(percent(0.6725), "67.3");
        assert_eq!(points(-0.6725), "\u{2212}67.3");
        assert_eq!(p_value(0.0), "<0.001");
        assert_eq!(p_value(0.0005), "0.001");
        assert_eq!(p_value(0.0496), "0.050");
        assert_eq!(p_value(1.0), "1.000");
    }
}
