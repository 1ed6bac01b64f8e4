/** One thing in a conversation each: what a person said, what the agent answered, what happened around it. */
import { useState } from 'preact/hooks';

import type { CallId } from '../../src/protocol/ids.ts';
import type { RunningCall } from './conversation.ts';
import type { EntryFile } from '../../src/protocol/entry-files.ts';
import { Attachments } from './attachments.tsx';
import { CopyButton } from './copy-button.tsx';
import type { AnswerItem, Block, CallResult, Item } from './items.ts';
import { Markdown } from './markdown.tsx';
import { memo } from './memo.ts';
import { Notice, type PressButton } from './notice.tsx';
import { QuestionCard, type GiveAnswer } from './question-card.tsx';
import { Reasoning } from './reasoning.tsx';
import { fullTime } from './relative-time.ts';
import { ToolCall } from './tool-call.tsx';

/** Longer messages of a person are cut, with a button for the rest. */
const userTextCharsMax = 4_000;

export interface ItemViewProps {
  readonly item: Item;
  readonly running: ReadonlyMap<CallId, RunningCall>;
  readonly isSought: boolean;
  readonly onAnswer: GiveAnswer;
  readonly onPress: PressButton;
}

export const ItemView = memo(({ item, running, isSought, onAnswer, onPress }: ItemViewProps) => (
  <div class={`item ${item.kind}${isSought ? ' sought' : ''}`} data-seq={item.seq}>
    <ItemBody item={item} running={running} onAnswer={onAnswer} onPress={onPress} />
  </div>
));

function ItemBody({ item, running, onAnswer, onPress }: Omit<ItemViewProps, 'isSought'>) {
  switch (item.kind) {
    case 'user':
      return <UserMessage text={item.text} attachments={item.attachments} title={fullTime(item.at)} />;
    case 'answer':
      return <Answer item={item} running={running} />;
    case 'stray-result':
      return <ToolCall name="earlier call" argumentText="" result={strayResult(item)} running={undefined} />;
    case 'notice':
      return <Notice item={item} onPress={onPress} />;
    case 'question':
      return <QuestionCard item={item} onAnswer={onAnswer} />;
    case 'nudge':
      return <p class="aside">The model was told: {item.text}</p>;
    case 'outcome':
      return <p class={`aside ${item.outcome}`}>{outcomeTexts[item.outcome]}</p>;
  }
}

function strayResult({ part: { outcome, text }, files }: Extract<Item, { kind: 'stray-result' }>): CallResult {
  return { outcome, text, tookMs: null, ...(files === undefined ? {} : { files }) };
}

const outcomeTexts = {
  stopped: 'Stopped.',
  failed: 'This turn failed.',
  parked: 'This turn ended the program too often and was set aside.',
} as const;

export interface UserMessageProps {
  readonly text: string;
  readonly attachments?: readonly EntryFile[];
  readonly title?: string;
}

export function UserMessage({ text, attachments = [], title }: UserMessageProps) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > userTextCharsMax;
  return (
    <div class="bubble" title={title}>
      <span class="offscreen">You: </span>
      <p class="verbatim">{isCut ? `${text.slice(0, userTextCharsMax)}…` : text}</p>
      <Attachments files={attachments} />
      {isCut && (
        <button type="button" class="text" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}

function Answer({ item, running }: { item: AnswerItem; running: ReadonlyMap<CallId, RunningCall> }) {
  // Only what ends a turn is worth copying; what introduces a call is not.
  const text = item.blocks.some((block) => block.kind === 'call') ? '' : textOfAnswer(item);
  return (
    <>
      <span class="offscreen">Talaria: </span>
      {item.blocks.map((block, index) => (
        <BlockView key={index} block={block} running={running} />
      ))}
      {text.trim() !== '' && (
        <div class="answer-tools">
          <CopyButton text={text} label="Copy reply" />
        </div>
      )}
    </>
  );
}

function textOfAnswer(item: AnswerItem): string {
  return item.blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('');
}

function BlockView({ block, running }: { block: Block; running: ReadonlyMap<CallId, RunningCall> }) {
  switch (block.kind) {
    case 'text':
      return <Markdown text={block.text} />;
    case 'reasoning':
      return block.text === '' ? null : <Reasoning text={block.text} />;
    case 'call': {
      const { call } = block;
      return (
        <ToolCall
          name={call.name}
          argumentText={call.arguments}
          result={call.result}
          running={running.get(call.callId)}
        />
      );
    }
  }
}
