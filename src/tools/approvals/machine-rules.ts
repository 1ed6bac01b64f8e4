/** Programs that act on the machine: disks, power, services, processes, and Talaria itself. */
import { kindOfPath, resolvePath } from './path-kinds.ts';
import { readOptions } from './program-options.ts';
import type { Rule } from './rule.ts';
import { hasGap, isKnown, readable } from './shell-gaps.ts';

export const device: Rule = (given, context) => {
  const options = readOptions(given);
  if (options.has('l', 'list') && !options.has('', 'wipe')) return;
  for (const word of given) {
    if (kindOfPath(resolvePath(context.cwd, word), context.places) === 'device') {
      context.findings.refusals.add(`writes over the device ${readable(word)}`);
    }
  }
};

export const diskutil: Rule = ([verb = ''], { findings }) => {
  if (/^(?:erase|partition|zero|random|secureErase|reformat|apfs)/i.test(verb)) findings.refusals.add('erases a disk');
};

export const power: Rule = (given, { findings }) => {
  if (!given.some((word) => /^(?:-c|--help|--version|--show)$/.test(word)))
    findings.refusals.add('turns the machine off');
};

export const init: Rule = ([level = ''], { findings }) => {
  if (/^[06]$/.test(level)) findings.refusals.add('turns the machine off');
};

export const services: Rule = (given, { findings }) => {
  const verb = given.find((word) => !word.startsWith('-')) ?? '';
  if (/^(?:reboot|poweroff|halt|kexec|suspend|hibernate|hybrid-sleep|emergency|rescue|soft-reboot|exit)$/.test(verb)) {
    findings.refusals.add('turns the machine off');
  } else if (
    given.some((word) =>
      /^(?:poweroff|reboot|halt|kexec|shutdown|rescue|emergency|suspend|hibernate)\.target$/.test(word),
    )
  )
    findings.refusals.add('turns the machine off');
  else if (!/^(?:status|show|list-.*|is-.*|cat|get-default)?$/.test(verb))
    findings.risks.add("changes the machine's services");
};

export const kill: Rule = (given, context) => {
  const targets = given.filter(
    (word, index) => !(index === 0 && /^-(?:[A-Z]|\d+$)/.test(word) && given.length > 1) && !/^-[snlL]$/.test(word),
  );
  const own = new Set(['1', '-1', ...context.ownPids.flatMap((pid) => [String(pid), `-${pid}`])]);
  const signalGiven = /^-s$|^-n$/.test(given[0] ?? '');
  for (const target of signalGiven ? targets.slice(1) : targets) {
    if (target === '-1') context.findings.refusals.add('ends every process');
    else if (own.has(target)) context.findings.refusals.add('ends Talaria or the system');
    else if (hasGap(target)) context.findings.risks.add('ends processes that are known only when it runs');
  }
};

export const killByName: Rule = (given, { findings }) => {
  const options = readOptions(given, { valued: 'usgGPtU', longValued: ['signal', 'user', 'euid', 'uid', 'parent'] });
  const patterns = options.operands;
  if (options.has('v', 'inverse')) findings.refusals.add('ends every process but a few');
  if (patterns.length === 0 && options.has('uUgG', 'user')) findings.refusals.add('ends every process of a user');
  for (const pattern of patterns) {
    if (/^[.^$*+]*$/.test(pattern)) findings.refusals.add('ends every process');
    else if (isKnown(pattern) && matches(pattern, 'talaria')) findings.refusals.add('ends Talaria');
    else findings.risks.add('ends processes by their names');
  }
};

function matches(pattern: string, text: string): boolean {
  // Without groups and of this length: a model's expression could take for ever.
  if (!/^\^?(?:[\w.-][*+?]?){1,20}\$?$/.test(pattern)) return pattern.toLowerCase().includes(text);
  return new RegExp(pattern, 'i').test(text);
}

export const everyProcess: Rule = (_given, { findings }) => {
  findings.refusals.add('ends every process');
};

export const talaria: Rule = (given, { findings }) => {
  const [verb = '', second = '', key = ''] = given.filter((word) => !word.startsWith('-'));
  if (verb === 'config' && second === 'set' && (/^(?:terminal|approvals)(?:\.|$)/.test(key) || hasGap(key))) {
    findings.refusals.add('changes what keeps Talaria in bounds');
  } else if (
    !/^(?:|status|help|doctor|logs)$/.test(verb) &&
    !(verb === 'config' && /^(?:path|show|get|check)$/.test(second))
  ) {
    findings.asks.add('acts on Talaria itself');
  }
};

export const machine =
  (reason: string): Rule =>
  (_given, { findings }) => {
    findings.risks.add(reason);
  };
