/** A stored call made ready to run: its tool found and its arguments read, or the mistake in it named. Pure. */
import type { CallRecord } from '../store/store.ts';
import type { SideBySide, Tool } from '../tools/tool.ts';

/** More calls in one answer than this are not run. */
export const callsPerAnswerMax = 64;

export type PreparedCall =
  | {
      readonly kind: 'ready';
      readonly record: CallRecord;
      readonly tool: Tool;
      readonly input: unknown;
      readonly sideBySide: SideBySide;
    }
  /** `problem` tells the model what is wrong with its call. */
  | { readonly kind: 'mistaken'; readonly record: CallRecord; readonly problem: string; readonly sideBySide: 'any' };

export function prepareCall(tools: { get(name: string): Tool | undefined }, record: CallRecord): PreparedCall {
  const mistaken = (problem: string): PreparedCall => ({ kind: 'mistaken', record, problem, sideBySide: 'any' });
  if (record.position >= callsPerAnswerMax) {
    return mistaken(`Not run: one answer may ask for at most ${callsPerAnswerMax} calls. Ask for the rest next time.`);
  }
  const tool = tools.get(record.name);
  if (tool === undefined) {
    const hint = tools.get('tool_use') === undefined ? '' : ' One that tool_search found is used through tool_use.';
    return mistaken(`There is no tool named ${JSON.stringify(record.name)}.${hint}`);
  }
  const parsed = parseArguments(tool, record.arguments);
  if (!parsed.ok) return mistaken(`The arguments of ${record.name} can't be used: ${parsed.problem}`);
  const sideBySide = tool.sideBySide?.(parsed.value) ?? (tool.effect === 'read' ? 'any' : 'alone');
  return { kind: 'ready', record, tool, input: parsed.value, sideBySide };
}

function parseArguments(tool: Tool, text: string): ReturnType<Tool['parse']> {
  let decoded: unknown;
  try {
    // Models leave the text empty for a call without arguments.
    decoded = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    return { ok: false, problem: `they are not valid JSON (${error instanceof Error ? error.message : 'unknown'}).` };
  }
  return tool.parse(decoded);
}
