/**
 * Calls as they grow in a stream. Pieces belong together by their index where the server counts properly; where it
 * doesn't (no index, the same one for all, ids that repeat or are missing), by what they look like.
 */

export interface CallDraft {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly signature: string | null;
}

interface Draft {
  index: number | null;
  id: string;
  name: string;
  arguments: string;
  signature: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** An answer with more is a server out of control. */
export const callsMax = 256;

export class ToolCallDrafts {
  readonly #drafts: Draft[] = [];

  get drafts(): readonly CallDraft[] {
    return this.#drafts;
  }

  add(piece: Fields): void {
    const called = fieldsOf(piece['function'] ?? piece);
    const id = stringOf(piece['id']);
    const name = stringOf(called['name']);
    const index = typeof piece['index'] === 'number' ? piece['index'] : null;
    const draft = this.#find(index, id, name) ?? this.#open(index);
    if (id !== '') draft.id = id;
    // Some send the name in pieces, others send all of it every time.
    if (name !== draft.name) draft.name += name;
    draft.signature = signatureOf(piece) ?? draft.signature;
    const written = called['arguments'];
    if (typeof written === 'string') draft.arguments += written;
    else if (typeof written === 'object' && written !== null) draft.arguments = JSON.stringify(written);
  }

  #find(index: number | null, id: string, name: string): Draft | undefined {
    const candidate =
      index === null
        ? id === ''
          ? this.#drafts.at(-1)
          : this.#drafts.findLast((draft) => draft.id === id)
        : this.#drafts.findLast((draft) => draft.index === index);
    if (candidate === undefined) return undefined;
    if (id !== '' && candidate.id !== '' && id !== candidate.id) return undefined;
    // A name after whole arguments is the beginning of another call, but where the id says otherwise.
    const isAnother = name !== '' && isWhole(candidate.arguments) && (id === '' || index === null);
    return isAnother ? undefined : candidate;
  }

  #open(index: number | null): Draft {
    const draft: Draft = { index, id: '', name: '', arguments: '', signature: null };
    this.#drafts.push(draft);
    return draft;
  }
}

/** Whether these are arguments that nothing can be added to. */
function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function signatureOf(piece: Fields): string | null {
  const extra = fieldsOf(piece['extra_content']);
  const signature = fieldsOf(extra['google'] ?? extra['vertex'])['thought_signature'];
  return typeof signature === 'string' && signature !== '' ? signature : null;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
