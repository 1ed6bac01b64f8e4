/** Brace expansion of a text without quotes or expansions in it: `{a,b}`, `{1..3}`, nested. */
const alternativesMax = 256;
const sequencePattern = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/;

/** The alternatives of one `{…}`, outermost level; null if it is none, or of too many. */
export function braceAlternatives(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  const body = text.slice(1, -1);
  const sequence = sequencePattern.exec(body);
  if (sequence !== null) return sequenceOf(sequence[1] ?? '', sequence[2] ?? '', sequence[3]);
  const parts = splitAtCommas(body);
  return parts.length < 2 || parts.length > alternativesMax ? null : parts;
}

function sequenceOf(from: string, to: string, stepText: string | undefined): string[] | null {
  const areNumbers = /\d$/.test(from) && /\d$/.test(to);
  if (!areNumbers && (/\d$/.test(from) || /\d$/.test(to))) return null;
  const [start, end] = areNumbers ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
  const step = Math.max(1, Math.abs(Number(stepText ?? 1)));
  if (Math.abs(end - start) / step > alternativesMax) return null;
  const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const found: string[] = [];
  const direction = end >= start ? step : -step;
  for (let value = start; direction > 0 ? value <= end : value >= end; value += direction) {
    found.push(areNumbers ? String(value).padStart(width, '0') : String.fromCharCode(value));
  }
  return found;
}

/** Top-level commas only; quotes and nested groups keep theirs. */
function splitAtCommas(body: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  let quote = '';
  for (let index = 0; index < body.length; index++) {
    const character = body.charAt(index);
    if (character === '\\' && quote !== "'") {
      part += character + body.charAt(++index);
      continue;
    }
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === "'" || character === '"' || character === '`') quote = character;
    else if (character === '{' || character === '(') depth += 1;
    else if (character === '}' || character === ')') depth -= 1;
    if (character === ',' && depth === 0 && quote === '') {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part];
}
