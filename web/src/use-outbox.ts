import { useEffect, useRef, useState } from 'preact/hooks';

import type { SayReceipt } from '../../src/protocol/api.ts';
import type { Api } from './api.ts';
import { createOutbox, type Outbox, type PendingMessage } from './outbox.ts';

const storageKey = 'talaria.outbox';

export type ReceiptListener = (message: PendingMessage, receipt: SayReceipt) => void;

export interface Outgoing {
  readonly pending: readonly PendingMessage[];
  /** Null for the moment before the page stands. */
  readonly outbox: Outbox | null;
  /** Who hears of receipts: whoever was drawn last. */
  readonly listener: { current: ReceiptListener };
}

/** The outbox of this page. */
export function useOutbox(api: Api, onUnauthorized: () => void): Outgoing {
  const [pending, setPending] = useState<readonly PendingMessage[]>([]);
  const [outbox, setOutbox] = useState<Outbox | null>(null);
  const listener = useRef<ReceiptListener>(() => {});
  useEffect(() => {
    const created = createOutbox({
      send: (request) => api.send(request),
      newId: randomId,
      wait: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
      storage: { read: readStorage, write: writeStorage },
      onChange: setPending,
      onReceipt: (message, receipt) => listener.current(message, receipt),
      onUnauthorized,
    });
    setOutbox(created);
  }, [api, onUnauthorized]);
  return { pending, outbox, listener };
}

/** `crypto.randomUUID` exists only on secure origins; a gateway on the local network often is none. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `web-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

// Storage may be forbidden or full. Then an unacknowledged message survives everything but a reload.
function readStorage(): string | null {
  try {
    return sessionStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

function writeStorage(text: string): void {
  try {
    sessionStorage.setItem(storageKey, text);
  } catch {
    // Said above.
  }
}
