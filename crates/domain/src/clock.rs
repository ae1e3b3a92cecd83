//! Time as a value: instants are milliseconds since 1970, and the clock is injected.

use serde::{Deserialize, Serialize};

/// An instant, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This instant plus milliseconds (negative: before it), saturating.
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this instant.
    pub const fn since_ms(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// ISO 8601 in UTC to the second, `2026-11-30T09:05:00Z`; years outside
    /// 1..=9999 come out as the raw number of milliseconds.
    pub fn iso(self) -> String {
        match time::OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000)) {
            Ok(t) => format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
                t.year(),
                u8::from(t.month()),
                t.day(),
                t.hour(),
                t.minute(),
                t.second()
            ),
            Err(_) => format!("{} ms", self.0),
        }
    }

    /// The date in UTC, `2026-11-30`.
    pub fn date(self) -> String {
        self.iso().chars().take(10).collect()
    }

    /// How long before `now` this was, for people: `just now`, `5 min ago`, `3 days ago`.
    pub fn relative_to(self, now: Timestamp) -> String {
        let s = now.since_ms(self) / 1000;
        match s {
            i64::MIN..=59 => "just now".to_owned(),
            60..=3599 => format!("{} min ago", s / 60),
            3600..=86_399 => format!("{} h ago", s / 3600),
            86_400..=172_799 => "1 day ago".to_owned(),
            _ => format!("{} days ago", s / 86_400),
        }
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.iso())
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
#[cfg(not(target_arch = "wasm32"))]
pub struct SystemClock;

#[cfg(not(target_arch = "wasm32"))]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Timestamp(since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// A clock that stands where it was set, for tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock(std::sync::atomic::AtomicI64);

impl ManualClock {
    /// A clock at this instant.
    pub fn at(t: Timestamp) -> Self {
        Self(std::sync::atomic::AtomicI64::new(t.0))
    }

    /// Moves the clock by milliseconds.
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(std::sync::atomic::Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_and_relative() {
        let t = Timestamp(1_796_000_000_123);
        assert_eq!(t.iso(), "2026-11-30T00:53:20Z");
        assert_eq!(t.relative_to(t.plus_ms(61_000)), "1 min ago");
        assert_eq!(t.relative_to(t.plus_ms(3 * 86_400_000)), "3 days ago");
        assert_eq!(Timestamp(-1).date(), "1969-12-31");
    }
}
