//! Sizes, counts and spans of time as text, beside the numbers that
//! [`faultboard_domain::rounding`] prints. Every function has one precision,
//! so that a column of its results lines up. Never decides what a number means.

pub use faultboard_domain::rounding::{number, p_equals, p_value, percent, points, signed};

/// What stands where a value is missing.
pub const UNKNOWN: &str = "unknown";

/// A count with thin groups of three.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts on pages stay far below 2^53"
)]
pub fn count(n: u64) -> String {
    number(n as f64, 0)
}

/// A count with its noun: `1 case`, `14 cases`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// US dollars with two decimals, without the sign of the currency.
pub fn usd(value: f64) -> String {
    number(value, 2)
}

/// Bytes in the unit that leaves one to three digits before the point: `1.5 MiB`.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{n} B")
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A span of time for people: `0.4 s`, `38 s`, `4 min`, `1 h 20 min`, `2 d 3 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return UNKNOWN.to_owned();
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above; as saturates"
    )]
    let s = seconds.round() as u64;
    match s {
        0..=119 => format!("{s} s"),
        120..=3_599 => format!("{} min", (s + 30) / 60),
        3_600..=172_799 => format!("{} h {} min", s / 3_600, s % 3_600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3_600),
    }
}

/// Tokens in thousands or millions: `812`, `41.3 k`, `1.2 M`.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn tokens(n: u64) -> String {
    match n {
        0..=999 => n.to_string(),
        1_000..=999_999 => format!("{:.1} k", n as f64 / 1e3),
        _ => format!("{:.1} M", n as f64 / 1e6),
    }
}

/// How far scoring is: `12 of 56 attempts have a result · about 4 min left`.
pub fn progress(done: u32, total: u32, eta_s: Option<u64>) -> String {
    let left = eta_s.filter(|_| done < total).map(|s| {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let s = s as f64;
        format!(" · about {} left", duration(s))
    });
    format!(
        "{} of {} have a result{}",
        count(u64::from(done)),
        counted(u64::from(total), "attempt", "attempts"),
        left.unwrap_or_default()
    )
}

/// The first characters of a digest, with or without its `sha256:`.
pub fn short_digest(digest: &str) -> String {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    hex.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_read_well() {
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1_572_864), "1.5 MiB");
        assert_eq!(duration(0.42), "0.4 s");
        assert_eq!(duration(119.0), "119 s");
        assert_eq!(duration(4_800.0), "1 h 20 min");
        assert_eq!(duration(f64::NAN), UNKNOWN);
        assert_eq!(tokens(41_300), "41.3 k");
        assert_eq!(short_digest("sha256:0123456789abcdef"), "0123456789ab");
    }
}
