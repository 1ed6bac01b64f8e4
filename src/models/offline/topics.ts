/** What the rehearsal model knows about Talaria: a question's words, and a short answer in Markdown. */
export interface Topic {
  readonly pattern: RegExp;
  readonly answer: string;
}

/** Said once per session. */
export const rehearsalNotice =
  'This is a **rehearsal**: I am a small scripted model inside Talaria, not an AI. ' +
  'To connect a real one, run `talaria model set anthropic` (or another provider: `talaria model providers`).';

export const topics: readonly Topic[] = [
  {
    pattern: /^(?:hi|hello|hey|hallo|moin|good\s+(?:morning|afternoon|evening)|greetings)\b[\s\p{L},]{0,30}[.!?]*$/iu,
    answer: 'Hello! Ask me `what can you do`, or try `run ls -la`.',
  },
  {
    pattern: /^(?:thanks|thank\s+you|thx|great|nice|cool|perfect|well\s+done)\b/iu,
    answer: 'You are welcome.',
  },
  {
    pattern: /^(?:bye|goodbye|good\s+night|see\s+you)\b/iu,
    answer: 'Goodbye! The conversation is kept; come back to it whenever you like.',
  },
  {
    pattern:
      /\b(?:connect|use|set\s*up|configure|add|switch|change)\b.{0,30}\b(?:model|provider|key|claude|gpt|llm|ai)\b/iu,
    answer: [
      'Tell Talaria the provider; it asks for a key and tries it:',
      '',
      '```sh',
      'talaria model providers',
      'talaria model set anthropic',
      '```',
      '',
      'A key in the environment and a running Ollama are found by themselves. Any other server that speaks one of the ' +
        'usual dialects is `custom`, with a `base_url`; `talaria config check` names every mistake with its line.',
    ].join('\n'),
  },
  {
    pattern: /\b(?:back\s*-?\s*up|backup|restore)\b/iu,
    answer:
      '`talaria backup FILE` writes everything in the home folder to one file, consistently, while Talaria runs. ' +
      '`talaria restore FILE` brings it back.',
  },
  {
    pattern:
      /\b(?:where)\b.{0,40}\b(?:data|files?|config\w*|stored?|kept|keep|saved?|home|history|settings)\b|\bmy data\b/iu,
    answer: [
      'In one folder, `$TALARIA_HOME`, which is `~/.talaria` by default:',
      '',
      '- `config.yaml` and `.env`: settings and secrets',
      '- `state.db`: sessions and messages',
      '- `memories/`: what I was told to remember',
      '- `workspace/`: where tools work',
      '- `logs/`: the log',
      '',
      'Nothing outside it is written, except where a tool is told to.',
    ].join('\n'),
  },
  {
    pattern: /\bwhat(?:'s|\s+is|\s+are)\s+(?:a\s+|the\s+)?sessions?\b|\bhow\s+do\s+sessions?\b/iu,
    answer:
      'A session is one conversation with its whole history; it survives restarts. `talaria sessions list` shows all ' +
      'of them, `talaria -p TEXT --session NAME` goes on with one (or creates it), and `--continue` takes the latest.',
  },
  {
    pattern: /\b(?:web\s*chat|web\s+ui|browser|gateway)\b/iu,
    answer:
      '`talaria gateway` runs the gateway in the foreground and prints the address it listens on, by default ' +
      '`http://127.0.0.1:8477`. Open it in a browser for the web chat.',
  },
  {
    pattern: /\b(?:how|what).{0,30}\b(?:memory|remember)\b|^what\s+do\s+you\s+remember\b/iu,
    answer:
      'Say `remember that …` and I write one line into `memories/MEMORY.md`, which you can read and edit. ' +
      'It shows in sessions that start afterwards.',
  },
  {
    pattern: /\bwho\s+are\s+you\b|\bwhat\s+are\s+you\b|\byour\s+name\b|\bwhat(?:'s|\s+is)\s+talaria\b/iu,
    answer:
      'I am Talaria, an agent that runs on your own machine. Right now the offline model speaks for it: it follows a ' +
      'small script, uses the real tools, and needs no network.',
  },
];

/** Asked for by name, because its answer depends on the tools there are. */
export const helpPattern =
  /^(?:help|\?|commands|menu)[.!?]*$|\bwhat\s+can\s+(?:you|i|we)\b|\bhow\s+(?:do|can)\s+i\s+(?:use\s+(?:you|this|it|talaria)|get\s+started|start|begin)\b|\bwhat\s+do\s+you\s+do\b/iu;

/** What to try, and the tool it takes. */
export const suggestions: readonly { readonly words: string; readonly does: string; readonly tool: string | null }[] = [
  { words: 'run ls -la', does: 'runs a command in the workspace', tool: 'terminal' },
  { words: 'write hello to notes.txt', does: 'writes a file', tool: 'write_file' },
  { words: 'read notes.txt', does: 'shows a file', tool: 'read_file' },
  { words: 'run date and then run uptime', does: 'takes one step after the other', tool: 'terminal' },
  { words: 'remember that I prefer tea', does: 'keeps a fact for later sessions', tool: 'memory' },
  { words: 'count to 30 slowly', does: 'gives you time to try the stop button', tool: null },
  { words: 'how do I connect a model', does: 'tells how to go on', tool: null },
];
