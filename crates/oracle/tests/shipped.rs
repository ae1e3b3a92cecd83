//! Shipped cases, proven in both directions in real containers. The teaching
//! case needs no registry and is proven always; `FAULTBOARD_PROVE_CASES` names
//! others (comma-separated, or `all`), which need a network for their set-up
//! and take minutes. `FAULTBOARD_CA_BUNDLE` is trusted there.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_catalog::Catalog;
use faultboard_domain::clock::SystemClock;
use faultboard_oracle::proof::ProofRequest;
use faultboard_oracle::{Oracle, OracleCase, OracleSettings};
use faultboard_sandbox::{CancellationToken, DockerConfig, DockerRuntime, Labels, Runtime};

const ALWAYS: &str = "relay-1";

fn announce(text: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "{text}").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn shipped_cases_are_proven() {
    let config = DockerConfig {
        disk_reserve: 0,
        ..Default::default()
    };
    let runtime: Arc<dyn Runtime> = match DockerRuntime::connect(config).await {
        Ok(runtime) => Arc::new(runtime),
        Err(e) => {
            assert!(
                !std::env::var("FAULTBOARD_REQUIRE_RUNTIMES").is_ok_and(|v| v.contains("docker")),
                "{e}"
            );
            announce(&format!("NOT TESTED: proofs of shipped cases: {e}"));
            return;
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let (catalog, _) = Catalog::load(&root.join("cases"), &root.join("cases-solution")).unwrap();
    let wanted = std::env::var("FAULTBOARD_PROVE_CASES").unwrap_or_default();
    let data = tempfile::tempdir().unwrap();
    let mut settings = OracleSettings::new(data.path());
    settings.ca_bundle = std::env::var_os("FAULTBOARD_CA_BUNDLE").map(PathBuf::from);
    let oracle = Oracle::new(runtime, settings, Arc::new(SystemClock));
    let mut proven = 0;
    for entry in catalog.cases() {
        let id = entry.case.id.as_str();
        if id != ALWAYS && wanted != "all" && !wanted.split(',').any(|w| w.trim() == id) {
            continue;
        }
        let case = OracleCase::from_entry(entry, catalog.library());
        let labels = Labels {
            instance: format!("shipped-{}", std::process::id()),
            job: id.into(),
            lease: "1".into(),
        };
        let request = ProofRequest {
            solution: &entry.solution.diff,
            times: if id == ALWAYS { 1 } else { 3 },
            labels,
            cancel: CancellationToken::new(),
            progress: None,
        };
        let proof = oracle.verify_case(&case, &request).await.unwrap();
        assert!(proof.holds(), "{id}: {:?}\n{:#?}", proof.problems, proof);
        announce(&format!(
            "{id}: FAIL {} of {} ({}), PASS {} of {} ({})",
            proof.faulty.agreed,
            proof.times,
            proof.faulty.result.reason,
            proof.solved.agreed,
            proof.times,
            proof.solved.result.reason
        ));
        proven += 1;
    }
    assert!(proven > 0);
}
