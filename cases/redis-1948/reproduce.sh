#!/usr/bin/env bash
# Oracle: does a server that is told to shut down wait for a lagging replica,
# and end in order? The server runs as the program under test; judge.py is its
# clients, operator and replica, and decides.
. /oracle/lib/oracle.sh
ulimit -c 0

scenarios=(waited served)
judges=() servers=()
for scenario in "${scenarios[@]}"; do
  port="$(python3 -I /oracle/inject_test/judge.py port)" || oracle_error "no free port"
  subject 150 /work/build/src/redis-server --port "$port" --bind 127.0.0.1 --dir /tmp/subject --save '' \
    --appendonly no --daemonize no --repl-diskless-sync no --dbfilename "$scenario.rdb" --shutdown-timeout 60 \
    >"$ORACLE_TMP/$scenario.log" 2>&1 &
  servers+=("$!")
  timeout 140 python3 -I /oracle/inject_test/judge.py "$scenario" "$port" >"$ORACLE_TMP/$scenario.line" &
  judges+=("$!")
done

said="" broken=""
for i in "${!scenarios[@]}"; do
  scenario="${scenarios[i]}"
  wait "${judges[i]}"
  status=$?
  line="$(<"$ORACLE_TMP/$scenario.line")"
  tail -c 1500 "$ORACLE_TMP/$scenario.log" >&2
  ! grep -q 'Address already in use' "$ORACLE_TMP/$scenario.log" || oracle_error "a port was taken"
  case "$status" in
    0)
      # It has ended, as the judge saw; in order means without a complaint.
      wait "${servers[i]}"
      ended=$?
      [ "$ended" = 0 ] || broken="${broken:-$scenario: the server ended with status $ended}"
      said="$said${said:+; }$line"
      ;;
    1) broken="${broken:-$line}" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
[ -z "$broken" ] || fail "$broken"
pass "$said"
