import { createHash } from 'node:crypto';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();
const MAX_LENGTH = 2 ** 20;
const WINDOW_MICROS = 3_600_000_000;
const NOW_MS = 1e9;

const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');

const hitTime = Buffer.alloc(7);
hitTime.writeUIntBE((NOW_MS - 1000) * 1000, 1, 6);

/** A packed log of plain hits, all of one time, that has room for `free` more bytes in a string of `MAX_LENGTH`. */
function fullLog(free: number): Buffer {
  const count = Math.floor((MAX_LENGTH - free - 32) / 7);
  const rest = Buffer.alloc(18);
  rest.writeUIntBE(WINDOW_MICROS, 1, 6);
  rest.writeUInt32BE(count, 11);
  rest.writeUInt8(0xf8, 17);
  return Buffer.concat([Buffer.alloc(7 * (count + 2), hitTime), rest]);
}

/** The same with hits that have totals. */
function fullLogWithTotals(free: number): Buffer {
  const count = Math.floor((MAX_LENGTH - free - 45) / 14);
  const hits = Array.from({ length: count }, (_, index) => {
    const total = Buffer.alloc(7);
    total.writeUIntBE(index + 1, 1, 6);
    return Buffer.concat([hitTime, total]);
  });
  const rest = Buffer.alloc(18);
  rest.writeUIntBE(WINDOW_MICROS, 1, 6);
  rest.writeUInt32BE(count, 11);
  rest.writeUInt8(0xf9, 17);
  return Buffer.concat([...hits, Buffer.alloc(13), hitTime, hitTime, rest]);
}

test.each([
  ['a plain hit', { cost: 1, log: fullLog }, {}],
  ['a hit with a cost', { cost: 2, log: fullLog }, {}],
  ['a hit with a cost after others', { cost: 2, log: fullLogWithTotals }, {}],
  ['a hit of a limit that counts rejections', { cost: 1, log: fullLog }, { countRejected: true }],
] as const)('a check records %s in all logs or in none when one log is too long', async (_, { cost, log }, extra) => {
  const client = redis.connect();
  await redis.server.run('CONFIG', 'SET', 'proto-max-bulk-len', MAX_LENGTH);
  const prefix = freshPrefix();
  const store = new RedisStore({ client, clock: { now: () => NOW_MS }, denialCache: false });
  const limits = {
    short: rollingWindow({ limit: 1e6, window: '1h', ...extra }),
    long: rollingWindow({ limit: 1e6, window: '1h', ...extra }),
  };
  const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s', onStoreError: 'throw' });
  const keys = [`${prefix}:{ann}:short`, `${prefix}:{ann}:long`] as const;
  await client.set(keys[1], log(60));
  expect(await limiter.check('ann', { cost })).toMatchObject({ allowed: true });
  await client.set(keys[1], log(0));
  const digests = () => Promise.all(keys.map(async (key) => sha1((await client.getBuffer(key))!)));
  const before = await digests();
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(limiter.check('ann', { cost })).rejects.toThrow(/proto-max-bulk-len/);
  }
  expect(await digests()).toEqual(before);
  expect(await limiter.peek('ann', { cost })).toMatchObject({ allowed: true });
});

test.each([1, 2])('a check of cost %d that another limit rejects succeeds when a log is too long', async (cost) => {
  const client = redis.connect();
  await redis.server.run('CONFIG', 'SET', 'proto-max-bulk-len', MAX_LENGTH);
  const prefix = freshPrefix();
  const store = new RedisStore({ client, clock: { now: () => NOW_MS }, denialCache: false });
  const limits = { full: rollingWindow({ limit: 1, window: '1h' }), long: rollingWindow({ limit: 1e6, window: '1h' }) };
  const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
  expect(await limiter.check('ann')).toMatchObject({ allowed: true });
  await client.set(`${prefix}:{ann}:long`, fullLog(0));
  expect(await limiter.check('ann', { cost })).toMatchObject({ allowed: false, violated: ['full'], degraded: false });
});
