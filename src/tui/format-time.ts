import { localDay } from '../lib/local-day.ts';

/** A moment for people, in their own time zone: `2026-01-31 09:05`. */
export function formatTime(at: number): string {
  const time = new Date(at);
  return `${localDay(at)} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** A span of time in its largest unit that says enough: `42 s`, `3 min`, `5 h 10 min`, `2 d 4 h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
}
