/**
 * The numbers of the system calls that a filter names, for the two architectures that Talaria runs on under Linux. From
 * the kernel's tables; they never change. A call that an architecture never had is not in its table.
 */
export type Architecture = 'x64' | 'arm64';

export interface CallTable {
  /** How the kernel names the architecture in a filter. */
  readonly audit: number;
  readonly numbers: Readonly<Record<string, number>>;
}

export function calls(architecture: Architecture): CallTable {
  return tables[architecture];
}

/** Null where there is no sandbox for the processor. */
export function architectureOf(name: string): Architecture | null {
  return name === 'x64' || name === 'arm64' ? name : null;
}

/** The same everywhere since 2019. */
const common =
  'io_uring_setup:425 io_uring_enter:426 io_uring_register:427 open_tree:428 move_mount:429 fsopen:430 fsconfig:431 ' +
  'fsmount:432 fspick:433 clone3:435 pidfd_getfd:438 process_madvise:440 mount_setattr:442 quotactl_fd:443 ' +
  'landlock_create_ruleset:444 landlock_add_rule:445 landlock_restrict_self:446 statmount:457 listmount:458 ' +
  'open_tree_attr:467';

const x64 =
  'close:3 ioctl:16 socket:41 clone:56 ptrace:101 syslog:103 uselib:134 personality:135 ustat:136 sysfs:139 vhangup:153 ' +
  'modify_ldt:154 pivot_root:155 _sysctl:156 prctl:157 adjtimex:159 chroot:161 acct:163 settimeofday:164 mount:165 ' +
  'umount2:166 swapon:167 swapoff:168 reboot:169 sethostname:170 setdomainname:171 iopl:172 ioperm:173 ' +
  'create_module:174 init_module:175 delete_module:176 quotactl:179 nfsservctl:180 lookup_dcookie:212 ' +
  'clock_settime:227 mbind:237 set_mempolicy:238 kexec_load:246 add_key:248 request_key:249 keyctl:250 ' +
  'capset:126 kill:62 migrate_pages:256 openat:257 unshare:272 move_pages:279 perf_event_open:298 fanotify_init:300 ' +
  'name_to_handle_at:303 open_by_handle_at:304 clock_adjtime:305 setns:308 process_vm_readv:310 ' +
  'process_vm_writev:311 kcmp:312 finit_module:313 seccomp:317 kexec_file_load:320 bpf:321 userfaultfd:323';

const arm64 =
  'lookup_dcookie:18 ioctl:29 close:57 capset:91 kill:129 umount2:39 mount:40 pivot_root:41 nfsservctl:42 chroot:51 openat:56 vhangup:58 ' +
  'quotactl:60 acct:89 personality:92 unshare:97 kexec_load:104 init_module:105 delete_module:106 clock_settime:112 ' +
  'syslog:116 ptrace:117 reboot:142 sethostname:161 setdomainname:162 prctl:167 settimeofday:170 adjtimex:171 ' +
  'socket:198 add_key:217 request_key:218 keyctl:219 clone:220 swapon:224 swapoff:225 mbind:235 set_mempolicy:237 ' +
  'migrate_pages:238 move_pages:239 perf_event_open:241 fanotify_init:262 name_to_handle_at:264 ' +
  'open_by_handle_at:265 clock_adjtime:266 setns:268 process_vm_readv:270 process_vm_writev:271 kcmp:272 ' +
  'finit_module:273 seccomp:277 bpf:280 userfaultfd:282 kexec_file_load:294';

const tables: Readonly<Record<Architecture, CallTable>> = {
  x64: { audit: 0xc000_003e, numbers: parse(x64) },
  arm64: { audit: 0xc000_00b7, numbers: parse(arm64) },
};

function parse(own: string): Record<string, number> {
  const entries = `${own} ${common}`.split(' ').map((entry) => entry.split(':'));
  return Object.fromEntries(entries.map(([name = '', number]) => [name, Number(number)]));
}
