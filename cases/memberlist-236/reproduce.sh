#!/usr/bin/env bash
# Oracle: does every broadcast reach the other member, however many there are at
# once? The members run as the program under test; judge.py decides what they
# send, reads what went over the wire, and decides.
. /oracle/lib/oracle.sh

# The small driver is compiled here, against the tree as it now is and by the
# program under test's own user. What REBUILD.sh compiled is read from its cache.
driver=/tmp/subject/driver
command -v go >/dev/null && [ -d /work/go/src/github.com/hashicorp/memberlist/ ] || oracle_error "no compiler, or no tree"
SUBJECT_ENV="GO111MODULE=off GOPROXY=off GOFLAGS= GOTOOLCHAIN=local GOPATH=/work/go:/usr/share/gocode GOCACHE=/work/.cache/go"
subject 300 go build -o "$driver" /oracle/inject_test/driver.go >"$ORACLE_TMP/build.log" 2>&1
status=$?
if [ "$status" != 0 ]; then
  tail -c 4000 "$ORACLE_TMP/build.log" >&2
  [ "$status" != 124 ] || oracle_error "compiling found no end"
  fail "a program that uses the library's public interface no longer compiles (exit $status)"
fi
SUBJECT_ENV=""

# The pipe of commands lies where the program under test can open it, but not
# replace it; its answers go into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipes"

said=""
for scenario in burst mixed; do
  commands="$wire/$scenario"
  answers="$ORACLE_TMP/$scenario.answers"
  mkfifo -m 0644 "$commands" && mkfifo -m 0600 "$answers" || oracle_error "cannot make the pipes"
  subject 110 "$driver" "$commands" >"$answers" 2>"$ORACLE_TMP/$scenario.log" &
  line="$(timeout 110 python3 -I /oracle/inject_test/judge.py "$scenario" "$commands" "$answers")"
  status=$?
  tail -c 2000 "$ORACLE_TMP/$scenario.log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
