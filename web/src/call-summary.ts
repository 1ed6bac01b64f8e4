/** A call's arguments in one short line, for people. */
const summaryCharsMax = 120;
/** What says most about a call, in this order. */
const tellingNames = ['command', 'path', 'file', 'url', 'query', 'pattern', 'name', 'text'];

export function callSummary(argumentText: string): string {
  const decoded = decode(argumentText);
  if (typeof decoded !== 'object' || decoded === null) return oneLine(argumentText);
  const entries = Object.entries(decoded);
  const telling = tellingNames.flatMap((name) => entries.filter(([key]) => key === name))[0];
  if (telling !== undefined) return oneLine(show(telling[1]));
  return oneLine(entries.map(([key, value]) => `${key}: ${show(value)}`).join(', '));
}

/** The whole of the arguments, laid out for reading; empty if the summary says it all. */
export function callDetails(argumentText: string): string {
  const decoded = decode(argumentText);
  const isObject = typeof decoded === 'object' && decoded !== null;
  const entries = isObject ? Object.entries(decoded) : [['', argumentText] as const];
  const [only] = entries;
  if (only === undefined || (entries.length === 1 && show(only[1]) === callSummary(argumentText))) return '';
  if (!isObject) return argumentText;
  return entries
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`;
    })
    .join('\n');
}

/** How long something took, as short as it can be said. */
export function durationText(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.max(0, Math.round(durationMs / 100) / 10)} s`;
  const seconds = Math.floor(durationMs / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The model writes the arguments; they are JSON only if it did well. */
function decode(argumentText: string): unknown {
  try {
    return JSON.parse(argumentText);
  } catch {
    return undefined;
  }
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > summaryCharsMax ? `${line.slice(0, summaryCharsMax - 1)}…` : line;
}
