//! Counts of requests and their times, for `/metrics`.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;

/// Upper ends of the time classes, in milliseconds.
const CLASSES_MS: [u64; 8] = [5, 20, 50, 100, 250, 1_000, 5_000, 30_000];

/// The counters.
#[derive(Default)]
pub(super) struct Meter {
    by_status: [AtomicU64; 6],
    by_time: [AtomicU64; CLASSES_MS.len() + 1],
    micros: AtomicU64,
}

impl Meter {
    /// Counts one answer and the time to its head.
    pub(super) fn count(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).min(5);
        self.by_status[class].fetch_add(1, Ordering::Relaxed);
        let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let slot = CLASSES_MS
            .iter()
            .position(|c| ms <= *c)
            .unwrap_or(CLASSES_MS.len());
        self.by_time[slot].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The counters in Prometheus's text form.
    pub(super) fn text(&self) -> String {
        let mut out = String::from(
            "# HELP faultboard_http_requests_total Answers by class of status.\n# TYPE faultboard_http_requests_total counter\n",
        );
        // Writing to a String can't fail.
        for class in 1..=5 {
            let n = self.by_status[class].load(Ordering::Relaxed);
            let _ = writeln!(
                out,
                "faultboard_http_requests_total{{class=\"{class}xx\"}} {n}"
            );
        }
        out.push_str(
            "# HELP faultboard_http_seconds Time until the head of an answer.\n# TYPE faultboard_http_seconds histogram\n",
        );
        let mut sum = 0;
        for (slot, ms) in CLASSES_MS.iter().enumerate() {
            sum += self.by_time[slot].load(Ordering::Relaxed);
            let seconds = Duration::from_millis(*ms).as_secs_f64();
            let _ = writeln!(
                out,
                "faultboard_http_seconds_bucket{{le=\"{seconds}\"}} {sum}"
            );
        }
        sum += self.by_time[CLASSES_MS.len()].load(Ordering::Relaxed);
        let seconds = Duration::from_micros(self.micros.load(Ordering::Relaxed)).as_secs_f64();
        let _ = write!(
            out,
            "faultboard_http_seconds_bucket{{le=\"+Inf\"}} {sum}\nfaultboard_http_seconds_sum {seconds}\nfaultboard_http_seconds_count {sum}\n"
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up() {
        let meter = Meter::default();
        meter.count(StatusCode::OK, Duration::from_millis(3));
        meter.count(StatusCode::NOT_FOUND, Duration::from_secs(60));
        let text = meter.text();
        assert!(text.contains("{class=\"2xx\"} 1\n"));
        assert!(text.contains("{class=\"4xx\"} 1\n"));
        assert!(text.contains("{le=\"0.005\"} 1\n"));
        assert!(text.contains("{le=\"30\"} 1\n"));
        assert!(text.contains("{le=\"+Inf\"} 2\n"));
    }
}
