/** Streams in the shapes that the official API sends, shortened; for tests. */

const common = {
  id: 'chatcmpl-CXvfN2mBSqcO7KYJLgeEyXl3a0xg2',
  object: 'chat.completion.chunk',
  created: 1_763_200_000,
  model: 'gpt-5-2025-08-07',
  service_tier: 'default',
  system_fingerprint: null,
};

function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return { ...common, choices, usage: null, obfuscation: 'aZ3' };
}

export const answerWithWords: readonly (object | string)[] = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ content: 'Hello' }),
  chunk({ content: '!' }),
  chunk({}, 'stop'),
  {
    ...common,
    choices: [],
    usage: {
      prompt_tokens: 1_117,
      completion_tokens: 46,
      total_tokens: 1_163,
      prompt_tokens_details: { cached_tokens: 1_024, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 40,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    obfuscation: '',
  },
  '[DONE]',
];

export const answerWithCalls: readonly (object | string)[] = [
  chunk({ role: 'assistant', content: null }),
  chunk({
    tool_calls: [
      {
        index: 0,
        id: 'call_DdmO9pD3xa9XTPNJ32zg2hcA',
        type: 'function',
        function: { name: 'get_weather', arguments: '' },
      },
    ],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: 'Paris"}' } }] }),
  chunk({
    tool_calls: [
      {
        index: 1,
        id: 'call_5CAPvx0SbEfQkVvH2DHbbRLc',
        type: 'function',
        function: { name: 'get_time', arguments: '' },
      },
    ],
  }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: '{"zone":"CET"}' } }] }),
  chunk({}, 'tool_calls'),
  {
    ...common,
    choices: [],
    usage: {
      prompt_tokens: 80,
      completion_tokens: 45,
      total_tokens: 125,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
  },
  '[DONE]',
];

export const refusalStream: readonly (object | string)[] = [
  chunk({ role: 'assistant', content: '', refusal: null }),
  chunk({ refusal: "I'm sorry, " }),
  chunk({ refusal: "I can't." }),
  chunk({}, 'stop'),
  '[DONE]',
];
