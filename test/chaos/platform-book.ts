/**
 * What the scripted platform remembers: what people wrote and who acknowledged it, what the gateway posted, in order, and
 * which faults are due. Two kinds of chat: `exact` ones drop a repeated post by its id, `forgetful` ones show it again.
 */
export type ChatKind = 'exact' | 'forgetful';

/** The longest post, in UTF-16 units. */
export const postCharsMax = 120;
const triedAgainWithinMs = 20_000;

export interface Written {
  readonly externalId: string;
  readonly chat: string;
  readonly text: string;
}

export interface Acknowledgement {
  readonly externalId: string;
  readonly inboxId: string;
  readonly sessionId: string;
}

export interface Post {
  readonly chat: string;
  readonly text: string;
  readonly dedupeId: string;
}

/** `busy`: 429, not kept. `broken`: 500, not kept. The others keep the post, and then answer late, wrongly or not at all. */
export const faults = ['slow', 'busy', 'broken', 'broken-after', 'dropped'] as const;
export type Fault = (typeof faults)[number];

export class PlatformBook {
  readonly acknowledged: Acknowledgement[] = [];
  readonly posts: Post[] = [];
  readonly problems: string[] = [];
  readonly #waiting: Record<ChatKind, Written[]> = { exact: [], forgetful: [] };
  readonly #faults = new Map<string, Fault>();
  readonly #seen = new Map<string, string>();
  /** Posts that met a fault and have not come again yet, and when. */
  readonly #troubled = new Map<string, number>();

  write(kind: ChatKind, message: Written): void {
    this.#waiting[kind].push(message);
  }

  waiting(kind: ChatKind): readonly Written[] {
    return this.#waiting[kind];
  }

  acknowledge(kind: ChatKind, acknowledgement: Acknowledgement): void {
    const { externalId, inboxId } = acknowledgement;
    const earlier = this.acknowledged.find((other) => other.externalId === externalId);
    if (earlier !== undefined && earlier.inboxId !== inboxId) this.problems.push(`${externalId} was admitted twice`);
    if (earlier === undefined) this.acknowledged.push(acknowledgement);
    this.#waiting[kind] = this.#waiting[kind].filter((message) => message.externalId !== externalId);
  }

  /** The next post of this chat that was not seen before meets it. */
  fault(chat: string, fault: Fault): void {
    this.#faults.set(chat, fault);
  }

  /** What goes wrong with this post. Each at most once, so that trouble ends. */
  faultOf({ chat, dedupeId }: Post): Fault | null {
    const fault = this.#faults.get(chat) ?? null;
    if (fault === null || this.#seen.has(dedupeId)) {
      this.#troubled.delete(dedupeId);
      return null;
    }
    this.#faults.delete(chat);
    this.#seen.set(dedupeId, '');
    if (fault !== 'slow') this.#troubled.set(dedupeId, performance.now());
    return fault;
  }

  /** How many posts are to be tried again because of a fault. What was removed meanwhile never is. */
  get troubled(): number {
    const recently = performance.now() - triedAgainWithinMs;
    return [...this.#troubled.values()].filter((at) => at > recently).length;
  }

  keep(kind: ChatKind, post: Post): void {
    const { chat, text, dedupeId } = post;
    if (text.length > postCharsMax) this.problems.push(`a post of ${text.length} characters in ${chat}`);
    const before = this.#seen.get(dedupeId) ?? '';
    this.#seen.set(dedupeId, text);
    if (kind === 'forgetful' || before === '') this.posts.push(post);
    else if (before !== text) this.problems.push(`${dedupeId} in ${chat} came again with other words`);
  }
}
