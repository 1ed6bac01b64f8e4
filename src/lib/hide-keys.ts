/**
 * Takes out of a text what looks like a key, a token or a password, by its shape: for texts that are kept and sent on,
 * and may quote anything. What it takes for a secret and is none is lost from the text; what no shape gives away stays.
 */
const hidden = '[secret left out]';

const shapes: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  // Keys that say whose they are.
  /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeprs]|npm|hf|tvly|gsk|xai|r8|dop_v1|shpat|pypi)[-_][A-Za-z0-9_-]{16,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\b\d{8,10}:[A-Za-z0-9_-]{35}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
];
/** A name that says it is one, and what stands behind it. */
const named =
  /((?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passphrase|authorization)["']?\s*(?:[:=]|\bis\b)\s*["']?(?:bearer\s+|basic\s+)?)(?!\[secret|bearer\s|basic\s)[^\s"',;)}\]]{6,}/gi;
const bearer = /(\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}/gi;
/** The password in an address. */
const inAddress = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]{1,200}:)[^\s@/]{1,500}(@)/gi;

export function hideKeys(text: string): string {
  let clean = text;
  for (const shape of shapes) clean = clean.replace(shape, hidden);
  clean = clean.replace(inAddress, `$1${hidden}$2`);
  clean = clean.replace(bearer, `$1${hidden}`);
  return clean.replace(named, `$1${hidden}`);
}
