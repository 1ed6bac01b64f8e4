/** A Talaria that uses a browser and is killed: runs the calls that it is given, prints what came of them, and stays. */
import { openStage } from './browser-stage.ts';

const [home = '', chromium = '', calls = '[]'] = process.argv.slice(2);
const stage = await openStage({ home, chromium });
await stage.tools.resume();
const session = stage.session('1');
for (const call of JSON.parse(calls) as Record<string, unknown>[]) {
  // A reference is named by the words of its line in the snapshot before.
  const outcome = await session.run(call);
  console.log(JSON.stringify(outcome.kind === 'finished' ? outcome.text : { failed: outcome.text }));
}
console.log('"ready"');
setInterval(() => undefined, 60_000);
