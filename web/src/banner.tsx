import { Icon } from './icon.tsx';

export interface BannerProps {
  readonly kind: 'lost' | 'problem' | 'said';
  readonly text: string;
  readonly onClose?: () => void;
}

/** One line at the top of the conversation. */
export function Banner({ kind, text, onClose }: BannerProps) {
  return (
    <div class={`banner ${kind}`} role={kind === 'problem' ? 'alert' : 'status'}>
      {kind === 'problem' && <Icon name="alert" />}
      <p>{text}</p>
      {onClose !== undefined && (
        <button type="button" class="quiet" aria-label="Dismiss" onClick={onClose}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
