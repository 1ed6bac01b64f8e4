/** Ends a session's Chromium: asked to, so that cookies are on its disk, or at once. */
import type { BrowserDeps } from './browser-deps.ts';
import type { BrowserPlaces, BrowserState } from './browser-state.ts';
import { connectToHost } from './control-connection.ts';
import { isGoneWithin, killGroup } from './browser-process.ts';

const closeMs = 5_000;

/** Resolves once it is gone. */
export async function closeBrowser(
  { clock }: Pick<BrowserDeps, 'clock'>,
  places: BrowserPlaces,
  host: NonNullable<BrowserState['host']>,
): Promise<void> {
  const transport = await connectToHost(places.controlSocket).catch(() => null);
  transport?.send({ id: 1, method: 'Browser.close' });
  if (transport !== null) await isGoneWithin(clock, host, closeMs);
  transport?.close();
  await killGroup(clock, host);
}
