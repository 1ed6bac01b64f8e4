/**
 * The system calls that nothing in a sandbox may make, as a classic BPF program in the bytes that the kernel takes: what
 * reaches into other processes, changes the kernel, mounts, makes new namespaces or types into somebody else's terminal.
 * It denies by list, because programs people run are of all kinds; what keeps files and the network apart are the
 * namespaces, and this makes the way around them smaller. A call that has a successor which libraries fall back from
 * answers "no such call", everything else "not permitted".
 */
import { calls, type Architecture } from './system-calls.ts';

export type SocketRule =
  /** Unix, both internets and the routing part of netlink: for a sandbox that has a network namespace of its own. */
  | 'usual'
  /** None but pairs: for a sandbox that shares the machine's network namespace and must not use it. */
  | 'none';

export interface FilterOptions {
  readonly architecture: Architecture;
  readonly sockets: SocketRule;
}

/** Answered with "not permitted". */
const forbidden = [
  'ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd',
  'add_key request_key keyctl',
  'bpf perf_event_open userfaultfd lookup_dcookie',
  'mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr',
  'statmount listmount',
  'unshare setns',
  'kexec_load kexec_file_load reboot init_module finit_module delete_module create_module',
  'swapon swapoff acct quotactl quotactl_fd sethostname setdomainname syslog nfsservctl vhangup',
  'settimeofday clock_settime clock_adjtime adjtimex stime',
  'open_by_handle_at name_to_handle_at fanotify_init',
  'iopl ioperm modify_ldt personality uselib ustat sysfs _sysctl',
  'mbind migrate_pages move_pages set_mempolicy',
].flatMap((names) => names.split(' '));

/** Answered with "no such call": programs then take the older way. */
const absent = ['clone3', 'io_uring_setup', 'io_uring_enter', 'io_uring_register'];

/** CLONE_NEWTIME, NS, CGROUP, UTS, IPC, USER, PID, NET. */
const cloneNewMask = 0x7e02_0080;
const terminalInjections = [0x5412, 0x541c];
const allowedFamilies = [1, 2, 10];
const netlinkFamily = 16;
const netlinkRoute = 0;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const allow = 0x7fff_0000;
const killProcess = 0x8000_0000;
const fail = (errno: number): number => 0x0005_0000 | errno;

/** Where things are in `struct seccomp_data`. */
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number): number => 16 + 8 * index;

/** Set in the numbers of calls of the x32 ABI, which this filter does not know. */
const x32Bit = 0x4000_0000;

interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const load = (offset: number): Instruction => ({ code: 0x20, yes: 0, no: 0, value: offset });
const answer = (value: number): Instruction => ({ code: 0x06, yes: 0, no: 0, value });
/** Jumps over the next `yes` or `no` instructions. */
const ifEqual = (value: number, yes: number, no: number): Instruction => ({ code: 0x15, yes, no, value });
const ifAtLeast = (value: number, yes: number, no: number): Instruction => ({ code: 0x35, yes, no, value });
const ifAnyBit = (value: number, yes: number, no: number): Instruction => ({ code: 0x45, yes, no, value });

export function seccompFilter({ architecture, sockets }: FilterOptions): Uint8Array {
  const { audit, numbers } = calls(architecture);
  const refuse = (name: string, errno: number): Instruction[] => {
    const number = numbers[name];
    return number === undefined ? [] : [ifEqual(number, 0, 1), answer(fail(errno))];
  };
  /** `body` decides about this call and leaves no way out of itself. */
  const decide = (name: string, body: Instruction[]): Instruction[] => {
    const number = numbers[name];
    return number === undefined ? [] : [ifEqual(number, 0, body.length), ...body];
  };
  return encode([
    load(architectureOffset),
    ifEqual(audit, 1, 0),
    answer(killProcess),
    load(numberOffset),
    ...(architecture === 'x64' ? [ifAtLeast(x32Bit, 0, 1), answer(fail(ENOSYS))] : []),
    ...forbidden.flatMap((name) => refuse(name, EPERM)),
    ...absent.flatMap((name) => refuse(name, ENOSYS)),
    ...decide('clone', [load(argumentOffset(0)), ifAnyBit(cloneNewMask, 0, 1), answer(fail(EPERM)), answer(allow)]),
    ...decide('ioctl', [
      load(argumentOffset(1)),
      ...terminalInjections.flatMap((command) => [ifEqual(command, 0, 1), answer(fail(EPERM))]),
      answer(allow),
    ]),
    ...decide('socket', sockets === 'none' ? [answer(fail(EPERM))] : usualSockets()),
    answer(allow),
  ]);
}

function usualSockets(): Instruction[] {
  return [
    load(argumentOffset(0)),
    ...allowedFamilies.flatMap((family) => [ifEqual(family, 0, 1), answer(allow)]),
    ifEqual(netlinkFamily, 0, 2),
    load(argumentOffset(2)),
    ifEqual(netlinkRoute, 1, 0),
    answer(fail(EAFNOSUPPORT)),
    answer(allow),
  ];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, yes, no, value }] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, yes);
    view.setUint8(index * 8 + 3, no);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return bytes;
}
