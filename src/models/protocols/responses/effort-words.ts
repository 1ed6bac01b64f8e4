/**
 * How hard a model should think, in the words that it takes. Which ones those are has changed with every generation, and
 * one that a model doesn't take is refused: the catalogue says it in quirks, and each effort becomes the nearest one.
 */
import type { Effort } from '../../../protocol/usage.ts';
import type { Runtime } from '../../model.ts';

/** What every model that thinks takes. */
const plain: Readonly<Record<Effort, string>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'high',
};

export function effortWord({ quirks }: Runtime, effort: Effort): string {
  const words = {
    ...plain,
    ...(quirks.includes('effort-minimal') && { none: 'minimal', minimal: 'minimal' }),
    ...(quirks.includes('effort-none') && { none: 'none' }),
    ...(quirks.includes('effort-xhigh') && { max: 'xhigh' }),
  };
  return words[effort];
}
