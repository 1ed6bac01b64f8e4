/** The terminal family, put together: two tools, what they hold, and who watches the background. */
import type { Log } from '../../lib/log.ts';
import type { Holding } from '../holding.ts';
import type { TellSession, Tool } from '../tool.ts';
import { createProcessTool } from './process-tool.ts';
import type { TerminalDeps } from './terminal-deps.ts';
import { createTerminalHolding } from './terminal-holding.ts';
import { createTerminal } from './terminal-tool.ts';
import { createProcessWatch, type ProcessWatch } from './watch-processes.ts';

export interface TerminalTools {
  readonly tools: readonly Tool[];
  readonly holding: Holding;
  readonly watch: ProcessWatch;
}

export interface TerminalToolsDeps extends Omit<TerminalDeps, 'onBackground'> {
  readonly log: Log;
  /** The folder of all spools. */
  readonly spoolRoot: string;
  readonly tell: TellSession;
}

export function createTerminalTools(deps: TerminalToolsDeps): TerminalTools {
  const { clock, gate, log, spoolRoot, tell } = deps;
  const watch = createProcessWatch({ clock, log, spoolRoot, tell });
  return {
    tools: [createTerminal({ ...deps, onBackground: watch.add }), createProcessTool({ clock, gate })],
    holding: createTerminalHolding({ clock, spoolRoot }),
    watch,
  };
}
