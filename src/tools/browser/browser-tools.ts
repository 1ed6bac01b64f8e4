/** The browser family, put together: the tool, what it holds, and what status and doctor say about it. */
import { SandboxError } from '../sandbox.ts';
import type { Holding } from '../holding.ts';
import type { Tool } from '../tool.ts';
import type { BrowserDeps } from './browser-deps.ts';
import { BrowserError } from './browser-error.ts';
import { createBrowserHolding } from './browser-holding.ts';
import { createBrowserTool } from './browser-tool.ts';
import { chooseConfinement, confinementWords } from './confinement.ts';
import { createSessionBrowsers } from './session-browsers.ts';

export interface BrowserTools {
  readonly tools: readonly Tool[];
  readonly holding: Holding;
  /** After a start of Talaria. */
  readonly resume: () => Promise<void>;
  /** Before Talaria ends; the browsers stay. */
  readonly detach: () => Promise<void>;
}

export function createBrowserTools(deps: BrowserDeps): BrowserTools {
  const browsers = createSessionBrowsers(deps);
  return {
    tools: [createBrowserTool(deps, browsers)],
    holding: createBrowserHolding(deps, browsers),
    resume: () => browsers.resume(),
    detach: () => browsers.detach(),
  };
}

export interface BrowserReport {
  readonly isUsable: boolean;
  /** One line: which Chromium, and what is around it; or what is missing and what to do. */
  readonly text: string;
}

/** For doctor. Starts nothing but the proof of the sandbox. */
export async function reportBrowser(
  deps: Pick<BrowserDeps, 'findChromium' | 'sandbox' | 'isRoot'>,
): Promise<BrowserReport> {
  const chromium = await deps.findChromium();
  if (chromium.kind === 'missing') return { isUsable: false, text: chromium.message };
  try {
    const { kind } = await chooseConfinement(deps);
    return { isUsable: true, text: `${chromium.path}, ${confinementWords[kind]}` };
  } catch (error) {
    if (!(error instanceof BrowserError || error instanceof SandboxError)) throw error;
    return { isUsable: false, text: error.message };
  }
}
