#!/usr/bin/env bash
# Oracle: does every record come out exactly once, in a burst and over broken
# connections? Sender and receiver run as the program under test; judge.py is
# producer, wire and reader, and decides.
. /oracle/lib/oracle.sh

# The sender's input lies where the program under test can open it, but not
# replace it; what the receiver hands on goes into the oracle's own folder.
wire="$(mktemp -d /tmp/wire.XXXXXXXXXX)" && chmod 0755 "$wire" || oracle_error "no folder for the pipe"
SUBJECT_ENV="PYTHONPATH=/work/tree PYTHONDONTWRITEBYTECODE=1"

port=7100
said=""
for scenario in burst cut; do
  input="$wire/$scenario"
  handed="$ORACLE_TMP/$scenario.handed"
  mkfifo -m 0644 "$input" || oracle_error "cannot make the pipe"
  receiver=$((port + 1)) proxy=$((port + 2)) port=$((port + 10))
  admission="--rate 100000 --burst 1000"
  [ "$scenario" = burst ] && admission="--rate 400 --burst 8"
  subject 85 python3 -m relay receiver --listen "127.0.0.1:$receiver" \
    --journal "/tmp/subject/$scenario.journal" $admission >"$handed" 2>"$ORACLE_TMP/$scenario.receiver.log" &
  subject 85 python3 -m relay sender --to "127.0.0.1:$proxy" --spool "/tmp/subject/$scenario.spool" \
    --input "$input" --stream "$scenario" >/dev/null 2>"$ORACLE_TMP/$scenario.sender.log" &
  line="$(timeout 85 python3 -I /oracle/inject_test/judge.py "$scenario" "$input" "$handed" "$receiver" "$proxy")"
  status=$?
  tail -q -c 1000 "$ORACLE_TMP/$scenario.receiver.log" "$ORACLE_TMP/$scenario.sender.log" >&2
  case "$status" in
    0) said="$said${said:+; }$line" ;;
    1) fail "$line" ;;
    *) oracle_error "the judge ended with status $status" ;;
  esac
done
pass "$said"
