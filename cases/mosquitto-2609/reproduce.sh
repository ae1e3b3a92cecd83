#!/usr/bin/env bash
# Oracle: does a subscriber that was away get what is still alive? The broker
# runs as the program under test; judge.py is publisher and subscriber, and decides.
. /oracle/lib/oracle.sh
ulimit -c 0

# The broker's configuration lies where it can read it, but not replace it.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the configuration"
port="$(python3 -I /oracle/inject_test/judge.py port)" || oracle_error "no free port"
cat >"$wire/broker.conf" <<CONF
listener $port 127.0.0.1
allow_anonymous true
persistence false
log_dest stderr
CONF
subject 150 /work/build/src/mosquitto -c "$wire/broker.conf" >"$ORACLE_TMP/broker.log" 2>&1 &

# Three pairs of publisher and subscriber side by side: each waits for messages to expire.
scenarios=(before between none)
judges=()
for scenario in "${scenarios[@]}"; do
  timeout 140 python3 -I /oracle/inject_test/judge.py "$scenario" "$port" >"$ORACLE_TMP/$scenario.line" &
  judges+=("$!")
done

said="" broken="" trouble=""
for i in "${!scenarios[@]}"; do
  wait "${judges[i]}"
  status=$?
  line="$(<"$ORACLE_TMP/${scenarios[i]}.line")"
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) broken="${broken:-$line}" ;;
    *) trouble="the judge ended with status $status" ;;
  esac
done
tail -c 1500 "$ORACLE_TMP/broker.log" >&2
! grep -q 'Address already in use' "$ORACLE_TMP/broker.log" || oracle_error "a port was taken"
[ -z "$trouble" ] || oracle_error "$trouble"
[ -z "$broken" ] || fail "$broken"
pass "$said"
