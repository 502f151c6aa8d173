import type { Probe } from '../probe.js';
import { describeOutage } from '../redis-outage.js';

export const redisSilent: Probe = {
  title: 'Redis silent',
  method: 'Does the same with a server that stays connected but never replies.',
  run: (library) => describeOutage(library, (redis) => redis.pause()),
};
