/**
 * What a command sees of the environment: an allow list, because everything else may hold a secret. Keys of model
 * providers, tokens of channels and whatever the operator exported stay outside.
 */
const allowedNames = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TZ TMPDIR EDITOR',
    'XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR',
    'SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS',
    'JAVA_HOME GOPATH CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV',
  ].flatMap((names) => names.split(' ')),
);
const allowedPattern = /^LC_[A-Z]+$/;

/** Needed behind a proxy, but a password may be part of the address. */
const proxyPattern = /^(?:https?|all|no)_proxy$/i;

/** A second lock: no name of this kind passes, whatever the lists say. */
const secretPattern = /key|token|secret|passw|credential|auth/i;

const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/** Talaria's own settings stay outside even if they are asked for by name. */
const ownPattern = /^TALARIA_/;

/** `named`: what the operator lets through besides, by name; that is a decision, and the second lock is not for it. */
export function commandEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  named: readonly string[] = [],
): Record<string, string> {
  const environment: Record<string, string> = { PATH: defaultPath };
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || ownPattern.test(name)) continue;
    if (isAllowed(name, value) || named.includes(name)) environment[name] = value;
  }
  return environment;
}

function isAllowed(name: string, value: string): boolean {
  if (secretPattern.test(name)) return false;
  if (proxyPattern.test(name)) return !value.includes('@');
  return allowedNames.has(name) || allowedPattern.test(name);
}
