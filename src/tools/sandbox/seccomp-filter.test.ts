import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seccompFilter, type SocketRule } from './seccomp-filter.ts';
import { calls, type Architecture } from './system-calls.ts';

const allowed = 0x7fff_0000;
const errno = (number: number): number => 0x0005_0000 | number;
const killed = 0x8000_0000;

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly arguments: readonly number[];
}

/** What the kernel does with such a program, for the instructions that there are in it. */
function interpret(program: Uint8Array, call: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.audit, true);
  for (const [index, value] of call.arguments.entries()) data.setUint32(16 + 8 * index, value, true);
  const view = new DataView(program.buffer);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = view.getUint16(at * 8, true);
    const value = view.getUint32(at * 8 + 4, true);
    const jump = (is: boolean): void => void (at += view.getUint8(at * 8 + (is ? 2 : 3)));
    if (code === 0x20) accumulator = data.getUint32(value, true);
    else if (code === 0x06) return value;
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else assert.fail(`instruction ${code}`);
  }
  return assert.fail('the program has no end');
}

for (const architecture of ['x64', 'arm64'] satisfies Architecture[]) {
  const { audit, numbers } = calls(architecture);
  const judge = (name: string, values: readonly number[] = [], sockets: SocketRule = 'usual'): number =>
    interpret(seccompFilter({ architecture, sockets }), { audit, number: numbers[name] ?? -1, arguments: values });

  test(`${architecture}: what reaches into processes, mounts or the kernel is not permitted`, () => {
    const names =
      'ptrace process_vm_readv mount umount2 unshare setns bpf keyctl perf_event_open init_module kexec_load';
    for (const name of names.split(' ')) assert.equal(judge(name), errno(1), name);
    for (const name of ['clone3', 'io_uring_setup']) assert.equal(judge(name), errno(38), name);
  });

  test(`${architecture}: a clone is a thread or a process, never a namespace`, () => {
    assert.equal(judge('clone', [0x11]), allowed);
    assert.equal(judge('clone', [0x3d0f00]), allowed);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      assert.equal(judge('clone', [flag | 0x11]), errno(1));
    }
  });

  test(`${architecture}: nothing types into a terminal`, () => {
    assert.equal(judge('ioctl', [0, 0x5412]), errno(1));
    assert.equal(judge('ioctl', [0, 0x541c]), errno(1));
    assert.equal(judge('ioctl', [0, 0x5413]), allowed);
  });

  test(`${architecture}: sockets are of the usual families, or there are none`, () => {
    for (const family of [1, 2, 10]) assert.equal(judge('socket', [family, 1, 0]), allowed);
    assert.equal(judge('socket', [16, 3, 0]), allowed);
    assert.equal(judge('socket', [16, 3, 9]), errno(97));
    for (const family of [0, 3, 17, 38, 40]) assert.equal(judge('socket', [family, 1, 0]), errno(97));
    for (const family of [1, 2, 10, 16]) assert.equal(judge('socket', [family, 1, 0], 'none'), errno(1));
  });

  test(`${architecture}: another architecture is the end, the everyday passes`, () => {
    const program = seccompFilter({ architecture, sockets: 'usual' });
    assert.equal(interpret(program, { audit: 0x4000_0003, number: 1, arguments: [] }), killed);
    assert.equal(interpret(program, { audit, number: 0, arguments: [] }), allowed);
    const x32 = interpret(program, { audit, number: 0x4000_0000 + 41, arguments: [] });
    assert.equal(x32, architecture === 'x64' ? errno(38) : allowed);
  });
}
