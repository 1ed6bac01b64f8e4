/**
 * How much of bodies that are not whole yet is kept in memory, of all clients together: each may send what a request may
 * hold and then stop, and thousands may. Past the limit the body that has been arriving longest is given up, so that whoever
 * sends at a sensible pace gets through.
 */
export interface BodyPlace {
  add(bytes: number): void;
  leave(): void;
}

export class BodyRoom {
  readonly #bytesMax: number;
  /** In the order in which they came, the oldest first. */
  readonly #arriving = new Set<{ bytes: number; readonly giveUp: () => void }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `giveUp` must end the body; it is called at most once, and not after `leave`. */
  enter(giveUp: () => void): BodyPlace {
    const body = { bytes: 0, giveUp };
    this.#arriving.add(body);
    const leave = () => {
      if (this.#arriving.delete(body)) this.#bytes -= body.bytes;
    };
    return {
      leave,
      add: (bytes) => {
        if (!this.#arriving.has(body)) return;
        body.bytes += bytes;
        this.#bytes += bytes;
        this.#makeRoom();
      },
    };
  }

  #makeRoom(): void {
    for (const oldest of this.#arriving) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#arriving.delete(oldest);
      this.#bytes -= oldest.bytes;
      oldest.giveUp();
    }
  }
}
