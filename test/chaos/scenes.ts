/**
 * What the people in a run ask for. The only file that knows which model answers: the rehearsal inside the program, which
 * runs what the words say. A scripted model server would bring its own words for the same scenes.
 */
import type { RandomSource } from '../../src/lib/random.ts';
import { memoryOf } from './ledger.ts';

export type SceneKind =
  | 'plain'
  | 'fresh'
  | 'tool'
  | 'long-tool'
  | 'sequence'
  | 'pair'
  | 'read'
  | 'remember'
  | 'mistake'
  | 'slow'
  | 'stop'
  | 'stop-tool'
  | 'join'
  | 'delete'
  | 'import'
  | 'backup';

export const sceneKinds: readonly SceneKind[] = [
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
];

export interface Scene {
  readonly kind: SceneKind;
  /** Said one after the other, the later ones while the first is being answered. */
  readonly words: readonly string[];
  /** Part of the answer to the first words; null if that is not known beforehand. */
  readonly answerHas: string | null;
  /** What the words do to the world, each at most once. */
  readonly effects: readonly string[];
  readonly afterwards: 'nothing' | 'stop' | 'delete' | 'import' | 'backup';
  /** In a session that nobody has written to yet. */
  readonly inFreshSession: boolean;
}

/** `effect` spells the command that does an effect and then takes a while. */
export function sceneOf(
  kind: SceneKind,
  token: string,
  random: RandomSource,
  effect: (id: string, seconds: number) => string,
): Scene {
  const [one, two] = [`${token}-1`, `${token}-2`];
  const brief = () => (random.float() < 0.5 ? 0 : 0.05);
  const scene = (words: readonly string[], effects: readonly string[], more: Partial<Scene> = {}): Scene => ({
    kind,
    words,
    answerHas: null,
    effects,
    afterwards: 'nothing',
    inFreshSession: false,
    ...more,
  });
  switch (kind) {
    case 'plain':
      return scene([`say ${token}`], [], { answerHas: token });
    case 'fresh':
      // An answer that brings the rehearsal's long notice, so that no slow one has to.
      return scene([`count to 3, ${token}`], [], { inFreshSession: true });
    case 'tool':
      return scene([`run ${effect(one, brief())}`], [one]);
    case 'long-tool':
      return scene([`run ${effect(one, 0.3)}`], [one]);
    case 'sequence':
      return scene([`run ${effect(one, brief())} and then run ${effect(two, brief())}`], [one, two]);
    case 'pair':
      return scene([`run ${effect(one, brief())} and run ${effect(two, brief())} at once`], [one, two]);
    case 'read':
      return scene([`read notes-${token}.txt and read notes.txt at once`], []);
    case 'remember':
      // Unlike a command, this can't be taken up again: a lost one is unknown.
      return scene([`remember ${memoryOf(one)}`], [one]);
    case 'mistake':
      return scene([`call the tool nothing-like-${token} with {"broken`], []);
    case 'slow':
      return scene([`count slowly to 9, ${token}`], []);
    case 'stop':
      return scene([`count slowly to 24, ${token}`], [], { afterwards: 'stop' });
    case 'stop-tool':
      return scene([`run ${effect(one, 2)} and then run ${effect(two, 0)}`], [one, two], { afterwards: 'stop' });
    case 'join':
      return scene([`run ${effect(one, 0.15)}`, `run ${effect(two, 0)}`], [one, two]);
    case 'delete':
      return scene([`run ${effect(one, brief())}`], [one], { afterwards: 'delete', inFreshSession: true });
    case 'import':
      return scene([`say ${token}`], [], { answerHas: token, afterwards: 'import' });
    case 'backup':
      return scene([`say ${token}`], [], { answerHas: token, afterwards: 'backup' });
  }
}
