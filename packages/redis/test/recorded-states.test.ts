import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
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
