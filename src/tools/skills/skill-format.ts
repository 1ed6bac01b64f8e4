/**
 * The text of a `SKILL.md`, in the format of agentskills.io: YAML front matter between two lines of `---`, then the
 * body. Says what is wrong in a sentence, never throws for what the text holds. Keys that the format does not know are
 * left alone; `allowed-tools` is read and grants nothing.
 */
import { simpleFrontMatter } from './simple-front-matter.ts';
import { compatibilityCharsMax, descriptionCharsMax, frontMatterCharsMax, nameCharsMax } from './skill-limits.ts';

export interface SkillHeader {
  readonly name: string;
  readonly description: string;
  readonly license: string | null;
  /** What it needs to work: programs, network. */
  readonly compatibility: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly allowedTools: readonly string[];
}

export type ReadSkill =
  | { readonly kind: 'skill'; readonly header: SkillHeader; readonly body: string }
  /** `problem` is a sentence. */
  | { readonly kind: 'broken'; readonly problem: string };

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export async function readSkill(source: string): Promise<ReadSkill> {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const parts = /^---[ \t]*\n(?:(.*?)\n)??---[ \t]*(?:\n(.*))?$/s.exec(text);
  if (parts === null) {
    return broken('It does not begin with front matter: a line `---`, then name and description, then a line `---`.');
  }
  const [, front = '', body = ''] = parts;
  if (front.length > frontMatterCharsMax)
    return broken(`Its front matter is longer than ${frontMatterCharsMax} characters.`);
  const values = simpleFrontMatter(front) ?? (await yamlValues(front));
  if (typeof values === 'string') return broken(values);
  const header = headerOf(values);
  return typeof header === 'string' ? broken(header) : { kind: 'skill', header, body: body.trim() };
}

/** What is wrong with a name, as a sentence; null if nothing is. */
export function nameProblem(name: string): string | null {
  if (name.length <= nameCharsMax && namePattern.test(name)) return null;
  const rule = `a name has 1 to ${nameCharsMax} lowercase letters, digits and single hyphens between them`;
  return `${JSON.stringify(name.slice(0, nameCharsMax + 1))} is no name for a skill: ${rule}.`;
}

async function yamlValues(front: string): Promise<Readonly<Record<string, unknown>> | string> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(front, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) return `Its front matter is no valid YAML: ${firstLine(error.message)}`;
  try {
    const values: unknown = document.toJS({ maxAliasCount: 20 });
    if (isRecord(values)) return values;
  } catch (failure) {
    // Aliases that multiply.
    return `Its front matter can't be read: ${firstLine(failure instanceof Error ? failure.message : String(failure))}`;
  }
  return 'Its front matter has no keys.';
}

function headerOf(values: Readonly<Record<string, unknown>>): SkillHeader | string {
  const { name, description, license = null, compatibility = null, metadata = {} } = values;
  const tools = values['allowed-tools'] ?? '';
  if (typeof name !== 'string') return 'Its front matter has no `name`, or it is no text.';
  const wrongName = nameProblem(name);
  if (wrongName !== null) return wrongName;
  if (typeof description !== 'string' || description.trim() === '') {
    return 'Its front matter has no `description`, or it is no text.';
  }
  if (description.length > descriptionCharsMax) {
    return `Its description has ${description.length} characters; at most ${descriptionCharsMax} are allowed.`;
  }
  if (license !== null && typeof license !== 'string') return 'Its `license` is no text.';
  if (compatibility !== null && typeof compatibility !== 'string') return 'Its `compatibility` is no text.';
  if ((compatibility?.length ?? 0) > compatibilityCharsMax) {
    return `Its compatibility is longer than ${compatibilityCharsMax} characters.`;
  }
  if (metadata !== null && !isRecord(metadata)) return 'Its `metadata` is no list of keys with values.';
  return {
    name,
    description: description.trim(),
    license,
    compatibility,
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [key, textOf(value)])),
    allowedTools: (Array.isArray(tools) ? tools.map(textOf) : textOf(tools).split(/[\s,]+/)).filter(
      (tool) => tool !== '',
    ),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function broken(problem: string): ReadSkill {
  return { kind: 'broken', problem };
}
