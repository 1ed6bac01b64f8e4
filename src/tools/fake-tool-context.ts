/** A place for a tool to run in a test: a workspace of its own, and a record of what was shown. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countingIdSource } from '../lib/ids.ts';
import type { ToolContext } from './tool.ts';

export interface FakeToolContext extends ToolContext {
  readonly shown: string[];
}

export function fakeToolContext(workspace: string, signal = new AbortController().signal): FakeToolContext {
  const ids = countingIdSource();
  const shown: string[] = [];
  return {
    sessionId: ids.next('ses'),
    callId: ids.next('cal'),
    workspace,
    // Each context a new call, though the ids are the same in all.
    spoolFolder: join(workspace, '.spool', crypto.randomUUID()),
    signal,
    untrusted: null,
    isUnattended: false,
    wasShown: () => false,
    consult: () => Promise.resolve(null),
    onOutput: (text) => shown.push(text),
    shown,
  };
}

/** A new empty folder that goes when the test ends. */
export async function temporaryFolder(test: { after(callback: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'talaria-tools-'));
  test.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
