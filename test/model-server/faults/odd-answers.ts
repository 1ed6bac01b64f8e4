/** Faults of the model: answers that are well-formed and still no use as they are. */
import type { Reply } from '../dialogue.ts';
import type { Fault, Meaning, Phase } from './fault.ts';

const callsAtOnce = 200;
const anyRequest: readonly Phase[] = ['mid-stream', 'after-tool-call'];

function odd(name: string, means: readonly Meaning[], change: (reply: Reply) => Reply): Fault {
  return { name, phases: anyRequest, means, effect: { kind: 'content', change } };
}

const printing = (text: string) => ({ name: 'terminal', arguments: JSON.stringify({ command: `echo ${text}` }) });

export const oddAnswers: readonly Fault[] = [
  odd('empty-answer', ['answer', 'malformed-stream'], () => ({})),
  odd('blank-answer', ['answer', 'malformed-stream'], () => ({ text: '  \n' })),
  odd('reasoning-only', ['answer', 'malformed-stream'], () => ({ reasoning: 'I think, and that is all.' })),
  odd('broken-arguments', ['answer'], () => ({ calls: [{ name: 'terminal', arguments: '{"command": "echo' }] })),
  odd('no-arguments', ['answer'], () => ({ calls: [{ name: 'terminal', arguments: '' }] })),
  odd('unknown-tool', ['answer'], () => ({ calls: [{ name: 'no_such_tool', arguments: '{}' }] })),
  odd('duplicate-call-ids', ['answer'], () => ({
    calls: [
      { ...printing('one'), id: 'call_same' },
      { ...printing('two'), id: 'call_same' },
    ],
  })),
  odd('calls-200', ['answer'], () => ({
    calls: Array.from({ length: callsAtOnce }, (_, index) => printing(String(index))),
  })),
  odd('refusal', ['refused', 'content-refused'], () => ({ text: 'I can’t help with that.', stop: 'refused' })),
  odd('refusal-without-words', ['refused', 'content-refused'], () => ({ stop: 'refused' })),
  odd('length', ['length'], ({ text = '' }) => ({ text: `${text} and so on and`, stop: 'length' })),
  odd('length-in-a-call', ['length', 'malformed-stream', 'answer'], () => ({
    calls: [{ name: 'terminal', arguments: '{"command": "ech' }],
    stop: 'length',
  })),
];
