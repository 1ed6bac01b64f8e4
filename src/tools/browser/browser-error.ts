/** What keeps a browser from being used, in words for the model and the user. */
export type BrowserReason =
  /** There is no Chromium on this machine, or none that can be used. */
  | 'missing'
  /** It can't be started safely here. */
  | 'unsafe'
  | 'start-failed'
  /** As many as there may be are being used right now. */
  | 'too-many'
  | 'action-failed';

export class BrowserError extends Error {
  override readonly name = 'BrowserError';
  readonly reason: BrowserReason;

  constructor(reason: BrowserReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
