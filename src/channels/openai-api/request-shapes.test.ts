import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OpenAiError } from './api-error.ts';
import { chatRequest } from './chat-request.ts';
import { conversationOf, lastAsked, newlyAsked } from './conversation.ts';
import { imageBytesMax, imageFrom } from './image-data.ts';
import { responsesRequest } from './responses-request.ts';
import { onePixel } from './test-server.ts';

const text = (words: string) => ({ kind: 'text', text: words });
const user = (words: string) => ({ role: 'user', parts: [text(words)] });
const assistant = (words: string) => ({ role: 'assistant', parts: [text(words)] });

/** What a refusal says about itself. */
function refusalOf(action: () => unknown): { param: string | null | undefined; code: string | null; message: string } {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof OpenAiError, String(error));
    assert.equal(error.details.status, 400);
    return { param: error.details.param, code: error.details.code, message: error.message };
  }
  return assert.fail('it was not refused');
}

describe('a list of chat messages', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'one' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'two' },
        { type: 'text', text: 'three' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing' },
    { role: 'assistant', content: 'Nothing is there.' },
    { role: 'assistant', content: '' },
    { role: 'developer', content: 'Be kind.' },
    { role: 'user', content: 'And now?' },
  ];

  test('becomes instructions, a past with alternating roles, and the message to answer', () => {
    const { said } = chatRequest({ messages });
    assert.deepEqual(conversationOf(said, 'messages'), {
      system: 'Be brief.\n\nBe kind.',
      history: [
        user('one\n\ntwo\n\nthree'),
        assistant('[Called look with {"at":1}]'),
        user('[Result of c1]\n\nnothing'),
        assistant('Nothing is there.'),
      ],
      message: user('And now?'),
      contents: [],
    });
  });

  test('counts for a stored session with its last question alone', () => {
    const { said } = chatRequest({ messages });
    assert.deepEqual(lastAsked(said, 'messages'), { message: user('And now?'), contents: [] });
  });

  test('must end with a question that says something', () => {
    const asking = (...given: unknown[]) => conversationOf(chatRequest({ messages: given }).said, 'messages');
    const empty = { role: 'user', content: ' \n' };
    const answer = { role: 'assistant', content: 'So?' };
    assert.match(refusalOf(() => asking(messages[1], answer)).message, /must be from the user/);
    assert.match(refusalOf(() => asking(messages[0])).message, /must be from the user/);
    assert.equal(refusalOf(() => asking(messages[1], answer, empty)).code, 'empty_message');
    const { said } = chatRequest({ messages: [messages[1], answer, empty] });
    assert.equal(refusalOf(() => lastAsked(said, 'messages')).code, 'empty_message');
  });

  test('keeps no half characters and no NUL', () => {
    const { said } = chatRequest({ messages: [{ role: 'user', content: 'a\ud800b\0c' }] });
    assert.deepEqual(conversationOf(said, 'messages').message, user('a\uFFFDb\uFFFDc'));
  });
});

describe('a chat request', () => {
  const messages = [{ role: 'user', content: 'hi' }];

  test('passes over what has no effect here', () => {
    const harmless = {
      temperature: 1,
      top_p: 0.5,
      max_tokens: 10,
      max_completion_tokens: 10,
      seed: 1,
      stop: ['x'],
      user: 'me',
      n: 1,
      logprobs: false,
      tools: [],
      response_format: { type: 'text' },
      modalities: ['text'],
      stream_options: null,
      of_the_future: { a: [] },
    };
    const { said: _, ...read } = chatRequest({ model: 'talaria', messages, stream: null, ...harmless });
    assert.deepEqual(read, { model: 'talaria', stream: false, includeUsage: false });
  });

  test('is refused for what would not be done, by the name of the field', () => {
    const wrong: [object, string][] = [
      [{ n: 2 }, 'n'],
      [{ n: 'many' }, 'n'],
      [{ logprobs: true }, 'logprobs'],
      [{ top_logprobs: 3 }, 'top_logprobs'],
      [{ tools: [{}] }, 'tools'],
      [{ functions: [{}] }, 'functions'],
      [{ response_format: { type: 'json_schema' } }, 'response_format'],
      [{ modalities: ['text', 'audio'] }, 'modalities'],
      [{ stream: 'yes' }, 'stream'],
      [{ model: 7 }, 'model'],
      [{ messages: [] }, 'messages'],
      [{ messages: 'hi' }, 'messages'],
      [{ messages: ['hi'] }, 'messages[0]'],
      [{ messages: [{ role: 'wizard', content: 'hi' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
      [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0].type'],
      [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
      [{ messages: Array.from({ length: 5_001 }, () => messages[0]) }, 'messages'],
    ];
    for (const [fields, param] of wrong) {
      assert.equal(refusalOf(() => chatRequest({ model: 'talaria', messages, ...fields })).param, param);
    }
    for (const body of [null, [], 'x', 7]) assert.equal(refusalOf(() => chatRequest(body)).param, null);
  });
});

describe('a request for a response', () => {
  test('takes a text, or items', () => {
    assert.deepEqual(conversationOf(responsesRequest({ input: 'hi', instructions: 'Be brief.' }).said, 'input'), {
      system: 'Be brief.',
      history: [],
      message: user('hi'),
      contents: [],
    });
    const input = [
      { role: 'developer', content: 'Be kind.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
      { type: 'reasoning', summary: [] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'nothing' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'in parts' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
      { role: 'user', content: 'three' },
      { role: 'user', content: 'four' },
    ];
    const { said } = responsesRequest({ input });
    assert.deepEqual(conversationOf(said, 'input'), {
      system: 'Be kind.',
      history: [
        user('one'),
        assistant('[Called look with {}]'),
        user('[Result of c1]\n\nnothing\n\n[Result of c2]\n\nin parts'),
        assistant('two'),
        user('three'),
      ],
      message: user('four'),
      contents: [],
    });
    assert.deepEqual(newlyAsked(said, 'input').message, user('three\n\nfour'));
  });

  test('is refused for what would not be done, by the name of the field', () => {
    const wrong: [object, string][] = [
      [{ tools: [{ type: 'web_search' }] }, 'tools'],
      [{ background: true }, 'background'],
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ prompt: { id: 'p' } }, 'prompt'],
      [{ top_logprobs: 1 }, 'top_logprobs'],
      [{ text: { format: { type: 'json_object' } } }, 'text.format'],
      [{ instructions: [] }, 'instructions'],
      [{ store: 'no' }, 'store'],
      [{ metadata: { a: 1 } }, 'metadata'],
      [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, ''])) }, 'metadata'],
      [{ input: undefined }, 'input'],
      [{ input: [] }, 'input'],
      [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].type'],
      [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input[0].content[0].type'],
      [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }, 'input[0].content[0].file_id'],
    ];
    for (const [fields, param] of wrong) {
      assert.equal(refusalOf(() => responsesRequest({ input: 'hi', ...fields })).param, param);
    }
  });
});

describe('an image in a request', () => {
  test('is what its bytes say, not what its label says', () => {
    const { part, content } = imageFrom(`data:image/jpeg;base64,${onePixel}`, 'url');
    assert.deepEqual(part, {
      kind: 'image',
      content: { sha256: content.sha256, bytes: content.bytes.byteLength, mediaType: 'image/png' },
    });
    assert.match(content.sha256, /^[0-9a-f]{64}$/);
  });

  test('is refused if it is elsewhere, broken, too large or no image', () => {
    const large = Buffer.alloc(imageBytesMax + 1).toString('base64');
    const wrong: [unknown, string][] = [
      ['https://example.org/cat.png', 'invalid_image_url'],
      ['file:///etc/passwd', 'invalid_image_url'],
      ['data:image/png,plain', 'invalid_image_url'],
      [`data:image/png${';'.repeat(300)};base64,${onePixel}`, 'invalid_image_url'],
      [{ url: 'x' }, 'invalid_image_url'],
      ['data:image/png;base64,', 'invalid_base64_image'],
      ['data:image/png;base64,%%%', 'invalid_base64_image'],
      [`data:image/png;base64,${large}`, 'image_too_large'],
      [`data:image/png;base64,${Buffer.from('<svg/>').toString('base64')}`, 'invalid_image_format'],
    ];
    for (const [url, code] of wrong) {
      const refusal = refusalOf(() => imageFrom(url, 'url'));
      assert.deepEqual([refusal.param, refusal.code], ['url', code]);
    }
  });

  test('comes along once, with those of the past where the past comes along', () => {
    const url = `data:image/png;base64,${onePixel}`;
    const content = [{ type: 'input_image', image_url: url, detail: 'auto' }];
    const input = [
      { role: 'user', content },
      { role: 'assistant', content: 'A dot.' },
      { role: 'user', content: 'Sure?' },
    ];
    const { said } = responsesRequest({ input });
    assert.equal(conversationOf([...said, ...said], 'input').contents.length, 1);
    assert.equal(conversationOf(said, 'input').history[0]?.parts[0]?.kind, 'image');
    assert.deepEqual(lastAsked(said, 'input').contents, []);
  });
});
