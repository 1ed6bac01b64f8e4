/**
 * The supervisor of one command: a shell script, because a shell starts in a millisecond and takes a tenth of the
 * memory of a second Node. It claims the call, so that of two supervisors of one call only the first does anything; runs
 * the command in a process group of its own; keeps what it prints, and its exit code, in the call's folder; and ends it
 * some time after its deadline, should nobody else be there to do so. It needs nobody to be alive but itself.
 *
 * Three parts run side by side as one pipeline in the foreground: the watch (which tells the pid of its alarm), the
 * command, and the keeper of its output. A part started with `&` instead would have SIGINT ignored for good, and the
 * command with it. The supervisor ends when all three have, so it is there as long as anything holds the output open.
 *
 * Files, all complete once they end in a newline: `claim` (pid, start time, boot), `group` (group, pid, start time),
 * `exit` (exit code, and `signal` if a signal ended it), `cut` (why it was ended from outside).
 */

/** In blocks of 512 bytes; some shells count in blocks of twice that. */
const outputBlocksMax = 131_072;
/** Of an output that is longer, this much of its end is kept too. */
const endBytesKept = 262_144;
const killGraceS = 2;

const leftOutNote = '[… what follows is the end; the middle of this output was too long to keep …]';

/** Who this shell is: pid and start time are one process for ever, the pid alone is not. */
const identify = `
identify() {
  read -r pid name state parent group session tty foreground flags a b c d e f g h priority nice threads alarm start rest \\
    </proc/$$/stat && return
  start=$(LC_ALL=C TZ=UTC ps -o lstart= -p $$)
  group=$(ps -o pgid= -p $$)
  group=\${group##* }
}
identify 2>/dev/null`;

/** Becomes the command, in its new group. The group is on record before the command begins. */
const launchScript = `${identify}
printf '%s\\n' "$group" "$$" "$start" >"$1/group" || exit 126
if command -v bash >/dev/null; then exec bash -c "$2"; else exec sh -c "$2"; fi`;

/** Arguments: the call's folder, the command, seconds until it is ended, and the script that becomes the command. */
const superviseScript = `trap '' TERM
${identify}
read -r boot </proc/sys/kernel/random/boot_id || boot=$(sysctl -n kern.bootsessionuuid)
set -C
printf '%s\\n' "$$" "$start" "$boot" >"$1/claim" || exit 0
set +C

apart() {
  if command -v setsid >/dev/null; then exec setsid "$@"; fi
  if command -v perl >/dev/null; then exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$@"; fi
  exec "$@"
}

watch() {
  sleep "$3" >/dev/null &
  echo $!
  wait $! || return 0
  [ -e "$1/exit" ] && return 0
  echo timeout >"$1/cut"
  read -r group <"$1/group" || return 0
  kill -TERM "-$group"
  sleep ${killGraceS}
  kill -KILL "-$group"
}

command_itself() {
  read -r alarm
  exec 2>"$1/shell-notes"
  (trap - TERM; apart /bin/sh -c "$4" sh "$1" "$2") </dev/null 2>&1
  code=$?
  # A shell tells of a death by signal here; from the code alone it can't be known.
  if [ -s "$1/shell-notes" ]; then echo "$code signal"; else echo "$code"; fi >"$1/exit"
  kill -KILL "$alarm" 2>/dev/null
}

keep_output() {
  (trap '' XFSZ; ulimit -f ${outputBlocksMax}; exec cat >>"$1/output") && return
  printf '\\n%s\\n' '${leftOutNote}' >>"$1/output"
  exec tail -c ${endBytesKept} >>"$1/output"
}

watch "$@" | command_itself "$@" | keep_output "$@"`;

/** What `/bin/sh` is started with. */
export function supervisorArguments(folder: string, command: string, endAfterS: number): string[] {
  return ['-c', superviseScript, 'supervisor', folder, command, String(endAfterS), launchScript];
}
