/**
 * Text that passes through in pieces of any size. A filter may hold back a little until it knows what comes next, never
 * more than a fixed amount; `end` hands out the rest. Where the pieces are cut makes no difference to the whole.
 */
export interface TextFilter {
  push(text: string): string;
  end(): string;
}

/** All of a text through filters, one after the other. */
export function filterText(text: string, filters: readonly TextFilter[]): string {
  return filters.reduce((rest, filter) => filter.push(rest) + filter.end(), text);
}
