import { useState } from 'preact/hooks';

import type { ParkedAction } from '../../src/protocol/api.ts';

/** What a person can do about a turn that was set aside. */
export function ParkedChoice({ onChoose }: { onChoose: (action: ParkedAction) => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const choose = (action: ParkedAction) => {
    setBusy(true);
    void onChoose(action).finally(() => setBusy(false));
  };
  return (
    <p class="aside choice">
      <button type="button" disabled={isBusy} onClick={() => choose('retry')}>
        Try again
      </button>
      <button type="button" disabled={isBusy} onClick={() => choose('drop')}>
        Give up
      </button>
    </p>
  );
}
