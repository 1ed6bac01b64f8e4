/**
 * The simulation's tools: one of each kind that matters to a crash. What a call does is in its arguments, which the
 * scripted model makes up. Everything a tool really does is in the ledger.
 */
import { sleep } from '../../src/lib/clock.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../src/tools/tool.ts';
import type { ToolRun } from './ledger.ts';
import { never } from './virtual-clock.ts';
import type { Life } from './world.ts';

interface Arguments {
  readonly ms: number;
  readonly late: boolean;
  readonly path: string;
}

type Body = (input: Arguments, context: ToolContext, run: ToolRun) => Promise<ToolOutcome>;
type Declaration = Pick<Tool, 'effect' | 'replay'> & {
  body: Body;
  attach?: Body;
  /** For a tool that asks first: it does its work once a person agreed. */
  asks?: Body;
  beside?: boolean;
};

export function scriptedTools(process: Life): ReadonlyMap<string, Tool> {
  const { world } = process;
  const pause = (ms: number, signal?: AbortSignal) => sleep(process.clock, ms, signal);
  const finished = (text: string): ToolOutcome => ({ kind: 'finished', text });

  /** Changes something at its beginning or at its end. */
  const change: Body = async ({ ms, late }, { signal, callId }, run) => {
    if (!late) run.hadEffect = true;
    await pause(ms, signal);
    run.hadEffect = true;
    return finished(`changed by ${callId}`);
  };
  const waitForCommand: Body = async (_input, { signal, callId }) => {
    const command = world.ledger.commandsOf(callId)[0];
    if (command === undefined) return { kind: 'unknown', text: 'there is no trace of it' };
    if (command.killedAt !== null) return { kind: 'failed', text: 'it was ended' };
    try {
      await pause(Math.max(0, command.endsAt - world.clock.now()), signal);
    } catch (error) {
      if (command.endsAt > world.clock.now()) command.killedAt = world.clock.now();
      throw error;
    }
    return finished(command.text);
  };

  const declarations: Record<string, Declaration> = {
    look: {
      effect: 'read',
      replay: 'safe',
      async body({ ms, late }, { signal, callId, onOutput }) {
        onOutput('looking');
        await pause(ms, signal);
        if (!late) return finished(`seen by ${callId}`);
        const file = {
          name: callId,
          mediaType: 'text/plain',
          bytes: Buffer.from(callId),
          caption: `file of ${callId}`,
        };
        return { kind: 'finished', text: `seen by ${callId}`, files: [file] };
      },
    },
    note: { effect: 'write', replay: 'never', body: change },
    edit: { effect: 'write', replay: 'never', beside: true, body: change },
    command: {
      effect: 'write',
      replay: 'attach',
      async body(input, context, run) {
        run.hadEffect = true;
        const { sessionId, callId } = context;
        const endsAt = world.clock.now() + input.ms * 3;
        world.ledger.commands.push({
          sessionId,
          callId,
          endsAt,
          killedAt: null,
          isLate: process.isReplaced,
          text: `output of ${callId}`,
        });
        return waitForCommand(input, context, run);
      },
      attach: waitForCommand,
    },
    ask: {
      effect: 'write',
      replay: 'never',
      async body(input, { sessionId, callId }) {
        world.people.asked(sessionId, callId);
        return { kind: 'ask', text: 'May I?', choices: ['yes', 'no'], deadline: world.clock.now() + input.ms * 10 };
      },
      asks: change,
    },
    restart: {
      effect: 'self',
      replay: 'never',
      async body({ late }, _context, run) {
        run.hadEffect = true;
        if (!late) {
          process.die('its own tool');
          return never();
        }
        world.restart('a tool');
        return finished('it restarts');
      },
    },
    poison: {
      effect: 'read',
      replay: 'safe',
      async body(_input, _context) {
        process.die('poison');
        return never();
      },
    },
    thrower: {
      effect: 'read',
      replay: 'safe',
      async body({ ms }, { signal }) {
        await pause(ms, signal);
        throw new Error('thrown by a tool');
      },
    },
    failing: {
      effect: 'write',
      replay: 'never',
      async body({ ms }, { signal }) {
        await pause(ms, signal);
        return { kind: 'failed', text: 'it did not work' };
      },
    },
    stubborn: {
      effect: 'write',
      replay: 'never',
      async body({ ms }, { callId }, run) {
        run.hadEffect = true;
        await pause(ms);
        return finished(`changed by ${callId}`);
      },
    },
    big: {
      effect: 'read',
      replay: 'safe',
      body: async () => finished('x'.repeat(60_000)),
    },
  };
  return new Map(
    Object.entries(declarations).map(([name, declaration]) => [name, makeTool(process, name, declaration)]),
  );
}

function makeTool(process: Life, name: string, declaration: Declaration): Tool {
  const { effect, replay, body, attach, asks, beside } = declaration;
  const use = (way: ToolRun['way'], inner: Body) => async (input: unknown, context: ToolContext) => {
    if (!process.isAlive) return never<ToolOutcome>();
    const run = process.beginRun(name, way, context, effect === 'read' || beside === true);
    try {
      const outcome = await inner(input as Arguments, context, run);
      run.outcome = outcome;
      return outcome;
    } catch (error) {
      run.outcome = 'threw';
      throw error;
    } finally {
      process.endRun(run);
    }
  };
  return {
    definition: { name, description: `The ${name} tool.`, parameters: { type: 'object' } },
    effect,
    replay,
    parse(input) {
      if (typeof input !== 'object' || input === null) return { ok: false, problem: 'they are no object.' };
      const { ms = 0, late = false, path = 'a' } = input as Partial<Arguments>;
      if (typeof ms !== 'number') return { ok: false, problem: 'ms is no number.' };
      return { ok: true, value: { ms, late, path } };
    },
    run: use('run', body),
    ...(asks === undefined
      ? {}
      : {
          async answered(input: unknown, answer: string | null, context: ToolContext): Promise<ToolOutcome> {
            if (answer === 'yes') return use('answered', asks)(input, context);
            return { kind: 'failed', text: answer === null ? 'nobody answered' : 'it was refused' };
          },
        }),
    ...(attach === undefined ? {} : { attach: use('attach', attach) }),
    ...(beside === true ? { sideBySide: (input: unknown) => [(input as Arguments).path] } : {}),
  };
}
