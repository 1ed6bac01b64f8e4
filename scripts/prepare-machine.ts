/**
 * What the tests need of the system and npm can't bring: bubblewrap, for the sandbox. Installed where that is allowed
 * without asking (root on a Debian), else its tests say that they were skipped and why. Never fails.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const installMs = 180_000;

function isThere(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export function prepareMachine(say: (line: string) => void = console.log): void {
  if (process.platform !== 'linux' || isThere('bwrap')) return;
  if (process.getuid?.() !== 0 || !isThere('apt-get')) {
    say('bubblewrap is not installed: the tests that need it are skipped');
    return;
  }
  say('installing bubblewrap for the tests of the sandbox');
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'bubblewrap'], {
      stdio: 'ignore',
      timeout: installMs,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  // A new machine may not have looked yet which packages there are.
  if (
    install() ||
    (spawnSync('apt-get', ['update'], { stdio: 'ignore', timeout: installMs }).status === 0 && install())
  )
    return;
  say('bubblewrap could not be installed: the tests that need it are skipped');
}
