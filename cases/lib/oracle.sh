# What every oracle starts with:   . /oracle/lib/oracle.sh
#
# Keeps the oracle and the program under test apart. The oracle runs as root
# without capabilities (but those to change and to kill users); the program
# under test runs as uid 1001 and can neither read the nonce, nor open the
# oracle's files, nor signal its processes. A verdict counts only with the
# nonce, so whatever the program prints decides nothing.
#
#   subject SECONDS CMD...   run CMD as the program under test
#   pass MESSAGE             the bug is gone: end with PASS
#   fail MESSAGE             the bug is there: end with FAIL
#   oracle_error MESSAGE     neither can be said
#   oracle_random BYTES      random hexadecimal digits, for values to choose
#
# ORACLE_TMP is a folder that the program under test can't open; send its
# output there. SUBJECT_ENV="A=b C=d" adds variables to its clean environment.
# Needs bash 5. Run by hand (no nonce in the environment) it works the same.

ORACLE_NONCE="${FAULTBOARD_NONCE:-}"
declare +x ORACLE_NONCE
unset FAULTBOARD_NONCE

# Runtimes that can give only one uid say so, and put it on the result.
ORACLE_SAME_UID="${FAULTBOARD_SAME_UID:-}"
unset FAULTBOARD_SAME_UID

ORACLE_SUBJECT_UID=1001
umask 022

oracle_error() {
  printf 'oracle error: %s\n' "$*" >&2
  _oracle_kill_subjects
  exit 2
}

pass() {
  _oracle_verdict PASS 0 "$*"
}

fail() {
  _oracle_verdict FAIL 1 "$*"
}

_oracle_verdict() {
  local word="$1" status="$2" message="${3//$'\n'/ }"
  _oracle_kill_subjects
  # A line of its own, even after output that ended without a newline.
  printf '\n%s: %s%s\n' "$word" "$message" "${ORACLE_NONCE:+ [$ORACLE_NONCE]}"
  exit "$status"
}

# Only builtins from here to `subject`: they must work when the program under
# test has used up every process that the container may have.

# Sets _uid, _parent, _session, _state of a process; fails if it is gone or dead.
_oracle_process() {
  local line rest
  _uid='' _parent='' _session='' _state=''
  { while read -r line rest; do
      if [ "$line" = Uid: ]; then _uid="${rest%%[[:space:]]*}"; break; fi
    done < "/proc/$1/status"
    IFS= read -r line < "/proc/$1/stat"; } 2>/dev/null || return 1
  # The name in parentheses may hold anything; fields start after the last one.
  set -- ${line##*)}
  [ "${1:-Z}" != Z ] && [ "${1:-X}" != X ] || return 1
  _state="$1" _parent="$2" _session="$4"
}

# Signal every process that the test `$1 PID` picks: stop until none of them
# runs any more, and only then kill. What stands still keeps its place in the
# container's count of processes, so a program that forks without end can't
# fork away from the kill.
_oracle_end() {
  local pick="$1" round pass pid found running
  for round in 1 2 3 4 5 6 7 8 9 10; do
    found=''
    for pass in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
      running=''
      for pid in /proc/[0-9]*; do
        pid="${pid#/proc/}"
        _oracle_process "$pid" && "$pick" "$pid" || continue
        found=yes
        [ "$_state" != T ] || continue
        running=yes
        kill -s STOP "$pid" 2>/dev/null
      done
      [ -n "$running" ] || break
    done
    [ -n "$found" ] || return 0
    for pid in /proc/[0-9]*; do
      pid="${pid#/proc/}"
      _oracle_process "$pid" && "$pick" "$pid" && kill -s KILL "$pid" 2>/dev/null
    done
    _oracle_nap
  done
}

_oracle_is_subject() {
  [ "$_uid" = "$ORACLE_SUBJECT_UID" ]
}

_oracle_kill_subjects() {
  [ -z "$ORACLE_SAME_UID" ] || return 0
  _oracle_end _oracle_is_subject
}

_oracle_in_tree() {
  [ "$1" != 1 ] && [ "$1" != "$BASHPID" ] || return 1
  [[ "$_oracle_members" == *" $1 "* || "$_oracle_members" == *" $_parent "* || "$_session" = "$_oracle_top" ]] || return 1
  [[ "$_oracle_members" == *" $1 "* ]] || _oracle_members+="$1 "
}

# Kill a process, its descendants and everything in its session.
_oracle_kill_tree() {
  local _oracle_top="$1" _oracle_members=" $1 "
  _oracle_end _oracle_in_tree
}

# Sleep 20 ms without starting a process.
_oracle_nap() {
  local _
  read -r -t 0.02 -u "$_ORACLE_NAP" _ || :
}

# subject SECONDS CMD...: run CMD as uid 1001 without capabilities, in a
# session of its own and a clean environment, and return its exit status. After
# SECONDS it is killed with its whole tree, and the status is 124.
subject() {
  local limit="$1" pid until
  shift
  (
    local fd pair
    for fd in /proc/self/fd/*; do
      fd="${fd##*/}"
      # Nothing that the oracle holds open is handed on; 255 is the shell's own.
      [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-" 2>/dev/null
    done
    local -a clean=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
      HOME=/tmp/subject TMPDIR=/tmp/subject TZ=UTC LANG=C.UTF-8)
    for pair in ${SUBJECT_ENV:-}; do
      clean+=("$pair")
    done
    exec "${clean[@]}" setsid "${_ORACLE_DROP[@]}" "$@" </dev/null
  ) &
  pid=$!
  until=$(( ${EPOCHREALTIME/./} + limit * 1000000 ))
  while kill -0 "$pid" 2>/dev/null; do
    if [ "${EPOCHREALTIME/./}" -ge "$until" ]; then
      _oracle_kill_tree "$pid"
      wait "$pid" 2>/dev/null
      return 124
    fi
    _oracle_nap
  done
  wait "$pid" 2>/dev/null
}

oracle_random() {
  od -An -v -tx1 -N "${1:-16}" /dev/urandom | tr -d ' \n'
}

ORACLE_TMP="$(mktemp -d /tmp/oracle.XXXXXXXXXX)" && chmod 0700 "$ORACLE_TMP" && mkfifo -m 0600 "$ORACLE_TMP/.nap" \
  || { echo 'oracle error: no private folder under /tmp' >&2; exit 2; }
exec {_ORACLE_NAP}<>"$ORACLE_TMP/.nap"

_ORACLE_DROP=(setpriv --reuid="$ORACLE_SUBJECT_UID" --regid="$ORACLE_SUBJECT_UID" --clear-groups
  --inh-caps=-all --no-new-privs --)
[ -z "$ORACLE_SAME_UID" ] || _ORACLE_DROP=(env --)
# Its home must belong to it, and the oracle may not give files away.
"${_ORACLE_DROP[@]}" mkdir -p -m 0700 /tmp/subject \
  || oracle_error 'cannot become the user of the program under test'
