/** What stands around the gateway in one world and survives it, and how the gateway is told about it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../src/lib/atomic-file.ts';
import { talariaProgram, type GatewayProgram } from './gateway-process.ts';
import { longScript, rehearsal, script, type Language } from './language.ts';
import { Ledger } from './ledger.ts';
import { configFor } from './model-config.ts';
import type { Setup } from './scenes.ts';
import { ScriptedModel, type ModelAddresses } from './scripted-model.ts';
import { ScriptedPlatform } from './scripted-platform.ts';
import { ScriptedTelegram } from './scripted-telegram.ts';

/** Who may write on Telegram; more than a run needs. */
export const telegramUsers: readonly number[] = Array.from({ length: 2_000 }, (_, index) => 1_000 + index);

export interface Surroundings {
  readonly ledger: Ledger;
  /** Null where people speak through the gateway's own API only. */
  readonly platform: ScriptedPlatform | null;
  /** Null where people are elsewhere. */
  readonly telegram: ScriptedTelegram | null;
  /** Null where the model is the one inside the program. */
  readonly model: ScriptedModel | null;
  readonly language: Language;
  readonly program: GatewayProgram;
  /** Gives the gateway the configuration for this case. */
  configure(caseNumber: number): Promise<void>;
  end(): Promise<void>;
}

/** `gatewayFile`: the gateway that knows the platform. */
export async function surround(setup: Setup, folder: string, gatewayFile: string): Promise<Surroundings> {
  await mkdir(join(folder, 'home'));
  const ledger = await Ledger.start(folder);
  switch (setup) {
    case 'bundle':
      return alone(folder, ledger);
    case 'surrounded':
      return surrounded(folder, ledger, gatewayFile);
    case 'telegram':
      return onTelegram(folder, ledger, gatewayFile);
  }
}

async function alone(folder: string, ledger: Ledger): Promise<Surroundings> {
  const config = { terminal: { folders: [ledger.folder] } };
  await writeFileAtomically(join(folder, 'home', 'config.yaml'), JSON.stringify(config));
  return {
    ledger,
    platform: null,
    telegram: null,
    model: null,
    language: rehearsal,
    program: talariaProgram,
    configure: () => Promise.resolve(),
    end: () => ledger.end(),
  };
}

async function surrounded(folder: string, ledger: Ledger, gatewayFile: string): Promise<Surroundings> {
  const platform = new ScriptedPlatform();
  const model = new ScriptedModel();
  const env = { CHAOS_PLATFORM: await platform.address(), CHAOS_LEDGER: ledger.pipe };
  return {
    ledger,
    platform,
    telegram: null,
    model,
    language: script,
    program: { command: [process.execPath, gatewayFile], env },
    configure: configuring(folder, await model.addresses(), { terminal: { folders: [ledger.folder] } }),
    async end() {
      await Promise.all([platform.end(), model.end(), ledger.end()]);
    },
  };
}

async function onTelegram(folder: string, ledger: Ledger, gatewayFile: string): Promise<Surroundings> {
  const telegram = new ScriptedTelegram(join(folder, 'telegram.jsonl'));
  const model = new ScriptedModel();
  const { url, token } = await telegram.address();
  const channels = { telegram: { token, api_root: url, allowed_users: telegramUsers } };
  return {
    ledger,
    platform: null,
    telegram,
    model,
    language: longScript,
    program: { command: [process.execPath, gatewayFile], env: { CHAOS_LEDGER: ledger.pipe } },
    configure: configuring(folder, await model.addresses(), { channels, terminal: { folders: [ledger.folder] } }),
    async end() {
      await Promise.all([telegram.end(), model.end(), ledger.end()]);
    },
  };
}

function configuring(folder: string, addresses: ModelAddresses, more: object): Surroundings['configure'] {
  let written = '';
  return async (caseNumber) => {
    const config = configFor(addresses, caseNumber, more);
    if (config !== written) await writeFileAtomically(join(folder, 'home', 'config.yaml'), config);
    written = config;
  };
}
