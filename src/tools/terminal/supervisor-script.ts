/**
 * The supervisor of one command: a shell script, because a shell starts in a millisecond and takes a tenth of the
 * memory of a second Node. It claims the call, so that of two supervisors of one call only the first does anything; runs
 * the command, either by itself or by way of the session's host; keeps what it prints, and its exit code, in the call's
 * folder; and ends it some time after its deadline, should nobody else be there to do so. It needs nobody to be alive but
 * itself.
 *
 * Three parts run side by side as one pipeline in the foreground: the watch (which tells the pid of its alarm), the
 * command, and the keeper of its output. A part started with `&` instead would have SIGINT ignored for good, and the
 * command with it. The supervisor ends when all three have, so it is there as long as anything holds the output open.
 *
 * What runs in a sandbox is reached by pipes only, which are made and opened here and then linked to where the sandbox
 * sees them: whatever is put in their place there, nothing outside opens it. What comes out of a pipe is read in pieces
 * of a fixed size.
 *
 * Files, all complete once they end in a newline: `claim` (pid, start time, boot), `group` (group, pid, start time) or
 * `begun` (the process group as the sandbox numbers it), `exit` (exit code, and `signal` if a signal ended it; whether
 * something of it goes on; the folder it ended in), `cut` (why it was ended from outside).
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

/** Takes the file of this name, or ends. */
const claim = `trap '' TERM
${identify}
read -r boot </proc/sys/kernel/random/boot_id || boot=$(sysctl -n kern.bootsessionuuid)
set -C
printf '%s\\n' "$$" "$start" "$boot" >"$1/claim" || exit 0
set +C`;

/** Becomes the command, in its new group. The group is on record before the command begins. */
const launchScript = `${identify}
printf '%s\\n' "$group" "$$" "$start" >"$1/group" || exit 126
shift
exec "$@"`;

const parts = `
watch() {
  if [ "$2" = 0 ]; then echo none; return; fi
  sleep "$2" >/dev/null &
  echo $!
  wait $! || return 0
  [ -e "$1/exit" ] && return 0
  echo timeout >"$1/cut"
  end_command "$@"
}

keep() {
  (trap '' XFSZ; ulimit -f ${outputBlocksMax}; exec cat >>"$1/output") && return
  printf '\\n%s\\n' '${leftOutNote}' >>"$1/output"
  exec tail -c ${endBytesKept} >>"$1/output"
}

forget_alarm() {
  [ "$alarm" = none ] || kill -KILL "$alarm" 2>/dev/null
}`;

/** Arguments: the call's folder, seconds until it is ended or 0, the launcher, and what it becomes. */
const superviseScript = `${claim}
${parts}

apart() {
  if command -v setsid >/dev/null; then exec setsid "$@"; fi
  if command -v perl >/dev/null; then exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$@"; fi
  exec "$@"
}

end_command() {
  read -r group <"$1/group" || return 0
  kill -TERM "-$group"
  sleep ${killGraceS}
  kill -KILL "-$group"
}

command_itself() {
  folder=$1 launch=$3
  shift 3
  read -r alarm
  exec 2>"$folder/shell-notes"
  input=/dev/null
  [ -e "$folder/stdin" ] && input=$folder/stdin
  (trap - TERM; apart /bin/sh -c "$launch" sh "$folder" "$@") <"$input" 2>&1
  code=$?
  # A shell tells of a death by signal here; from the code alone it can't be known.
  if [ -s "$folder/shell-notes" ]; then echo "$code signal"; else echo "$code"; fi >"$folder/exit"
  forget_alarm
}

watch "$@" | command_itself "$@" | keep "$@"`;

/** Arguments: the call's folder, seconds until it is ended or 0, the call, its flags, the wire folder, the host's pipe. */
const hostedScript = `${claim}
${parts}

end_command() {
  printf 'end %s\\n' "$3" 1<>"$6"
}

command_itself() {
  read -r alarm
  # The keeper of the output opens the other end: nothing is printed before it is there.
  exec 5>"$1/$3.out" 6<>"$1/$3.exit" 9<>"$6"
  ln -f "$1/$3.out" "$1/$3.exit" "$1/$3.in" "$5/" || return
  printf 'run %s %s\\n' "$3" "$4" >&9
  record=$(dd bs=4096 count=1 <&6 2>/dev/null)
  exec 7<"$1/$3.exit" 5>&- 6>&- 9>&-
  begun=\${record#up }
  printf '%s\\n' "\${begun%%[!0-9]*}" >"$1/begun"
  look=0
  until case "
$record" in *"
done "*) true ;; *) false ;; esac; do
    piece=$(dd bs=4096 count=1 <&7 2>/dev/null)
    look=$((look + 1))
    # Nobody is left who could tell how it ended.
    if [ -z "$piece" ] || [ $look -gt 9 ]; then forget_alarm; return; fi
    record="$record
$piece"
  done
  code= left= place= by=
  while read -r word value more where; do
    case $word in
      up | '') ;;
      done) code=$value left=$more place=$where ;;
      # What a shell notes about its job: anything but these is a death by signal.
      *) case $value in Done | Exit) ;; *) by=signal ;; esac ;;
    esac
  done <<END
$record
END
  [ "\${code:-0}" -gt 128 ] 2>/dev/null || by=
  printf '%s\\n%s\\n%s\\n' "$code $by" "$left" "$place" >"$1/exit"
  forget_alarm
}

keep_output() {
  exec 8<"$1/$3.out"
  keep "$@" <&8
}

mkfifo "$1/$3.out" "$1/$3.exit" "$1/$3.in" "$6" 2>/dev/null
if [ -p "$1/$3.out" ] && [ -p "$1/$3.exit" ] && [ -p "$6" ]; then
  watch "$@" | command_itself "$@" | keep_output "$@"
fi
rm -f "$5/$3".* "$1/$3".*`;

/** Arguments: the host's folder, then what starts it. */
const hostSupervisorScript = `trap '' TERM HUP
${claim}
command -p mkfifo "$1/request" 2>/dev/null
folder=$1
exec 3<>"$folder/request" || exit 1
shift
(trap - TERM HUP; exec "$@") <&3 >"$folder/log" 2>&1 3>&-
echo $? >"$folder/exit"`;

/** What `/bin/sh` is started with, for a command that is started by its supervisor. */
export function supervisorArguments(folder: string, argv: readonly string[], endAfterS: number): string[] {
  return ['-c', superviseScript, 'supervisor', folder, String(endAfterS), launchScript, ...argv];
}

export interface HostedCall {
  readonly callId: string;
  readonly flags: string;
  /** The folder where the sandbox sees the pipes of its calls. */
  readonly wire: string;
  /** The pipe that the host reads. */
  readonly requests: string;
}

/** The same for a command that the session's host starts. */
export function hostedArguments(folder: string, call: HostedCall, endAfterS: number): string[] {
  const { callId, flags, wire, requests } = call;
  return ['-c', hostedScript, 'supervisor', folder, String(endAfterS), callId, flags, wire, requests];
}

/** The same for a host. */
export function hostSupervisorArguments(folder: string, argv: readonly string[]): string[] {
  return ['-c', hostSupervisorScript, 'host', folder, ...argv];
}
