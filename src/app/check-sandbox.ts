/** What the sandbox of a configuration is like on this machine, tried out; for `talaria doctor`. */
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { SandboxFindings } from '../tools/sandbox/sandbox-findings.ts';
import { runFolder } from './home-folders.ts';

export async function checkSandbox(home: string, { terminal }: Config): Promise<SandboxFindings> {
  const { chooseSandbox } = await import('../tools/sandbox/choose-sandbox.ts');
  const { sandboxFindings } = await import('../tools/sandbox/sandbox-findings.ts');
  const deps = { stateFolder: join(home, runFolder, 'sandbox'), nodePath: process.execPath };
  const { backend, docker_image: dockerImage, ssh_target: sshTarget } = terminal;
  return sandboxFindings(await chooseSandbox(deps, { backend, dockerImage, sshTarget }));
}
