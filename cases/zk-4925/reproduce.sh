#!/usr/bin/env bash
# Oracle: has a server that was away every acknowledged znode when it has caught
# up? Five servers run as the program under test, started and stopped by a small
# keeper of its own user; judge.py is their clients and operator, and decides.
. /oracle/lib/oracle.sh

[ -d /work/classes/org/apache/zookeeper ] && [ -d /work/lib/org/apache/jute ] || oracle_error "no compiled tree"
ports="$(python3 -I /oracle/inject_test/judge.py ports)" || oracle_error "no free ports"

# The pipe of commands lies where the program under test can open it, but not
# replace it; its answers go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"
mkfifo -m 0644 "$wire/commands" && mkfifo -m 0600 "$ORACLE_TMP/answers" || oracle_error "cannot make the pipes"
subject 400 python3 -I /oracle/inject_test/keeper.py "$wire/commands" "$ports" \
  >"$ORACLE_TMP/answers" 2>"$ORACLE_TMP/keeper.log" &
line="$(timeout 400 python3 -I /oracle/inject_test/judge.py rejoin "$wire/commands" "$ORACLE_TMP/answers" "$ports")"
status=$?
tail -c 1500 "$ORACLE_TMP/keeper.log" >&2
case "$status" in
  0) pass "$line" ;;
  1) fail "$line" ;;
  *) oracle_error "the judge ended with status $status" ;;
esac
