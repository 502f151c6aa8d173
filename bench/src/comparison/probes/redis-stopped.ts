import type { Probe } from '../probe.js';
import { describeOutage } from '../redis-outage.js';

export const redisStopped: Probe = {
  title: 'Redis stopped',
  method:
    'Stops the Redis server, sends 15 requests at once with a limit of 10, and waits up to 15 seconds for the decisions. Reports "still limited" if some of the requests are allowed and the others rejected. The Redis clients have their default options, too. Some libraries have options for outages that are off by default, such as `insuranceLimiter` of rate-limiter-flexible.',
  run: (library) => describeOutage(library, (redis) => redis.stop()),
};
