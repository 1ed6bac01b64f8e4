/**
 * What happened in the world outside: which tools really did something, and commands that go on while the process is
 * dead. It survives every crash, and nothing in the gateway can change it.
 */
import type { CallId, SessionId } from '../../src/protocol/ids.ts';
import type { ToolOutcome } from '../../src/tools/tool.ts';

export interface ToolRun {
  readonly tool: string;
  readonly sessionId: SessionId;
  readonly callId: CallId;
  readonly way: 'run' | 'attach' | 'answered';
  readonly processNumber: number;
  /** Whether it changed anything. */
  hadEffect: boolean;
  /** What it told its caller; null if it never got that far. */
  outcome: ToolOutcome | 'threw' | null;
}

export interface OutsideCommand {
  readonly sessionId: SessionId;
  readonly callId: CallId;
  readonly endsAt: number;
  killedAt: number | null;
  /** Begun by a process that had been replaced: no store can hold that back, only whoever keeps two from running. */
  readonly isLate: boolean;
  readonly text: string;
}

export class Ledger {
  readonly runs: ToolRun[] = [];
  readonly commands: OutsideCommand[] = [];

  runsOf(callId: CallId): ToolRun[] {
    return this.runs.filter((run) => run.callId === callId);
  }

  effectsOf(callId: CallId): number {
    return this.runs.filter((run) => run.callId === callId && run.hadEffect).length;
  }

  commandsOf(callId: CallId): OutsideCommand[] {
    return this.commands.filter((command) => command.callId === callId && !command.isLate);
  }
}
