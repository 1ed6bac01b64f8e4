/** Providers as people choose them: which there are, and whom somebody means who types a name. No secret leaves it. */
import { nearest } from '../lib/nearest.ts';
import { offlineNames } from '../models/offline/offline-runtime.ts';
import { isProvider, keyInEnvironment, providerRow, providerRows } from '../models/providers.ts';
import { AppError } from './app-error.ts';
import type { Environment } from './build-runtimes.ts';

export interface ProviderDescription {
  readonly name: string;
  readonly label: string;
  readonly key_variables: readonly string[];
  readonly needs_key: boolean;
  readonly has_key: boolean;
  /** Where a person gets a key. */
  readonly key_address: string | null;
  readonly usual_model: string | null;
}

export interface ModelChoice {
  readonly provider: string;
  /** Null: as configured, or the provider's usual one. */
  readonly name: string | null;
  /** Instead of the keys that are known. */
  readonly key?: string;
  readonly baseUrl?: string;
}

/** By whom models can be served, and whether a key of theirs is known. */
export function describeProviders(environment: Environment): ProviderDescription[] {
  return Object.keys(providerRows).map((name) => {
    const row = providerRow(name);
    return {
      name,
      label: row.label,
      key_variables: row.keyVariables,
      needs_key: row.needsKey,
      has_key: keyInEnvironment(row, environment) !== null,
      key_address: row.keyAddress,
      usual_model: row.usualModel,
    };
  });
}

/** `PROVIDER` or `PROVIDER/NAME`, and nothing else. Throws an `AppError` that names the nearest provider. */
export function readProviderChoice(typed: string): ModelChoice {
  const slash = typed.indexOf('/');
  const provider = slash === -1 ? typed : typed.slice(0, slash);
  const name = slash === -1 ? null : typed.slice(slash + 1);
  if (!isKnown(provider)) {
    const [close] = nearest(provider, [...Object.keys(providerRows), 'offline']);
    const advice = close === undefined ? 'see talaria model providers' : `did you mean ${close}?`;
    throw new AppError(`there is no provider ${JSON.stringify(provider.slice(0, 60))}; ${advice}`);
  }
  if (name?.trim() === '')
    throw new AppError(`${JSON.stringify(typed)} names no model; see talaria model list ${provider}`);
  return { provider, name };
}

/** The same, or a name of the provider in use. Throws an `AppError`. */
export function readModelChoice(typed: string, inUse: string): ModelChoice {
  const first = typed.split('/', 1)[0] ?? '';
  // Of the rehearsal all names are known: anything else is meant for a provider.
  if (inUse === 'offline' && !offlineNames.some((name) => name === typed)) return readProviderChoice(typed);
  const isName =
    !isKnown(first) || (typed.includes('/') && first !== inUse && providerRow(inUse).reach === 'aggregator');
  // An aggregator's names begin with a maker, which may be called like a provider.
  return isName ? { provider: inUse, name: typed } : readProviderChoice(typed);
}

function isKnown(provider: string): boolean {
  return provider === 'offline' || isProvider(provider);
}
