#!/usr/bin/env bash
# Oracle: does every job run once, whenever the worker comes while it is submitted?
# Producer and worker run as the program under test; judge.py is their Redis
# server and wire, and decides.
. /oracle/lib/oracle.sh

# The pipes of commands lie where the program under test can open them, but not
# replace them; its answers and the server's socket lie in the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"

said=""
for scenario in one second partly; do
  commands="$wire/$scenario"
  folder="$ORACLE_TMP/$scenario"
  mkdir -m 0700 "$folder" || oracle_error "no folder for the scenario"
  for role in producer worker; do
    mkfifo -m 0644 "$commands.$role" && mkfifo -m 0600 "$folder/answers.$role" || oracle_error "cannot make the pipes"
    subject 450 python3 -I /oracle/inject_test/driver.py /work/tree "$commands.$role" \
      >"$folder/answers.$role" 2>"$folder/log.$role" &
  done
  line="$(timeout 450 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$folder/answers" "$folder")"
  status=$?
  tail -c 2000 "$folder"/log.* >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
