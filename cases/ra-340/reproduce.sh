#!/usr/bin/env bash
# Oracle: is a consistent read answered by a majority only? The members run as
# the program under test; judge.py is their clients and operator, and decides.
. /oracle/lib/oracle.sh

# REBUILD.sh left the library of the tree as it now is; only the small driver is
# compiled here, by the program under test's own user.
subject 60 erlc -o /tmp/subject /oracle/inject_test/driver.erl >"$ORACLE_TMP/erlc.log" 2>&1 \
  || { tail -c 2000 "$ORACLE_TMP/erlc.log" >&2; oracle_error "the driver does not compile"; }

# The pipes of commands lie where the program under test can open them, but not
# replace them; its answers go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"
SUBJECT_ENV="ERL_LIBS=/work/deps ERL_CRASH_DUMP_SECONDS=0"

scenarios=(handover plain)
judges=()
for scenario in "${scenarios[@]}"; do
  commands="$wire/$scenario"
  answers="$ORACLE_TMP/$scenario.answers"
  mkfifo -m 0644 "$commands" && mkfifo -m 0600 "$answers" || oracle_error "cannot make the pipes"
  subject 260 erl -noshell -noinput +S 2 +sbwt none -pa /work/ebin -pa /tmp/subject \
    -eval "driver:main([\"$commands\", \"/tmp/subject/$scenario\"])" >"$answers" 2>"$ORACLE_TMP/$scenario.log" &
  timeout 260 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$answers" >"$ORACLE_TMP/$scenario.line" &
  judges+=("$!")
done

said="" broken=""
for i in "${!scenarios[@]}"; do
  scenario="${scenarios[i]}"
  wait "${judges[i]}"
  status=$?
  line="$(<"$ORACLE_TMP/$scenario.line")"
  tail -c 1000 "$ORACLE_TMP/$scenario.log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) broken="${broken:-$line}" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
[ -z "$broken" ] || fail "$broken"
pass "$said"
