// Queries a server with the package openai, as a Node application does, and prints the results as JSON.
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'none', maxRetries: 0 });
const model = 'kvasir-mini';
const messages = [{ role: 'user', content: 'Tell me of the sea.' }];
const few = { model, messages, temperature: 0, max_completion_tokens: 12 };
const came = {};

came.models = (await client.models.list()).data.map((each) => each.id);
came.whole = await client.chat.completions.create(few);

const stream = await client.chat.completions.create({
  ...few,
  stream: true,
  stream_options: { include_usage: true },
});
came.pieces = [];
for await (const chunk of stream) {
  came.pieces.push(chunk.choices[0]?.delta?.content ?? '');
  came.streamUsage = chunk.usage ?? came.streamUsage;
  came.streamReason = chunk.choices[0]?.finish_reason ?? came.streamReason;
}

const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { enum: ['Oslo', 'Rome'] } }, required: ['city'] },
    },
  },
];
const calling = { model, messages, tools, tool_choice: 'required', temperature: 0 };
came.call = (await client.chat.completions.create(calling)).choices[0];
// The package assembles a streamed response itself.
came.streamedCall = await client.chat.completions.stream(calling).finalMessage();

const schema = { type: 'object', properties: { tide: { enum: ['low', 'high'] } }, required: ['tide'] };
const format = { type: 'json_schema', json_schema: { name: 'tide', schema } };
came.parsed = (await client.chat.completions.parse({ model, messages, response_format: format })).choices[0].message.parsed;

came.text = (await client.completions.create({ model, prompt: 'Once', max_tokens: 4, temperature: 0 })).choices[0].text;

const long = await client.chat.completions.create({ ...few, max_completion_tokens: 4000, stream: true });
came.beforeBreak = 0;
for await (const chunk of long) {
  if (++came.beforeBreak === 3) {
    break; // the package hangs up
  }
}

try {
  await client.chat.completions.create({ ...few, temperature: -1 });
} catch (error) {
  came.refusal = { kind: error.constructor.name, status: error.status, param: error.param, message: error.message };
}
console.log(JSON.stringify(came));
