import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import {
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type Http2ServerResponse,
} from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { concurrency, MemoryStore, type RateLimiter, type Store } from '@rollgate/core';
import { rateLimit as expressLimit } from '@rollgate/express';
import fastifyLimit from '@rollgate/fastify';
import { rateLimit as nodeLimit } from '@rollgate/node';
import { until } from '@rollgate/test-support';
import { effort, seed } from '@rollgate/test-support/effort';
import { createRandom } from '@rollgate/test-support/random';
import express from 'express';
import Fastify from 'fastify';

/** How many requests each server below decides. */
const REQUESTS = effort(60, 17_000);
const STREAMS_PER_SESSION = effort(10, 100);
const PARALLEL = 8;
const SLOTS = 1_000_000;
const BEHAVIORS = ['hello', 'late', 'never', 'stream', 'events', 'throw'];

let random: () => number;
beforeEach(() => {
  random = createRandom(seed);
});

const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;

type IsDisconnected = () => boolean;

/** A response that ends only when its client has left. */
async function* endless(behavior: string, isDisconnected: IsDisconnected) {
  while (!isDisconnected()) {
    await delay(1);
    yield behavior === 'events' ? 'data: tick\n\n' : 'x'.repeat(10_000);
  }
}

/** Stores whose decisions come at once, and after the client may have left. */
const stores: Record<string, () => Store> = {
  'at once': () => new MemoryStore(),
  later: () => {
    const inner = new MemoryStore();
    const later =
      <Args extends unknown[], Value>(method: (...args: Args) => Value) =>
      async (...args: Args) => {
        await delay(args.length % 3);
        return method.apply(inner, args);
      };
    const { check, peek, refund, release, reset } = inner;
    return {
      check: later(check),
      peek: later(peek),
      refund: later(refund),
      release: later(release),
      reset: later(reset),
    };
  },
};

const optionsWith = (store: Store, onRequest: () => void) => ({
  limits: concurrency({ limit: SLOTS, lease: '1h' }),
  store,
  timeout: '30s',
  key: () => {
    onRequest();
    return 'all';
  },
});

interface Served {
  readonly limiter: RateLimiter;
  readonly server: Server | ReturnType<typeof createHttp2Server>;
}

/** Responds in Express and in plain Node. */
function respond(
  behavior: string,
  response: ServerResponse | Http2ServerResponse,
  isDisconnected: IsDisconnected,
): void {
  if (behavior === 'throw') throw new Error('The handler failed');
  if (behavior === 'hello') response.end('hello');
  if (behavior === 'late') setTimeout(() => response.end('hello'), 2);
  if (behavior === 'stream' || behavior === 'events') {
    pipeline(Readable.from(endless(behavior, isDisconnected)), response as ServerResponse, () => {});
  }
}

const hosts: Record<string, (store: Store, onRequest: () => void) => Promise<Served>> = {
  async Express(store, onRequest) {
    const limit = expressLimit(optionsWith(store, onRequest));
    const app = express().set('env', 'test'); // It logs no errors then.
    app
      .use(limit)
      .get('/:behavior', ({ params, socket }, response) => respond(params.behavior, response, () => socket.destroyed));
    return { limiter: limit.limiter as never, server: createServer(app) };
  },
  async Fastify(store, onRequest) {
    const app = Fastify();
    await app.register(fastifyLimit, optionsWith(store, onRequest));
    app.get<{ Params: { behavior: string } }>('/:behavior', async ({ params: { behavior }, socket }, reply) => {
      const isDisconnected = () => socket.destroyed;
      if (behavior === 'throw') throw new Error('The handler failed');
      if (behavior === 'late') await delay(2);
      if (behavior === 'never') await new Promise(() => {});
      return reply.send(
        behavior === 'hello' || behavior === 'late' ? 'hello' : Readable.from(endless(behavior, isDisconnected)),
      );
    });
    await app.ready();
    return { limiter: app.rateLimiter as never, server: app.server };
  },
  async 'Node, HTTP/2'(store, onRequest) {
    const limit = nodeLimit({
      ...optionsWith(store, onRequest),
      onError: (_error, _request, response) => response.destroy(),
    });
    const handler = limit((request, response: unknown) => {
      const { stream } = response as Http2ServerResponse;
      respond(request.url!.slice(1), response as Http2ServerResponse, () => stream.destroyed || stream.aborted);
    });
    return { limiter: limit.limiter as never, server: createHttp2Server(handler as never) };
  },
};

/** Sends up to three requests in one connection, and cuts it. */
async function abortHttp1(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const requests = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(BEHAVIORS));
  socket.write(requests.map((behavior) => `GET /${behavior} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  const moment = pick(['at once', 'soon', 'reply']);
  if (moment !== 'at once')
    await Promise.race([delay(random() * 5), ...(moment === 'reply' ? [once(socket, 'data')] : [])]);
  if (random() < 0.5) socket.destroy();
  else socket.resetAndDestroy();
  await closed;
}

/** Resets streams of a session, and ends the session, at times before the last streams end. */
async function abortHttp2(port: number): Promise<void> {
  const session = connectHttp2(`http://127.0.0.1:${port}`).on('error', () => {});
  for (let count = 0; count < STREAMS_PER_SESSION && !session.destroyed && !session.closed; count++) {
    const stream = session.request({ ':path': `/${pick(BEHAVIORS)}` }).on('error', () => {});
    const moment = pick(['at once', 'soon', 'reply']);
    if (moment !== 'at once')
      await Promise.race([
        delay(random() * 5),
        ...(moment === 'reply' ? [once(stream, 'response').catch(() => {})] : []),
      ]);
    if (random() < 0.9) stream.close(constants.NGHTTP2_CANCEL);
  }
  if (random() < 0.5) session.destroy();
  else session.close();
  setTimeout(() => session.destroy(), 5);
}

describe.each(Object.keys(hosts))('%s', (host) => {
  test.each(Object.keys(stores))('leaves no slot taken after aborted requests (decisions %s)', async (when) => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    let decided = 0;
    const count = () => {
      decided += 1;
    };
    const { limiter, server } = await hosts[host]!(stores[when]!(), count);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const abort = host.includes('HTTP/2') ? abortHttp2 : abortHttp1;
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        while (decided < REQUESTS) await abort(port);
      }),
    );
    await until('all slots are free', async () => (await limiter.peek('all')).remaining === SLOTS);
    server.close();
    process.off('unhandledRejection', onUnhandled);
    expect(unhandled).toEqual([]);
  });
});
