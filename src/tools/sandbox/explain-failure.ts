/** Says in a sentence or two why there is no sandbox, and what to do about it on this machine. */
import { readFile } from 'node:fs/promises';
import type { SandboxLevel, SandboxProof } from '../sandbox.ts';

export async function explainFailure(
  backend: 'auto' | SandboxLevel,
  proofs: readonly SandboxProof[],
  read: (path: string) => Promise<string> = (path) => readFile(path, 'utf8'),
): Promise<string> {
  const reasons = proofs.map((proof) => `${proof.level}: ${reasonOf(proof)}`).join('; ');
  const fix = await findFix(backend, proofs, read);
  const start =
    backend === 'auto' ? `No sandbox works on this machine (${reasons}).` : `The sandbox does not work (${reasons}).`;
  return `${start} ${fix}`;
}

export function reasonOf({ missing, checks }: SandboxProof): string {
  if (missing !== null) return missing.replace(/\.$/, '');
  const failed = checks.filter((check) => !check.passed);
  return failed.map(({ name, detail }) => `"${name}" failed, ${detail}`).join(', ');
}

async function findFix(
  backend: string,
  proofs: readonly SandboxProof[],
  read: (path: string) => Promise<string>,
): Promise<string> {
  if (backend === 'docker') return 'Check that `docker run --rm hello-world` works for this user.';
  if (backend === 'ssh')
    return 'Check that `ssh -o BatchMode=yes` to that machine works for this user without a question.';
  const value = async (name: string): Promise<string> => (await read(`/proc/sys/${name}`).catch(() => '')).trim();
  if ((await value('kernel/apparmor_restrict_unprivileged_userns')) === '1') {
    return (
      'AppArmor allows no user namespaces here: `apt install bubblewrap apparmor-profiles`, link ' +
      '/usr/share/apparmor/extra-profiles/bwrap-userns-restrict into /etc/apparmor.d and reload AppArmor; or ' +
      '`sysctl kernel.apparmor_restrict_unprivileged_userns=0`.'
    );
  }
  if ((await value('kernel/unprivileged_userns_clone')) === '0') {
    return 'The kernel allows no user namespaces: `sysctl kernel.unprivileged_userns_clone=1`.';
  }
  if ((await value('user/max_user_namespaces')) === '0') {
    return 'The kernel allows no user namespaces: `sysctl user.max_user_namespaces=10000`.';
  }
  if (proofs.some(({ level, missing }) => level === 'bubblewrap' && missing !== null)) {
    return 'Install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`.';
  }
  return 'In a container, allow user namespaces, or set terminal.backend to docker, ssh or none.';
}
