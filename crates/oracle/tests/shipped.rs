//! Shipped cases, proven in real containers, once in each direction: the quickest
//! of every language, so that no kind of set-up, build and oracle goes untested.
//! The teaching case needs nothing but an image; the others need a network for
//! their set-up, and are skipped aloud where `FAULTBOARD_CA_BUNDLE` and the
//! network are of no use. The whole proof of every case is `faultboard case
//! verify --all`. `FAULTBOARD_PROVE_CASES` names other cases (comma-separated).

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_catalog::Catalog;
use faultboard_domain::CaseId;
use faultboard_domain::clock::SystemClock;
use faultboard_oracle::{Oracle, OracleCase, OracleSettings, ProofRequest};
use faultboard_sandbox::{DockerConfig, DockerRuntime, Labels, Runtime};

/// What is proven here: the quickest case of every language that the catalog
/// has, and the teaching case. Times are those of one direction each on two cores.
const PROVEN: &[&str] = &[
    "relay-1",            // Python, no network
    "pysyncobj-169",      // Python
    "raft-rs-76",         // Rust
    "mosquitto-197",      // C
    "hashicorp-raft-460", // Go
    "ra-340",             // Erlang
    "zk-4925",            // Java
];

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
    let catalog = catalog();
    let named = std::env::var("FAULTBOARD_PROVE_CASES").unwrap_or_default();
    let named: Vec<&str> = named
        .split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty())
        .collect();
    let wanted = if named.is_empty() { PROVEN } else { &named };
    let data = tempfile::tempdir().unwrap();
    let mut settings = OracleSettings::new(data.path());
    settings.ca_bundle = std::env::var_os("FAULTBOARD_CA_BUNDLE").map(PathBuf::from);
    let oracle = Oracle::new(runtime, settings, Arc::new(SystemClock));
    for id in wanted {
        let entry = catalog.case(&CaseId::parse(id).unwrap()).unwrap();
        let case = OracleCase::from_entry(entry, catalog.library());
        let labels = Labels {
            instance: format!("shipped-{}", std::process::id()),
            job: (*id).into(),
            lease: "1".into(),
        };
        let mut request = ProofRequest::of(entry, 1, labels);
        request.variant_times = 0;
        let began = std::time::Instant::now();
        let proof = oracle.verify_case(&case, &request).await.unwrap();
        assert!(proof.holds(), "{id}: {:?}\n{:#?}", proof.problems, proof);
        announce(&format!(
            "{id} ({}): {}, in {:.0} s",
            entry.case.language,
            proof.status,
            began.elapsed().as_secs_f64()
        ));
    }
}

#[test]
fn every_language_of_the_catalog_is_proven() {
    let catalog = catalog();
    let language = |id: &str| {
        let entry = catalog.case(&CaseId::parse(id).unwrap());
        entry
            .unwrap_or_else(|| panic!("{id} is no case"))
            .case
            .language
            .clone()
    };
    let proven: BTreeSet<String> = PROVEN.iter().map(|id| language(id)).collect();
    let all: BTreeSet<String> = catalog.cases().map(|e| e.case.language.clone()).collect();
    assert_eq!(proven, all, "name a quick case of each in `PROVEN`");
}

fn catalog() -> Catalog {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    Catalog::load(&root.join("cases"), &root.join("cases-solution"))
        .unwrap()
        .0
}
