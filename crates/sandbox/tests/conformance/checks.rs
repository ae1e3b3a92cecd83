//! One function per behaviour of the contract.

use std::future::Future;
use std::os::unix::fs::PermissionsExt as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use faultboard_sandbox::{
    CancellationToken, Capability, Exit, Mount, Network, Quota, ReapPolicy, RunControl, RunResult,
    RuntimeError, Tmpfs, User,
};

use crate::target::{IMAGE, Target};

type Check = for<'a> fn(&'a Target) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

macro_rules! checks {
    ($($name:ident),+ $(,)?) => {
        /// Every check, in order.
        pub(crate) const ALL: &[(&str, Check)] = &[$((stringify!($name), |t| Box::pin($name(t)))),+];
    };
}

checks!(
    exit_code_and_streams,
    signal,
    output_is_bytes,
    out_of_memory,
    fork_bomb_is_bounded,
    endless_output_is_bounded,
    full_disk_is_stopped,
    tmpfs_is_sized,
    no_network,
    loopback_works,
    no_engine_socket,
    user_and_groups,
    no_capabilities,
    declared_capabilities_only,
    no_new_privileges,
    root_is_read_only,
    mounts_are_read_only_unless_said,
    links_do_not_lead_out,
    open_files_are_limited,
    clock_zone_language_and_host_name,
    the_environment_arrives_as_it_is,
    nothing_on_standard_input,
    timeout_kills_the_whole_tree,
    a_daemon_left_behind_dies,
    cancel_is_quick,
    dropping_the_run_ends_it,
    live_output,
    missing_image_is_named,
    digest_is_on_the_result,
    a_program_that_is_not_there,
    usage_is_measured,
    host_processes_are_invisible,
    reaper_spares_the_living,
    invalid_runs_are_refused,
);

/// Checks that need no real program.
pub(crate) const PORTABLE: &[&str] = &[
    "exit_code_and_streams",
    "signal",
    "output_is_bytes",
    "out_of_memory",
    "endless_output_is_bounded",
    "full_disk_is_stopped",
    "timeout_kills_the_whole_tree",
    "cancel_is_quick",
    "live_output",
    "missing_image_is_named",
    "digest_is_on_the_result",
    "reaper_spares_the_living",
    "invalid_runs_are_refused",
];

pub(crate) const EXIT_SEVEN: &str = "echo out; echo err >&2; exit 7";
pub(crate) const SIGNAL: &str = "sh -c 'kill -9 $$'; exit $?";
pub(crate) const BYTES: &str = r"printf '\377\376\000ok\n'";
pub(crate) const ENDLESS: &str = "exec yes 0123456789abcdef";
pub(crate) const HANG: &str = "echo begun; sleep 1000";
pub(crate) const DAEMON_THEN_HANG: &str = "setsid sleep 4242 & echo begun; sleep 4242";
pub(crate) const FILL: &str = "head -c 40000000 /dev/zero >/work/full; sync; sleep 1000";
pub(crate) const OUT_OF_MEMORY: &str =
    "python3 -c 'x = bytearray(1 << 30); print(len(x))'; exit $?";

fn out(result: &RunResult) -> String {
    String::from_utf8_lossy(&result.stdout.head)
        .trim()
        .to_owned()
}

fn writable(t: &Target, name: &str) -> std::path::PathBuf {
    let path = t.dir.path().join(name);
    std::fs::create_dir_all(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    path
}

const AMPLE: Quota = Quota {
    bytes: 1 << 30,
    files: 10_000,
};

async fn exit_code_and_streams(t: &Target) {
    let r = t.run(&t.shell(EXIT_SEVEN)).await;
    assert_eq!((r.exit, r.stopped, r.oom), (Exit::Code(7), None, false));
    assert_eq!(r.stdout.head, b"out\n");
    assert!(r.log.text().contains("err") && r.log.text().contains("out"));
    assert!(!r.succeeded());
}

async fn signal(t: &Target) {
    let r = t.run(&t.shell(SIGNAL)).await;
    assert_eq!((r.exit, r.stopped), (Exit::Signal(9), None));
    assert_eq!(r.exit.status(), 137);
}

async fn output_is_bytes(t: &Target) {
    let r = t.run(&t.shell(BYTES)).await;
    assert_eq!(r.stdout.head, b"\xff\xfe\x00ok\n");
}

async fn out_of_memory(t: &Target) {
    let r = t.run(&t.shell(OUT_OF_MEMORY)).await;
    let bounded_per_process = r
        .not_enforced
        .iter()
        .any(|n| n.contains("memory is limited per process"));
    if bounded_per_process {
        assert!(matches!(r.exit, Exit::Code(c) if c != 0), "{r:?}");
    } else {
        assert!(r.oom, "{r:?}");
        assert_eq!(r.exit, Exit::Signal(9), "{r:?}");
    }
    assert!(!out(&r).contains("1073741824"));
}

async fn fork_bomb_is_bounded(t: &Target) {
    let script = r#"python3 -c '
import os, time
n = 0
while n < 5000:
    try:
        if os.fork() == 0: time.sleep(4545)
    except BlockingIOError:
        break
    n += 1
print(n)'"#;
    let mut spec = t.shell(script);
    // A user of its own, so that limits per user do not count other processes.
    spec.user = User {
        uid: 61_234,
        gid: 61_234,
    };
    let r = t.run(&spec).await;
    let forked: u64 = out(&r)
        .parse()
        .unwrap_or_else(|_| panic!("{}", r.log.text()));
    assert!((2..64).contains(&forked), "{forked}");
    assert_eq!(sleepers("4545"), 0);
}

async fn endless_output_is_bounded(t: &Target) {
    let mut spec = t.shell(ENDLESS);
    spec.timeout = Duration::from_secs(2);
    let r = t.run(&spec).await;
    assert!(r.timed_out());
    assert!(r.log.head.len() + r.log.tail.len() <= spec.limits.log_bytes);
    assert!(r.log.cut > 100_000, "{}", r.log.cut);
    assert!(r.log.head.starts_with(b"0123456789abcdef\n"));
}

async fn full_disk_is_stopped(t: &Target) {
    let work = writable(t, "fill");
    let mut spec = t.shell(FILL);
    spec.mounts.push(Mount::writable(
        &work,
        "/work",
        Quota {
            bytes: 20 << 20,
            files: 100,
        },
    ));
    let r = t.run(&spec).await;
    assert!(r.quota_exceeded(), "{r:?}");
    // Not much more than allowed reached the disk, unless the runtime can't bound a file.
    assert!(r.bytes_written >= 19 << 20, "{}", r.bytes_written);
    assert!(r.wall_seconds < 30.0, "{}", r.wall_seconds);

    if t.fake {
        return;
    }
    let mut spec = t.shell("for i in $(seq 1 500); do : >/work/f$i; done; sleep 1000");
    let work = writable(t, "many-files");
    spec.mounts.push(Mount::writable(
        &work,
        "/work",
        Quota {
            bytes: 1 << 30,
            files: 100,
        },
    ));
    let r = t.run(&spec).await;
    assert!(r.quota_exceeded(), "{r:?}");
}

async fn tmpfs_is_sized(t: &Target) {
    let mut spec = t.shell("head -c 9000000 /dev/zero >/scratch/x; echo \"status $?\"; printf '#!/bin/sh\necho ran\n' >/tmp/p; chmod +x /tmp/p; /tmp/p");
    spec.tmpfs.push(Tmpfs {
        target: "/scratch".into(),
        bytes: 4 << 20,
    });
    let r = t.run(&spec).await;
    assert!(r.log.text().contains("No space left"), "{}", r.log.text());
    assert!(
        out(&r).contains("status 1") && out(&r).contains("ran"),
        "{}",
        r.log.text()
    );
}

async fn no_network(t: &Target) {
    let script = "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '; \
        timeout 5 bash -c 'echo >/dev/tcp/192.0.2.1/80' 2>&1; echo \"status $?\"";
    let mut spec = t.shell(script);
    spec.network = Network::None;
    let r = t.run(&spec).await;
    let text = out(&r);
    let devices: Vec<&str> = text
        .lines()
        .take_while(|l| !l.contains("bash:") && !l.starts_with("status"))
        .collect();
    let stand_in = r
        .not_enforced
        .iter()
        .any(|n| n.contains("internal network"));
    assert!(
        devices.iter().all(|d| *d == "lo"
            || (stand_in && *d == "eth0")
            || d.starts_with("tunl")
            || d.starts_with("sit")
            || d.starts_with("ip6tnl")),
        "{text}"
    );
    assert!(
        text.contains("unreachable") && !text.contains("status 0"),
        "{text}"
    );
}

async fn loopback_works(t: &Target) {
    let script = r#"python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
c = socket.create_connection(s.getsockname(), 5)
c.sendall(b"hello")
print(s.accept()[0].recv(5).decode())'"#;
    assert_eq!(out(&t.run(&t.shell(script)).await), "hello");
}

async fn no_engine_socket(t: &Target) {
    let r = t.run(&t.shell("find / -xdev -name '*.sock' 2>/dev/null; ls /var/run/docker.sock /run/docker.sock 2>/dev/null; echo end")).await;
    assert_eq!(out(&r), "end");
    // Nor can a mount bring it in.
    let mut spec = t.shell("true");
    spec.mounts.push(Mount::read_only("/run", "/host-run"));
    let refused = t
        .runtime
        .run(&spec, RunControl::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, RuntimeError::Mount { .. }), "{refused}");
}

async fn user_and_groups(t: &Target) {
    let mut spec = t.shell("id -u; id -g; id -G");
    spec.user = User {
        uid: 1000,
        gid: 1000,
    };
    assert_eq!(out(&t.run(&spec).await), "1000\n1000\n1000");
}

async fn no_capabilities(t: &Target) {
    for user in [
        User::ROOT,
        User {
            uid: 1000,
            gid: 1000,
        },
    ] {
        let mut spec = t.shell("grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | awk '{print $2}' | sort -u; mount -t tmpfs x /tmp 2>/dev/null && echo mounted; mknod /tmp/n b 1 1 2>/dev/null && echo made; true");
        spec.user = user;
        let r = t.run(&spec).await;
        assert_eq!(out(&r), "0000000000000000", "{user:?}: {}", r.log.text());
    }
}

async fn declared_capabilities_only(t: &Target) {
    let mut spec = t.shell("grep CapEff /proc/self/status | awk '{print $2}'; setpriv --reuid 1001 --regid 1001 --clear-groups id -u");
    spec.caps = vec![Capability::Setuid, Capability::Setgid, Capability::Kill];
    let r = t.run(&spec).await;
    if r.not_enforced.iter().any(|n| n.contains("not kept apart")) {
        return;
    }
    // SETGID, SETUID and KILL are bits 6, 7 and 5.
    assert_eq!(out(&r), "00000000000000e0\n1001", "{}", r.log.text());
}

async fn no_new_privileges(t: &Target) {
    let r = t.run(&t.shell("grep NoNewPrivs /proc/self/status | awk '{print $2}'; awk '/^Seccomp:/{print $2}' /proc/self/status")).await;
    let text = out(&r);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("1"));
    let said = r.not_enforced.iter().any(|n| n.contains("seccomp"));
    assert_eq!(
        lines.next(),
        Some(if said { "0" } else { "2" }),
        "{:?}",
        r.not_enforced
    );
}

async fn root_is_read_only(t: &Target) {
    for user in [
        User::ROOT,
        User {
            uid: 1000,
            gid: 1000,
        },
    ] {
        let mut spec = t.shell("for d in / /usr /etc /proc/sys/kernel /sys /var /home; do touch $d/x 2>/dev/null && echo \"wrote $d\"; done; echo 1 2>/dev/null >/proc/sys/kernel/sysrq && echo sysrq; (echo b >/proc/sysrq-trigger) 2>/dev/null && echo trigger; echo end");
        spec.user = user;
        let r = t.run(&spec).await;
        assert_eq!(out(&r), "end", "{user:?}: {}", r.log.text());
    }
}

async fn mounts_are_read_only_unless_said(t: &Target) {
    let (ro, rw) = (writable(t, "ro"), writable(t, "rw"));
    std::fs::write(ro.join("given"), "content").unwrap();
    let mut spec = t.shell("cat /oracle/given; touch /oracle/x 2>/dev/null && echo wrote; rm -f /oracle/given 2>/dev/null; echo made >/work/made");
    spec.user = User {
        uid: 1000,
        gid: 1000,
    };
    spec.mounts.push(Mount::read_only(&ro, "/oracle"));
    spec.mounts.push(Mount::writable(&rw, "/work", AMPLE));
    spec.workdir = "/work".into();
    let r = t.run(&spec).await;
    assert_eq!(out(&r), "content", "{}", r.log.text());
    assert!(ro.join("given").exists() && !ro.join("x").exists());
    assert_eq!(std::fs::read_to_string(rw.join("made")).unwrap(), "made\n");
}

async fn links_do_not_lead_out(t: &Target) {
    let work = writable(t, "links");
    let secret = t.dir.path().join("secret");
    std::fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, work.join("out")).unwrap();
    std::os::unix::fs::symlink("/", work.join("root")).unwrap();
    let mut spec = t.shell(&format!("cat /work/out 2>/dev/null; cat /work/root{} 2>/dev/null; cat /work/../../..{} 2>/dev/null; echo end", secret.display(), secret.display()));
    spec.mounts.push(Mount::writable(&work, "/work", AMPLE));
    assert_eq!(out(&t.run(&spec).await), "end");
    // A link as the mount itself is refused.
    let link = t.dir.path().join("link");
    std::os::unix::fs::symlink("/etc", &link).unwrap();
    let mut spec = t.shell("true");
    spec.mounts.push(Mount::read_only(&link, "/x"));
    assert!(matches!(
        t.runtime.run(&spec, RunControl::default()).await,
        Err(RuntimeError::Mount { .. })
    ));
}

async fn open_files_are_limited(t: &Target) {
    let mut spec = t.shell("ulimit -Hn; ulimit -n 100000 2>/dev/null && echo raised; ulimit -c");
    spec.limits.nofile = 128;
    assert_eq!(out(&t.run(&spec).await), "128\n0");
}

async fn clock_zone_language_and_host_name(t: &Target) {
    let mut spec = t.shell("date +%Z; echo $TZ $LANG; hostname; hostname other 2>/dev/null && echo renamed; env | grep -c FOREIGN; echo $MINE");
    spec.env.insert("TZ".into(), "Asia/Tokyo".into());
    spec.env.insert("MINE".into(), "a b".into());
    spec.hostname = "case-host".into();
    assert_eq!(
        out(&t.run(&spec).await),
        "UTC\nUTC C.UTF-8\ncase-host\n0\na b"
    );
}

async fn the_environment_arrives_as_it_is(t: &Target) {
    let mut spec = t.shell("printf '%s' \"$TEXT\"");
    let text = "a {{.Node.ID}} $HOME \"b\" {{ {{{";
    spec.env.insert("TEXT".into(), text.into());
    assert_eq!(out(&t.run(&spec).await), text);
}

async fn nothing_on_standard_input(t: &Target) {
    let r = t
        .run(&t.shell("timeout 5 cat; echo \"status $?\"; test -t 1 || echo no-terminal"))
        .await;
    assert_eq!(out(&r), "status 0\nno-terminal");
}

/// Processes of the host (containers' are visible there) that run `sleep SECONDS`.
fn sleepers(seconds: &str) -> usize {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return 0;
    };
    let wanted = format!("sleep\0{seconds}\0");
    processes
        .flatten()
        .filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(|c| c == wanted.as_bytes()))
        .count()
}

async fn timeout_kills_the_whole_tree(t: &Target) {
    let mut spec = t.shell(DAEMON_THEN_HANG);
    spec.timeout = Duration::from_secs(2);
    let started = Instant::now();
    let r = t.run(&spec).await;
    assert!(r.timed_out() && started.elapsed() < Duration::from_secs(15));
    assert_eq!(r.exit, Exit::Signal(9));
    assert_eq!(out(&r), "begun");
    assert_eq!(sleepers("4242"), 0);
}

async fn a_daemon_left_behind_dies(t: &Target) {
    let r = t
        .run(&t.shell("setsid nohup sleep 4343 >/dev/null 2>&1 & setsid sleep 4343 & echo done"))
        .await;
    assert_eq!((r.exit, out(&r).as_str()), (Exit::Code(0), "done"));
    assert!(r.wall_seconds < 20.0, "{}", r.wall_seconds);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sleepers("4343"), 0);
}

async fn cancel_is_quick(t: &Target) {
    let cancel = CancellationToken::new();
    let control = RunControl {
        cancel: cancel.clone(),
        sink: None,
    };
    let runtime = t.runtime.clone();
    let spec = t.shell(HANG);
    let run = tokio::spawn(async move { runtime.run(&spec, control).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = Instant::now();
    cancel.cancel();
    let r = run.await.unwrap().unwrap();
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
    assert!(r.cancelled() && !r.succeeded());
}

async fn dropping_the_run_ends_it(t: &Target) {
    let spec = t.shell("exec sleep 4444");
    let run = t.runtime.run(&spec, RunControl::default());
    assert!(
        tokio::time::timeout(Duration::from_secs(3), run)
            .await
            .is_err()
    );
    for _ in 0..100 {
        if sleepers("4444") == 0 && t.left_behind().await.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("a dropped run goes on");
}

async fn live_output(t: &Target) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let copy = seen.clone();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = Arc::new(move |_, bytes: &[u8]| {
        copy.lock().unwrap().extend_from_slice(bytes);
        stop.cancel();
    });
    // Ends only because its output was seen while it ran.
    let r = t
        .runtime
        .run(
            &t.shell(HANG),
            RunControl {
                cancel,
                sink: Some(sink),
            },
        )
        .await
        .unwrap();
    assert!(r.cancelled());
    assert_eq!(*seen.lock().unwrap(), b"begun\n");
}

async fn missing_image_is_named(t: &Target) {
    let mut spec = t.shell("true");
    spec.image = "faultboard/never-built:7".into();
    let error = t
        .runtime
        .run(&spec, RunControl::default())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, RuntimeError::ImageMissing { image, .. } if image == "faultboard/never-built:7"),
        "{error}"
    );
    assert!(error.to_string().contains("faultboard/never-built:7"));
    assert!(t.runtime.resolve("faultboard/never-built:7").await.is_err());
}

async fn digest_is_on_the_result(t: &Target) {
    let resolved = t.runtime.resolve(IMAGE).await.unwrap();
    assert!(
        resolved.0.starts_with("sha256:") && resolved.0.len() == 71,
        "{resolved}"
    );
    assert_eq!(t.run(&t.shell(EXIT_SEVEN)).await.image_digest, resolved.0);
}

async fn a_program_that_is_not_there(t: &Target) {
    let mut spec = t.shell("");
    spec.command = vec!["/no/such/program".into()];
    match t.runtime.run(&spec, RunControl::default()).await {
        Err(RuntimeError::CannotStart { detail }) => {
            assert!(detail.contains("/no/such/program"), "{detail}")
        }
        Ok(r) => assert!(
            !r.succeeded() && r.log.text().contains("/no/such/program"),
            "{r:?}"
        ),
        Err(other) => panic!("{other}"),
    }
}

async fn usage_is_measured(t: &Target) {
    let r = t.run(&t.shell("python3 -c 'x = bytearray(100 << 20)\nimport time\nt = time.process_time()\nwhile time.process_time() - t < 1.5: pass'; sleep 1.2")).await;
    assert!(r.wall_seconds > 2.0);
    if r.not_enforced.iter().any(|n| n.contains("cgroup")) {
        return;
    }
    assert!(
        r.peak_memory
            .is_some_and(|m| (100 << 20..257 << 20).contains(&m)),
        "{:?}",
        r.peak_memory
    );
    assert!(
        r.cpu_seconds.is_some_and(|s| (1.0..60.0).contains(&s)),
        "{:?}",
        r.cpu_seconds
    );
}

async fn host_processes_are_invisible(t: &Target) {
    let r = t
        .run(&t.shell("ls -d /proc/[0-9]* | wc -l; cat /proc/1/cmdline | tr '\\0' ' '"))
        .await;
    let count: usize = out(&r).lines().next().unwrap().parse().unwrap();
    assert!(count <= 6, "{}", out(&r));
}

async fn reaper_spares_the_living(t: &Target) {
    let policy = |live: &[(&str, &str)], age| ReapPolicy {
        instance: t.instance.clone(),
        live: live
            .iter()
            .map(|(j, l)| ((*j).to_owned(), (*l).to_owned()))
            .collect(),
        min_age: age,
    };
    let runtime = t.runtime.clone();
    let mut spec = t.shell(HANG);
    spec.timeout = Duration::from_secs(20);
    let run = tokio::spawn(async move { runtime.run(&spec, RunControl::default()).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(
        t.runtime
            .reap(&policy(&[("job", "1")], Duration::ZERO))
            .await
            .unwrap()
            .is_empty(),
        "its lease is live"
    );
    assert!(
        t.runtime
            .reap(&policy(&[], Duration::from_secs(600)))
            .await
            .unwrap()
            .is_empty(),
        "it is too young"
    );
    let other = ReapPolicy {
        instance: "another".into(),
        ..policy(&[], Duration::ZERO)
    };
    assert!(
        t.runtime.reap(&other).await.unwrap().is_empty(),
        "it is another instance's"
    );
    if t.fake {
        run.abort();
        return;
    }
    let reaped = t
        .runtime
        .reap(&policy(&[("job", "2")], Duration::ZERO))
        .await
        .unwrap();
    assert_eq!(reaped.len(), 1);
    assert_eq!(reaped[0].labels, t.labels());
    assert!(
        t.runtime
            .reap(&policy(&[], Duration::ZERO))
            .await
            .unwrap()
            .is_empty(),
        "twice is no error"
    );
    // The run whose ground was taken away ends at once, one way or the other.
    let ended = tokio::time::timeout(Duration::from_secs(15), run)
        .await
        .expect("it ends")
        .unwrap();
    assert!(ended.is_err() || ended.is_ok_and(|r| !r.succeeded()));
}

async fn invalid_runs_are_refused(t: &Target) {
    let mut spec = t.shell("true");
    spec.command.clear();
    assert!(matches!(
        t.runtime.run(&spec, RunControl::default()).await,
        Err(RuntimeError::InvalidSpec { .. })
    ));
}
