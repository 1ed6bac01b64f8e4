/** How long ago, as short as it can be said: `now`, `5 min`, `3 h`, `Mon`, `12 Mar`, `12 Mar 2025`. */
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export function relativeTime(at: number, now: number, locale?: string, timeZone?: string): string {
  const ageMs = now - at;
  if (ageMs < minuteMs) return 'now';
  if (ageMs < hourMs) return `${Math.floor(ageMs / minuteMs)} min`;
  if (ageMs < dayMs) return `${Math.floor(ageMs / hourMs)} h`;
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, timeZone === undefined ? options : { ...options, timeZone }).format(at);
  if (ageMs < 6 * dayMs) return format({ weekday: 'short' });
  const isRecent = ageMs < 300 * dayMs;
  return format({ day: 'numeric', month: 'short', ...(isRecent ? {} : { year: 'numeric' }) });
}

export function fullTime(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
}
