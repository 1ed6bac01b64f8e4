/**
 * A question that a call waits with: buttons for the choices, or a field where any text will do. It can be answered
 * once and while it waits: not after its deadline, nor after its call or turn went on without it. Whether an answer
 * still counts is the gateway's to say; what it says is shown.
 */
import { useEffect, useId, useState } from 'preact/hooks';

import { ApiError, messageBytesMax } from '../../src/protocol/api.ts';
import type { CallId } from '../../src/protocol/ids.ts';
import { durationText } from './call-summary.ts';
import type { QuestionItem } from './items.ts';
import { Markdown } from './markdown.tsx';

/** Resolves to false if the question does not wait any more. */
export type GiveAnswer = (callId: CallId, text: string) => Promise<boolean>;

type Progress =
  | { readonly kind: 'unanswered'; readonly problem: string | null }
  | { readonly kind: 'sending' }
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'late' };

export function QuestionCard({ item, onAnswer }: { item: QuestionItem; onAnswer: GiveAnswer }) {
  const { question, isSettled } = item;
  const [progress, setProgress] = useState<Progress>({ kind: 'unanswered', problem: null });
  const leftMs = useTimeLeft(question.deadline, !isSettled);
  const canAnswer = !isSettled && leftMs > 0 && progress.kind === 'unanswered';
  const headingId = useId();
  const give = (text: string) => {
    setProgress({ kind: 'sending' });
    onAnswer(question.callId, text).then(
      (isTaken) => setProgress(isTaken ? { kind: 'answered', text } : { kind: 'late' }),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        setProgress({ kind: 'unanswered', problem: error.message });
      },
    );
  };
  return (
    <div class={canAnswer ? 'question-card' : 'question-card closed'} role="group" aria-labelledby={headingId}>
      <div id={headingId} class="question-text">
        <Markdown text={item.text} />
      </div>
      {question.choices === null ? (
        <AnswerField canAnswer={canAnswer} labelledBy={headingId} onGive={give} />
      ) : (
        <div class="question-choices">
          {question.choices.map((choice, index) => (
            <button
              key={index}
              type="button"
              class={progress.kind === 'answered' && progress.text === choice ? 'chosen' : ''}
              disabled={!canAnswer}
              onClick={() => give(choice)}
            >
              {choice}
            </button>
          ))}
        </div>
      )}
      <QuestionState progress={progress} isSettled={isSettled} leftMs={leftMs} />
    </div>
  );
}

interface AnswerFieldProps {
  readonly canAnswer: boolean;
  readonly labelledBy: string;
  readonly onGive: (text: string) => void;
}

function AnswerField({ canAnswer, labelledBy, onGive }: AnswerFieldProps) {
  const [text, setText] = useState('');
  const canSend = canAnswer && text.trim() !== '';
  return (
    <form
      class="question-field"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) onGive(text.trim());
      }}
    >
      <input
        type="text"
        aria-labelledby={labelledBy}
        placeholder="Your answer"
        autocomplete="off"
        maxLength={Math.floor(messageBytesMax / 3)}
        value={text}
        disabled={!canAnswer}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={!canSend}>
        Answer
      </button>
    </form>
  );
}

function QuestionState({ progress, isSettled, leftMs }: { progress: Progress; isSettled: boolean; leftMs: number }) {
  if (progress.kind === 'late') return <Alert text="This question no longer waits for an answer." />;
  if (progress.kind === 'answered') return <p class="question-state">Answered: {progress.text}</p>;
  if (progress.kind === 'sending') return <p class="question-state">Sending…</p>;
  if (isSettled) return <p class="question-state">This question is closed.</p>;
  if (leftMs <= 0) return <p class="question-state">Nobody answered in time.</p>;
  if (progress.problem !== null) return <Alert text={`Not answered: ${progress.problem}`} />;
  return <p class="question-state">Waits for an answer for {durationText(leftMs)} more.</p>;
}

function Alert({ text }: { text: string }) {
  return (
    <p class="question-state problem" role="alert">
      {text}
    </p>
  );
}

const tickMs = 1_000;

function useTimeLeft(deadline: number, isWanted: boolean): number {
  const [now, setNow] = useState(Date.now);
  const isOver = now >= deadline;
  useEffect(() => {
    if (!isWanted || isOver) return undefined;
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, [isWanted, isOver]);
  return deadline - now;
}
