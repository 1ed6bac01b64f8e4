/** Programs that delete, move and write files. What counts is where a path leads. */
import { isProtected } from '../protected-names.ts';
import { isBelow, kindOfPath, resolvePath } from './path-kinds.ts';
import { readOptions } from './program-options.ts';
import type { Rule, RuleContext } from './rule.ts';
import { anyChars, isKnown, readable, unknown } from './shell-gaps.ts';
import { readFind } from './started-by-tools.ts';

/** Something is written there, by whatever means. */
export function checkWrite(target: string, context: RuleContext): void {
  const { cwd, places, findings } = context;
  const path = resolvePath(cwd, target);
  const shown = readable(path);
  if (/^\/proc\/sysrq-trigger$/.test(path)) findings.refusals.add('gives the kernel an emergency command');
  if (path.startsWith('/sys/power/')) findings.refusals.add('turns the machine off');
  if (/^\/dev\/(?:tcp|udp)\//.test(path)) findings.risks.add('reaches the network');
  switch (kindOfPath(path, places)) {
    case 'device':
      findings.refusals.add(`writes over the device ${shown}`);
      break;
    case 'talaria':
      findings.refusals.add(`changes Talaria's own files (${shown})`);
      break;
    case 'critical':
    case 'outside':
      if (path === places.talariaHome) findings.refusals.add(`changes Talaria's own files (${shown})`);
      if (!/^\/dev\/|^\/tmp\/|^\/var\/tmp\//.test(path)) findings.risks.add(`changes ${shown}, outside the workspace`);
      break;
    case 'unknown':
      findings.risks.add('changes files that are known only when it runs');
      break;
    case 'inside':
    case 'history':
    case 'whole-workspace':
      break;
  }
  noteProtected(target, context);
}

function checkDelete(target: string, context: RuleContext, verb = 'deletes'): void {
  const { cwd, places, findings } = context;
  const path = resolvePath(cwd, target);
  const shown = readable(path);
  switch (kindOfPath(path, places)) {
    case 'critical':
      findings.refusals.add(`${verb} ${shown}`);
      break;
    case 'device':
      findings.refusals.add(`${verb} the device ${shown}`);
      break;
    case 'talaria':
      findings.refusals.add(`${verb} Talaria's own files (${shown})`);
      break;
    case 'whole-workspace':
      findings.asks.add(`${verb} the whole folder ${shown}`);
      break;
    case 'history':
      findings.asks.add(`${verb} the history of the project (${shown})`);
      break;
    case 'outside':
      findings.risks.add(`${verb} ${shown}, outside the workspace`);
      break;
    case 'unknown':
      findings.risks.add(`${verb} files that are known only when it runs`);
      break;
    case 'inside':
      break;
  }
}

export const remove: Rule = (given, context) => {
  const options = readOptions(given);
  if (options.has('', 'no-preserve-root') && given.some((word) => word.startsWith('--no-'))) {
    context.findings.refusals.add('turns off what protects the root folder');
  }
  const isRecursive = options.has('rR', 'recursive') || given.some((word) => word.startsWith(unknown));
  for (const operand of options.operands) {
    // Without -r a folder stays: only patterns can do harm then.
    const isWhole =
      operand.includes(anyChars) ||
      isRecursive ||
      kindOfPath(resolvePath(context.cwd, operand), context.places) !== 'whole-workspace';
    if (isWhole) checkDelete(operand, context);
    noteProtected(operand, context);
  }
};

function noteProtected(target: string, { cwd, places, findings }: RuleContext): void {
  const path = resolvePath(cwd, target);
  const root = places.writable.find((folder) => isBelow(path, folder));
  // Folders above the workspace may have any name.
  const own = root === undefined ? path : path.slice(root.length + 1);
  if (isKnown(path) && isProtected(own)) findings.notes.add(`${path} is protected and can't be changed in the sandbox`);
}

export const move: Rule = (given, context) => {
  const options = readOptions(given, { valued: 'tS', longValued: ['target-directory', 'suffix'] });
  const targets = options.values('t', 'target-directory');
  const sources = targets.length > 0 ? options.operands : options.operands.slice(0, -1);
  for (const source of sources) checkDelete(source, context, 'moves away');
  for (const target of [...targets, ...(targets.length > 0 ? [] : options.operands.slice(-1))])
    checkWrite(target, context);
};

export const copy: Rule = (given, context) => {
  const options = readOptions(given, { valued: 'tSmog', longValued: ['target-directory', 'suffix'] });
  const targets = options.values('t', 'target-directory');
  for (const target of targets.length > 0 ? targets : options.operands.slice(-1)) checkWrite(target, context);
};

export const writeAll: Rule = (given, context) => {
  for (const operand of readOptions(given, { valued: 'sm' }).operands) checkWrite(operand, context);
};

/** What is unpacked or patched into a folder. */
export const unpack: Rule = (given, context) => {
  const options = readOptions(given, { valued: 'CdfDI', longValued: ['directory'] });
  for (const folder of [...options.values('CdD'), ...options.values('', 'directory')]) checkWrite(folder, context);
};

export const patch: Rule = (given, context) => {
  unpack(given, context);
  const [file] = readOptions(given, { valued: 'dipoBrVzDFg', longValued: ['directory', 'input', 'strip'] }).operands;
  if (file !== undefined) checkWrite(file, context);
};

export const shred: Rule = (given, context) => {
  for (const operand of readOptions(given, { valued: 'ns' }).operands) checkDelete(operand, context, 'destroys');
};

export const permissions: Rule = (given, context) => {
  const options = readOptions(given, { valued: 'mxsMX', longValued: ['reference', 'modify'] });
  const targets = options.operands.length > 1 ? options.operands.slice(1) : options.operands;
  for (const target of targets) {
    const path = resolvePath(context.cwd, target);
    const kind = kindOfPath(path, context.places);
    if (kind === 'critical') context.findings.refusals.add(`changes who may use ${readable(path)}`);
    else checkWrite(target, context);
  }
};

export const find: Rule = (given, context) => {
  const { roots, isNarrow } = readFind(given);
  if (!given.includes('-delete')) return;
  for (const root of roots) checkDelete(isNarrow ? `${root}/${unknown}` : root, context);
};

export const sync: Rule = (given, context) => {
  const options = readOptions(given, { valued: 'efBT', longValued: ['rsh', 'exclude', 'include', 'filter'] });
  const target = options.operands.at(-1);
  if (target === undefined) return;
  if (options.operands.some((word) => /^[^/]+:/.test(word))) context.findings.risks.add('reaches the network');
  else if (given.some((word) => word.startsWith('--del'))) checkDelete(target, context, 'deletes what is in');
  else checkWrite(target, context);
};

export const disk: Rule = (given, context) => {
  for (const word of given) {
    const [, target] = /^of=(.*)$/s.exec(word) ?? [];
    if (target !== undefined) checkWrite(target, context);
  }
};

export const edit: Rule = (given, context) => {
  const isInPlace = given.some((word) => /^-[nrEsuzplaw0-9]*i|^--in-/.test(word));
  if (!isInPlace) return;
  const options = readOptions(given, { valued: 'efl', longValued: ['expression', 'file'] });
  const files =
    options.has('ef', 'expression') || options.has('', 'file') ? options.operands : options.operands.slice(1);
  for (const file of files) checkWrite(file, context);
};
