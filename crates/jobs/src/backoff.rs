//! Capped exponential back-off with jitter. Pure: the caller brings the randomness.

/// The waiting rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The wait after the first failure, in milliseconds.
    pub base_ms: i64,
    /// The longest wait, in milliseconds.
    pub cap_ms: i64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            base_ms: 2_000,
            cap_ms: 300_000,
        }
    }
}

impl Backoff {
    /// The wait after the `tries`-th failure (from 1), between half of the
    /// doubled base and all of it. `random` lies in [0, 1).
    pub fn wait_ms(&self, tries: u32, random: f64) -> i64 {
        let doubled = self.base_ms.saturating_mul(
            1_i64
                .checked_shl(tries.saturating_sub(1).min(40))
                .unwrap_or(i64::MAX),
        );
        let full = doubled.clamp(0, self.cap_ms);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "milliseconds far below 2^52"
        )]
        let jitter = (full as f64 / 2.0 * random.clamp(0.0, 1.0)) as i64;
        full / 2 + jitter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap() {
        let b = Backoff {
            base_ms: 1000,
            cap_ms: 5000,
        };
        let waits: Vec<i64> = (1..=5).map(|t| b.wait_ms(t, 1.0)).collect();
        assert_eq!(waits, [1000, 2000, 4000, 5000, 5000]);
        assert_eq!(b.wait_ms(1, 0.0), 500);
        assert!(b.wait_ms(u32::MAX, 0.5) <= 5000);
    }
}
