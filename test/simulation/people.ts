/** What people do besides writing: they stop turns, answer questions (in time, late or never), and look after parked turns. */
import type { CallId, SessionId, TurnId } from '../../src/protocol/ids.ts';
import { Dice } from './dice.ts';
import type { World } from './world.ts';

export interface AcceptedStop {
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly at: number;
}

export class People {
  /** Stops of which somebody was told that they happen. */
  readonly stops: AcceptedStop[] = [];
  readonly #world: World;
  readonly #dice: Dice;
  #hasLooked = false;

  constructor(world: World) {
    this.#world = world;
    this.#dice = new Dice(world.scenario.seed, 5);
  }

  stop(chat: string): void {
    const { process, data, clock } = this.#world;
    const sessionId = this.#world.platform.sessions.get(chat);
    const session = sessionId === undefined ? undefined : data.sessions.get(sessionId);
    const turn = session === undefined ? null : data.openTurnOf(session);
    if (sessionId === undefined || process === null) return;
    this.#world.count('stops');
    this.#world.trace(`somebody stops ${sessionId}`);
    process.api.stop(sessionId).then(
      (isStopped) => {
        if (isStopped && turn !== null) this.stops.push({ sessionId, turnId: turn.id, at: clock.now() });
      },
      () => {},
    );
  }

  asked(sessionId: SessionId, callId: CallId): void {
    this.#world.count('questions');
    const answer = this.#dice.weighted({ yes: 3, no: 1, nothing: 1 });
    if (answer === 'nothing') return;
    this.#world.clock.setTimer(this.#dice.delayMs(400_000), () => this.#answer(sessionId, callId, answer));
  }

  #answer(sessionId: SessionId, callId: CallId, answer: string): void {
    const { process } = this.#world;
    if (process === null) return;
    this.#world.trace(`somebody answers ${callId}: ${answer}`);
    process.store.answerCall(sessionId, callId, answer).then(
      (isTaken) => {
        if (isTaken) process.drain.wake(sessionId);
      },
      () => {},
    );
  }

  /** True if there was something to look after. */
  lookAfterParked(): boolean {
    const { process, data, scenario } = this.#world;
    if (this.#hasLooked || !scenario.looksAfterParked || process === null) return false;
    this.#hasLooked = true;
    const parked = [...data.sessions.values()].filter(({ record }) => record.turn === 'parked');
    for (const { record } of parked) {
      const action = this.#dice.pick(['retry', 'drop'] as const);
      this.#world.trace(`somebody lets ${record.id} ${action}`);
      this.#world.count(`parked turns, ${action}`);
      process.api.parked(record.id, action).catch(() => {});
    }
    return parked.length > 0;
  }
}
