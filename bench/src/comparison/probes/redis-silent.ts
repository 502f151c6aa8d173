import type { Probe } from '../probe.js';
import { describeOutage } from '../redis-outage.js';

export const redisSilent: Probe = {
  title: 'Redis silent',
  method: 'The same, with a server that stays connected and replies to nothing.',
  run: (library) => describeOutage(library, (redis) => redis.pause()),
};
