import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

type Counts = Record<'TickObject' | 'Timeout' | 'Immediate' | 'PROMISE' | 'listener', number>;
type Variant = 'bare' | 'memory' | 'later';
const HOSTS = ['express', 'fastify', 'koa', 'node', 'hono'];

/** What a store that replies later costs by itself: the promise of its `async` method, and the one that guards it by a timeout. */
const PROMISES_OF_STORE = 2;
/** Hono's middleware gets a promise of everything after it, and continues when that has settled. */
const PROMISES_OF_HONO = 2;

let counts: Record<string, Record<Variant, Counts>>;
beforeAll(async () => {
  const script = join(__dirname, 'support/count-async-resources.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd: join(__dirname, '..') });
  counts = JSON.parse(stdout);
});

test.each(HOSTS)('an allowed request to %s costs nothing asynchronous with a store in memory', (host) => {
  expect(counts[host]!.memory).toEqual(counts[host]!.bare);
});

test.each(HOSTS)('an allowed request to %s costs one promise with a store that replies later', (host) => {
  const { bare, later } = counts[host]!;
  expect(later.PROMISE - bare.PROMISE - PROMISES_OF_STORE).toBeLessThanOrEqual(1);
});
