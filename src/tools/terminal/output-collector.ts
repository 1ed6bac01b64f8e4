/** Takes what a command prints and makes two things of it: what the model is told in the end, and what is shown live. */
import type { Clock } from '../../lib/clock.ts';
import { createEscapeStripper } from '../escape-stripper.ts';
import { createLineFolder } from '../line-folder.ts';
import { createLiveOutput } from '../live-output.ts';
import { createOutputBound, outputCharsMax } from '../output-bound.ts';
import type { Told } from './command-outcome.ts';

/** Room for the notes after the output. */
const notesCharsMax = 1_000;

export interface OutputCollector {
  readonly push: (text: string) => void;
  /** `wholeOutputPath` is where all of it can be read, should it be too long to tell. */
  end(wholeOutputPath: string): Told;
}

export function collectOutput(clock: Clock, onOutput: (text: string) => void): OutputCollector {
  const stripper = createEscapeStripper();
  const folder = createLineFolder();
  const keptCharsMax = outputCharsMax - notesCharsMax;
  const kept = createOutputBound(keptCharsMax);
  const live = createLiveOutput({ clock, onOutput });
  let seenChars = 0;
  const keep = (text: string) => {
    seenChars += text.length;
    kept.push(text);
  };
  return {
    push(text) {
      const clean = stripper.push(text);
      keep(folder.push(clean));
      // Who looks on sees a redrawn line as another line: what it replaced can't be taken back.
      live.push(clean.replaceAll('\r', '\n').replaceAll('\b', ''));
    },
    end(wholeOutputPath) {
      keep(folder.end());
      live.end();
      return { output: kept.text().trimEnd(), wholeOutputPath: seenChars > keptCharsMax ? wholeOutputPath : null };
    },
  };
}
