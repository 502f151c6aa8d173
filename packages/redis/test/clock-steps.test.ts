import type { Clock } from '@rollgate/core';
import { type IoredisClient, RedisStore } from '@rollgate/redis';
import { checks } from '@rollgate/store-conformance';
import type { Redis } from 'ioredis';
import { createScriptEditingClient, replaceParts } from './support/script-editing-client.js';
import { LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** In the year 2100, so that Redis expires no key during a test. */
const START_SECONDS = 47_482 * 86_400;

/** A client whose scripts take this clock for the server's. */
function createServerClockClient(client: Redis, clock: Clock): IoredisClient {
  const edited = createScriptEditingClient(
    client,
    replaceParts([
      "values, time = ARGV, redis.call('TIME')",
      "values, time = ARGV, { redis.call('GET', 'test:seconds'), redis.call('GET', 'test:micros') }",
    ]),
  );
  const setTime = () => {
    const micros = Math.round(clock.now() * 1000);
    const seconds = START_SECONDS + Math.floor(micros / 1e6);
    return client.mset('test:seconds', seconds, 'test:micros', micros % 1e6);
  };
  return {
    ...edited,
    evalsha: (...given: Parameters<typeof edited.evalsha>) => setTime().then(() => edited.evalsha(...given)),
  };
}

describe.each(LOGS)('when the clock of the server steps, a store with the log %s', (log) => {
  const makeStore = (clock: Clock) =>
    new RedisStore({ client: createServerClockClient(redis.client, clock), log, denialCache: false });
  // Some of the others expect that operations share a microsecond.
  const all = checks(makeStore, log === 'packed' ? {} : { algorithms: ['rollingWindow'] });
  const own = all.filter(({ name, leftOut }) => / clock step/.test(name) && leftOut === undefined);
  test.each(own)('$name', ({ run }) => run());
});
