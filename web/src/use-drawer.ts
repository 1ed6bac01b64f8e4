/**
 * On a narrow screen the list of sessions is a drawer over the page; on a wide one it always stands and there is nothing
 * to open. The keyboard's focus goes into the drawer with it and comes back out of it.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** As in style.css. */
const narrowScreen = '(max-width: 48rem)';

export interface Drawer {
  readonly isOpen: boolean;
  readonly open: () => void;
  readonly close: () => void;
}

export function useDrawer(): Drawer {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    const screen = matchMedia(narrowScreen);
    const close = () => setOpen(false);
    screen.addEventListener('change', close);
    return () => screen.removeEventListener('change', close);
  }, []);
  useEffect(() => {
    if (!isOpen) return undefined;
    const isInside = () => document.activeElement?.closest('#sidebar') !== null;
    if (!isInside()) document.querySelector<HTMLElement>('#sidebar button')?.focus();
    return () => {
      const isLost = isInside() || document.activeElement === document.body;
      if (isLost && opener.current instanceof HTMLElement) opener.current.focus();
    };
  }, [isOpen]);
  const open = useCallback(() => {
    opener.current = document.activeElement;
    setOpen(matchMedia(narrowScreen).matches);
  }, []);
  const close = useCallback(() => setOpen(false), []);
  return { isOpen, open, close };
}
