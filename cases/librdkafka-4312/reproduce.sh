#!/usr/bin/env bash
# Oracle: can a consumer be shut down at any time, also before its group has
# formed? Each consumer is a process of the program under test; judge.py is
# cluster and operator, and decides.
. /oracle/lib/oracle.sh

# REBUILD.sh left the library of the tree as it now is; only the small driver is
# compiled here, by the program under test's own user.
library=/work/build/src
driver=/tmp/subject/driver
subject 120 gcc -O1 -w -I "$library" -o "$driver" /oracle/inject_test/driver.c "$library/librdkafka.a" \
  -lm -lpthread -ldl -lrt >"$ORACLE_TMP/gcc.log" 2>&1
status=$?
if [ "$status" != 0 ]; then
  tail -c 4000 "$ORACLE_TMP/gcc.log" >&2
  fail "a program that uses the library's public interface no longer compiles (exit $status)"
fi
[ -x /work/deps/cluster ] || oracle_error "the simulated cluster was not built"
ulimit -c 0

# The pipes of commands lie where the program under test can open them, but not
# replace them; its reports go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" && mkdir -m 0700 "$ORACLE_TMP/reports" \
  || oracle_error "no folder for the pipes"
for name in early wait wait2 moved moved2 late formed next; do
  mkfifo -m 0644 "$wire/$name" && mkfifo -m 0600 "$ORACLE_TMP/reports/$name" || oracle_error "cannot make the pipes"
  subject 170 "$driver" "$wire/$name" >"$ORACLE_TMP/reports/$name" 2>"$ORACLE_TMP/$name.log" &
done
line="$(timeout 170 python3 -I /oracle/inject_test/judge.py "$ORACLE_TMP/reports" "$wire")"
status=$?
tail -q -c 400 "$ORACLE_TMP"/*.log >&2
case "$status" in
  0) pass "$line" ;;
  1) fail "$line" ;;
  *) oracle_error "the judge ended with status $status" ;;
esac
