/** What commands and the browser are like on this machine with a configuration, tried out; for `talaria doctor`. */
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import type { BrowserReport } from '../tools/browser/browser-tools.ts';
import { SandboxError } from '../tools/sandbox.ts';
import type { SandboxChoice } from '../tools/sandbox/choose-sandbox.ts';
import type { SandboxFindings } from '../tools/sandbox/sandbox-findings.ts';
import { runFolder } from './home-folders.ts';

export interface SandboxReport {
  readonly commands: SandboxFindings;
  readonly browser: BrowserReport;
}

export async function checkSandbox(home: string, config: Config, env: NodeJS.ProcessEnv): Promise<SandboxReport> {
  const [{ chooseSandbox }, { sandboxFindings }, { reportBrowser }, { findChromium }] = await Promise.all([
    import('../tools/sandbox/choose-sandbox.ts'),
    import('../tools/sandbox/sandbox-findings.ts'),
    import('../tools/browser/browser-tools.ts'),
    import('../tools/browser/find-chromium.ts'),
  ]);
  const deps = { stateFolder: join(home, runFolder, 'sandbox'), nodePath: process.execPath };
  const { backend, docker_image: dockerImage, ssh_target: sshTarget } = config.terminal;
  const choice = await chooseSandbox(deps, { backend, dockerImage, sshTarget });
  const browser = await reportBrowser({
    findChromium: () => findChromium({ configured: config.browser.path, env }),
    sandbox: async () => sandboxIn(choice),
  });
  return { commands: sandboxFindings(choice), browser };
}

function sandboxIn(choice: SandboxChoice) {
  if (choice.kind === 'refused') throw new SandboxError(choice.message);
  return choice.sandbox;
}
