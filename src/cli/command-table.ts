/**
 * Every command of the program: what it takes, what help says about it, and where it is. Loading this table loads no
 * command.
 */
import type { OptionSpec } from './arguments.ts';
import type { Command } from './command.ts';

const json: OptionSpec = { name: 'json', summary: 'machine-readable output' };
const yes: OptionSpec = { name: 'yes', short: 'y', summary: 'do not ask' };

export const commands: readonly Command[] = [
  {
    path: [],
    summary: 'chat with your agent, or ask it one thing with -p',
    details: [
      'Without -p: an interactive chat on a terminal; otherwise the prompt is read from standard input.',
      'With -p the final reply goes to stdout and nothing else. Text on standard input is added after TEXT.',
    ],
    options: [
      { name: 'prompt', short: 'p', value: 'TEXT', summary: 'ask this, print the reply and leave' },
      { name: 'json', summary: 'one event per line as JSON; the last line has kind "end"' },
      { name: 'session', value: 'NAME', summary: 'create this session or go on with it' },
      { name: 'continue', summary: 'go on with the latest session' },
    ],
    operands: [],
    load: async () => (await import('./talk-command.ts')).talkCommand,
  },
  {
    path: ['gateway'],
    summary: 'run the gateway with its web chat in the foreground',
    details: ['Prints "listening on URL" when it is ready. SIGTERM or Ctrl-C lets running turns reach a safe point.'],
    options: [
      { name: 'host', value: 'ADDRESS', summary: 'listen on this address instead of gateway.host' },
      { name: 'port', value: 'NUMBER', summary: 'listen on this port instead of gateway.port; 0 takes a free one' },
    ],
    operands: [],
    load: async () => (await import('./gateway-command.ts')).gatewayCommand,
  },
  {
    path: ['status'],
    summary: 'show what the running gateway does',
    options: [
      json,
      { name: 'usage', summary: 'tokens and cost by day, channel, user, model and purpose instead; needs no gateway' },
      { name: 'days', value: 'NUMBER', summary: 'with --usage: this many days, today included; 7 by default' },
    ],
    operands: [],
    load: async () => (await import('./status-command.ts')).statusCommand,
  },
  {
    path: ['model'],
    summary: 'show the models: main, fallback, side jobs, and their keys',
    details: ['PRICE is in dollars for a million tokens. KEYS counts those that work; the others rest for a while.'],
    options: [json],
    operands: [],
    load: async () => (await import('./model-command.ts')).modelCommand,
  },
  {
    path: ['model', 'list'],
    summary: 'list the names of the models that a provider offers',
    options: [json],
    operands: [{ name: 'PROVIDER', need: 'optional' }],
    load: async () => (await import('./model-list-command.ts')).modelListCommand,
  },
  {
    path: ['model', 'test'],
    summary: 'ask a model one small thing for real; the main one by default',
    details: ['MODEL is PROVIDER/NAME, a provider, or a name of the provider in use. Every key is tried.'],
    options: [json],
    operands: [{ name: 'MODEL', need: 'optional' }],
    load: async () => (await import('./model-test-command.ts')).modelTestCommand,
  },
  {
    path: ['model', 'set'],
    summary: 'choose the model that answers, as PROVIDER or PROVIDER/NAME',
    details: [
      'Asks for a key if the provider needs one and none is known. A real small call is made before anything is written.',
      'The key goes into .env; config.yaml keeps its comments.',
    ],
    options: [
      { name: 'key-stdin', summary: 'read a new key from standard input' },
      { name: 'base-url', value: 'URL', summary: 'address of the API, for custom or another place than usual' },
      { name: 'no-check', summary: 'write without trying it' },
    ],
    operands: [{ name: 'MODEL', need: 'required' }],
    load: async () => (await import('./model-set-command.ts')).modelSetCommand,
  },
  {
    path: ['model', 'providers'],
    summary: 'list the providers, their key variables and where to get a key',
    options: [json],
    operands: [],
    load: async () => (await import('./model-list-command.ts')).modelProvidersCommand,
  },
  {
    path: ['doctor'],
    summary: 'check the installation, with a fix for each finding',
    options: [],
    operands: [],
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  },
  {
    path: ['config', 'path'],
    summary: 'print where config.yaml is',
    options: [],
    operands: [],
    load: async () => (await import('./config-command.ts')).configPathCommand,
  },
  {
    path: ['config', 'show'],
    summary: 'print the configuration in force, secrets hidden',
    options: [],
    operands: [],
    load: async () => (await import('./config-command.ts')).configShowCommand,
  },
  {
    path: ['config', 'get'],
    summary: 'print one value, for example: config get gateway.port',
    options: [],
    operands: [{ name: 'KEY', need: 'required' }],
    load: async () => (await import('./config-command.ts')).configGetCommand,
  },
  {
    path: ['config', 'set'],
    summary: 'change one value; comments stay, secrets go to .env',
    options: [],
    operands: [
      { name: 'KEY', need: 'required' },
      { name: 'VALUE', need: 'required' },
    ],
    load: async () => (await import('./config-command.ts')).configSetCommand,
  },
  {
    path: ['config', 'check'],
    summary: 'name the line of every mistake in config.yaml',
    options: [],
    operands: [{ name: 'FILE', need: 'optional' }],
    load: async () => (await import('./config-command.ts')).configCheckCommand,
  },
  {
    path: ['sessions', 'list'],
    summary: 'list conversations, newest first',
    options: [json, { name: 'limit', value: 'NUMBER', summary: 'at most this many; all of them by default' }],
    operands: [],
    load: async () => (await import('./sessions-list-command.ts')).sessionsListCommand,
  },
  {
    path: ['sessions', 'show'],
    summary: 'print a conversation with its tool calls and open questions',
    options: [
      json,
      { name: 'cache', summary: 'its model calls instead: tokens, cached tokens, cost, why a prefix broke' },
    ],
    operands: [{ name: 'NAME', need: 'required' }],
    load: async () => (await import('./sessions-show-command.ts')).sessionsShowCommand,
  },
  {
    path: ['sessions', 'search'],
    summary: 'find words in all conversations',
    options: [json, { name: 'limit', value: 'NUMBER', summary: 'at most this many hits; 20 by default' }],
    operands: [{ name: 'WORDS', need: 'one-or-more' }],
    load: async () => (await import('./sessions-search-command.ts')).sessionsSearchCommand,
  },
  {
    path: ['sessions', 'export'],
    summary: 'write a conversation as JSON lines, to stdout by default',
    options: [{ name: 'force', summary: 'overwrite FILE if it exists' }],
    operands: [
      { name: 'NAME', need: 'required' },
      { name: 'FILE', need: 'optional' },
    ],
    load: async () => (await import('./sessions-transfer-command.ts')).sessionsExportCommand,
  },
  {
    path: ['sessions', 'import'],
    summary: 'read back what export wrote; - is standard input',
    options: [{ name: 'name', value: 'NAME', summary: 'under this name instead of its own' }],
    operands: [{ name: 'FILE', need: 'required' }],
    load: async () => (await import('./sessions-transfer-command.ts')).sessionsImportCommand,
  },
  {
    path: ['sessions', 'answer'],
    summary: 'answer the question that a conversation waits with',
    details: [
      'TEXT is one of the choices, its number, or any text where no choices are given; sessions show prints them.',
      'A running gateway goes on at once. Without one the turn runs here, to its end.',
    ],
    options: [{ name: 'call', value: 'ID', summary: 'the question of this call instead of the newest one' }],
    operands: [
      { name: 'NAME', need: 'required' },
      { name: 'TEXT', need: 'one-or-more' },
    ],
    load: async () => (await import('./sessions-answer-command.ts')).sessionsAnswerCommand,
  },
  {
    path: ['sessions', 'retry'],
    summary: 'try a parked turn again',
    details: [
      'A turn that took the program down several times is parked; sessions list shows it.',
      'A running gateway takes it up at once. Without one it runs here, to its end.',
    ],
    options: [],
    operands: [{ name: 'NAME', need: 'required' }],
    load: async () => (await import('./sessions-parked-command.ts')).sessionsRetryCommand,
  },
  {
    path: ['sessions', 'drop'],
    summary: 'give a parked turn up; the conversation stays',
    options: [],
    operands: [{ name: 'NAME', need: 'required' }],
    load: async () => (await import('./sessions-parked-command.ts')).sessionsDropCommand,
  },
  {
    path: ['sessions', 'delete'],
    summary: 'delete conversations for good',
    options: [yes],
    operands: [{ name: 'NAME', need: 'one-or-more' }],
    load: async () => (await import('./sessions-delete-command.ts')).sessionsDeleteCommand,
  },
  {
    path: ['backup'],
    summary: 'write everything in the home to one .tar.gz, while all goes on',
    details: ['FILE may be - for stdout. It holds your secrets too and is readable only by you.'],
    options: [{ name: 'force', summary: 'overwrite FILE if it exists' }],
    operands: [{ name: 'FILE', need: 'required' }],
    load: async () => (await import('./backup-command.ts')).backupCommand,
  },
  {
    path: ['restore'],
    summary: 'put the home back as a backup has it; no gateway may run',
    details: ['The archive is checked as a whole before anything is touched.'],
    options: [{ name: 'force', summary: 'move what is in the home aside first' }],
    operands: [{ name: 'FILE', need: 'required' }],
    load: async () => (await import('./restore-command.ts')).restoreCommand,
  },
];
