import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { cachedLimits } from '@rollgate/core/cached-limits';
import { usageWarnings } from '@rollgate/core/observe';
import { refundInBackground } from '@rollgate/core/store';
import { rateLimit } from '@rollgate/express';
import { createFetch } from '@rollgate/fetch';
import { CHANNELS } from '@rollgate/test-support/channels';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import express from 'express';

const ROOT = join(__dirname, '..');
const page = readFileSync(join(ROOT, 'docs/observe.md'), 'utf8');

const membersIn = (text: string) => Array.from(text.matchAll(/^\| `(\w+)` +\|/gm), ([, member]) => member!);
const sections = page.split(/^### /m);
const sectionOf = (title: string) => sections.find((section) => section.split('\n', 1)[0]!.includes(title))!;
const ofLimiters = membersIn(sectionOf('Events of a limiter'));

/** The members that the page lists for a channel's events, some of which stand once for all limiters. */
function membersOf(channel: string): string[] {
  const section = sectionOf(`\`${channel}\``);
  const shared = section.includes('](#events-of-a-limiter)') ? ofLimiters : [];
  return [...shared, ...membersIn(section)].sort();
}

const heard = new Map<string, object[]>(CHANNELS.map((channel) => [channel, []]));
const listeners = CHANNELS.map((channel) => {
  const note = (event: unknown) => void heard.get(channel)!.push(event as object);
  return [channel, note] as const;
});
beforeAll(() => {
  for (const [channel, note] of listeners) subscribe(channel, note);
});
// The channels are the process's, in which tests of millions of checks may follow.
afterAll(() => {
  for (const [channel, note] of listeners) unsubscribe(channel, note);
});

test('the page documents every channel and no other', () => {
  const sources = ['core', 'http', 'fetch', 'redis', 'express', 'fastify'].flatMap((name) =>
    readdirSync(join(ROOT, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(ROOT, 'packages', name, 'src', file), 'utf8')),
  );
  const published = sources.flatMap((source) => [...source.matchAll(/channel\('([^']+)'\)/g)].map(([, name]) => name));
  expect(published.sort()).toEqual(CHANNELS);
  expect([...page.matchAll(/^\| `(rollgate:[\w:]+)` /gm)].map(([, name]) => name).sort()).toEqual(CHANNELS);
});

test('the events have the documented members', async () => {
  const members = (channel: string) => [...new Set(heard.get(channel)!.flatMap((event) => Object.keys(event)))].sort();

  const app = express();
  app.use(rateLimit({ limit: 1, window: '1m', skip: ({ path }) => path === '/health' }));
  app.use((_request, response) => {
    response.end();
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const path of ['/', '/', '/health']) await fetch(url + path);
  server.close();
  for (const [channel, count] of [
    ['rollgate:decision', 2],
    ['rollgate:rejection', 1],
    ['rollgate:request', 2],
  ] as const) {
    expect(heard.get(channel)).toHaveLength(count);
    expect(members(channel)).toEqual(membersOf(channel));
  }
  expect(heard.get('rollgate:rejection')![0]).toBe(heard.get('rollgate:decision')![1]);

  const stop = usageWarnings({ warnAt: 0.5 });
  await new RateLimiter({ limits: '1/1m' }).check('ann');
  stop();
  expect(heard.get('rollgate:threshold')).toHaveLength(1);
  expect(members('rollgate:threshold')).toEqual(membersOf('rollgate:threshold'));

  const headers = { 'retry-after': '30' };
  const api = createFetch({ retry: false, fetch: async () => new Response(null, { headers, status: 429 }) });
  await api(url);
  const waiting = api(url).catch(() => {});
  while (heard.get('rollgate:fetch:wait')!.length === 0) await flushPromises();
  api.close();
  await waiting;
  for (const channel of ['rollgate:fetch:response', 'rollgate:fetch:wait']) {
    expect(heard.get(channel)).toHaveLength(1);
    expect(members(channel)).toEqual(membersOf(channel));
  }

  await cachedLimits({
    load: () => {
      throw new Error('down');
    },
    defaultLimits: '1/1m',
  })('ann');
  expect(heard.get('rollgate:limits:failure')).toHaveLength(1);
  expect(members('rollgate:limits:failure')).toEqual(membersOf('rollgate:limits:failure'));

  const queue = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }) });
  refundInBackground(queue, { ...(await queue.check('ann')) });
  await flushPromises();
  expect(heard.get('rollgate:refund:failure')).toHaveLength(1);
  expect(members('rollgate:refund:failure')).toEqual(membersOf('rollgate:refund:failure'));

  const memory = new MemoryStore();
  let isBroken = true;
  const store: Store = {
    check: (...args) => (isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(memory.check(...args))),
    peek: (...args) => memory.peek(...args),
    refund: (receipt) => memory.refund(receipt),
    reset: (...args) => memory.reset(...args),
  };
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store, onStoreError: 'allow' });
  await limiter.check('ann');
  await limiter.peek('ann');
  expect((await limiter.check('ann')).degraded).toBe('allow');
  isBroken = false;
  while (heard.get('rollgate:store:recovery')!.length === 0) {
    await limiter.check('ann');
    await flushPromises();
  }
  for (const channel of ['rollgate:store:failure', 'rollgate:store:recovery']) {
    expect(heard.get(channel)).toHaveLength(1);
    expect(members(channel)).toEqual(membersOf(channel));
  }
  expect(heard.get('rollgate:store:recovery')![0]).toMatchObject({ failures: 2, part: '' });
});
