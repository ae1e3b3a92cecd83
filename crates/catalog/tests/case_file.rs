//! `case.yaml`: what is accepted, and that every mistake is told at once.

use faultboard_catalog::parse_case;

const SAMPLE: &str = include_str!("data/sample-case.yaml");

fn places(yaml: &str) -> Vec<(String, String, String)> {
    let (case, problems) = parse_case("case.yaml", yaml.as_bytes());
    assert_eq!(case.is_some(), problems.is_empty());
    problems
        .into_iter()
        .map(|p| (p.path, p.message, p.fix))
        .collect()
}

#[test]
fn the_sample_is_read() {
    let (case, problems) = parse_case("case.yaml", SAMPLE.as_bytes());
    assert_eq!(problems, []);
    let case = case.unwrap();
    assert_eq!(case.id.as_str(), "sample-1");
    assert_eq!(case.limits.cpus.0, 1000);
    assert!(
        case.oracle.nonce,
        "the nonce is wanted unless a case opts out"
    );
}

#[test]
fn limits_have_defaults() {
    let start = SAMPLE.find("limits:").unwrap();
    let end = SAMPLE.find("rebuild:").unwrap();
    let (case, problems) = parse_case(
        "case.yaml",
        format!("{}{}", &SAMPLE[..start], &SAMPLE[end..]).as_bytes(),
    );
    assert_eq!(problems, []);
    assert_eq!(case.unwrap().limits.reproduce_timeout_s, 300);
}

#[test]
fn every_mistake_is_told_with_line_and_allowed_values() {
    let spoiled = SAMPLE
        .replace("tier: 1", "tier: 4")
        .replace("family: replication-consistency", "family: bad-luck")
        .replace("lite: true", "lite: yes please")
        .replace("contains_logs: true", "contains_log: true")
        .replace(
            "caps: [SETUID, SETGID, KILL]",
            "caps: [SETUID, SYS_ADMIN, SETUID]",
        )
        .replace("fix_size: 37", "colour: red");
    let found = places(&spoiled);
    let line_of = |needle: &str| spoiled.lines().position(|l| l.contains(needle)).unwrap() + 1;
    for (needle, message, fix) in [
        ("tier: 4", "`tier` is the number 4", "1 to 3"),
        (
            "bad-luck",
            "`family` is `bad-luck`",
            "protocol-recovery, concurrency",
        ),
        ("yes please", "`lite` is `yes please`", "true, false"),
        (
            "contains_log:",
            "unknown field `evidence.contains_log`",
            "contains_logs",
        ),
        (
            "SYS_ADMIN",
            "`caps[1]` is `SYS_ADMIN`",
            "SETUID, SETGID, KILL",
        ),
        ("SYS_ADMIN", "`caps[2]` repeats `SETUID`", "once"),
        ("colour: red", "unknown field `colour`", "fix_size"),
    ] {
        let place = format!("case.yaml:{}", line_of(needle));
        assert!(
            found
                .iter()
                .any(|(p, m, f)| *p == place && m == message && f.contains(fix)),
            "{place} {message} in {found:#?}"
        );
    }
    assert!(
        found
            .iter()
            .any(|(_, m, _)| m == "field `fix_size` is missing")
    );
    assert!(
        found
            .iter()
            .any(|(_, m, _)| m == "field `evidence.contains_logs` is missing")
    );
    assert_eq!(found.len(), 9, "{found:#?}");
}

#[test]
fn sources_are_checked_by_their_kind() {
    let start = SAMPLE.find("source:").unwrap();
    let end = SAMPLE.find("image:").unwrap();
    let with = |source: &str| {
        places(&format!(
            "{}source:\n{source}{}",
            &SAMPLE[..start],
            &SAMPLE[end..]
        ))
    };
    let sha = "a".repeat(64);
    assert!(
        with(&format!(
            "  kind: git\n  url: https://e.org/r.git\n  commit: {}\n",
            "0a".repeat(20)
        ))
        .is_empty()
    );
    assert!(
        with(&format!(
            "  kind: crate\n  name: raft\n  version: 0.3.0\n  sha256: {sha}\n"
        ))
        .is_empty()
    );
    assert!(with("  kind: debian\n  package: redis\n  package_kind: source\n  version: 5:7.0.15\n  suite: bookworm\n").is_empty());
    assert!(
        with(&format!(
            "  kind: archive\n  url: http://e.org/a.tar.gz\n  sha256: {sha}\n"
        ))
        .is_empty()
    );
    assert!(with("  kind: directory\n  path: tree\n").is_empty());
    for bad in [
        "  kind: svn\n  url: https://e.org\n",
        "  url: https://e.org\n",
        "  kind: git\n  url: https://e.org/r.git\n  commit: main\n",
        "  kind: git\n  url: ext::sh -c id\n  commit: 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a\n",
        "  kind: directory\n  path: ../../etc\n",
        "  kind: directory\n  path: /etc\n",
        "  kind: pypi\n  name: --index-url=x\n  version: \"1\"\n  sha256: zz\n",
    ] {
        assert!(!with(bad).is_empty(), "{bad}");
    }
    // Two mistakes of one source are both told.
    assert_eq!(
        with("  kind: pypi\n  name: --index-url=x\n  version: \"1\"\n  sha256: zz\n").len(),
        2
    );
    // A version that YAML takes for a number is told how to be written.
    let found = with(&format!(
        "  kind: crate\n  name: a\n  version: 1.0\n  sha256: {sha}\n"
    ));
    assert!(found[0].2.contains("quote"), "{found:?}");
}

#[test]
fn what_is_no_yaml_is_told_with_its_line() {
    let found = places("id: a-1\ntitle: [\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].0.starts_with("case.yaml:"));
    assert_eq!(places("just text").len(), 1);
    assert_eq!(places("").len(), 1);
}
