/**
 * The configuration of someone who configured nothing. Written by scripts/generate-reference.ts from schema.ts, so that
 * a start without a configuration need not load the schema; `npm run check` tells if it is out of date.
 */
import type { Config } from './schema.ts';

export const defaultConfig: Config = {
  model: {
    provider: null,
    name: null,
    base_url: null,
    api_mode: null,
    api_key: [],
    context_length: null,
    max_output_tokens: null,
    stall_timeout_s: null,
    price: null,
  },
  fallback: [],
  auxiliary: {
    compression: null,
    title: null,
    approval: null,
    vision: null,
  },
  agent: {
    max_iterations: 90,
    api_max_retries: 3,
    trouble_deadline_s: 900,
    reasoning_effort: null,
    inactivity_timeout_s: 1800,
    inactivity_warning_s: 900,
  },
  compression: {
    enabled: true,
    threshold: 0.5,
    target_ratio: 0.2,
    protect_last_n: 20,
  },
  gateway: {
    host: '127.0.0.1',
    port: 8477,
    busy_mode: 'steer',
    agent_cache: {
      max_size: 128,
      idle_ttl_s: 3600,
    },
  },
  channels: {
    telegram: {
      token: null,
      api_root: 'https://api.telegram.org',
      webhook_url: null,
      webhook_token: null,
      owners: [],
      groups: 'per_user',
      user_commands: null,
      require_mention: true,
      allowed_users: [],
      toolsets: null,
      busy_mode: null,
    },
    discord: {
      token: null,
      api_root: 'https://discord.com/api',
      owners: [],
      groups: 'per_user',
      user_commands: null,
      require_mention: true,
      allowed_users: [],
      toolsets: null,
      busy_mode: null,
    },
    slack: {
      bot_token: null,
      app_token: null,
      api_root: 'https://slack.com/api/',
      owners: [],
      groups: 'per_user',
      user_commands: null,
      require_mention: true,
      allowed_users: [],
      toolsets: null,
      busy_mode: null,
    },
    api: {
      key: null,
      toolsets: null,
      busy_mode: null,
    },
  },
  terminal: {
    backend: 'auto',
    cwd: 'workspace',
    timeout_s: 180,
    network: [],
    folders: [],
    env: [],
    idle_hours: 24,
    docker_image: 'debian:stable-slim',
    ssh_target: null,
  },
  approvals: {
    mode: 'ask',
    timeout_s: 300,
    approvers: 'owner',
    unattended: 'deny',
  },
  files: {
    roots: [],
    checkpoints: true,
    checkpoint_days: 14,
  },
  skills: {
    write_approval: false,
    disabled: [],
  },
  web: {
    search: 'auto',
    api_key: null,
    search_url: null,
    private_hosts: [],
  },
  browser: {
    path: null,
  },
  memory: {
    write_approval: false,
    shared_with: [],
  },
  tools: {
    schema_bytes: 24000,
  },
  toolsets: ['core'],
  mcp_servers: {},
  webhooks: {},
  budget: {
    session_usd: 0,
    day_usd: 0,
  },
  store: {
    url: 'sqlite:state.db',
  },
  log: {
    level: 'info',
  },
};
