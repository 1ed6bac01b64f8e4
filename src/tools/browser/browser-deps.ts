/** What the browser is made of. All of it is given from above; nothing here is chosen by a model. */
import type { Clock } from '../../lib/clock.ts';
import type { Gate } from '../approval.ts';
import type { EgressProxy } from '../egress.ts';
import type { Sandbox } from '../sandbox.ts';
import type { FoundChromium } from './find-chromium.ts';

export interface BrowserDeps {
  readonly clock: Clock;
  /** The folder of all browsers. Absolute, and short enough for a socket in it. */
  readonly root: string;
  /** The Node that runs Talaria. */
  readonly nodePath: string;
  /** Looked for when it is needed. */
  readonly findChromium: () => Promise<FoundChromium>;
  /** The one that proved itself. Throws a `SandboxError` if there is none. */
  readonly sandbox: () => Promise<Sandbox>;
  /** Opens the way out on this socket, with the rules for addresses of strangers. */
  readonly startProxy: (socketPath: string) => Promise<EgressProxy>;
  readonly gate: Gate;
  /** Most browsers that run at once. */
  readonly browsersMax?: number;
  /** Whether Talaria has all rights on this machine; Chromium's own sandbox does not work then. */
  readonly isRoot?: boolean;
}
