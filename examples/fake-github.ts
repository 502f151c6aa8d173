// A server with the limits and headers that GitHub documents, but with short windows.
import { createServer } from 'node:http';
import { serveLocally } from './serve-locally.js';

const LIMIT = 30;
const WINDOW_SECONDS = 2;

/** Starts the server. Returns its address, and a function that stops it and returns how many calls it has rejected. */
export async function startFakeGithub(): Promise<{ url: string; stop: () => number }> {
  let window = 0;
  let used = 0;
  let rejected = 0;
  const server = createServer((request, response) => {
    const seconds = Date.now() / 1000;
    const current = Math.floor(seconds / WINDOW_SECONDS);
    if (current !== window) used = 0;
    window = current;
    const isAllowed = used < LIMIT;
    if (isAllowed) used++;
    else rejected++;
    response.writeHead(isAllowed ? 200 : 403, {
      'content-type': 'application/json',
      'x-ratelimit-limit': LIMIT,
      'x-ratelimit-remaining': LIMIT - used,
      'x-ratelimit-reset': (current + 1) * WINDOW_SECONDS,
      'x-ratelimit-resource': 'core',
    });
    const name = request.url!.slice('/repos/'.length);
    response.end(JSON.stringify(isAllowed ? { name, stars: name.length } : { message: 'API rate limit exceeded' }));
  });
  const { url, close } = await serveLocally(server);
  const stop = () => {
    close();
    return rejected;
  };
  return { url, stop };
}
