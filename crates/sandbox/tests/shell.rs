//! A program at a terminal: what is typed reaches it, what it prints comes back,
//! its size is the terminal's, and its exit status is told. Needs a Docker engine.

use std::io::Write as _;
use std::time::Duration;

use faultboard_sandbox::{
    DockerConfig, DockerRuntime, FakeRuntime, Labels, ReapPolicy, RunSpec, Runtime, RuntimeError,
    Terminal, TerminalSize,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

const IMAGE: &str = "faultboard/base:1";

fn announce(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").unwrap();
}

fn spec(command: &[&str]) -> RunSpec {
    let labels = Labels {
        instance: format!("shell-test-{}", std::process::id()),
        job: "shell".into(),
        lease: "1".into(),
    };
    RunSpec::new(IMAGE.to_owned(), command, labels)
}

/// The far ends of a terminal: where a person would type, and read.
struct Person {
    keys: tokio::io::DuplexStream,
    screen: tokio::io::DuplexStream,
    window: watch::Sender<TerminalSize>,
}

fn terminal() -> (Person, Terminal) {
    let (keys, input) = tokio::io::duplex(4096);
    let (output, screen) = tokio::io::duplex(1 << 20);
    let (window, size) = watch::channel(TerminalSize {
        rows: 31,
        columns: 97,
    });
    let terminal = Terminal {
        input: Box::new(input),
        output: Box::new(output),
        size,
    };
    let person = Person {
        keys,
        screen,
        window,
    };
    (person, terminal)
}

/// Reads the screen until a text stands there.
async fn until(screen: &mut tokio::io::DuplexStream, seen: &mut String, wanted: &str) {
    let mut buffer = [0_u8; 4096];
    while !seen.contains(wanted) {
        let read = tokio::time::timeout(Duration::from_secs(60), screen.read(&mut buffer)).await;
        let n = read
            .unwrap_or_else(|_| panic!("`{wanted}` never came: {seen:?}"))
            .unwrap();
        assert!(n > 0, "the screen ended before `{wanted}`: {seen:?}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_and_printed_goes_to_and_fro() {
    let config = DockerConfig {
        disk_reserve: 0,
        ..Default::default()
    };
    let runtime = match DockerRuntime::connect(config).await {
        Ok(runtime) => runtime,
        Err(e) => {
            assert!(
                !std::env::var("FAULTBOARD_REQUIRE_RUNTIMES").is_ok_and(|v| v.contains("docker")),
                "{e}"
            );
            return announce(&format!("NOT TESTED: a shell at a terminal: {e}"));
        }
    };
    let (mut person, terminal) = terminal();
    let spec = spec(&["bash", "--norc", "-i"]);
    let (instance, used) = (spec.labels.instance.clone(), runtime.clone());
    let shell = tokio::spawn(async move { used.shell(&spec, terminal).await });

    let mut seen = String::new();
    // The sum is not what was typed, so it is no echo.
    person
        .keys
        .write_all(b"tty; echo sum-$((40 + 2)); stty size\n")
        .await
        .unwrap();
    until(&mut person.screen, &mut seen, "sum-42").await;
    assert!(seen.contains("/dev/pts/"), "{seen:?}");
    person.window.send_replace(TerminalSize {
        rows: 17,
        columns: 53,
    });
    // The engine passes the size on when it gets to it.
    for _ in 0..100 {
        person.keys.write_all(b"stty size\n").await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let mut buffer = [0_u8; 4096];
        let n = person.screen.read(&mut buffer).await.unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..n]));
        if seen.contains("17 53") {
            break;
        }
    }
    assert!(seen.contains("17 53"), "{seen:?}");
    person.keys.write_all(b"exit 7\n").await.unwrap();
    // Somebody reads what is still printed.
    tokio::spawn(async move {
        let mut rest = Vec::new();
        let _ = person.screen.read_to_end(&mut rest).await;
    });
    let status = tokio::time::timeout(Duration::from_secs(60), shell)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(status, 7);
    let policy = ReapPolicy {
        instance,
        live: std::collections::HashSet::new(),
        min_age: Duration::ZERO,
    };
    assert_eq!(
        runtime.reap(&policy).await.unwrap(),
        [],
        "the container is gone"
    );
}

#[tokio::test]
async fn a_runtime_without_terminals_says_so() {
    let (_person, terminal) = terminal();
    let runtime = FakeRuntime::new(&[IMAGE], |_| unreachable!("nothing is run"));
    let error = runtime.shell(&spec(&["bash"]), terminal).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Unsupported { .. }));
    assert!(error.to_string().contains("Docker"), "{error}");
}
