/**
 * Shows what a tool prints while it runs, at a pace that a person can follow: the first piece at once, then at most one
 * piece per interval, holding the newest part of what came meanwhile. A flood costs a fixed amount, not the flood.
 */
import type { Clock } from '../lib/clock.ts';
import { newestOf } from './output-bound.ts';

const intervalMs = 100;
const pieceCharsMax = 16_384;

export interface LiveOutput {
  push(text: string): void;
  /** Shows what is still held back. Nothing is shown after it. */
  end(): void;
}

export function createLiveOutput(deps: { clock: Clock; onOutput: (text: string) => void }): LiveOutput {
  let held = '';
  let cancelTimer: (() => void) | null = null;
  let ended = false;

  const show = () => {
    const piece = newestOf(held, pieceCharsMax);
    held = '';
    if (piece !== '') deps.onOutput(piece);
    return piece !== '';
  };
  const showInTurn = () => {
    cancelTimer = show() ? deps.clock.setTimer(intervalMs, showInTurn) : null;
  };

  return {
    push(text) {
      if (ended) return;
      held += text;
      if (held.length > 2 * pieceCharsMax) held = newestOf(held, pieceCharsMax);
      if (cancelTimer === null) showInTurn();
    },
    end() {
      ended = true;
      cancelTimer?.();
      show();
    },
  };
}
