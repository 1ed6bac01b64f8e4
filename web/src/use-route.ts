import { useCallback, useEffect, useState } from 'preact/hooks';

import { hashOf, parseRoute, type Route } from './route.ts';

/** The address as state. `replace` changes it without a new step in the browser's history. */
export type Navigate = (route: Route, how?: 'push' | 'replace') => void;

export function useRoute(): readonly [Route, Navigate] {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const read = () => {
      const next = parseRoute(location.hash);
      setRoute((current) => (hashOf(current) === hashOf(next) ? current : next));
    };
    // A link changes the hash, a step in the history may do without.
    addEventListener('hashchange', read);
    addEventListener('popstate', read);
    // It may have changed between the first drawing and this moment.
    read();
    return () => {
      removeEventListener('hashchange', read);
      removeEventListener('popstate', read);
    };
  }, []);
  const navigate = useCallback<Navigate>((next, how = 'push') => {
    if (how === 'replace') history.replaceState(null, '', hashOf(next));
    else if (location.hash !== hashOf(next)) history.pushState(null, '', hashOf(next));
    setRoute(next);
  }, []);
  return [route, navigate];
}
