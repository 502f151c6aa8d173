import type { Probe } from '../probe.js';
import { describeOutage } from '../redis-outage.js';

export const redisStopped: Probe = {
  title: 'Redis stopped',
  method:
    'Stops the Redis server, sends 15 requests at once with a limit of 10, and waits up to 15 seconds for the decisions.',
  run: (library) => describeOutage(library, (redis) => redis.stop()),
};
