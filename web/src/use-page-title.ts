import { useEffect } from 'preact/hooks';

/** The browser tab says which conversation this is, and whether something goes on in it. */
export function usePageTitle(title: string | null, isRunning: boolean): void {
  useEffect(() => {
    document.title = `${isRunning ? '● ' : ''}${title === null ? '' : `${title} · `}Talaria`;
  }, [title, isRunning]);
}
