#!/usr/bin/env bash
# Oracle: do all uploads arrive when the server admits fewer at a time than there are?
# The client runs as the program under test; judge.py is its server and its
# users, and decides.
. /oracle/lib/oracle.sh

# REBUILD.sh left the library of the tree as it now is; only the small driver is
# compiled here, by the program under test's own user.
built=/work/target/debug
driver=/tmp/subject/driver
subject 200 rustc --edition 2021 --cap-lints allow -C debuginfo=0 /oracle/inject_test/driver.rs -o "$driver" \
  --extern "harness=$built/libharness.rlib" -L "dependency=$built/deps" >"$ORACLE_TMP/rustc.log" 2>&1
status=$?
if [ "$status" != 0 ]; then
  tail -c 4000 "$ORACLE_TMP/rustc.log" >&2
  [ "$status" != 124 ] || oracle_error "the driver was not compiled within 200 s"
  fail "a program that uses the library's public interface no longer compiles (exit $status)"
fi

# The pipe of commands lies where the program under test can open it, but not
# replace it; its answers go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"

said=""
for scenario in queued crowd given-up free; do
  commands="$wire/$scenario"
  own="$ORACLE_TMP/$scenario"
  mkdir -m 0700 "$own" && mkfifo -m 0644 "$commands" && mkfifo -m 0600 "$own/answers" || oracle_error "cannot make the pipes"
  timeout 140 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$own/answers" "$own/port" >"$own/verdict" &
  judge=$!
  for _ in {1..1600}; do [ -e "$own/port" ] && break; sleep 0.05; done
  [ -e "$own/port" ] || oracle_error "the judge does not listen"
  subject 140 "$driver" "$commands" "$(<"$own/port")" >"$own/answers" 2>"$own/log" &
  wait "$judge"
  status=$?
  line="$(<"$own/verdict")"
  tail -c 2000 "$own/log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
