/** For tests: a small file system of its own, that can be filled up and made read-only. Needs root and Linux. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Leaves no more than `leaveBytes` free. */
  fill(leaveBytes: number): void;
  /** Gives back what `fill` took. */
  free(): void;
  setReadOnly(readOnly: boolean): void;
  remove(): void;
}

/** A text instead: why there can't be one here. */
export function makeSmallDisk(bytes: number): SmallDisk | string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux to mount a small disk';
  const path = mkdtempSync(join(tmpdir(), 'talaria-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'pipe' });
  } catch {
    rmdirSync(path);
    return 'this machine does not let the test mount a small disk';
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill(leaveBytes) {
      const descriptor = openSync(filler, 'a');
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(4096));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(descriptor);
      }
      if (leaveBytes > 0) execFileSync('truncate', ['-s', `-${leaveBytes}`, filler]);
    },
    free: () => rmSync(filler, { force: true }),
    setReadOnly: (readOnly) =>
      void execFileSync('mount', ['-o', `remount,${readOnly ? 'ro' : 'rw'}`, path], { stdio: 'pipe' }),
    remove() {
      execFileSync('umount', [path], { stdio: 'pipe' });
      rmdirSync(path);
    },
  };
}
