#!/usr/bin/env bash
# Oracle: does every job reach a worker, also when one shuts down?
# The workers run as the program under test; judge.py is their Redis server,
# wire and producer, and decides.
. /oracle/lib/oracle.sh

# The pipe of commands lies where the program under test can open it, but not
# replace it; its answers and the server's socket lie in the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"

said=""
for scenario in handed onway quiet; do
  commands="$wire/$scenario"
  folder="$ORACLE_TMP/$scenario"
  mkdir -m 0700 "$folder" && mkfifo -m 0644 "$commands" && mkfifo -m 0600 "$folder/answers" \
    || oracle_error "cannot make the pipes"
  subject 450 python3 -I /oracle/inject_test/driver.py /work/tree "$commands" \
    >"$folder/answers" 2>"$folder/log" &
  line="$(timeout 450 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$folder/answers" "$folder")"
  status=$?
  tail -c 2000 "$folder/log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
