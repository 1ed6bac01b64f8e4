/** The place of the gateway in a world: at most one runs there, and whoever needs one waits for the next that is ready. */
import { GatewayProcess, type GatewayEnd, type GatewayProgram } from './gateway-process.ts';

export class GatewaySlot {
  /** The newest one, dead or alive. */
  current: GatewayProcess | null = null;
  readonly problems: string[] = [];
  /** When each one ended, by the clock on the wall. */
  readonly deaths: number[] = [];
  readonly #program: GatewayProgram;
  readonly #home: string;
  readonly #signal: AbortSignal;
  readonly #wakers = new Set<() => void>();

  constructor(program: GatewayProgram, home: string, signal: AbortSignal) {
    this.#program = program;
    this.#home = home;
    this.#signal = signal;
  }

  /** The one that runs; null if none does. */
  get running(): GatewayProcess | null {
    return this.current?.isAlive === true ? this.current : null;
  }

  start(fault: string | null): GatewayProcess {
    const gateway = new GatewayProcess(this.#program, this.#home, fault);
    this.current = gateway;
    const note = () => void this.deaths.push(Date.now());
    gateway.ended.then(note, note);
    void gateway.ready.then(() => {
      for (const wake of this.#wakers) wake();
    });
    return gateway;
  }

  /** In good order; says how it ended, because a fault point may come first. */
  async stop(): Promise<GatewayEnd | null> {
    const { current } = this;
    if (current === null) return null;
    // Before that it has no ear for the signal.
    await current.ready;
    current.signal('SIGTERM');
    const end = await current.ended;
    if (end.code !== 0 && end.signal !== 'SIGKILL')
      this.problems.push(`the gateway left with ${JSON.stringify(end)}: ${current.stderr}`);
    return end;
  }

  async kill(): Promise<void> {
    this.current?.signal('SIGKILL');
    await this.current?.ended;
  }

  /** The address of a gateway that is ready, as soon as there is one. */
  async url(): Promise<string> {
    for (;;) {
      this.#signal.throwIfAborted();
      const { running } = this;
      const url = (await running?.ready) ?? null;
      if (url !== null && running?.isAlive === true) return url;
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wakers.delete(wake);
          this.#signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#wakers.add(wake);
        this.#signal.addEventListener('abort', wake);
      });
    }
  }
}
