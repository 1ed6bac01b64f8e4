/** What stands around the gateway in one world and survives it, and how the gateway is told about it. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../src/lib/atomic-file.ts';
import { talariaProgram, type GatewayProgram } from './gateway-process.ts';
import { rehearsal, script, type Language } from './language.ts';
import { Ledger } from './ledger.ts';
import { configFor } from './model-config.ts';
import type { Setup } from './scenes.ts';
import { ScriptedModel } from './scripted-model.ts';
import { ScriptedPlatform } from './scripted-platform.ts';

export interface Surroundings {
  readonly ledger: Ledger;
  /** Null where people speak through the gateway's own API only. */
  readonly platform: ScriptedPlatform | null;
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
  return setup === 'bundle' ? alone(ledger) : surrounded(folder, ledger, gatewayFile);
}

function alone(ledger: Ledger): Surroundings {
  return {
    ledger,
    platform: null,
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
  const addresses = await model.addresses();
  let written = '';
  return {
    ledger,
    platform,
    model,
    language: script,
    program: { command: [process.execPath, gatewayFile], env },
    async configure(caseNumber) {
      const config = configFor(addresses, caseNumber);
      if (config !== written) await writeFileAtomically(join(folder, 'home', 'config.yaml'), config);
      written = config;
    },
    async end() {
      await Promise.all([platform.end(), model.end(), ledger.end()]);
    },
  };
}
