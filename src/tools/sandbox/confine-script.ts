/**
 * The program that puts up a sandbox where there is no bubblewrap: in perl, which every Debian has, because it can make
 * any system call without being compiled. Two ways: `namespaces` builds a file tree, processes and a network of its own;
 * `landlock` takes rights away from a process that stays in the machine's. Both end with no rights at all, a filter of
 * system calls and everything dead that the command started.
 *
 * Arguments: the way, the list of mounts or rights (fields ended by NUL, four to an entry), the filter, the working
 * folder, then the command. Descriptor 3 is held open outside and closed for the command.
 */
import { calls, type Architecture } from './system-calls.ts';

export function confineScript(architecture: Architecture): string {
  const { numbers } = calls(architecture);
  const names = [
    'mount',
    'umount2',
    'pivot_root',
    'unshare',
    'prctl',
    'capset',
    'sethostname',
    'mount_setattr',
    'openat',
    'close',
  ];
  const landlock = ['landlock_create_ruleset', 'landlock_add_rule', 'landlock_restrict_self'];
  const table = [...names, ...landlock].map((name) => `${name} => ${numbers[name]}`).join(', ');
  return `use strict;\nmy %call = (${table});\n${common}\n${namespaces}\n${landlockWay}\n${main}\n`;
}

const common = String.raw`
my ($way, $list_file, $filter_file, $cwd, $network, @command) = @ARGV;
sub fail { print STDERR "sandbox: $_[0]: $!\n"; exit 126 }
sub call { my ($name, @arguments) = @_; return syscall($call{$name}, @arguments) }
sub slurp { open(my $file, '<:raw', $_[0]) or fail("can't read $_[0]"); local $/; my $text = <$file>; return $text }
my @fields = split /\0/, slurp($list_file), -1; pop @fields;
my $filter = slurp($filter_file);

# What a process may never get back: rights, then the calls of the filter. Nothing after this but the command.
sub give_up_rights {
  for my $capability (0 .. 63) { call('prctl', 24, $capability, 0, 0, 0) }
  call('prctl', 47, 4, 0, 0, 0);
  call('capset', pack('LL', 0x20080522, 0), pack('L6', 0, 0, 0, 0, 0, 0)) == 0 or fail('rights can not be dropped') if $_[0];
  call('prctl', 38, 1, 0, 0, 0) == 0 or fail('new rights can not be forbidden');
}
sub filter_calls {
  my $program = pack('S x6 P', length($filter) / 8, $filter);
  call('prctl', 22, 2, $program, 0, 0) == 0 or fail('system calls can not be filtered');
}
sub run_command {
  call('close', $_) for 3 .. 1023;
  exec { $command[0] } @command;
  print STDERR "sandbox: $command[0]: $!\n"; exit 127;
}
sub code_of { my $status = shift; return $status & 127 ? 128 + ($status & 127) : $status >> 8 }
sub die_with_parent { my $parent = shift; call('prctl', 1, 9, 0, 0, 0); exit 126 if getppid() != $parent }
`;

const namespaces = String.raw`
sub make_folders {
  my ($path, $mode) = @_; my $at = '';
  for my $part (grep { length } split m{/}, $path) { $at .= "/$part"; mkdir $at, 0755 unless -d $at }
}
sub attach {
  my ($from, $to, $set) = @_;
  if (-d $from) { make_folders($to) } elsif (!-e $to) {
    my $above = $to; $above =~ s{/[^/]*$}{}; make_folders($above); open(my $file, '>', $to) or fail("can't make $to");
  }
  call('mount', $from, $to, 0, 4096 | 16384, 0) == 0 or fail("can't mount $to");
  set_mount($to, $set);
}
# 1: read only, 2: no set-user-id, 4: no devices; for everything below as well.
sub set_mount {
  my ($at, $set, $only) = @_;
  call('mount_setattr', -100, $at, $only ? 0 : 0x8000, pack('Q4', $set, 0, 0, 0), 32) == 0 or fail("can't close $at");
}
sub temporary { my ($at, $mode) = @_; make_folders($at); call('mount', 'tmpfs', $at, 'tmpfs', 6, "mode=$mode") == 0 or fail("can't make $at") }

sub build_tree {
  call('mount', 'none', '/', 0, 16384 | (1 << 18), 0) == 0 or fail('mounts can not be made private');
  call('mount', 'tmpfs', '/tmp', 'tmpfs', 6, 'mode=0755') == 0 or fail('no file tree of its own');
  mkdir "/tmp/$_", 0755 for 'new', 'old';
  call('mount', '/tmp/new', '/tmp/new', 0, 4096, 0) == 0 or fail('no file tree of its own');
  call('pivot_root', '/tmp', '/tmp/old') == 0 or fail('the file tree can not be changed');
  chdir '/';
  temporary('/new/dev', '0755');
  for my $device (qw(null zero full random urandom tty)) {
    open(my $file, '>', "/new/dev/$device");
    call('mount', "/old/dev/$device", "/new/dev/$device", 0, 4096, 0) == 0 or fail("no /dev/$device");
  }
  symlink "/proc/self/fd$$_[0]", "/new/dev/$$_[1]" for ['', 'fd'], ['/0', 'stdin'], ['/1', 'stdout'], ['/2', 'stderr'];
  mkdir '/new/dev/shm', 01777; mkdir '/new/dev/pts', 0755;
  call('mount', 'devpts', '/new/dev/pts', 'devpts', 2 | 8, 'newinstance,ptmxmode=0666,mode=620') == 0 or fail('no terminals');
  symlink 'pts/ptmx', '/new/dev/ptmx';
  mkdir '/new/proc', 0555;
  call('mount', 'proc', '/new/proc', 'proc', 2 | 4 | 8, 0) == 0 or fail('no /proc of its own');
  my @fixed = ('/new', '/new/proc');
  my @entries = @fields;
  while (my ($kind, $path, $source, $extra) = splice @entries, 0, 4) {
    my $at = "/new$path";
    if ($kind eq 'read') { attach("/old$source", $at, 7) }
    elsif ($kind eq 'write') { attach("/old$source", $at, 6) }
    elsif ($kind eq 'scratch') { temporary($at, $source); push @fixed, $at if $extra }
    elsif ($kind eq 'link') { my $above = $at; $above =~ s{/[^/]*$}{}; make_folders($above); symlink $source, $at or fail("can't link $at") }
  }
  mkdir '/new/run', 0755;
  set_mount($_, 1, 1) for reverse @fixed;
  call('umount2', '/old', 2) == 0 or fail('the old file tree stays');
  chdir '/new';
  call('pivot_root', '.', '.') == 0 or fail('the file tree can not be changed');
  call('umount2', '.', 2) == 0 or fail('the old file tree stays');
}

sub loopback_up {
  socket(my $socket, 2, 2, 0) or fail('no network of its own');
  my $request = pack('a16 s x22', 'lo', 0x41);
  ioctl($socket, 0x8914, $request) or fail('no loopback of its own');
}

sub in_namespaces {
  my ($user, $group) = ($>, $) + 0);
  my $flags = 0x10000000 | 0x20000 | 0x8000000 | 0x4000000 | 0x2000000 | 0x20000000;
  $flags |= 0x40000000 unless $network eq 'open';
  die_with_parent(getppid());
  call('unshare', $flags) == 0 or fail('user namespaces are not allowed here');
  for (['setgroups', 'deny'], ['uid_map', "$user $user 1"], ['gid_map', "$group $group 1"]) {
    my $file;
    open($file, '>', "/proc/self/$$_[0]") && syswrite($file, $$_[1]) or fail("can't write $$_[0]");
  }
  my $first = fork // fail('no process');
  if ($first) {
    $SIG{$_} = 'IGNORE' for 'INT', 'QUIT';
    waitpid $first, 0; exit code_of($?);
  }
  call('prctl', 1, 9, 0, 0, 0);
  build_tree();
  call('sethostname', 'sandbox', 7);
  loopback_up() unless $network eq 'open';
  chdir $cwd or fail($cwd);
  give_up_rights(1);
  my $inner = fork // fail('no process');
  if (!$inner) { filter_calls(); run_command() }
  while ((my $pid = wait) > 0) { exit code_of($?) if $pid == $inner }
  exit 126;
}
`;

const landlockWay = String.raw`
sub in_landlock {
  my $abi = call('landlock_create_ruleset', 0, 0, 1);
  $abi >= 6 or fail('Landlock of version 6 is needed (Linux 6.12)');
  my $files = $abi >= 5 ? 0xffff : 0x7fff;
  my $ruleset = call('landlock_create_ruleset', pack('Q3', $files, $network eq 'open' ? 0 : 3, 3), 24, 0);
  $ruleset >= 0 or fail('Landlock is switched off');
  my @entries = @fields;
  while (my ($kind, $path, $source, $extra) = splice @entries, 0, 4) {
    my $handle = call('openat', -100, $path, 0x280000, 0);
    next if $handle < 0;
    my $rights = $kind eq 'write' ? $files & ~0x8000 & ~(1 << 6) & ~(1 << 11) : $kind eq 'device' ? 0x8006 : 0xd;
    $rights &= 0xc007 unless -d $path;
    call('landlock_add_rule', $ruleset, 1, pack('Qi', $rights & $files, $handle), 0) == 0 or fail("no rule for $path");
    call('close', $handle);
  }
  call('prctl', 36, 1, 0, 0, 0);
  die_with_parent(getppid());
  my $inner = fork // fail('no process');
  if (!$inner) {
    call('prctl', 1, 9, 0, 0, 0);
    chdir $cwd or fail($cwd);
    give_up_rights($> != 0 ? 0 : 1);
    call('landlock_restrict_self', $ruleset, 0) == 0 or fail('Landlock can not be switched on');
    filter_calls();
    run_command();
  }
  $SIG{$_} = 'IGNORE' for 'INT', 'QUIT';
  my $code = 126;
  while ((my $pid = wait) > 0) { if ($pid == $inner) { $code = code_of($?); last } }
  # What it left behind has become a child of this process, and its children will when it dies.
  for (1 .. 1000) {
    my $children = '';
    if (open(my $file, '<', "/proc/$$/task/$$/children")) { local $/; $children = <$file> // '' }
    my @children = split ' ', $children;
    last unless @children;
    kill 'KILL', @children; wait;
  }
  exit $code;
}
`;

const main = String.raw`
# What was handed open to whoever started this would lead out of it, also from the first process inside.
call('close', $_) for 4 .. 1023;
if ($way eq 'namespaces') { in_namespaces() } else { in_landlock() }`;
