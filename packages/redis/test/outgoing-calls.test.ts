import { setImmediate } from 'node:timers/promises';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { describeOutgoingCalls, type SharedStores } from '@rollgate/test-support/describe-outgoing-calls';
import { PrivateRedis } from './support/private-redis.js';

const redis = PrivateRedis.forThisFile();

/** Two stores with their own connections. */
async function createStores(hasSubscriber: boolean): Promise<SharedStores> {
  const clients = [redis.connect(), redis.connect()] as const;
  const subscribers = hasSubscriber ? clients.map(() => redis.connect()) : [];
  const [one, other] = clients.map((client, index) => {
    const subscriber = subscribers[index];
    return new RedisStore({
      client,
      waiting: fairWaiting(subscriber === undefined ? { lease: '1s' } : { subscriber }),
    });
  });
  await Promise.all([
    ...clients.map((client) => client.ping()),
    ...subscribers.map((client) => client.subscribe('warm')),
  ]);
  return {
    stores: [one!, other!],
    async arrive() {
      // The store sends what this turn of the event loop has called, and again when Redis does not know the script yet.
      for (let roundTrip = 0; roundTrip < 3; roundTrip++) {
        await setImmediate();
        await Promise.all(clients.map((client) => client.ping()));
      }
    },
  };
}

describeOutgoingCalls('Redis', () => createStores(true));
describeOutgoingCalls('Redis, without a subscriber', () => createStores(false));
