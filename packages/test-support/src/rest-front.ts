import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Redis } from 'ioredis';

/** An HTTP front of a Redis server, with the protocol of Upstash. */
export interface RestFront {
  readonly url: string;
  readonly token: string;
  /** The number of HTTP requests so far. */
  readonly requests: () => number;
  /** Closes the connections of this many requests after Redis has executed them, before the response. */
  dropResponses(count: number): void;
  /** Sends this to every request from now on, and nothing to Redis. Sends no response for `'none'`. */
  replaceResponses(response: FixedResponse | 'none'): void;
  /** Ends {@link replaceResponses}. */
  restoreResponses(): void;
  stop(): Promise<void>;
}

/** What the front sends instead of Redis's result. */
export interface FixedResponse {
  readonly status: number;
  readonly body: string;
}

type Command = [name: string, ...args: (string | number)[]];
type Result = { readonly result: unknown } | { readonly error: string };

const TOKEN = 'the token';

/** Starts a front of a Redis server on a free port. */
export async function startRestFront(redisUrl: string): Promise<RestFront> {
  const redis = new Redis(redisUrl).on('error', () => {}); // The next request fails.
  let requests = 0;
  let toDrop = 0;
  let replacement: FixedResponse | 'none' | undefined;
  const server = createServer(async (request, response) => {
    requests += 1;
    const body = await json(request);
    if (replacement === 'none') return;
    if (replacement !== undefined) {
      response.statusCode = replacement.status;
      response.end(replacement.body);
      return;
    }
    const run = (command: Command) => runCommand(redis, command, request.headers);
    const isPipeline = request.url === '/pipeline';
    const result = isPipeline ? await Promise.all((body as Command[]).map(run)) : await run(body as Command);
    if (toDrop > 0) {
      toDrop -= 1;
      request.socket.destroy();
      return;
    }
    response.statusCode = 'error' in result ? 400 : 200;
    response.end(JSON.stringify(result));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    requests: () => requests,
    dropResponses: (count) => {
      toDrop = count;
    },
    replaceResponses: (response) => {
      replacement = response;
    },
    restoreResponses: () => {
      replacement = undefined;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      redis.disconnect();
    },
  };
}

async function runCommand(redis: Redis, [name, ...args]: Command, headers: IncomingHttpHeaders): Promise<Result> {
  if (headers.authorization !== `Bearer ${TOKEN}`) return { error: 'WRONGPASS invalid or missing auth token' };
  try {
    return { result: encode(await redis.call(name, ...args), headers['upstash-encoding'] === 'base64') };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function encode(value: unknown, isBase64: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => encode(one, isBase64));
  return typeof value === 'string' && isBase64 ? Buffer.from(value).toString('base64') : value;
}
