/** What the people in a run ask for, in whichever language the model understands. */
import type { RandomSource } from '../../src/lib/random.ts';
import type { FaultOrder } from '../model-server/faults/fault-queue.ts';
import { askToolName } from './ask-tool.ts';
import type { Language } from './language.ts';
import { memoryOf } from './ledger.ts';
import { primaryModel, smallBudget } from './model-config.ts';

const everywhere = [
  'plain',
  'fresh',
  'tool',
  'long-tool',
  'sequence',
  'pair',
  'read',
  'remember',
  'mistake',
  'slow',
  'stop',
  'stop-tool',
  'join',
  'delete',
  'import',
  'backup',
] as const;

/** These need more than the program has by itself: a platform, a tool that asks, a small budget, models that fail. */
const withSurroundings = [
  'parts',
  'named',
  'ask',
  'budget',
  'settings',
  'failover',
  'broken-stream',
  'limited',
] as const;

/** These are about what people see and type on a platform with drafts and commands. */
const onTelegram = ['draft', 'stop-draft', 'stop-tool-draft', 'status', 'renew', 'shorten'] as const;

export type SceneKind = (typeof everywhere)[number] | (typeof withSurroundings)[number] | (typeof onTelegram)[number];

/**
 * `bundle`: the built program, its own API and the model inside it. `surrounded`: a platform and a model server around it.
 * `telegram`: the same with the Bot API for a platform.
 */
export type Setup = 'bundle' | 'surrounded' | 'telegram';

export const sceneKinds: Record<Setup, readonly SceneKind[]> = {
  bundle: everywhere,
  surrounded: [...everywhere, ...withSurroundings],
  // What is said at the end of a budget is always the same, and answers are told apart by their words there.
  telegram: [...everywhere, ...withSurroundings.filter((kind) => kind !== 'budget'), ...onTelegram],
};

const soonMs = 60;
/** Long enough for a draft to stand there. */
const draftMs = 1_400;

export interface Scene {
  readonly kind: SceneKind;
  /** Said one after the other, the later ones while the first is being answered. */
  readonly words: readonly string[];
  /** Part of the answer to the first words; null if that is not known beforehand. */
  readonly answerHas: string | null;
  /** What the words do to the world, each at most once. */
  readonly effects: readonly string[];
  /** What happens once they are said. */
  readonly afterwards:
    | 'nothing'
    | 'settings'
    | 'stop'
    | 'delete'
    | 'import'
    | 'backup'
    | 'status'
    | 'renew'
    | 'shorten';
  /** How long after they were taken up, where that matters. */
  readonly afterMs: number;
  /** What goes wrong with the model that answers. */
  readonly modelFault: FaultOrder | null;
  /** In a session that nobody has written to yet. */
  readonly inFreshSession: boolean;
}

export interface SceneOptions {
  /** In all words, so that nothing is said twice. */
  readonly token: string;
  readonly random: RandomSource;
  readonly language: Language;
  /** Spells the command that does an effect and then takes a while. */
  readonly effect: (id: string, seconds: number) => string;
}

export function sceneOf(kind: SceneKind, { token, random, language, effect }: SceneOptions): Scene {
  const [one, two] = [`${token}-1`, `${token}-2`];
  const brief = () => (random.float() < 0.5 ? 0 : 0.05);
  const scene = (words: readonly string[], effects: readonly string[], more: Partial<Scene> = {}): Scene => ({
    kind,
    words,
    answerHas: null,
    effects,
    afterwards: 'nothing',
    afterMs: soonMs,
    modelFault: null,
    inFreshSession: false,
    ...more,
  });
  const plain = (more: Partial<Scene> = {}) => scene([language.say(token)], [], { answerHas: token, ...more });
  switch (kind) {
    case 'plain':
      return plain();
    case 'fresh':
      // Not exact words: so it brings the rehearsal's long notice, and no slow answer has to.
      return scene([language.tell(token)], [], { inFreshSession: true });
    case 'tool':
      return scene([language.run([effect(one, brief())])], [one]);
    case 'long-tool':
      return scene([language.run([effect(one, 0.3)])], [one]);
    case 'sequence':
      return scene([language.run([effect(one, brief())], [effect(two, brief())])], [one, two]);
    case 'pair':
      return scene([language.run([effect(one, brief()), effect(two, brief())])], [one, two]);
    case 'read':
      return scene([language.read(`notes-${token}.txt`, 'notes.txt')], []);
    case 'remember':
      // Unlike a command, this can't be taken up again: a lost one is unknown.
      return scene([language.remember(memoryOf(one))], [one]);
    case 'mistake':
      return scene([language.call(`nothing-like-${token}`, '{"broken')], []);
    case 'slow':
      return scene([language.slowly(3, token)], []);
    case 'stop':
      return scene([language.slowly(8, token)], [], { afterwards: 'stop' });
    case 'stop-tool':
      return scene([language.run([effect(one, 2)], [effect(two, 0)])], [one, two], { afterwards: 'stop' });
    case 'join':
      return scene([language.run([effect(one, 0.15)]), language.run([effect(two, 0)])], [one, two]);
    case 'delete':
      return scene([language.run([effect(one, brief())])], [one], { afterwards: 'delete', inFreshSession: true });
    case 'import':
      return plain({ afterwards: 'import' });
    case 'backup':
      return plain({ afterwards: 'backup' });
    case 'parts':
      return scene([language.tell(token)], []);
    case 'named':
      return plain({ inFreshSession: true });
    case 'ask':
      return scene([language.call(askToolName, JSON.stringify({ what: memoryOf(one) }))], [one]);
    case 'budget': {
      const paths = Array.from({ length: smallBudget }, (_, index) => `${token}-${index}.txt`);
      return scene([language.write(...paths)], []);
    }
    case 'settings':
      return scene([language.run([effect(one, brief())])], [one], { afterwards: 'settings' });
    case 'failover':
      return scene([language.run([effect(one, brief())])], [one], { modelFault: faultOf('status-503') });
    case 'broken-stream':
      return plain({ modelFault: { ...faultOf('error-event'), phase: 'mid-stream' } });
    case 'draft':
      return scene([language.slowly(14, token)], []);
    case 'stop-draft':
      return scene([language.slowly(25, token)], [], { afterwards: 'stop', afterMs: draftMs });
    case 'stop-tool-draft':
      // Nothing was said: its draft has to go.
      return scene([language.run([effect(one, 4)])], [one], { afterwards: 'stop', afterMs: draftMs });
    case 'status':
      return scene([language.run([effect(one, 0.15)])], [one], { afterwards: 'status' });
    case 'renew':
      return plain({ afterwards: 'renew' });
    case 'shorten':
      return scene([language.tell(token)], [], { afterwards: 'shorten' });
    case 'limited':
      return plain({ modelFault: faultOf('status-429-retry-after') });
  }
}

/** Strikes the next request to the model that answers, whoever's it is. */
function faultOf(name: string): FaultOrder {
  return { name, model: primaryModel };
}
