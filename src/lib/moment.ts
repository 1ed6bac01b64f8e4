/** A day or a time as people and models write it: the day's beginning where Talaria runs. Pure but for the time zone. */
const pattern = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/u;

/** Null if it is neither; undefined for undefined. */
export function momentOf(text: string | undefined): number | null | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const match = pattern.exec(text.trim());
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', zone = ''] = match;
  // Without a zone, a time is the machine's own.
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  const isReal = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  return Number.isNaN(time) || !isReal ? null : time;
}
