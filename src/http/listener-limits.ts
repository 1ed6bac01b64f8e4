/** How much the front door takes from a client, and how long it waits for one. Each has a stated behaviour at it. */
export interface ListenerLimits {
  /** More is answered with 431, or 414 if it is the address. */
  readonly headerBytesMax: number;
  readonly headersMax: number;
  readonly targetCharsMax: number;
  /** For the head of a request, and for the whole of it. After that 408. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** How often the two above are looked at. */
  readonly timeoutCheckMs: number;
  /** An idle connection is closed. */
  readonly keepAliveTimeoutMs: number;
  /** Past it the connection that has waited longest gives way; if all are at work, the newcomer gets 503. */
  readonly connectionsMax: number;
  /** Of bodies that are still arriving, all together. Past it the one that has been arriving longest is cut. */
  readonly arrivingBytesMax: number;
  /** Requests of one connection that wait for their turn. One more, and the connection is cut. */
  readonly pipelinedMax: number;
  /** How much of a body that nobody wants is still taken in, and for how long, so that the refusal is seen. */
  readonly unreadBytesMax: number;
  readonly unreadTimeoutMs: number;
  /** A response that its client does not take for so long is cut. */
  readonly stalledMs: number;
}

export const defaultLimits: ListenerLimits = {
  headerBytesMax: 16_384,
  headersMax: 100,
  targetCharsMax: 8_192,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 120_000,
  timeoutCheckMs: 2_000,
  keepAliveTimeoutMs: 10_000,
  connectionsMax: 2_048,
  arrivingBytesMax: 256_000_000,
  pipelinedMax: 16,
  unreadBytesMax: 64_000_000,
  unreadTimeoutMs: 5_000,
  stalledMs: 30_000,
};
