import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { calendarWindow } from '@rollgate/calendar';
import * as core from '@rollgate/core';
import * as storeApi from '@rollgate/core/store';
import * as redisApi from '@rollgate/redis';
import { PrivateRedis } from './support/private-redis.js';
import { continueHistory } from './support/recorded-history.js';
import { LOGS, openCustom, openRedis, writeRedis } from './support/recorded-states.js';

const FOLDER = join(__dirname, 'recorded-states');
const redis = PrivateRedis.forThisFile();

describe.each(readdirSync(FOLDER))('states of %s', (name) => {
  const recorded = JSON.parse(gunzipSync(readFileSync(join(FOLDER, name))).toString());

  test.each(LOGS)('continue in Redis with the log %s', async (log) => {
    const client = redis.connect();
    const { states, decided } = recorded.redis[log];
    await writeRedis(client, states);
    expect(await continueHistory(core, openRedis(redisApi, client, log))).toEqual(decided);
  });

  test('continue in a store of createStore', async () => {
    const { states, decided } = recorded.custom;
    expect(await continueHistory(core, openCustom(storeApi, new Map(states)))).toEqual(decided);
  });

  test('matter to the decisions', async () => {
    expect(await continueHistory(core, openCustom(storeApi, new Map()))).not.toEqual(recorded.custom.decided);
  });
});

// A credit with `beyond` has added units to a quota of 10 a month.
test.each([
  ['spent', undefined, '4319860750716e784319861cd47e000040140000000000006a4010000000000000', 14],
  [
    'reserved',
    '1m',
    '4319860750725cec4319861cd47e0000401c0000000000006a40180000000000004319822c05c14ae04319822c13d25de0401c000000000000' +
      '4319822c058441e44319822c13d25de040000000000000004319822c05c14ae04319822c140f66e04014000000000000',
    16,
  ],
] as const)('a month with added units, some of them %s, continues', async (prefix, lease, state, limit) => {
  const client = redis.connect();
  const clock = core.manualClock(1_795_000_001_123);
  const store = new redisApi.RedisStore({ client, clock, denialCache: false });
  const limits = calendarWindow({ limit: 10, period: 'month', lease });
  const limiter = new core.RateLimiter({ limits, store, prefix, timeout: '30s' });
  await writeRedis(client, [[`${prefix}:{ann}:default/cw`, state]]);
  expect(await limiter.peek('ann')).toMatchObject({ limit, remaining: 9, resetMs: 1_083_198_877 });
  clock.advance('1m'); // All reservations end.
  const used = lease === undefined ? 5 : 0;
  expect(await limiter.check('ann')).toMatchObject({ limit, remaining: limit - used - 1 });
  clock.advance('30d');
  expect(await limiter.peek('ann')).toMatchObject({ limit: 10, remaining: 10 });
  await limiter.close();
});
