/**
 * What a person should look at before they let a skill in, as patterns. They find what is written openly and carelessly;
 * somebody clever can write around every one of them, so they are a help for reading and no wall. The wall is the sandbox.
 */
export interface AuditRule {
  /** A phrase for people. */
  readonly what: string;
  readonly where: 'text' | 'script';
  readonly pattern: RegExp;
}

export const auditRules: readonly AuditRule[] = [
  {
    what: 'tells the model to forget other instructions',
    where: 'text',
    pattern:
      /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|other|system|all)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|messages?)\b/i,
  },
  {
    what: 'tells the model to keep something from the person',
    where: 'text',
    pattern:
      /\b(?:do not|don'?t|never|without)\b[^.\n]{0,20}\b(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|ask(?:ing)?|show(?:ing)?|notify(?:ing)?)\b[^.\n]{0,20}\b(?:user|person|owner|human)\b/i,
  },
  {
    what: 'says that it needs no approval',
    where: 'text',
    pattern: /\b(?:skip|bypass|disable|without)\b[^.\n]{0,20}\b(?:approvals?|confirmation|sandbox|safety)\b/i,
  },
  { what: 'has a comment that a rendered page does not show', where: 'text', pattern: /<!--(?!\s*-->)/ },
  {
    what: 'runs what it downloads',
    where: 'text',
    pattern: /\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:\S*\/)?(?:ba|z|da)?sh\b|\b(?:iex|Invoke-Expression)\b/i,
  },
  {
    what: 'names keys or secret files',
    where: 'text',
    pattern:
      /(?:~|\$HOME|\/root|\/home\/\w+)\/\.(?:ssh|aws|gnupg|config\/gcloud|kube|netrc|npmrc|docker)|\bid_(?:rsa|ed25519)\b|\/etc\/shadow|\.talaria\b|\bTALARIA_HOME\b/,
  },
  {
    what: 'asks for more rights than it is given',
    where: 'text',
    pattern: /\bsudo\s+\S|\bchmod\s+(?:[0-7]*777|u?\+s)\b/,
  },
  { what: 'deletes without asking', where: 'text', pattern: /\brm\s+-\w*(?:rf|fr)\w*\s+(?:"?[~/$]|\*)/ },
  {
    what: 'uses the network',
    where: 'script',
    pattern:
      /\b(?:curl|wget|nc|ncat|socat|scp|rsync|ftp|telnet)\s|\b(?:fetch|urlopen|XMLHttpRequest|WebSocket)\s*\(|\b(?:requests|httpx|aiohttp|urllib|http\.client|smtplib|paramiko|socket|axios|node-fetch|node:https?|node:net|net\/http|Net::HTTP)\b|\/dev\/(?:tcp|udp)\/|Invoke-WebRequest/,
  },
  {
    what: 'installs something',
    where: 'script',
    pattern: /\b(?:npm|pnpm|yarn|pip3?|uv|gem|cargo|go|brew|apt(?:-get)?)\s+(?:install|add|get)\b|\bnpx\s/,
  },
  {
    what: 'runs text as code',
    where: 'script',
    pattern: /\beval\b|\bexec\s*\(|\bnew Function\s*\(|\bos\.system\s*\(|shell\s*=\s*True/,
  },
  { what: 'reads the environment', where: 'script', pattern: /\bos\.environ\b|\bprocess\.env\b|\bprintenv\b|\bENV\[/ },
  {
    what: 'decodes hidden text',
    where: 'script',
    pattern: /\bbase64\s+(?:-d|-D|--decode)\b|\bb64decode\b|\batob\s*\(|['"]base64['"]|\bxxd\s+-r/,
  },
  { what: 'has a long block of encoded text', where: 'text', pattern: /[A-Za-z0-9+/_-]{240,}={0,2}/ },
];
