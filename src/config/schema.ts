/**
 * The one schema of `config.yaml`. Types, defaults, validation, the JSON Schema for editors and docs/configuration.md
 * all come from here. Every key has a note: one sentence for people, a mark if it holds a secret, and words for what
 * it expects where the type alone says too little. A key that is not set and has no default is null, so that a
 * resolved configuration has every key. Positions, suggestions and wording of mistakes are left to `check.ts`.
 */
import * as z from 'zod/mini';
import { _default as withDefault } from 'zod/mini';
import { toolsetNames } from '../protocol/toolsets.ts';
import { efforts } from '../protocol/usage.ts';

export interface KeyNote {
  readonly description: string;
  /** The value (or each value below it) must not be shown, logged or written into config.yaml by the program. */
  readonly secret?: boolean;
  /** Completes "must be …"; for texts with a form of their own. */
  readonly expects?: string;
  /** Completes "Default: …" in the documentation where null stands for something. */
  readonly unset?: string;
}

export const keyNotes = z.registry<KeyNote>();

export const providers = [
  'offline',
  'openai',
  'anthropic',
  'openrouter',
  'google',
  'deepseek',
  'xai',
  'zai',
  'moonshot',
  'mistral',
  'groq',
  'nous',
  'ollama',
  'lmstudio',
  'vllm',
  'openai-codex',
  'custom',
] as const;
export type Provider = (typeof providers)[number];

/** Timers can't be set further ahead than about 24 days. */
const secondsMax = 2_000_000;
const daySeconds = 86_400;

function key<T extends z.core.$ZodType>(note: string | KeyNote, schema: T): T {
  keyNotes.add(schema, typeof note === 'string' ? { description: note } : note);
  return schema;
}

function section<Shape extends z.core.$ZodShape>(
  description: string,
  shape: Shape,
  ...checks: z.core.$ZodCheck<unknown>[]
) {
  return key(description, z.prefault(z.strictObject(shape).check(...checks), {} as never));
}

function unset<T extends z.core.$ZodType>(schema: T) {
  return withDefault(z.nullable(schema), null);
}

const matching = (pattern: RegExp) => z.string().check(z.regex(pattern));
const whole = (minimum: number, maximum: number) => z.int().check(z.minimum(minimum), z.maximum(maximum));
const decimal = (minimum: number, maximum: number) => z.number().check(z.minimum(minimum), z.maximum(maximum));
const seconds = (minimum: number, maximum = secondsMax) => whole(minimum, maximum);
const dollars = (description: string, unsetWords: string) =>
  key({ description, unset: unsetWords }, unset(decimal(0, 100_000)));

// Parts that occur in several places are made once: building a schema is most of what loading a configuration costs.
const text = z.string().check(z.minLength(1));
const unsetText = () => unset(text);
const webAddress = z.url({ protocol: /^https?$/ });
const webAddressWords = 'a web address that begins with http:// or https://';
const busyMode = z.enum(['steer', 'queue', 'interrupt']);
const toolsets = z.array(
  key(
    { description: 'A toolset.', expects: `one of ${toolsetNames.join(', ')}, or mcp-SERVER` },
    matching(new RegExp(`^(?:${toolsetNames.join('|')}|mcp-[A-Za-z0-9_-]{1,64})$`)),
  ),
);
const toolsetsWords = 'a list of toolsets, like [core]';
const provider = z.enum(providers);
const hosts = z.array(
  key(
    { description: 'A host.', expects: 'a host name like example.com, *.example.com or "*", without a port' },
    matching(/^(?:\*|(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,45})$/),
  ),
);
const hostsWords = 'a list of host names, like [example.com]';

const modelKeys = {
  name: key(
    {
      description: 'The model, as its provider names it; the offline provider has `rehearsal` and `rehearsal-instant`.',
      unset: "the provider's usual model",
    },
    unsetText(),
  ),
  base_url: key(
    {
      description: 'Address of the API, for `custom` or to go through a proxy.',
      expects: webAddressWords,
      unset: "the provider's own",
    },
    unset(webAddress),
  ),
  api_mode: key(
    { description: 'The dialect that the API speaks.', unset: "the provider's own" },
    unset(z.enum(['chat_completions', 'anthropic_messages', 'responses'])),
  ),
  api_key: key(
    {
      description: 'Key of the API, or a list of keys that share the load.',
      secret: true,
      expects: 'a key or a list of keys',
    },
    z.pipe(
      withDefault(z.union([text, z.array(text)]), []),
      z.transform((keys) => (typeof keys === 'string' ? [keys] : keys)),
    ),
  ),
  context_length: key(
    { description: 'How many tokens the model can read and write in one call.', unset: 'what is known of the model' },
    unset(whole(1_000, 100_000_000)),
  ),
  max_output_tokens: key(
    { description: 'Longest answer that is asked for, thoughts included.', unset: 'what suits the model' },
    unset(whole(1, 10_000_000)),
  ),
  stall_timeout_s: key(
    {
      description: 'An answer that brings nothing new for this long has stalled and is tried again.',
      unset: '180; 600 for models that think and for local ones',
    },
    unset(seconds(1, daySeconds)),
  ),
  price: key(
    {
      description:
        'What the model costs, in dollars for a million tokens; for models whose price is not known, or is another for you.',
      expects: 'a section with keys such as `input:` and `output:`',
      unset: 'what is known of the model; the higher one where long prompts cost more',
    },
    unset(
      z.strictObject({
        input: dollars('What the model reads.', 'what is known'),
        cached_input: dollars("What it reads from the provider's cache.", 'what is known, else as `input`'),
        cache_write: dollars('What is written to the cache.', 'what is known, else as `input`'),
        cache_write_long: dollars('The same, for long.', 'what is known, else as `cache_write`'),
        output: dollars('What the model writes.', 'what is known'),
      }),
    ),
  ),
};

/** Runs although other keys of the same section are wrong, so that all mistakes are reported together. */
const always = () => true;

const customNeedsAddress = z.refine<unknown>(
  (model) => field(model, 'provider') !== 'custom' || field(model, 'base_url') !== null,
  { error: 'needs a `base_url` beside it when it is `custom`', path: ['provider'], when: always, abort: true },
);

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function field(value: unknown, name: string): unknown {
  return isSection(value) ? (value[name] ?? null) : null;
}

const webhookNeedsToken = z.refine<unknown>(
  (telegram) => field(telegram, 'webhook_url') === null || field(telegram, 'webhook_token') !== null,
  { error: 'needs a `webhook_token` beside it', path: ['webhook_url'], when: always, abort: true },
);

const sshNeedsTarget = z.refine<unknown>(
  (terminal) => field(terminal, 'backend') !== 'ssh' || field(terminal, 'ssh_target') !== null,
  { error: 'needs an `ssh_target` beside it when it is `ssh`', path: ['backend'], when: always, abort: true },
);

const mainModel = z
  .strictObject({
    provider: key(
      {
        description: 'Whose model answers.',
        unset: 'found by itself: a key in the environment, a local Ollama, else the offline model',
      },
      unset(provider),
    ),
    ...modelKeys,
  })
  .check(customNeedsAddress);

const otherModelKeys = {
  provider: key({ description: 'Whose model answers.', unset: "the main model's" }, unset(provider)),
  ...modelKeys,
};

const auxiliaryModel = z.strictObject(otherModelKeys).check(customNeedsAddress);
const auxiliary = (description: string, whoElse = 'the main model') =>
  key({ description, unset: whoElse }, unset(auxiliaryModel));

const fallbackEntry = z.pipe(
  z.strictObject({ ...otherModelKeys, model: key('The same as `name`.', unsetText()) }).check(
    customNeedsAddress,
    z.refine((entry) => entry.name === null || entry.model === null, {
      error: 'says the same as `name`: keep one of the two',
      path: ['model'],
    }),
    z.refine((entry) => entry.provider !== null || entry.name !== null || entry.model !== null, {
      error: 'needs a `provider` or a `name`',
    }),
  ),
  z.transform(({ model, ...entry }) => ({ ...entry, name: entry.name ?? model })),
);

/** On every channel. */
const channelKeys = {
  toolsets: key(
    { description: 'Toolsets for this channel.', expects: toolsetsWords, unset: 'as in `toolsets`' },
    unset(toolsets),
  ),
  busy_mode: key(
    {
      description: 'What a message does that arrives in the middle of a turn, on this channel.',
      unset: 'as in `gateway.busy_mode`',
    },
    unset(busyMode),
  ),
};

/** Ids may be longer than a number is exact, so they become texts. */
const userList = z.array(
  key(
    { description: 'A user.', expects: 'a user id or name' },
    z.pipe(
      z.union([text, whole(1, Number.MAX_SAFE_INTEGER)]),
      z.transform((user) => String(user)),
    ),
  ),
);

/** On the channels of platforms. */
const platformKeys = {
  owners: key(
    {
      description: 'Of those who may, the ones with all rights: ids, or names with an @.',
      expects: 'a list of user ids or names',
    },
    z.prefault(userList, []),
  ),
  groups: key(
    'In a group: `per_user` gives everybody a conversation of their own, `shared` one to all.',
    withDefault(z.enum(['per_user', 'shared']), 'per_user'),
  ),
  user_commands: key(
    {
      description: 'Which commands somebody may use who is no owner, without the slash.',
      expects: 'a list of commands, like [new, stop]',
      unset: 'all but those about the whole gateway',
    },
    unset(z.array(text)),
  ),
  require_mention: key(
    'In a group: whether only messages count that name the bot, answer it or are a command.',
    withDefault(z.boolean(), true),
  ),
  allowed_users: key(
    {
      description: 'Who may talk to the agent: ids, or names with an @; "*" is everyone.',
      expects: 'a list of user ids or names',
    },
    z.prefault(userList, []),
  ),
  ...channelKeys,
};

const secretText = (description: string, unsetWords = 'none') =>
  key({ description, secret: true, unset: unsetWords }, unsetText());

const apiRoot = (platform: string, address: string) =>
  key({ description: `Address of ${platform}'s API.`, expects: webAddressWords }, withDefault(webAddress, address));

const mcpServer = z
  .strictObject({
    command: key(
      { description: 'Program to start; it speaks over its standard input and output.', unset: 'none' },
      unsetText(),
    ),
    args: key('Arguments of the program.', withDefault(z.array(z.string()), [])),
    env: key(
      { description: 'Environment variables of the program.', secret: true },
      withDefault(
        z.record(
          key(
            { description: 'A variable.', expects: 'the name of an environment variable' },
            matching(/^[A-Za-z_][A-Za-z0-9_]*$/),
          ),
          z.string(),
        ),
        {},
      ),
    ),
    url: key(
      { description: 'Address of a server that runs elsewhere.', expects: webAddressWords, unset: 'none' },
      unset(webAddress),
    ),
    headers: key(
      { description: 'HTTP headers for that address.', secret: true },
      withDefault(
        z.record(
          key(
            { description: 'A header.', expects: 'the name of an HTTP header' },
            matching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/),
          ),
          z.string(),
        ),
        {},
      ),
    ),
    enabled: key('Whether it is used.', withDefault(z.boolean(), true)),
    include: key({ description: 'Only these of its tools, by its own names.', unset: 'all' }, unset(z.array(text))),
    exclude: key('All but these of its tools.', withDefault(z.array(text), [])),
    timeout_s: key('A call that takes longer has failed.', withDefault(seconds(1, daySeconds), 60)),
    auth: key(
      '`oauth`: sign in at the address with a browser (`talaria mcp test NAME` begins it).',
      withDefault(z.enum(['none', 'oauth']), 'none'),
    ),
    sandbox: key(
      'Whether a started program is kept in the sandbox: it sees the workspace and `folders`, nothing else.',
      withDefault(z.boolean(), true),
    ),
    folders: key('Folders that it may use besides the workspace.', withDefault(z.array(text), [])),
    network: key(
      { description: 'Hosts that it may reach; "*" is every one.', expects: hostsWords },
      withDefault(hosts, []),
    ),
  })
  .check(
    z.refine<unknown>(
      (server) => !isSection(server) || (field(server, 'command') === null) !== (field(server, 'url') === null),
      { error: 'needs either a `command` to start or a `url` to connect to', when: always, abort: true },
    ),
  );

const serverName = key(
  { description: 'A server.', expects: 'a name of letters, digits, - and _ (at most 64)' },
  matching(/^[A-Za-z0-9_-]{1,64}$/),
);

const needed = (name: string) =>
  z.refine<unknown>((section) => !isSection(section) || field(section, name) !== null, {
    error: `needs a \`${name}\``,
    when: always,
    abort: true,
  });

/** Its path is the one that Telegram itself calls. */
const reservedWebhook = 'telegram';
const webhookName = key(
  {
    description: 'A webhook.',
    expects: `a name of letters, digits, - and _ (at most 64) other than ${reservedWebhook}, whose path Telegram itself calls`,
  },
  matching(new RegExp(`^(?!${reservedWebhook}$)[A-Za-z0-9_-]{1,64}$`)),
);

const webhook = z
  .strictObject({
    secret: key(
      {
        description: 'What calls are signed with; at least 16 characters.',
        secret: true,
        expects: 'a text of at least 16 characters',
        unset: 'none; it is needed',
      },
      unset(z.string().check(z.minLength(16))),
    ),
    signature: key(
      'Whose way of signing calls have: `talaria`, `github`, `gitlab`, `slack` or `stripe`.',
      withDefault(z.enum(['talaria', 'github', 'gitlab', 'slack', 'stripe']), 'talaria'),
    ),
    prompt: key(
      {
        description: 'What the agent is told; `{{a.b.0}}` is a field of the JSON that was sent, `{{body}}` all of it.',
        unset: 'none; it is needed',
      },
      unsetText(),
    ),
    deliver_to: key(
      {
        description: 'Where the answer goes.',
        expects: 'CHANNEL:CHAT with one of telegram, discord, slack, like telegram:12345',
        unset: 'only into the session',
      },
      unset(matching(/^(?:telegram|discord|slack):.+$/)),
    ),
    session: key(
      '`each`: every call is a conversation of its own; `shared`: one for all.',
      withDefault(z.enum(['each', 'shared']), 'each'),
    ),
    toolsets: key({ description: 'Toolsets for its turns.', expects: toolsetsWords }, withDefault(toolsets, ['safe'])),
  })
  .check(needed('secret'), needed('prompt'));

export const configSchema = z.strictObject({
  model: key('The model that answers.', z.prefault(mainModel, {})),
  fallback: key(
    {
      description:
        'Models that take over when the main one fails: one entry or a list, in this order. `model:` is accepted for `name:`.',
    },
    z.pipe(
      z.prefault(z.union([fallbackEntry, z.array(fallbackEntry)]), []),
      z.transform((entries) => (Array.isArray(entries) ? entries : [entries])),
    ),
  ),
  auxiliary: section('Other models for side jobs.', {
    compression: auxiliary('Summarises long conversations.'),
    title: auxiliary('Names sessions.', 'nobody: their own words do'),
    approval: auxiliary('Judges commands when `approvals.mode` is `smart`.'),
    vision: auxiliary('Describes images for models that cannot see.', 'nobody: they are told that there was one'),
  }),
  agent: section('How long and how often the agent tries.', {
    max_iterations: key('Most model calls in one turn.', withDefault(whole(1, 10_000), 90)),
    api_max_retries: key('How often a failed model call is tried again.', withDefault(whole(0, 100), 3)),
    trouble_deadline_s: key(
      'How long one turn may go on trying while models fail.',
      withDefault(seconds(1, daySeconds), 900),
    ),
    reasoning_effort: key(
      { description: 'How hard the model should think before it answers.', unset: "the model's own choice" },
      unset(z.enum(efforts)),
    ),
    inactivity_timeout_s: key(
      'A turn in which nothing happens for this long is ended; 0: never.',
      withDefault(seconds(0), 1_800),
    ),
    inactivity_warning_s: key(
      'The user is told after this long without a sign of life; 0: never.',
      withDefault(seconds(0), 900),
    ),
  }),
  compression: section('Shortening of long conversations.', {
    enabled: key('Whether long conversations are shortened.', withDefault(z.boolean(), true)),
    threshold: key('Shorten when this part of the context is in use.', withDefault(decimal(0.05, 0.95), 0.5)),
    target_ratio: key('How much is left of what is shortened.', withDefault(decimal(0.05, 0.95), 0.2)),
    protect_last_n: key('The latest messages stay as they are: how many.', withDefault(whole(0, 1_000), 20)),
  }),
  gateway: section('The running service.', {
    host: key(
      {
        description: 'Address to listen on; any but a loopback address needs `channels.api.key`.',
        expects: 'a host name or an IP address, without a port',
      },
      withDefault(
        matching(/^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,252}|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,60}(?:%[\w.-]{1,32})?)$/),
        '127.0.0.1',
      ),
    ),
    port: key('Port to listen on; 0: any free one.', withDefault(whole(0, 65_535), 8_477)),
    busy_mode: key('What a message does that arrives in the middle of a turn.', withDefault(busyMode, 'steer')),
    agent_cache: section('Agents kept warm in memory.', {
      max_size: key('Most agents kept.', withDefault(whole(1, 100_000), 128)),
      idle_ttl_s: key('An agent unused for this long is let go.', withDefault(seconds(1), 3_600)),
    }),
  }),
  channels: section('Where people reach the agent. A channel is on when its token is set.', {
    telegram: section(
      'Telegram.',
      {
        token: secretText('Token of the bot, from @BotFather.'),
        api_root: apiRoot('Telegram', 'https://api.telegram.org'),
        webhook_url: key(
          {
            description:
              'Where Telegram reaches this gateway from outside, to be told instead of asking; ends in `/hooks/telegram`.',
            expects: 'a web address that ends in /hooks/telegram',
            unset: 'none; the gateway asks Telegram',
          },
          unset(z.url({ protocol: /^https?$/ }).check(z.regex(/\/hooks\/telegram$/))),
        ),
        webhook_token: key(
          {
            description: 'What Telegram proves itself with there; at least 16 letters, digits, - and _.',
            secret: true,
            expects: 'a text of 16 to 256 letters, digits, - and _',
            unset: 'none; `webhook_url` needs it',
          },
          unset(matching(/^[A-Za-z0-9_-]{16,256}$/)),
        ),
        ...platformKeys,
      },
      webhookNeedsToken,
    ),
    discord: section('Discord.', {
      token: secretText('Token of the bot.'),
      api_root: apiRoot('Discord', 'https://discord.com/api'),
      ...platformKeys,
    }),
    slack: section('Slack, in socket mode.', {
      bot_token: secretText('Token of the bot (xoxb-…).'),
      app_token: secretText('Token of the app (xapp-…).'),
      api_root: apiRoot('Slack', 'https://slack.com/api/'),
      ...platformKeys,
    }),
    api: section('The HTTP API and the web chat.', {
      key: secretText('Key that every request must carry.', "none; only this machine's users may connect"),
      ...channelKeys,
    }),
  }),
  terminal: section(
    'Where commands run.',
    {
      backend: key(
        'How commands are kept apart from the machine; `auto` takes the best that works here.',
        withDefault(z.enum(['auto', 'bubblewrap', 'namespaces', 'landlock', 'docker', 'ssh', 'none']), 'auto'),
      ),
      cwd: key('Folder that commands start in; a relative one is inside the home.', withDefault(text, 'workspace')),
      timeout_s: key('A command that runs longer is ended.', withDefault(seconds(1, daySeconds), 180)),
      network: key(
        { description: 'Hosts that commands may reach without asking; "*" is every one.', expects: hostsWords },
        withDefault(hosts, []),
      ),
      folders: key('Folders that commands may read and change besides the first one.', withDefault(z.array(text), [])),
      env: key(
        { description: 'Environment variables that commands see besides the harmless ones, by name.' },
        withDefault(
          z.array(
            key(
              { description: 'A variable.', expects: 'the name of an environment variable' },
              matching(/^[A-Za-z_][A-Za-z0-9_]*$/),
            ),
          ),
          [],
        ),
      ),
      idle_hours: key(
        'What a session holds (its shell, processes, browser) ends after this long without use; 0: never.',
        withDefault(whole(0, 8_760), 24),
      ),
      docker_image: key(
        { description: 'For `docker`: the image that commands run in; it needs bash.' },
        withDefault(text, 'debian:stable-slim'),
      ),
      ssh_target: key(
        { description: 'For `ssh`: where commands run.', expects: 'USER@HOST or USER@HOST:PORT', unset: 'none' },
        unset(matching(/^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+(?::\d{1,5})?$/)),
      ),
    },
    sshNeedsTarget,
  ),
  approvals: section('Asking before risky commands.', {
    mode: key(
      '`ask`: the user decides; `smart`: a model decides, and asks when in doubt; `off`: everything runs.',
      withDefault(z.enum(['ask', 'smart', 'off']), 'ask'),
    ),
    timeout_s: key('No answer within this time counts as no.', withDefault(seconds(1, 7 * daySeconds), 300)),
    approvers: key(
      'Who may say yes: `owner`, or `user` for everybody in their own conversation.',
      withDefault(z.enum(['owner', 'user']), 'owner'),
    ),
    unattended: key(
      'In a turn that nobody watches (a schedule, a webhook), what would ask is refused: `deny`; or done: `allow`.',
      withDefault(z.enum(['deny', 'allow']), 'deny'),
    ),
  }),
  files: section('Files that the agent may read and change.', {
    roots: key('Folders besides the one that commands start in.', withDefault(z.array(text), [])),
    checkpoints: key('Whether the state before each change is kept, for /rollback.', withDefault(z.boolean(), true)),
    checkpoint_days: key('How long it is kept.', withDefault(whole(1, 3_650), 14)),
  }),
  skills: section('Instructions for certain tasks that the agent reads when it needs them.', {
    write_approval: key('Whether it asks before it writes or changes one.', withDefault(z.boolean(), false)),
    disabled: key('Names of skills to leave out.', withDefault(z.array(text), [])),
  }),
  web: section('Searching and reading the web.', {
    search: key(
      'Who searches; `auto` takes the one that a key is there for, else one that needs none.',
      withDefault(z.enum(['auto', 'duckduckgo', 'brave', 'tavily', 'exa', 'serper', 'searxng']), 'auto'),
    ),
    api_key: secretText('Key of the search provider.', 'BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY, SERPER_API_KEY'),
    search_url: key(
      {
        description: 'Address of a SearXNG server, or to reach a provider through a proxy.',
        expects: webAddressWords,
        unset: "the provider's own",
      },
      unset(webAddress),
    ),
    private_hosts: key(
      {
        description: 'Hosts of your own network that web tools and the browser may reach all the same.',
        expects: hostsWords,
      },
      withDefault(hosts, []),
    ),
  }),
  browser: section('The browser.', {
    path: key({ description: 'The Chromium or Chrome to use.', unset: 'looked for' }, unsetText()),
  }),
  memory: section('What is remembered between sessions.', {
    write_approval: key('Whether every change of it asks first.', withDefault(z.boolean(), false)),
    shared_with: key(
      {
        description:
          "Who shares the memory of this machine's owner in direct chats: the same person on another channel.",
        expects: 'a list of owners, like [telegram:12345]',
      },
      withDefault(z.array(text), []),
    ),
  }),
  tools: section('What the model is told about tools.', {
    schema_bytes: key(
      'Most bytes of tool descriptions in every prompt; with more, those of MCP servers are left out and found with `tool_search`.',
      withDefault(whole(1_000, 1_000_000), 24_000),
    ),
  }),
  toolsets: key(
    { description: 'Sets of tools that the agent has.', expects: toolsetsWords },
    withDefault(toolsets, ['core']),
  ),
  mcp_servers: key(
    'MCP servers by name: a `command` to start, or a `url` to connect to.',
    withDefault(z.record(serverName, mcpServer), {}),
  ),
  webhooks: key(
    'Other programs that may set off a turn, by name: they call `/hooks/NAME`.',
    withDefault(z.record(webhookName, webhook), {}),
  ),
  budget: section('Limits on what models may cost.', {
    session_usd: key('Most dollars for one session; 0: no limit.', withDefault(decimal(0, 1_000_000), 0)),
    day_usd: key('Most dollars for one day; 0: no limit.', withDefault(decimal(0, 1_000_000), 0)),
  }),
  store: section('Where sessions are kept.', {
    url: key(
      {
        description: '`sqlite:FILE`, a relative file being inside the home, or `postgres://…`.',
        expects: 'sqlite:FILE or postgres://…',
      },
      withDefault(matching(/^(?:sqlite:.|postgres(?:ql)?:\/\/.)/), 'sqlite:state.db'),
    ),
  }),
  log: section('The log.', {
    level: key(
      'The least important lines that are written.',
      withDefault(z.enum(['debug', 'info', 'warn', 'error']), 'info'),
    ),
  }),
});

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** A configuration with every default filled in. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
export type ModelConfig = Config['model'];
export type McpServerConfig = Config['mcp_servers'][string];
