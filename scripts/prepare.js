/**
 * What `npm ci` runs last: makes the pinned Node the one that npm scripts find, builds dist/ and says what to do next.
 * Plain JavaScript for any Node from 20 on, because that is what it may be started with.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const nodeMajorMin = 26;
const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');

/** The platform's package: npm installs only the one that fits, and none if optional packages are left out. */
function pinnedNode() {
  const names = existsSync(modules) ? readdirSync(modules) : [];
  const name = names.find((each) => each.startsWith('node-') && existsSync(join(modules, each, 'bin/node')));
  return name === undefined ? null : join(name, 'bin/node');
}

/** npm 10 leaves this link out: it removes it together with the packages of the other platforms. */
function linkNode(node) {
  const link = join(modules, '.bin/node');
  if (existsSync(link)) return;
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync(join('..', node), link);
}

function prepare() {
  const pinned = pinnedNode();
  if (pinned !== null) linkNode(pinned);
  const node = pinned === null ? process.execPath : join(modules, pinned);
  if (pinned === null && Number.parseInt(process.versions.node, 10) < nodeMajorMin) {
    console.error(
      `talaria: the pinned Node is not installed, and Node ${process.versions.node} is too old.\n` +
        `Run \`npm ci\` without --omit=optional, or use Node ${nodeMajorMin} or later.`,
    );
    return 1;
  }
  if (!existsSync(join(modules, 'esbuild'))) {
    console.log(
      'Talaria runs from its source here: development packages were left out, so nothing was built.\n' +
        'It starts slower this way and has no web page. With them: npm ci',
    );
    return 0;
  }
  if (spawnSync(node, [join(root, 'scripts/build.ts')], { stdio: 'inherit' }).status !== 0) return 1;
  console.log('Talaria is ready.\n  Start it:  npm start\n  Test it:   npm test');
  return 0;
}

process.exitCode = prepare();
