import { RedisStore } from '@rollgate/redis';
import { checks } from '@rollgate/store-conformance';
import { LOGS, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

// The conformance suite contains these, too, and takes minutes. A defect in a script shows here within a second.
describe.each(LOGS)('with the log %s', (log) => {
  const all = checks((clock) => new RedisStore({ client: redis.client, clock, log, denialCache: false }), {
    closeStore: () => {},
  });
  for (const { name, run } of all) if (name.endsWith('vectors specify')) test(name, run);
});
