#!/usr/bin/env bash
# Oracle: does a broker outlive bad messages from the broker it bridges to, and
# go on bridging? The broker runs as the program under test; judge.py is the
# remote broker and the local clients, and decides.
. /oracle/lib/oracle.sh

# The broker's configuration lies where it can read it, but not replace it.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the configuration"
ulimit -c 0

ports="$(python3 -I /oracle/inject_test/judge.py ports)" || oracle_error "no free ports"
read -r -a ports <<<"$ports"

# Both versions of the protocol side by side: a bridge waits some seconds before
# it connects again.
judges=()
for i in 0 1; do
  version="$([ "$i" = 0 ] && echo mqttv50 || echo mqttv311)"
  port="${ports[2 * i]}" remote="${ports[2 * i + 1]}"
  cat >"$wire/$version.conf" <<CONF
listener $port 127.0.0.1
allow_anonymous true
persistence false
log_dest stderr
connection site
address 127.0.0.1:$remote
topic room1/# both 2 sensor/ myhouse/
topic # both 2
bridge_protocol_version $version
notifications false
keepalive_interval 60
restart_timeout 1
remote_clientid site
CONF
  timeout 150 python3 -I /oracle/inject_test/judge.py "$version" "$port" "$remote" "$ORACLE_TMP/$version.ready" \
    >"$ORACLE_TMP/$version.line" &
  judges+=("$!")
  # The remote side listens first, else the bridge waits for its next try.
  until [ -e "$ORACLE_TMP/$version.ready" ] || ! kill -0 "${judges[i]}" 2>/dev/null; do sleep 0.05; done
  subject 160 /work/build/src/mosquitto -c "$wire/$version.conf" >"$ORACLE_TMP/$version.log" 2>&1 &
done

said="" broken=""
for i in 0 1; do
  wait "${judges[i]}"
  status=$?
  version="$([ "$i" = 0 ] && echo mqttv50 || echo mqttv311)"
  line="$(<"$ORACLE_TMP/$version.line")"
  tail -c 1500 "$ORACLE_TMP/$version.log" >&2
  ! grep -q 'Address already in use' "$ORACLE_TMP/$version.log" || oracle_error "a port was taken"
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) broken="${broken:-$line}" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
[ -z "$broken" ] || fail "$broken"
pass "$said"
