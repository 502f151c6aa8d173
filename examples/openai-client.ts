// Sends a batch of prompts to OpenAI, as fast as its tokens refill: npm run example openai-client.ts
// With several processes, pass a RedisStore as `store`. This example calls a local server.
import { MemoryStore, rollingWindow } from '@rollgate/core';
import { createFetch, openai } from '@rollgate/fetch';
import { startFakeOpenai } from './fake-openai.js';

const { url, stop } = await startFakeOpenai(); // In your app: const url = 'https://api.openai.com'.

interface Reply {
  output: string;
  usage: { total_tokens: number };
}

const api = createFetch({
  store: new MemoryStore(),
  bucket: () => 'my-project',
  dialects: [openai()],
  limits: { budget: rollingWindow({ limit: 1_000_000, window: '1d' }) }, // Your own budget decides, too.
  cost: ({ url: { searchParams } }) => {
    const tokens = Number(searchParams.get('tokens'));
    return { tokens, budget: tokens };
  },
  settle: async (response) => ({ budget: ((await response.json()) as Reply).usage.total_tokens }),
  retry: { methods: 'all' }, // A rejected call has done nothing, so a POST may be repeated.
});

async function complete(input: string): Promise<Reply> {
  const estimate = 500 + input.length; // The longest reply, and a rough count of the prompt.
  const response = await api(`${url}/v1/responses?tokens=${estimate}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${process.env.OPENAI_API_KEY ?? 'none'}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ input }),
  });
  if (!response.ok) throw new Error(`Status ${response.status}`);
  return (await response.json()) as Reply;
}

const prompts = Array.from({ length: 40 }, (_, index) => `Summarize page ${index + 1}. `.repeat(10));
const replies = await Promise.all(prompts.map(complete));
await api.close();

const tokens = replies.reduce((sum, { usage }) => sum + usage.total_tokens, 0);
console.log(`${replies.length} replies, ${tokens} tokens, ${stop()} rejected`);
