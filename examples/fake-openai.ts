// A server with the limits and headers that OpenAI documents: tokens that refill continuously.
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { serveLocally } from './serve-locally.js';

const LIMIT = 10_000;
/** The real API refills within a minute. */
const REFILL_MS = 2000;

const msOf = (tokens: number) => Math.ceil((tokens * REFILL_MS) / LIMIT);

/** Starts the server. Returns its address, and a function that stops it and returns how many calls it has rejected. */
export async function startFakeOpenai(): Promise<{ url: string; stop: () => number }> {
  let level = LIMIT;
  let atMs = Date.now();
  let rejected = 0;
  const server = createServer(async (request, response) => {
    const { input } = (await json(request)) as { input: string };
    const tokens = 500 + input.length; // The prompt, and a reply of 500 tokens.
    const nowMs = Date.now();
    level = Math.min(LIMIT, level + ((nowMs - atMs) * LIMIT) / REFILL_MS);
    atMs = nowMs;
    const isAllowed = level >= tokens;
    if (isAllowed) level -= tokens;
    else rejected++;
    response.writeHead(isAllowed ? 200 : 429, {
      'content-type': 'application/json',
      'x-ratelimit-limit-tokens': LIMIT,
      'x-ratelimit-remaining-tokens': Math.floor(level),
      'x-ratelimit-reset-tokens': `${msOf(LIMIT - level)}ms`,
      ...(isAllowed ? {} : { 'retry-after-ms': msOf(tokens - level) }),
    });
    response.end(
      JSON.stringify(isAllowed ? { output: input, usage: { total_tokens: tokens } } : { error: 'rate_limit' }),
    );
  });
  const { url, close } = await serveLocally(server);
  const stop = () => {
    close();
    return rejected;
  };
  return { url, stop };
}
