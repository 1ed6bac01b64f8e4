import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { openShell, openTerminal } from './support/terminal.ts';
import { freshHome, runTalaria } from './support/talaria-process.ts';

const ctrlD = '\u0004';
const ctrlZ = '\u001a';
const skip = existsSync('/usr/bin/script') && existsSync('/bin/bash') ? false : 'needs script of util-linux and bash';

describe('at a real terminal', { skip }, () => {
  test('a gateway on every address of the machine names one that a browser can open', async (t) => {
    const home = await freshHome(t);
    await runTalaria(t, ['config', 'set', 'channels.api.key', 'a-long-enough-key'], { home });
    const terminal = openTerminal(t, ['gateway', '--host', '0.0.0.0', '--port', '0'], home);
    await terminal.shows(/listening on http:\/\/0\.0\.0\.0:(\d+)\n\nOpen http:\/\/localhost:\1 in a browser/);
    terminal.press('\u0003');
    await terminal.ended;
  });

  test('the chat takes up what was being typed after Ctrl-Z and fg', async (t) => {
    const shell = openShell(t, await freshHome(t));
    shell.type('"$TALARIA"');
    let place = await shell.shows(/Ctrl-D leaves\.\n› /);
    shell.press('hello');
    place = await shell.shows(/hello/, place);
    shell.press(ctrlZ);
    place = await shell.shows(/Stopped/, place);
    shell.type('fg');
    place = await shell.shows(/› hello/, place);
    shell.type(' there');
    place = await shell.shows(/Ask me `what can you do`[^]*› /, place);
    shell.press(ctrlD);
    place = await shell.shows(/\$ |# /, place);
    shell.type('echo left with $?');
    await shell.shows(/left with 0/, place);
    assert.match(shell.screen(), /hello there/);
    shell.type('exit');
    await shell.ended;
  });
});
