import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

type Counts = Record<'TickObject' | 'Timeout' | 'Immediate' | 'PROMISE' | 'listener', number>;
type Variant = 'bare' | 'memory' | 'later';

/** What a store that replies later costs by itself: the promise of its `async` method, and two of the timeout that guards it. */
const PROMISES_OF_STORE = 3;
/**
 * The promises that a framework adds for a middleware that returns a promise: Express 5 calls `then`, Koa's promise resolves with
 * that of the handlers, and Hono awaits both.
 */
const PROMISES_OF_FRAMEWORK: Record<string, number> = { express: 1, fastify: 0, koa: 1, node: 0, hono: 2 };

let counts: Record<string, Record<Variant, Counts>>;
beforeAll(async () => {
  const script = join(__dirname, 'support/count-async-resources.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd: join(__dirname, '..') });
  counts = JSON.parse(stdout);
});

test.each(Object.keys(PROMISES_OF_FRAMEWORK))(
  'an allowed request to %s costs nothing asynchronous with a store in memory',
  (host) => {
    const { bare, memory } = counts[host]!;
    const ofExpress = host === 'express' ? PROMISES_OF_FRAMEWORK[host]! : 0; // It also calls `then` of a promise that has resolved.
    expect(memory).toEqual({ ...bare, PROMISE: bare.PROMISE + ofExpress });
  },
);

test.each(Object.entries(PROMISES_OF_FRAMEWORK))(
  'an allowed request to %s costs one promise with a store that replies later',
  (host, ofFramework) => {
    const { bare, later } = counts[host]!;
    expect(later.PROMISE - bare.PROMISE - PROMISES_OF_STORE - ofFramework).toBeLessThanOrEqual(1);
    expect(later.listener).toBe(bare.listener);
  },
);
