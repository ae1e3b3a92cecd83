#!/usr/bin/env bash
# Oracle: can a group consumer be stopped, whatever has become of its coordinator?
# The service runs as the program under test; judge.py plays its broker, and
# decides.
. /oracle/lib/oracle.sh

# The pipe of commands lies where the program under test can open it, but not
# replace it; its answers go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"

said=""
for scenario in nowhere unreachable lost late; do
  commands="$wire/$scenario"
  answers="$ORACLE_TMP/$scenario.answers"
  mkfifo -m 0644 "$commands" && mkfifo -m 0600 "$answers" || oracle_error "cannot make the pipes"
  subject 450 python3 -I /oracle/inject_test/driver.py /work/tree "$commands" \
    >"$answers" 2>"$ORACLE_TMP/$scenario.log" &
  line="$(timeout 450 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$answers")"
  status=$?
  tail -c 2000 "$ORACLE_TMP/$scenario.log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
