/**
 * One run: everything outside of the gateway (time, disk, people, platforms, whoever restarts it) and the lives of the
 * gateway in it. Goes on until nothing is left to do, or until it is clear that this never happens.
 */
import type { IdSource } from '../../src/lib/ids.ts';
import type { SessionId, TurnId } from '../../src/protocol/ids.ts';
import { Dice } from './dice.ts';
import { Faults } from './faults.ts';
import { Ledger } from './ledger.ts';
import { MemoryData } from './memory-data.ts';
import { takeOver } from './memory-store.ts';
import { Observer } from './observer.ts';
import { People } from './people.ts';
import { poisonedChat, type Scenario } from './scenario.ts';
import { ScriptedPlatform } from './scripted-platform.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { settled, VirtualClock } from './virtual-clock.ts';
import type { Life, World, WrapStore } from './world.ts';

const timersMax = 40_000;
const virtualMsMax = 12 * 3_600_000;
/** After everything is done: nothing may happen any more for so long. */
const quietMs = 60_000;
const looksEvery = 8;
/** More writes and reads than this without any time passing are a circle. */
const accessesMax = 20_000;

export class SimulatedWorld implements World {
  readonly scenario: Scenario;
  readonly isTracing: boolean;
  readonly wrapStore: WrapStore;
  readonly clock = new VirtualClock();
  readonly data = new MemoryData();
  readonly ledger = new Ledger();
  readonly faults: Faults;
  readonly modelDice: Dice;
  readonly observer: Observer;
  readonly platform: ScriptedPlatform;
  readonly people: People;
  readonly ids: IdSource;
  readonly counts = new Map<string, number>();
  readonly breaches: string[] = [];
  readonly lines: string[] = [];
  /** How often the process ended without notice while this turn was open. */
  readonly crashesOfTurn = new Map<TurnId, number>();
  /** The process that people and platforms reach; null while none runs. */
  process: SimulatedProcess | null = null;
  readonly #dice: Dice;
  readonly #whenEnded = new Map<Life, (() => void)[]>();
  #processes = 0;
  #numbers = 0;
  #planned = 0;
  #accesses = 0;

  constructor(scenario: Scenario, options: { isTracing?: boolean; wrapStore?: WrapStore } = {}) {
    this.scenario = scenario;
    this.isTracing = options.isTracing ?? false;
    this.wrapStore = options.wrapStore ?? ((store) => store);
    this.faults = new Faults(scenario);
    this.#dice = new Dice(scenario.seed, 4);
    this.modelDice = new Dice(scenario.seed, 2);
    this.observer = new Observer(this);
    let ids = 0;
    this.ids = { next: (prefix) => `${prefix}_${String((ids += 1)).padStart(26, '0')}` as never };
    this.platform = new ScriptedPlatform(this);
    this.people = new People(this);
    for (const atMs of scenario.killsAtMs) this.#plan(atMs, () => this.process?.die('killed from outside'));
    for (const atMs of scenario.restartsAtMs) this.#plan(atMs, () => this.restart('its operator'));
    for (const { atMs, chat } of scenario.stops) this.#plan(atMs, () => this.people.stop(chat));
  }

  #plan(atMs: number, action: () => void): void {
    this.#planned += 1;
    this.clock.setTimer(atMs, () => {
      this.#planned -= 1;
      action();
    });
  }

  // --- notes ---------------------------------------------------------------------------------------------------------

  trace(line: string): void {
    if (this.isTracing) this.lines.push(`${String(this.clock.elapsedMs).padStart(8)} ms  ${line}`);
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** To be asked before each access to the data; what gets a true here must wait for ever. */
  runsInCircles(): boolean {
    this.#accesses += 1;
    if (this.#accesses === accessesMax) this.breach('it runs in circles without any time passing');
    return this.#accesses >= accessesMax;
  }

  noteFailure(what: string): void {
    this.count('failed writes and reads');
    this.trace(what);
  }

  breach(text: string): void {
    this.trace(`BREACH: ${text}`);
    this.breaches.push(text);
  }

  isPoisoned(sessionId: SessionId): boolean {
    return this.data.sessions.get(sessionId)?.record.key.endsWith(`:${poisonedChat}`) ?? false;
  }

  nextNumber(): number {
    return (this.#numbers += 1);
  }

  // --- the lives of the gateway --------------------------------------------------------------------------------------

  /** Calls back when this process dies, leaves or is replaced. */
  whenEnded(process: Life, callback: () => void): void {
    const callbacks = this.#whenEnded.get(process);
    if (callbacks === undefined || !process.isAlive) callback();
    else callbacks.push(callback);
  }

  #startProcess(): void {
    takeOver(this.data, this.clock.now());
    const process = new SimulatedProcess(this, (this.#processes += 1), (ended, how) => this.#processEnded(ended, how));
    this.trace(`p${process.number} starts`);
    this.process = process;
    this.#whenEnded.set(process, []);
    process.start().catch((error: unknown) => process.die(`can not start: ${String(error)}`));
  }

  #processEnded(process: SimulatedProcess, how: string): void {
    this.trace(`p${process.number} ends: ${how}`);
    this.count(how === 'left' ? 'clean restarts' : 'crashes');
    if (how !== 'left') this.#noteCrash(process);
    this.#letGo(process);
  }

  #letGo(process: Life): void {
    if (this.process === process) {
      this.process = null;
      this.clock.setTimer(this.#dice.delayMs(60_000), () => this.#startProcess());
    }
    const callbacks = this.#whenEnded.get(process) ?? [];
    this.#whenEnded.delete(process);
    for (const callback of callbacks) callback();
  }

  /** Only turns that this process owned went down with it. */
  #noteCrash(process: Life): void {
    for (const session of this.data.sessions.values()) {
      const turn = this.data.openTurnOf(session);
      if (turn === null || session.lease?.owner !== process.owner || session.lease.state !== 'held') continue;
      this.crashesOfTurn.set(turn.id, (this.crashesOfTurn.get(turn.id) ?? 0) + 1);
    }
  }

  restart(by: string): void {
    const { process } = this;
    if (process === null) return;
    this.trace(`p${process.number} is asked to leave by ${by}`);
    void process.leave();
  }

  /** The process stands still; others believe it dead, and a new one takes its place before it wakes up. */
  stall(process: Life): void {
    const takenOverMs = this.#dice.between(1, 60_000);
    process.stalledUntil = this.clock.now() + takenOverMs + this.#dice.between(1, 60_000);
    this.count('stalls');
    this.trace(`p${process.number} stalls for ${process.stalledUntil - this.clock.now()} ms`);
    this.#noteCrash(process);
    this.process = null;
    this.#letGo(process);
    this.clock.setTimer(takenOverMs, () => this.#startProcess());
    this.clock.setTimer(process.stalledUntil - this.clock.now() + 60_000, () => process.die('stalled before'));
  }

  // --- the run -------------------------------------------------------------------------------------------------------

  async run(): Promise<void> {
    this.#startProcess();
    let quietSince: number | null = null;
    for (let timers = 1; ; timers++) {
      await settled();
      if (this.breaches.length > 0) return;
      if (timers % looksEvery === 0) {
        if (!this.#isQuiet()) quietSince = null;
        else if (quietSince === null) quietSince = this.clock.now();
        else if (this.clock.now() - quietSince >= quietMs) {
          if (!this.people.lookAfterParked()) return;
          quietSince = null;
        }
      }
      if (timers > timersMax) return this.breach(`it does not come to rest within ${timersMax} timers`);
      if (this.clock.elapsedMs > virtualMsMax) return this.breach(`it does not come to rest: ${this.#whatIsLeft()}`);
      this.#accesses = 0;
      if (!this.clock.step()) return this.breach(`it hangs: ${this.#whatIsLeft()}`);
    }
  }

  #isQuiet(): boolean {
    return this.#planned === 0 && this.process !== null && this.platform.outstanding === 0 && this.#whatIsLeft() === '';
  }

  #whatIsLeft(): string {
    const left: string[] = [];
    if (this.platform.outstanding > 0) left.push(`${this.platform.outstanding} messages not acknowledged`);
    const note = (id: SessionId, what: string) => left.push(`${id} ${what}`);
    for (const { record, inbox, lease } of this.data.sessions.values()) {
      if (record.turn === 'open') note(record.id, 'has an open turn');
      if (inbox.some((row) => row.state === 'waiting')) note(record.id, 'has a waiting message');
      // One that could not be given back ends by itself.
      if (lease?.state === 'held' && lease.expiresAt > this.clock.now()) note(record.id, 'is leased');
    }
    for (const row of this.data.outbox.values()) {
      if (row.state === 'pending' || row.state === 'attempting') left.push(`${row.id} is ${row.state}`);
    }
    return left.join(', ');
  }
}
