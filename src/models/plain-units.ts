/** The units of a prompt for models without a wire of their own: tools, system prompt, one per message. */
import type { ModelRequest } from './model.ts';

export function plainUnits(request: ModelRequest): string[] {
  return [
    JSON.stringify(request.tools),
    request.systemPrompt,
    ...request.messages.map((message) => JSON.stringify(message)),
  ];
}
