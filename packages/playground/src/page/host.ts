import { MemoryStore } from '@rollgate/core';
import { rateLimit } from '@rollgate/web';
import { createClock, type Settings, toLimit } from '../race.js';

/** Whether the page comes from a server that decides, and not from a folder of files. The bundler replaces it. */
declare const HAS_SERVER: boolean;
export const hasServer = HAS_SERVER;

/** Sends a request to the limiter of the settings. */
export type Send = (atMs: number) => Promise<Response>;

/** Creates a client with its own quota, of a limiter in the page or of the server. */
export const createSend = (settings: Settings, isLocal: boolean): Send =>
  isLocal ? createLocalSend(settings) : createServerSend(settings);

function createServerSend({ algorithm, limit, windowMs, minDifferenceMs }: Settings): Send {
  const query = new URLSearchParams({
    ...{ algorithm, limit: String(limit), windowMs: String(windowMs), minDifferenceMs: String(minDifferenceMs) },
    client: crypto.randomUUID(),
  });
  return () => fetch(`hit?${query}`, { method: 'POST' });
}

/** The middleware of @rollgate/web, which runs in the page. Its clock shows the time of the request. */
function createLocalSend(settings: Settings): Send {
  const clock = createClock(settings);
  const limit = rateLimit({
    limits: toLimit(settings),
    key: () => 'visitor',
    store: new MemoryStore({ clock }),
    headers: 'all',
  });
  const handle = limit(() => new Response('{"allowed":true}', { headers: { 'Content-Type': 'application/json' } }));
  return async (atMs) => {
    clock.set(atMs);
    return handle(new Request('https://example.com/hit', { method: 'POST' }));
  };
}
