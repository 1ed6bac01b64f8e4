/**
 * What runs inside the sandbox of a session: three bash scripts, handed over as arguments, so that nothing has to be
 * installed there.
 *
 *   the host     lives as long as the session's sandbox; starts one runner for each request that it reads
 *   the runner   starts one command in a process group of its own, ends it when asked to, and reports how it ended
 *   the shell    is the command itself: restores what the last one left (folder, variables, functions, aliases, options),
 *                does what it was asked to, and saves what is to be left for the next one
 *
 * Each command is a bash of its own, so nothing that a command can do to its shell (`exit`, `exec`, `set -e`, an endless
 * loop, `kill -9 $$`) ends the session's. Everything that these scripts read or write belongs to the sandbox: somebody in
 * it who changes that deceives himself only.
 *
 * Requests, a line each: `run CALL FLAGS`, `end CALL`, `eof CALL`, `signal CALL NAME GROUP`, `quit`. Flags: `f` standard input
 * from a file, `i` from a pipe that stays open, `p` on a terminal of its own, `k` what it leaves is kept for the next one,
 * `-` none.
 */

/** With this, a host that has nothing to lose has left by itself. */
export const hostLeftCode = 0;
/** With this, one that found something no longer guarded which was: a file that is replaced outside loses its mount. */
export const hostUnguardedCode = 4;
/** Nothing runs, nothing is stored that would be lost: after this long a host leaves. The next command starts another. */
const hostIdleS = 20;

/** Arguments: the wire folder, the state folder, `own` if it is a namespace of its own, the runner, the shell. */
export const hostScript = `
printf 'ready\\n'
exec >/dev/null 2>&1
wire=$1 state=$2 space=$3 runner=$4 shell=$5
shopt -s nullglob dotglob
set -- /tmp/*
mounted="$*"
# What puts the sandbox up, and the way to the network where there is one.
set -- /proc/[0-9]*
there=" $* "
count_mounts() { mapfile -t mounts </proc/self/mountinfo && mounts=\${#mounts[@]}; }
[ "$space" = own ] && count_mounts && guards=$mounts
apart() {
  if command -v setsid; then exec setsid "$@"; fi
  if command -v perl; then exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$@"; fi
  exec "$@"
}
runner_of() {
  eval "pid=\\$pid_$1"
  [ -n "$pid" ] && kill -0 "$pid"
}
has_nothing() {
  [ -z "$(jobs -pr)" ] || return 1
  [ "$space" = own ] || return 0
  for entry in /proc/[0-9]*; do
    case $there in *" $entry "*) ;; *) return 1 ;; esac
  done
  # What was put into it goes with the sandbox.
  set -- /tmp/*
  [ "$*" = "$mounted" ]
}
while :; do
  if ! IFS=' ' read -r -t ${hostIdleS} verb call rest; then
    [ -d "$wire" ] || exit 3
    has_nothing && exit ${hostLeftCode}
    continue
  fi
  case $call in *[!a-z0-9_]*) continue ;; esac
  case $verb in
    run)
      eval "known=\\$pid_$call ended=\\$ended_$call"
      [ -n "$known" ] && continue
      # Ended before it began: whoever waits to hear of its end hears of it now.
      if [ -n "$ended" ]; then (printf 'up 0\\ndone 143 0 \\n' 1<>"$wire/$call.exit") & continue; fi
      [ -n "$guards" ] && count_mounts && [ "$mounts" -lt "$guards" ] && exit ${hostUnguardedCode}
      (trap - TERM; apart bash -c "$runner" runner "$wire/$call" "$call" "$rest" "$state" "$shell") </dev/null &
      eval "pid_$call=$!" ;;
    end) eval "ended_$call=1"; runner_of "$call" && kill -TERM "$pid" ;;
    eof) runner_of "$call" && kill -USR1 "$pid" ;;
    signal)
      read -r name job <<<"$rest"
      case $name$job in *[!A-Z0-9]*) continue ;; esac
      runner_of "$call" && [ "$job" -gt 1 ] && kill "-$name" -- "-$job" ;;
    quit)
      for pid in $(jobs -pr); do kill -TERM "$pid"; done
      for look in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(jobs -pr)" ] && break; sleep 0.1; done
      exit 3 ;;
  esac
done`;

/** Takes the script of the shell as its first argument: in one line, so that bash counts a command's lines from 1. */
export const shellLine =
  'builtin eval "$1"; builtin eval "$__t_trace$__t_text"; { builtin eval "$__t_after"; } >/dev/null 2>&1';

/** Arguments: the call's part of the wire (a path without its ending), the call, flags, the state folder, the shell. */
export const runnerScript = `
wire=$1 call=$2 flags=$3 state=$4 shell=$5 job= ending=
finish() {
  trap '' TERM
  kill -TERM -- "-$job"; kill -CONT -- "-$job"
  for look in 1 2 3 4 5 6 7; do kill -0 -- "-$job" || break; sleep 0.1; done
  kill -KILL -- "-$job"
  # What left the group still carries the mark.
  for found in $(grep -lszxF -- "TALARIA_CALL=$wire" /proc/[0-9]*/environ); do
    found=\${found#/proc/}
    kill -KILL "\${found%/environ}"
  done
} 2>/dev/null
# From the first moment: a request to end may come before there is anything to be ended.
trap 'ending=1; if [ -n "$job" ]; then finish; fi' TERM
trap 'exec 4>&-' USR1
set -m
exec 3>"$wire.exit" 5>"$wire.out" 2>&3 || exit 1
input=/dev/null
case $flags in
  *f*) input=$wire.stdin ;;
  *i*) exec 4<>"$wire.in"; input=$wire.in ;;
esac
export TALARIA_CALL=$wire
set -- bash -c '${shellLine}' bash "$shell" "$wire.sh" "$state" "$flags"
case $flags in
  *p*)
    if ! script --version 2>/dev/null | grep -q util-linux; then
      printf '%s\\n' 'There is no terminal to be had here: "script" of util-linux is missing. Go without pty.' >&5
      printf 'up 0\\ndone 127 0 \\n' >&3
      exit
    fi
    export SHELL=$BASH
    line=$(printf '%q ' "$@")
    set -- script -qfec "$line" /dev/null ;;
esac
"$@" <"$input" >&5 2>&1 3>&- 4>&- 5>&- &
job=$!
if [ -n "$ending" ]; then finish; fi
exec 5>&-
printf 'up %s\\n' "$job" >&3
while wait "$job"; code=$?; kill -0 "$job" 2>/dev/null; do :; done
left=0
kill -0 -- "-$job" 2>/dev/null && left=1
folder=
case $flags in *k*) [ -f "$state/state" ] && IFS= read -r folder <"$state/state" ;; esac 2>/dev/null
case $folder in '#cwd '*) folder=\${folder#'#cwd '} ;; *) folder= ;; esac
[ \${#folder} -lt 3000 ] || folder=
printf 'done %s %s %s\\n' "$code" "$left" "$folder" >&3`;

/**
 * What is saved for the next command, as a script that restores it; the folder stands in its first line. It happens in a
 * subshell, so the shell itself stays as it is. Tracing comes last and apart: it would show in the output of the next.
 * `\builtin`, because a command may have left an alias or a function of the same name: `cd` is a favourite.
 */
const saveScript = `(
  __t_code=$? __t_trace=
  case $- in *x*) __t_trace="set -x;" ;; esac
  \\builtin set +xv
  {
    __t_here=$PWD
    case $__t_back in "") ;; *) case $PWD in "$__t_given") __t_here=$__t_back ;; esac ;; esac
    case $__t_here in *"
"*|"") \\builtin echo "#cwd /" ;; *) \\builtin printf "#cwd %s\\\\n" "$__t_here" ;; esac
    \\builtin declare -p IFS
    IFS=" 	
"
    \\builtin shopt -p
    \\builtin printf "umask %s\\\\n" "$(\\builtin umask)"
    for __t_name in $(\\builtin compgen -v); do
      case $__t_name in
        __t_*|BASH*|EUID|UID|PPID|SHELLOPTS|GROUPS|DIRSTACK|FUNCNAME|PIPESTATUS|RANDOM|SRANDOM|SECONDS|LINENO) ;;
        EPOCH*|HIST*|COMP_*|_|PWD|SHLVL|IFS|TALARIA_*|OPTIND|OPTERR|"$__t_own") ;;
        *) \\builtin declare -p "$__t_name" ;;
      esac
    done
    \\builtin declare -f
    \\builtin declare -Fx | while \\builtin read -r __t_word __t_word __t_name; do
      \\builtin printf "builtin export -f %s\\\\n" "$__t_name"
    done
    \\builtin set +o | while \\builtin read -r __t_name; do
      case $__t_name in *noexec*) ;; *) \\builtin printf "builtin %s\\\\n" "$__t_name" ;; esac
    done
    \\builtin alias -p
    \\builtin printf "__t_trace=%q\\\\n" "$__t_trace"
  } >|"$__t_state/new.$$" && {
    # Beside a variable that is too long for the system no program can be started.
    \\builtin export -n $(\\builtin compgen -e)
    \\builtin command -p mv -f "$__t_state/new.$$" "$__t_state/state"
  } || \\builtin :
  \\builtin exit "$__t_code"
)`;

/**
 * Arguments: itself, the file with the command, the state folder, flags; or no file, and the command last. Its own names
 * begin with `__t_`. At the top level, because in a function what a command declares would be gone with it. A command
 * with an EXIT trap of its own takes the place of the one that saves, so it is saved after it then.
 */
export const shellScript = `
shopt -s expand_aliases
__t_file=$2 __t_state=$3 __t_flags=$4 __t_text=$5 __t_folder= __t_trace= __t_back= __t_given= __t_own=
if [ -n "$__t_file" ]; then IFS= read -r -d '' __t_text <"$__t_file"; fi
case $__t_state in
  /*) ;;
  *) __t_state=$HOME/$__t_state; mkdir -p -m 700 -- "$__t_state" ;;
esac
case $__t_flags in *p*) stty cols 120 rows 40 2>/dev/null ;; esac
__t_save='${saveScript}'
set --
{
  if [ -f "$__t_state/state" ] && IFS= read -r __t_folder <"$__t_state/state"; then . "$__t_state/state"; fi
  __t_folder=\${__t_folder#'#cwd '}
  if [ -n "$__t_file" ] && [ -e "\${__t_file%.sh}.cwd" ]; then
    # Given for this command only: the next one is where the last one was, unless this one goes somewhere by itself.
    __t_back=\${__t_folder:-$PWD}
    IFS= builtin read -r __t_folder <"\${__t_file%.sh}.cwd"
  fi
  if [ -z "$__t_folder" ] || builtin cd -- "$__t_folder"; then __t_folder=; fi
  __t_given=$PWD
  # A shell without a terminal calls it dumb, and says so to the next one.
  case $__t_flags in *p*) case \${TERM:-dumb} in dumb) builtin export TERM=xterm; __t_own=TERM ;; esac ;; esac
  case $__t_flags in *k*) builtin trap '{ \\builtin eval "$__t_save"; } >/dev/null 2>&1' EXIT ;; esac
} 2>/dev/null
if [ -n "$__t_folder" ]; then
  \\builtin printf '[the folder %s is not there any more; this runs in %s]\\n' "$__t_folder" "$PWD"
fi
__t_after='{
  __t_code=$?
  case $__t_flags in
    *k*) case $(\\builtin trap -p EXIT) in *__t_save*) ;; *) \\builtin eval "$__t_save" ;; esac ;;
  esac
  (\\builtin exit "$__t_code")
}'`;
