/** Shows that somebody is typing, for as long as it takes. */
import type { LiveDisplay } from '../../channels/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

/** Said again a little before the platform forgets it. */
const shareOfTime = 0.8;

/** Returns what ends it. */
export function keepTyping(deps: { clock: Clock; log: Log }, live: LiveDisplay, target: string): () => void {
  if (live.typingMs <= 0) return () => {};
  const ending = new AbortController();
  let cancel = () => {};
  const say = async () => {
    try {
      await live.typing(target, ending.signal);
    } catch (error) {
      deps.log.debug('typing was not shown', { error });
    }
    if (!ending.signal.aborted) cancel = deps.clock.setTimer(live.typingMs * shareOfTime, () => void say());
  };
  void say();
  return () => {
    ending.abort();
    cancel();
  };
}
