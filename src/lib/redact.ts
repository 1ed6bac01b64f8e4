/**
 * Keeps secrets out of text by their value: whatever path a key takes into a log line or an error, it leaves as
 * `[redacted]`. Short values are not registered, they would blank out ordinary words.
 */
const shortestSecret = 8;

export interface Redactor {
  /** From now on this value is blanked out. Adding it twice is harmless. */
  add(secret: string): void;
  redact(text: string): string;
}

export function createRedactor(): Redactor {
  const secrets = new Set<string>();
  let longestFirst: string[] = [];
  return {
    add(secret) {
      if (secret.length < shortestSecret || secrets.has(secret)) return;
      secrets.add(secret);
      // A secret inside JSON or a URL has another spelling; both are blanked.
      secrets.add(JSON.stringify(secret).slice(1, -1));
      secrets.add(encodeURIComponent(secret.toWellFormed()));
      longestFirst = [...secrets].sort((a, b) => b.length - a.length);
    },
    redact(text) {
      let clean = text;
      for (const secret of longestFirst) if (clean.includes(secret)) clean = clean.replaceAll(secret, '[redacted]');
      return clean;
    },
  };
}
