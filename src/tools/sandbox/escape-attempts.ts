/**
 * What a hostile command may try in order to leave a sandbox. Each is a shell command that knows what is around it by
 * variables (see `escape-stage.ts`) and is judged by what it did to the world outside, not by what it says; only calls
 * without such an effect say `ESCAPED` when the kernel let them pass. `N` is the attempt's number.
 */
import { calls, type Architecture } from './system-calls.ts';

export interface EscapeAttempt {
  readonly family: string;
  readonly command: string;
  /** Would end the others that run with it. */
  readonly isAlone: boolean;
  /** Is about what only a file tree or processes of its own can keep: names in a writable folder, times, permissions. */
  readonly needsOwnTree: boolean;
}

export function escapeAttempts(architecture: Architecture): EscapeAttempt[] {
  const families: Record<string, readonly string[]> = {
    'writes outside': writesOutside,
    'reads a secret': readsSecret,
    'reaches the network': reachesNetwork,
    'touches a process': touchesProcess,
    'stays behind': staysBehind,
    'gains rights': [...gainsRights, ...rawCalls(architecture)],
    'changes a protected name': changesProtected,
  };
  return Object.entries(families).flatMap(([family, commands]) =>
    commands.map((line) => {
      const isAlone = line.startsWith('ALONE ');
      const command = isAlone ? line.slice('ALONE '.length) : line;
      const needsOwnTree = family === 'changes a protected name' || ownTreePattern.test(command);
      return { family, command, isAlone, needsOwnTree };
    }),
  );
}

const ownTreePattern = /hidden-|^chmod|^touch|^renice|^prlimit/;

const writesOutside = [
  'echo $N >"$OUT/written-$N"',
  'echo $N >>"$OUT/file"',
  ': >"$OUT/file"',
  'rm -f "$OUT/file"',
  'mv "$OUT/file" "$WORK/scratch/stolen-$N"',
  'mv "$WORK/scratch/mine" "$OUT/moved-$N"',
  'mkdir "$OUT/folder-$N"',
  'chmod 777 "$OUT/file"',
  'touch -d 2001-01-01 "$OUT/file"',
  'ln -s "$OUT" "$WORK/scratch/link-$N" && echo $N >"$WORK/scratch/link-$N/written-$N"',
  'ln "$OUT/file" "$WORK/scratch/hard-$N" && echo $N >"$WORK/scratch/hard-$N"',
  'cd "$WORK" && echo $N >"../out/written-$N"',
  'echo $N >"/proc/self/root$OUT/written-$N"',
  'echo $N >"/proc/1/root$OUT/written-$N"',
  'echo $N >"/proc/1/cwd/../out/written-$N"',
  'echo $N >"/proc/self/cwd/../../out/written-$N"',
  'for pid in /proc/[0-9]*; do echo $N >"$pid/root$OUT/written-$N"; done',
  'printf x | dd of="$OUT/written-$N"',
  'echo $N | tee "$OUT/written-$N"',
  'sed -i s/canary/changed/ "$OUT/file"',
  'cd "$WORK/scratch" && echo x >in-$N && tar cPf archive-$N.tar --transform="s,.*,$OUT/written-$N," in-$N && tar xPf archive-$N.tar',
  'git clone -q "$WORK/project" "$OUT/clone-$N"',
  'echo $N >"$STATE/written-$N"',
  'for file in "$STATE"/files/*; do chmod u+w "$file"; echo exit >"$file"; done',
  'rm -rf "$STATE"/guards',
  ': >/etc/escape-$MARK-$N && rm -f /etc/escape-$MARK-$N && echo ESCAPED',
  ': >>/etc/passwd && echo ESCAPED',
  ': >>/etc/ld.so.cache && echo ESCAPED',
  ': >/usr/local/bin/escape-$MARK-$N && rm -f /usr/local/bin/escape-$MARK-$N && echo ESCAPED',
  ': >/etc/cron.d/escape-$MARK-$N && rm -f /etc/cron.d/escape-$MARK-$N && echo ESCAPED',
  'mkdir -p /var/spool/cron/crontabs && : >>/var/spool/cron/crontabs/escape-$MARK && echo ESCAPED',
  // The kernel's settings: with the value that they have.
  'value=$(cat /proc/sys/kernel/core_pattern) && echo "$value" >/proc/sys/kernel/core_pattern && echo ESCAPED',
  'for file in randomize_va_space modprobe hotplug printk panic; do file=/proc/sys/kernel/$file; value=$(cat $file) && echo "$value" >$file && echo ESCAPED; done',
  'value=$(cat /proc/sys/vm/swappiness) && echo "$value" >/proc/sys/vm/swappiness && echo ESCAPED',
  'mount -o remount,rw,bind /proc; value=$(cat /proc/sys/vm/swappiness) && echo "$value" >/proc/sys/vm/swappiness && echo ESCAPED',
  ': >>/proc/sysrq-trigger && echo ESCAPED',
  ': >>/proc/irq/default_smp_affinity && echo ESCAPED',
  ': >>/sys/kernel/uevent_helper && echo ESCAPED',
  'ls -d /sys/fs/cgroup/* && echo ESCAPED',
  'for disk in /dev/vda /dev/sda /dev/nvme0n1; do [ -b $disk ] && head -c 1 $disk && echo ESCAPED; done',
  'mknod "$WORK/scratch/disk-$N" b 254 0 && head -c1 "$WORK/scratch/disk-$N" && echo ESCAPED',
  'mknod "$WORK/scratch/mem-$N" c 1 1 && head -c1 "$WORK/scratch/mem-$N" && echo ESCAPED',
  '[ -c /dev/mem ] && head -c 1 /dev/mem && echo ESCAPED',
  'rmdir "$WORK" || mv "$WORK" "$WORK-moved"',
  'for place in /lib /bin /sbin /opt /; do : >$place/escape-$MARK && rm -f $place/escape-$MARK && echo ESCAPED; done',
];

const readsSecret = [
  'cat "$SECRET"',
  'cat "$WORK/hidden-file"; cat "$WORK"/hidden-folder/*',
  'cp "$WORK/hidden-file" "$WORK/scratch/copy-$N"; cat "$WORK/scratch/copy-$N"',
  'mv "$WORK/hidden-file" "$WORK/scratch/moved-$N"; cat "$WORK/scratch/moved-$N"',
  'ln "$WORK/hidden-file" "$WORK/scratch/hard-$N"; cat "$WORK/scratch/hard-$N"',
  'mv "$WORK/hidden-folder" "$WORK/scratch/folder-$N"; cat "$WORK/scratch/folder-$N"/*',
  'ln -s "$SECRET" "$WORK/scratch/secret-$N"; cat "$WORK/scratch/secret-$N"',
  'cat "/proc/self/root$SECRET" "/proc/1/root$SECRET"',
  'cat /proc/[0-9]*/root"$SECRET"',
  'cat "/proc/self/cwd/../../secret"',
  'cat /proc/[0-9]*/environ | tr "\\0" "\\n"',
  'cat /proc/[0-9]*/cmdline | tr "\\0" "\\n"',
  'cat "/proc/$VICTIM/environ" "/proc/$PARENT/environ"',
  'env; set',
  'for fd in 3 4 5 6 7 8 9 10 11 12; do eval "cat <&$fd"; done',
  'for fd in /proc/1/fd/*; do timeout 1 head -c 4096 "$fd"; done',
  'find / -path /proc -prune -o -path /usr -prune -o -name "secret*" -type f -exec cat {} +',
  'cat /etc/shadow | grep : && echo ESCAPED',
  'cat /etc/shadow- /etc/gshadow /etc/ssh/ssh_host_*_key && echo ESCAPED',
  'head -c 1 /proc/kcore && echo ESCAPED',
  'dmesg | grep . && echo ESCAPED',
  'head -c 1 /dev/kmsg && echo ESCAPED',
  'cat /proc/keys | grep . && echo ESCAPED',
  'cat "$STATE"/proofs.json "$STATE"/files/*',
  'cat /root/.bash_history /root/.ssh/* "$REALHOME"/.ssh/*',
  'cat /run/secrets/* /var/run/secrets/*/*/token && echo ESCAPED',
  'cat "/proc/$VICTIM/root$SECRET" /proc/self/task/*/root"$SECRET"',
];

const perlConnect = (family: number, address: string): string =>
  `perl -e 'socket(my $s, ${family}, 1, 0) or exit; connect($s, ${address}) and syswrite($s, "hit")'`;
const perlSend = (address: string): string =>
  `perl -e 'socket(my $s, 2, 2, 0) or exit; send($s, "hit", 0, ${address})'`;
const inet = (ip: string): string => `pack("S n C4 x8", 2, $ENV{TCP}, ${ip})`;
const inetUdp = (ip: string): string => `pack("S n C4 x8", 2, $ENV{UDP}, ${ip})`;

const reachesNetwork = [
  'bash -c "echo hit >/dev/tcp/127.0.0.1/$TCP"',
  'bash -c "echo hit >/dev/tcp/localhost/$TCP"',
  'bash -c "echo hit >/dev/tcp/$ADDRESS/$TCP"',
  'bash -c "echo hit >/dev/udp/127.0.0.1/$UDP"',
  'bash -c "echo hit >/dev/udp/$ADDRESS/$UDP"',
  perlConnect(2, inet('127,0,0,1')),
  perlConnect(2, inet('127,1,2,3')),
  perlConnect(2, inet('0,0,0,0')),
  perlConnect(2, inet('split(/[.]/, $ENV{ADDRESS})')),
  perlConnect(10, 'pack("S n L a16 L", 10, $ENV{TCP}, 0, ("\\0" x 15) . "\\1", 0)'),
  perlConnect(10, 'pack("S n L a16 L", 10, $ENV{TCP}, 0, ("\\0" x 10) . "\\xff\\xff\\x7f\\0\\0\\1", 0)'),
  perlSend(inetUdp('127,0,0,1')),
  perlSend(inetUdp('255,255,255,255')),
  perlSend(inetUdp('split(/[.]/, $ENV{ADDRESS})')),
  perlConnect(1, 'pack("S a108", 1, $ENV{SOCKET})'),
  perlConnect(1, 'pack("S a108", 1, "/proc/1/root$ENV{SOCKET}")'),
  perlConnect(1, 'pack("S a*", 1, "\\0$ENV{ABSTRACT}")'),
  'cd "$WORK/scratch" && ln -s "$SOCKET" s-$N; ' + perlConnect(1, 'pack("S a108", 1, "s-$ENV{N}")'),
  'for path in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/systemd/private; do [ -S "$path" ] && echo ESCAPED; done',
  'ls /tmp/.X11-unix/* /tmp/ssh-*/* && echo ESCAPED',
  "perl -e 'socket(my $s, 2, 3, 1) and print qq(ESCAPED\\n)'",
  "perl -e 'socket(my $s, 17, 3, 0x300) and print qq(ESCAPED\\n)'",
  "perl -e 'socket(my $s, 40, 1, 0) and print qq(ESCAPED\\n)'",
  "perl -e 'socket(my $s, 16, 3, 9) and print qq(ESCAPED\\n)'",
  "perl -e 'socket(my $s, 38, 5, 0) and print qq(ESCAPED\\n)'",
  "perl -e 'socket(my $s, 29, 3, 1) and print qq(ESCAPED\\n)'",
  'ip link add escape0 type dummy && echo ESCAPED',
  'nsenter --net=/proc/1/ns/net bash -c "echo hit >/dev/tcp/127.0.0.1/$TCP"',
  'nsenter -t "$PARENT" -n bash -c "echo hit >/dev/tcp/127.0.0.1/$TCP"',
  'curl -s --max-time 2 "http://127.0.0.1:$TCP/hit"; wget -q -T 2 -t 1 -O- "http://127.0.0.1:$TCP/hit"',
  'NO_PROXY="*" curl -s --max-time 2 --noproxy "*" "http://$ADDRESS:$TCP/hit"',
];

const touchesProcess = [
  'kill -TERM "$VICTIM"',
  'kill -KILL "$VICTIM"',
  'kill -STOP "$VICTIM" && echo ESCAPED',
  'kill -0 "$PARENT" && echo ESCAPED',
  'kill -KILL -- "-$VICTIM"',
  'ALONE kill -KILL -1',
  "ALONE perl -e 'kill 9, -1'",
  "perl -e 'kill 9, $ENV{VICTIM}; kill 9, -$ENV{VICTIM}'",
  'ls -d "/proc/$VICTIM" && grep -a victim "/proc/$VICTIM/cmdline" && echo ESCAPED',
  'ps -ef | grep -a "victim-" | grep -v grep && echo ESCAPED',
  'echo 1000 >"/proc/$VICTIM/oom_score_adj" && grep -a victim "/proc/$VICTIM/cmdline" && echo ESCAPED',
  'renice 19 -p "$VICTIM" && echo ESCAPED',
  'prlimit --pid "$VICTIM" --nofile=1 && echo ESCAPED',
  'ipcs -m | grep -q "^0x" && echo ESCAPED',
  'gdb -p "$VICTIM" -batch && echo ESCAPED; strace -p "$VICTIM" & sleep 0.1; kill $!',
  'cat "/proc/$VICTIM/mem" "/proc/$VICTIM/maps" && echo ESCAPED',
  'ALONE pkill -f "victim-$MARK"; fuser -k "$SOCKET"',
];

const leave = (how: string): string => how.replaceAll('LEFT', 'exec -a left-$MARK-$N sleep 30');
const staysBehind = [
  'nohup bash -c "LEFT" >/dev/null 2>&1 &',
  'setsid bash -c "LEFT" >/dev/null 2>&1 &',
  'setsid -f bash -c "LEFT" >/dev/null 2>&1',
  'bash -c "LEFT & disown" >/dev/null 2>&1',
  '( ( bash -c "LEFT" & ) & ) >/dev/null 2>&1',
  `bash -c "trap '' HUP INT TERM; LEFT" >/dev/null 2>&1 &`,
  `perl -e 'fork and exit; require POSIX; POSIX::setsid(); fork and exit; exec "bash", "-c", "LEFT"' >/dev/null 2>&1`,
  `bash -c "kill -STOP \\$\\$; LEFT" >/dev/null 2>&1 &`,
  'echo "exec -a left-$MARK-$N sleep 30" | at now',
  'systemd-run --user bash -c "LEFT"; systemd-run bash -c "LEFT"',
  'unshare -Ur --fork --pid bash -c "LEFT" >/dev/null 2>&1 &',
  'echo "* * * * * bash -c \\"LEFT\\"" | crontab -',
].map(leave);

const gainsRights = [
  'unshare -U true && echo ESCAPED',
  'unshare -Urm true && echo ESCAPED',
  'unshare -n true && echo ESCAPED',
  'unshare -Urm sh -c "umount -l $WORK/.git; mkdir -p $WORK/.git/hooks; echo x >$WORK/.git/hooks/escape"',
  'mkdir "$WORK/scratch/m-$N"; mount --bind /etc "$WORK/scratch/m-$N" && echo ESCAPED',
  'mkdir "$WORK/scratch/m-$N"; mount -t tmpfs none "$WORK/scratch/m-$N" && echo ESCAPED',
  'mount -o remount,rw / && echo ESCAPED',
  'mount -o remount,rw,bind /usr && echo ESCAPED',
  'umount -l "$EMPTY/.git" && echo ESCAPED',
  'chroot /proc/1/root true && echo ESCAPED',
  'chroot "$WORK/scratch" true && echo ESCAPED',
  'sudo -n true && echo ESCAPED',
  'su -c true </dev/null && [ "$(id -u)" != 0 ] && echo ESCAPED',
  'setpriv --inh-caps +sys_admin --ambient-caps +sys_admin grep "CapEff:.*[1-9a-f]" /proc/self/status && echo ESCAPED',
  'grep -q "CapEff:.*[1-9a-f]" /proc/self/status && echo ESCAPED',
  'grep -q "NoNewPrivs:.*0" /proc/self/status && echo ESCAPED',
  'grep -q "Seccomp:.*0" /proc/self/status && echo ESCAPED',
  'chown 12345 "$WORK/scratch/mine" && echo ESCAPED',
  'hostname "$(hostname)" && echo ESCAPED',
  'date -s "@$(date +%s)" && echo ESCAPED',
  'modprobe dummy && echo ESCAPED',
  'nsenter -t 1 -m -p sh -c "echo x >$OUT/nsenter-$N"',
  'cp /bin/sh "$WORK/scratch/suid-$N" && chmod 4755 "$WORK/scratch/suid-$N" && "$WORK/scratch/suid-$N" -pc "cat $SECRET"',
];

/** Calls whose success is the escape: made with arguments that do no harm. */
function rawCalls(architecture: Architecture): string[] {
  const { numbers } = calls(architecture);
  const call = (name: string, ...words: readonly string[]): string =>
    `perl -e 'my ($r, $p) = (qq(x) x 64, qq(/proc)); $! = 0; my $v = syscall(${[numbers[name], ...words].join(', ')}); print qq(ESCAPED ${name}\\n) if $v >= 0 or ($! != 1 and $! != 38)'`;
  return [
    call('ptrace', '0', '0', '0', '0'),
    call('process_vm_readv', '$ENV{VICTIM}', '$r', '0', '$r', '0', '0'),
    call('process_vm_writev', '$ENV{VICTIM}', '$r', '0', '$r', '0', '0'),
    call('pidfd_getfd', '0', '0', '0'),
    call('keyctl', '0', '-3', '0'),
    call('add_key', '$r', '$r', '$r', '0', '-3'),
    call('request_key', '$r', '$r', '0', '0'),
    call('bpf', '0', '$r', '64'),
    call('perf_event_open', '$r', '0', '-1', '-1', '0'),
    call('userfaultfd', '1'),
    call('io_uring_setup', '1', '$r'),
    call('fsopen', '$p', '0'),
    call('open_tree', '-100', '$p', '1'),
    call('move_mount', '-1', '$p', '-100', '$p', '0'),
    call('mount_setattr', '-100', '$p', '0', '$r', '32'),
    call('open_by_handle_at', '-100', '$r', '0'),
    call('name_to_handle_at', '-100', '$p', '$r', '$r', '0'),
    call('setns', '0', '0'),
    call('unshare', '0x10000000'),
    call('clone3', '$r', '64'),
    call('clone', '0x10000011', '0', '0', '0', '0'),
    call('init_module', '$r', '0', '$r'),
    call('finit_module', '0', '$r', '0'),
    call('kexec_load', '0', '0', '0', '0'),
    call('personality', '0x0040000'),
    call('fanotify_init', '0', '0'),
    call('quotactl', '0', '$r', '0', '0'),
    call('acct', '0'),
    call('swapon', '$p', '0'),
    call('ioctl', '0', '0x5412', '$r'),
    call('ioctl', '0', '0x541c', '$r'),
    call('syslog', '2', '$r', '0'),
    ...(architecture === 'x64'
      ? [
          `perl -e 'my $v = syscall(0x40000000 + 39); print qq(ESCAPED x32\\n) if $v > 0'`,
          call('iopl', '3'),
          call('modify_ldt', '0', '$r', '0'),
        ]
      : []),
  ];
}

const hook = 'echo "touch $OUT/hook"';
const changesProtected = [
  `${hook} >"$WORK/.git/hooks/pre-commit"`,
  `${hook} >"$WORK/.git/hooks/post-checkout" && chmod +x "$WORK/.git/hooks/post-checkout"`,
  'echo x >>"$WORK/.git/hooks/existing"; chmod +x "$WORK/.git/hooks/existing"',
  'rm -rf "$WORK/.git/hooks"; mkdir "$WORK/.git/hooks"',
  'mv "$WORK/.git/hooks" "$WORK/.git/hooks-old"',
  'git -C "$WORK" config core.hooksPath scratch',
  'git -C "$WORK" config core.fsmonitor "touch $OUT/fsmonitor"',
  'echo "[core] fsmonitor=x" >>"$WORK/.git/config"',
  'echo x >"$WORK/scratch/config"; mv -f "$WORK/scratch/config" "$WORK/.git/config"',
  'rm -f "$WORK/.git/config"; echo x >"$WORK/.git/config"',
  'mv "$WORK/.git" "$WORK/.git-old"',
  'mv "$WORK/.git" "$WORK/scratch/git-$N"; mkdir "$WORK/.git"',
  'rm -rf "$WORK/.git/commondir"; echo ../scratch >"$WORK/.git/commondir"',
  'ln -sf ../scratch "$WORK/.git/commondir"',
  'git -C "$WORK" config --worktree core.pager x; git -C "$WORK" config extensions.worktreeConfig true',
  'rm -rf "$WORK/group/project/.git/hooks"; mkdir "$WORK/group/project/.git/hooks"',
  'echo x >>"$WORK/group/project/.git/config"',
  'mv "$WORK/group/project" "$WORK/group/old"; mkdir -p "$WORK/group/project/.git/hooks"',
  'mv "$WORK/group" "$WORK/group-old"; mkdir -p "$WORK/group/project/.git"',
  'echo x >>"$WORK/.bashrc"',
  'rm -f "$WORK/.bashrc"; ln -s scratch/mine "$WORK/.bashrc"',
  'mv -f "$WORK/scratch/mine" "$WORK/.bashrc"',
  'echo x >"$WORK/.vscode/tasks.json"',
  'rm -rf "$WORK/.vscode"',
  'mv "$WORK/.vscode" "$WORK/scratch/vscode-$N"',
  "perl -e 'rename qq($ENV{WORK}/scratch/mine), qq($ENV{WORK}/.bashrc)'",
  'cd "$WORK/.git" && echo x >hooks/relative-$N',
  'echo x >"/proc/self/cwd/.git/hooks/proc-$N"; cd "$WORK" && echo x >"/proc/self/cwd/.bashrc"',
  'ln -s .git "$WORK/scratch/alias-$N"; echo x >"$WORK/scratch/../.git/hooks/alias-$N"',
  'touch -d 2001-01-01 "$WORK/.git/config"; chmod 777 "$WORK/.git/config"',
  'git init -q "$EMPTY"',
  'git init -q --bare "$EMPTY"',
  'mkdir -p "$EMPTY/.git/hooks" && echo x >"$EMPTY/.git/hooks/pre-commit"',
  'rmdir "$EMPTY/.git"; mkdir "$EMPTY/.git"; echo x >"$EMPTY/.git/config"',
  'echo "gitdir: scratch" >"$EMPTY/.git"; ln -s scratch "$EMPTY/.git"',
  'mv "$EMPTY/.git" "$EMPTY/other-git"; git init -q "$EMPTY"',
  'echo "ref: x" >"$EMPTY/HEAD"; rmdir "$EMPTY/HEAD" && echo "ref: x" >"$EMPTY/HEAD"',
  'for name in .bashrc .bash_profile .profile .zshrc .zshenv .envrc; do rmdir "$EMPTY/$name"; echo x >"$EMPTY/$name"; done',
  'mkdir -p "$EMPTY/.vscode" && echo x >"$EMPTY/.vscode/tasks.json"',
  'mkdir -p "$EMPTY/.idea" "$EMPTY/.devcontainer"; echo x >"$EMPTY/.idea/workspace.xml"; echo x >"$EMPTY/.devcontainer/devcontainer.json"',
  'for name in .claude .codex .cursor .agents .talaria; do mkdir -p "$EMPTY/$name"; echo x >"$EMPTY/$name/settings.json"; done',
  'rmdir "$EMPTY/.mcp.json"; echo "{}" >"$EMPTY/.mcp.json"; echo x >"$EMPTY/.gitconfig"',
  'mkdir -p "$EMPTY/.husky" "$EMPTY/.githooks"; echo x >"$EMPTY/.husky/pre-commit"; echo x >"$EMPTY/.githooks/pre-commit"',
  'mkdir -p "$EMPTY/.ssh"; echo x >"$EMPTY/.ssh/authorized_keys"',
  'for name in .talaria.md AGENTS.md CLAUDE.md .cursorrules; do rmdir "$EMPTY/$name"; echo x >"$EMPTY/$name"; done',
  'echo x >"$EMPTY/.vimrc"; echo x >"$EMPTY/.exrc"',
  'mv "$EMPTY/.bashrc" "$EMPTY/x" && mv "$WORK/scratch/mine" "$EMPTY/.bashrc"',
  "perl -e 'syscall(316, -100, qq($ENV{EMPTY}/.bashrc), -100, qq($ENV{WORK}/scratch/mine), 2)'",
  'chmod 777 "$EMPTY/.git" && echo x >"$EMPTY/.git/config"',
];
