/** What the model can ask a browser for. Kept small: it is sent with every request. */
import * as z from 'zod/mini';

const actions = [
  'navigate',
  'snapshot',
  'click',
  'type',
  'press',
  'select',
  'scroll',
  'wait',
  'back',
  'screenshot',
  'console',
  'tabs',
  'upload',
  'close',
] as const;

// Limits are checked below: in the schema they would tell a model nothing and cost bytes.
export const browserSchema = z.strictObject({
  action: z.enum(actions),
  url: z.optional(z.string()),
  ref: z.optional(z.string()),
  text: z.optional(z.string()),
  submit: z.optional(z.boolean()),
  accept: z.optional(z.boolean()),
  tab: z.optional(z.int()),
  offset: z.optional(z.int()),
  path: z.optional(z.string()),
});
export type BrowserInput = z.output<typeof browserSchema>;

export const browserDescription =
  'A browser that stays open. snapshot: the page as a tree with refs (d1e5). type: text into ref (submit: Enter). ' +
  'press: text is a key (Control+a). scroll: to ref, or text up/down. wait: for text. tabs: list, or go to tab. ' +
  'screenshot: path keeps it. accept: yes to dialogs. offset: more of a long snapshot.';

type Need = 'url' | 'ref' | 'text' | 'path';
const needs: Partial<Readonly<Record<BrowserInput['action'], readonly Need[]>>> = {
  navigate: ['url'],
  click: ['ref'],
  type: ['ref', 'text'],
  press: ['text'],
  select: ['ref', 'text'],
  wait: ['text'],
  upload: ['ref', 'path'],
};

const charsMax = { url: 8_000, ref: 40, text: 50_000, path: 1_000 } as const;

/** Null if the action has all that it needs, else what is wrong. */
export function problemOf(input: BrowserInput): string | null {
  const missing = (needs[input.action] ?? []).filter((name) => input[name] === undefined);
  if (missing.length > 0) return `${input.action} needs ${missing.map((name) => `\`${name}\``).join(' and ')}.`;
  for (const name of ['url', 'ref', 'text', 'path'] as const) {
    if ((input[name]?.length ?? 0) > charsMax[name])
      return `\`${name}\` must have at most ${charsMax[name]} characters.`;
  }
  if ((input.tab ?? 1) < 1) return '`tab` must be at least 1.';
  return (input.offset ?? 0) < 0 ? '`offset` must be at least 0.' : null;
}
