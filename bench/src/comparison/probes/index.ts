import type { Probe } from '../probe.js';
import { invalidWindow, ipv6Network, keyFlood, longWindow, oddKey, timers } from './keys.js';
import { mostInWindow, persistentClient, reportedWait, requestsAtOnce, twoLimits } from './limit.js';
import { redisSilent, redisStopped } from './outages.js';
import { clockSkew, lateRefund, redisGrowth, resetPattern, shortWindow } from './state.js';

/** The tables of the comparison, each with the probes that are its columns, by their names on the command line. */
export const TOPICS = {
  'The limit': {
    'most-in-window': mostInWindow,
    'requests-at-once': requestsAtOnce,
    'persistent-client': persistentClient,
    'two-limits': twoLimits,
    'reported-wait': reportedWait,
  },
  'Keys and memory': {
    'key-flood': keyFlood,
    timers,
    'ipv6-network': ipv6Network,
    'odd-key': oddKey,
    'long-window': longWindow,
    'invalid-window': invalidWindow,
  },
  'Redis outages': {
    'redis-stopped': redisStopped,
    'redis-silent': redisSilent,
  },
  'State in Redis': {
    'clock-skew': clockSkew,
    'redis-growth': redisGrowth,
    'short-window': shortWindow,
    'late-refund': lateRefund,
    'reset-pattern': resetPattern,
  },
} satisfies Record<string, Record<string, Probe>>;

type Topics = typeof TOPICS;
export type ProbeName = { [Topic in keyof Topics]: keyof Topics[Topic] }[keyof Topics];

export const PROBES = Object.assign({}, ...Object.values(TOPICS)) as Readonly<Record<ProbeName, Probe>>;

export const PROBE_NAMES = Object.keys(PROBES) as ProbeName[];
