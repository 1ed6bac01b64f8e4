/** Which session the address names: `#/s/NAME`, or `#/s/NAME/SEQ` to show one entry. Anything else is a new chat. */
export interface Route {
  readonly session: string | null;
  readonly seq: number | null;
}

export const newChat: Route = { session: null, seq: null };

export function parseRoute(hash: string): Route {
  const match = /^#\/s\/([^/]+)(?:\/(\d{1,12}))?$/.exec(hash);
  if (match?.[1] === undefined) return newChat;
  return { session: decodePart(match[1]), seq: match[2] === undefined ? null : Number(match[2]) };
}

export function hashOf(route: Route): string {
  if (route.session === null) return '#/';
  return `#/s/${encodeURIComponent(route.session)}${route.seq === null ? '' : `/${route.seq}`}`;
}

/** An address typed by hand may hold a stray percent sign. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
