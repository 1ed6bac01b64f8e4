/**
 * The system prompt of a new session: sections in a fixed order, each the work of one function. Built once and
 * frozen with the session; what it is built from may change afterwards and shows in the next session.
 */
export interface PromptInputs {
  /** The user's own description of who the agent is; null for the built-in one. */
  readonly soul: string | null;
  /** What was remembered in earlier sessions, with its head; empty if nothing. */
  readonly memory: string;
  /** The index of skills, with its head; empty if there are none. */
  readonly skills: string;
  readonly workspace: string;
  /** `YYYY-MM-DD`: a finer time would spoil nothing but would never be true for long. */
  readonly day: string;
}

const soulCharsMax = 20_000;

export function buildSystemPrompt(inputs: PromptInputs): string {
  return [identity(inputs), howToWork(), inputs.memory, inputs.skills, surroundings(inputs)]
    .filter((section) => section !== '')
    .join('\n\n');
}

function identity({ soul }: PromptInputs): string {
  const own = soul?.trim() ?? '';
  if (own !== '') return cut(own, soulCharsMax);
  return 'You are Talaria, a personal agent that works for its user on their own machine.';
}

function howToWork(): string {
  return [
    '# How to work',
    '- Do the work with your tools instead of describing it; look before you claim.',
    '- Answer briefly, in Markdown. Say plainly what you did, what failed and what you did not check.',
    '- A result marked unknown may or may not have happened: check before doing it again.',
  ].join('\n');
}

function surroundings({ workspace, day }: PromptInputs): string {
  return `# Surroundings\nWorking directory: ${workspace}\nToday: ${day}`;
}

/** Keeps the beginning: people put first what matters. */
function cut(text: string, charsMax: number): string {
  return text.length <= charsMax
    ? text
    : `${text.slice(0, charsMax).toWellFormed()}\n[cut here: it is longer than ${charsMax} characters]`;
}
