/** A word beside the conversation: what happened, or what was sent to the person, with its buttons. */
import { useState } from 'preact/hooks';

import type { Item } from './items.ts';

export type PressButton = (value: string) => Promise<void>;

export interface NoticeProps {
  readonly item: Extract<Item, { kind: 'notice' }>;
  readonly onPress: PressButton;
}

export function Notice({ item: { text, delivery }, onPress }: NoticeProps) {
  const [isBusy, setBusy] = useState(false);
  if (delivery === undefined) return <p class="aside">{text}</p>;
  const press = (value: string) => {
    setBusy(true);
    void onPress(value).finally(() => setBusy(false));
  };
  return (
    <div class="delivered">
      <p class="verbatim">{text}</p>
      {delivery.buttons.length > 0 && (
        <p class="choices">
          {delivery.buttons.map(({ label, value }) => (
            <button key={value} type="button" disabled={isBusy} onClick={() => press(value)}>
              {label}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}
