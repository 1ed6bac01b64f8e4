/**
 * `${NAME}` in the texts of config.yaml. `$${` stands for a plain `${`. In YAML's inline form (`{ token: ${NAME} }`) the
 * braces would end the value, so they are shielded by two characters of the same length before the file is parsed and
 * restored afterwards; offsets stay true.
 */
export type Environment = Readonly<Record<string, string | undefined>>;

const openShield = '\uE000';
const closeShield = '\uE001';

const environmentNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function shieldReferences(text: string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, `$${openShield}$1${closeShield}`);
}

export function unshieldReferences(text: string): string {
  return text.replace(/\$\uE000([A-Za-z_][A-Za-z0-9_]*)\uE001/g, '${$1}');
}

export interface Resolved {
  readonly text: string;
  /** The names that were read, found or not. */
  readonly names: readonly string[];
  readonly missing: readonly string[];
  /** Beginnings `${` that are no reference, as they stand in the text. */
  readonly malformed: readonly string[];
}

export function resolveReferences(text: string, environment: Environment): Resolved {
  const names: string[] = [];
  const missing: string[] = [];
  const malformed: string[] = [];
  const resolved = text.replace(
    /\$\$\{|\$\{([^}]*)(\}?)/g,
    (whole, name: string | undefined, close: string | undefined) => {
      if (name === undefined) return '${';
      if (close !== '}' || !environmentNamePattern.test(name)) {
        malformed.push(whole);
        return whole;
      }
      names.push(name);
      const value = valueOf(environment, name);
      if (value === undefined) missing.push(name);
      return value ?? '';
    },
  );
  return { text: resolved, names, missing, malformed };
}

/** Only what was really set: `${toString}` must not find a method. */
export function valueOf(environment: Environment, name: string): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined;
}

/** What `.env` says, overruled by what the process was started with. */
export function mergeEnvironment(fromFile: ReadonlyMap<string, string>, environment: Environment): Environment {
  const set = Object.entries(environment).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...fromFile, ...set]);
}
