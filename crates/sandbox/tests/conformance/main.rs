//! The sandbox contract as checks, run on every backend. A backend that this
//! machine lacks is announced on the terminal, past the test harness's capture;
//! `FAULTBOARD_REQUIRE_RUNTIMES=docker,bubblewrap` makes its absence a failure.

mod checks;
#[path = "../lab/mod.rs"]
mod lab;
mod own_swarm;
mod target;

use std::io::Write as _;

use target::Target;

/// Writes past the harness's capture, so that it is seen when all passes too.
fn announce(text: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "{text}").unwrap();
}

fn required(runtime: &str) -> bool {
    std::env::var("FAULTBOARD_REQUIRE_RUNTIMES")
        .is_ok_and(|v| v.split(',').any(|w| w.trim() == runtime))
}

/// Checks look at the host's processes, so backends take turns.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn suite(target: &Target) {
    let _turn = TURN.lock().await;
    let mut ran = 0;
    for (name, check) in checks::ALL {
        if target.fake && !checks::PORTABLE.contains(name) {
            continue;
        }
        let started = std::time::Instant::now();
        check(target).await;
        ran += 1;
        announce(&format!(
            "{:>10}: {name} ({:.1} s)",
            target.runtime.name(),
            started.elapsed().as_secs_f64()
        ));
    }
    let left = target.left_behind().await;
    assert!(left.is_empty(), "left behind: {left:?}");
    announce(&format!(
        "{:>10}: {ran} checks of the contract hold",
        target.runtime.name()
    ));
}

async fn run_if_there(name: &str, target: Result<Target, String>) {
    match target {
        Ok(target) => suite(&target).await,
        Err(why) => {
            assert!(
                !required(name),
                "{name} is required but not available: {why}"
            );
            announce(&format!(
                "NOT TESTED: the {name} runtime is not available on this machine: {why}"
            ));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn docker_keeps_the_contract() {
    run_if_there("docker", Target::docker().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bubblewrap_keeps_the_contract() {
    run_if_there("bubblewrap", Target::bubblewrap().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn swarm_keeps_the_contract() {
    run_if_there("swarm", Target::swarm().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fake_keeps_the_contract() {
    suite(&Target::fake()).await;
}
