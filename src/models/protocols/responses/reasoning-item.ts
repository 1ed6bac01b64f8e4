/**
 * A thought between two calls of the same model: the item that the API gives, sealed, and wants back before what it led
 * to. It is kept as JSON in a reasoning part's `opaque`, with the members that a request may have and no others.
 */
type Fields = Readonly<Record<string, unknown>>;

/** Longer ids come from gateways that make up their own, and are refused when they come back. */
const idCharsMax = 64;

/** What is kept of an item; null if there is nothing sealed in it, as the server remembers nothing by itself. */
export function keptItem(item: Fields): string | null {
  const { id, summary, encrypted_content: sealed } = item;
  if (typeof sealed !== 'string' || sealed === '') return null;
  return JSON.stringify({
    type: 'reasoning',
    ...(typeof id === 'string' && id !== '' && id.length <= idCharsMax && { id }),
    summary: Array.isArray(summary) ? summary : [],
    encrypted_content: sealed,
  });
}

/** The item as it is sent; null if it is damaged or of another dialect. */
export function reasoningItem(opaque: string): string | null {
  try {
    const item = JSON.parse(opaque) as Fields | null;
    return item?.['type'] === 'reasoning' && typeof item['encrypted_content'] === 'string'
      ? opaque.toWellFormed()
      : null;
  } catch {
    return null;
  }
}
