//! How often somebody may try to sign in: a token bucket per address and one
//! per account. Memory is bounded however many addresses try.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use faultboard_domain::view::QuotaView;
use faultboard_domain::{Clock, Timestamp};

use super::fault::Fault;
use axum::http::{HeaderMap, HeaderValue, StatusCode};

/// The most buckets kept; beyond them newcomers share one.
const MOST: usize = 20_000;
/// The bucket of newcomers when there is no room.
const SHARED: &str = "*";

#[derive(Clone, Copy)]
struct Bucket {
    /// Tries left, in thousandths.
    left: i64,
    /// When that was so.
    at: Timestamp,
}

/// Tells an account's quota in the headers of an answer, in the form of the
/// IETF's draft "RateLimit header fields for HTTP": allowed per window, and left.
pub(super) fn tell_quota(headers: &mut HeaderMap, quota: &QuotaView) {
    let (Some(most), Some(left)) = (quota.allowed, quota.left()) else {
        return;
    };
    let pairs = [
        ("ratelimit-policy", format!("\"scorings\";q={most};w=86400")),
        ("ratelimit", format!("\"scorings\";r={left}")),
    ];
    for (name, value) in pairs {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

/// The buckets.
pub(super) struct Rates {
    clock: Arc<dyn Clock>,
    per_minute: i64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Rates {
    pub(super) fn new(clock: Arc<dyn Clock>, per_minute: u32) -> Self {
        Self {
            clock,
            per_minute: i64::from(per_minute.max(1)),
            buckets: Mutex::default(),
        }
    }

    /// Takes one try for each of the keys; the error says when to come again.
    pub(super) fn take(&self, keys: &[String]) -> Result<(), Fault> {
        let wait = keys.iter().filter_map(|k| self.take_one(k)).max();
        let Some(seconds) = wait else { return Ok(()) };
        Err(Fault {
            retry_after: Some(seconds),
            ..Fault::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("Too many tries. Wait {seconds} seconds, then try again."),
            )
        })
    }

    /// Takes one try; seconds to wait if there is none.
    fn take_one(&self, key: &str) -> Option<u64> {
        let now = self.clock.now();
        let full = self.per_minute * 1_000;
        // Thousandths of a try that come back in a millisecond, times 60.
        let refill = |b: Bucket| {
            let back = now.since_ms(b.at).max(0).saturating_mul(self.per_minute) / 60;
            full.min(b.left.saturating_add(back))
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(key) {
            buckets.retain(|_, b| refill(*b) < full);
        }
        let key = if buckets.len() >= MOST && !buckets.contains_key(key) {
            SHARED
        } else {
            key
        };
        let left = buckets.get(key).map_or(full, |b| refill(*b));
        if left < 1_000 {
            let missing = 1_000 - left;
            let whole = u64::try_from(missing * 60).unwrap_or(0);
            let ms = whole.div_ceil(self.per_minute.unsigned_abs());
            return Some(ms.div_ceil(1_000).max(1));
        }
        buckets.insert(
            key.to_owned(),
            Bucket {
                left: left - 1_000,
                at: now,
            },
        );
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::clock::ManualClock;

    fn rates(per_minute: u32) -> (Arc<ManualClock>, Rates) {
        let clock = Arc::new(ManualClock::at(Timestamp(0)));
        (clock.clone(), Rates::new(clock, per_minute))
    }

    #[test]
    fn tries_run_out_and_come_back() {
        let (clock, rates) = rates(3);
        let key = ["a".to_owned()];
        for _ in 0..3 {
            assert!(rates.take(&key).is_ok());
        }
        let refused = rates.take(&key).unwrap_err();
        assert_eq!(refused.retry_after, Some(20));
        assert!(rates.take(&["b".to_owned()]).is_ok());
        clock.advance_ms(19_000);
        assert!(rates.take(&key).is_err());
        clock.advance_ms(1_000);
        assert!(rates.take(&key).is_ok());
        assert!(rates.take(&key).is_err());
    }

    #[test]
    fn memory_is_bounded() {
        let (clock, rates) = rates(2);
        for n in 0..(MOST + 500) {
            let _ = rates.take(&[format!("{n}")]);
        }
        assert!(rates.buckets.lock().unwrap().len() <= MOST + 1);
        // The newcomers share a bucket until old ones are full again.
        assert!(rates.take(&["late".to_owned()]).is_err());
        clock.advance_ms(60_000);
        assert!(rates.take(&["late".to_owned()]).is_ok());
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing_away() {
        let (clock, rates) = rates(1);
        assert!(rates.take(&["a".to_owned()]).is_ok());
        clock.advance_ms(-3_600_000);
        assert!(rates.take(&["a".to_owned()]).is_err());
    }
}
