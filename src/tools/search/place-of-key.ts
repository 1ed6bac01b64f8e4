/** The place that others read along in, by a session's key (`CHANNEL:KIND:CHAT…`); null for a direct chat. Pure. */
export function placeOfKey(key: string): string | null {
  const [channel = '', kind = '', chat = ''] = key.split(':');
  return kind === 'group' || kind === 'thread' ? `${channel}:${chat}` : null;
}
