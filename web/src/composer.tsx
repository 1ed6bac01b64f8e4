/** Where a message is written. Enter sends, Shift+Enter makes a new line; a message may be sent while a turn runs. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { messageBytesMax } from '../../src/protocol/api.ts';
import { Icon } from './icon.tsx';

const rowsMax = 10;

export interface ComposerProps {
  /** The text to begin with, and where to keep it when the reader goes elsewhere. */
  readonly initialText: string;
  readonly onTextChange: (text: string) => void;
  readonly isRunning: boolean;
  /** True while a message may not be sent, whatever it says. */
  readonly isHeld: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
}

export function Composer({ initialText, onTextChange, isRunning, isHeld, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState(initialText);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    // On a touch screen the focus would open the keyboard over what one came to read.
    if (matchMedia('(pointer: fine)').matches) area.current?.focus();
  }, []);
  useLayoutEffect(() => onTextChange(text), [text]);

  const problem = problemWith(text);
  const canSend = text.trim() !== '' && problem === null && !isHeld;
  const send = () => {
    if (!canSend) return;
    setText('');
    onSend(text);
    area.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div class="composer-box">
        <textarea
          ref={area}
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder="Message Talaria"
          rows={Math.min(rowsMax, text.split('\n').length)}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {isRunning && (
          <button type="button" class="round stop" aria-label="Stop" title="Stop (Escape)" onClick={onStop}>
            <Icon name="stop" />
          </button>
        )}
        <button type="submit" class="round send" aria-label="Send" title="Send (Enter)" disabled={!canSend}>
          <Icon name="send" />
        </button>
      </div>
      <p id="composer-hint" class={problem === null ? 'hint' : 'hint problem'}>
        {problem ?? (isRunning ? hintWhileRunning : 'Enter sends · Shift+Enter makes a new line')}
      </p>
    </form>
  );
}

const hintWhileRunning = 'Escape stops · what you send now joins the turn';

function problemWith(text: string): string | null {
  // No character takes more than three bytes per UTF-16 unit, so short texts need no counting.
  if (text.length * 3 <= messageBytesMax) return null;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= messageBytesMax) return null;
  return `Too long: ${bytes.toLocaleString()} of at most ${messageBytesMax.toLocaleString()} bytes. Put it in a file and say where it is.`;
}
