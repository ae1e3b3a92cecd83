//! Byte sizes as people write them in settings (`2GiB`, `64 KiB`, `1048576`),
//! and how they are shown. Binary units only, so that nothing is ambiguous.

const UNITS: [(&str, u64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Parses a whole number of bytes, with or without a unit.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, factor)| {
            let cut = text.len().checked_sub(name.len())?;
            let tail = text.get(cut..)?;
            tail.eq_ignore_ascii_case(name)
                .then(|| (text.get(..cut).unwrap_or_default().trim_end(), *factor))
        })
        .unwrap_or((text, 1));
    digits
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(unit))
        .ok_or_else(|| {
            format!(
                "`{text}` is not a size: write whole bytes, or a number with KiB, MiB, GiB or TiB"
            )
        })
}

/// Shows a size with the largest unit that leaves at least 1, to one decimal.
pub(crate) fn show(bytes: u64) -> String {
    for (name, factor) in UNITS {
        if bytes >= factor && factor > 1 {
            let tenths = u128::from(bytes) * 10 / u128::from(factor);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_with_and_without_units() {
        assert_eq!(parse("2GiB"), Ok(2 << 30));
        assert_eq!(parse(" 64 kib "), Ok(64 << 10));
        assert_eq!(parse("12"), Ok(12));
        assert_eq!(parse("7B"), Ok(7));
        for bad in ["", "GiB", "-1", "1.5GiB", "2GB", "99999999999TiB", "é"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_show_their_largest_unit() {
        assert_eq!(show(1023), "1023 B");
        assert_eq!(show(1536), "1.5 KiB");
        assert_eq!(show(u64::MAX), "16777215.9 TiB");
    }
}
