/** Takes the secrets out of a value that is about to be written into config.yaml and leaves `${NAME}` in their place. */
import { resolveReferences, type Environment } from './environment.ts';
import { nodeAt, valueAt, type KeyNode, type KeyPath } from './key-tree.ts';
import { secretName } from './secret-name.ts';
import { hasPassword } from './secrets.ts';

export interface MoveSecretsDeps {
  readonly root: KeyNode;
  /** config.yaml as it is written, before `${NAME}` is replaced. */
  readonly written: unknown;
  readonly env: Environment;
}

export interface MovedSecrets {
  readonly value: unknown;
  /** What `.env` must say. */
  readonly secrets: ReadonlyMap<string, string>;
}

export function moveSecrets(deps: MoveSecretsDeps, path: KeyPath, value: unknown): MovedSecrets {
  const secrets = new Map<string, string>();
  const lookUp = (at: KeyPath) =>
    path.every((step, index) => String(at[index]) === String(step))
      ? valueAt(value, at.slice(path.length))
      : valueAt(deps.written, at);

  const move = (node: KeyNode, at: KeyPath, inner: unknown): unknown => {
    if (typeof inner === 'string') {
      if (!(node.secret === true || hasPassword(inner)) || refersToEnvironment(inner)) return inner;
      const name = secretName(deps, {
        changed: path,
        path: at,
        secret: inner,
        provider: providerOf(lookUp, at),
        isTaken: (other) => (secrets.get(other) ?? inner) !== inner,
      });
      secrets.set(name, inner);
      return `\${${name}}`;
    }
    if (typeof inner !== 'object' || inner === null) return inner;
    const below = (step: string | number, item: unknown) => {
      const next = nodeAt(node, [step]);
      return next === null ? item : move(next, [...at, step], item);
    };
    if (Array.isArray(inner)) return inner.map((item: unknown, index) => below(index, item));
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, below(key, item)]));
  };

  const node = nodeAt(deps.root, path);
  return { value: node === null ? value : move(node, path, value), secrets };
}

/** `Bearer ${TOKEN}` is no secret: the secret is elsewhere already. */
function refersToEnvironment(text: string): boolean {
  return resolveReferences(text, {}).names.length > 0;
}

function providerOf(lookUp: (path: KeyPath) => unknown, path: KeyPath): string | null {
  const at = path.lastIndexOf('api_key');
  const provider = at === -1 ? null : lookUp([...path.slice(0, at), 'provider']);
  return typeof provider === 'string' && /^[a-z-]+$/.test(provider) ? provider : null;
}
