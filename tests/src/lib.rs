//! The harness of the end-to-end tests: the real binary with its own data
//! folder, a reader without scripts, a real browser, and bundles made on the
//! spot. It drives the product from outside and knows nothing of its inside.

pub mod axe;
pub mod browser;
pub mod bundle;
pub mod crawl;
pub mod disk;
pub mod journey;
pub mod leaks;
pub mod machine;
pub mod reader;
pub mod server;
pub mod tus;
pub mod walk;

pub use anyhow::{Context, Result, bail, ensure};

/// Waits until the answer is there: asks every quarter of a second, for at
/// most `seconds`; the error names what was awaited.
pub async fn wait_for<T, F>(what: &str, seconds: u64, mut ask: F) -> Result<T>
where
    F: AsyncFnMut() -> Result<Option<T>>,
{
    let begun = std::time::Instant::now();
    loop {
        if let Some(answer) = ask().await? {
            return Ok(answer);
        }
        if begun.elapsed().as_secs() >= seconds {
            bail!("waited {seconds} s for {what}, in vain");
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}

/// Names the library that clients use for TLS. The tests speak plain HTTP, but
/// no client is made before there is one.
pub fn name_tls_provider() {
    // A second call changes nothing and says so by an error.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
