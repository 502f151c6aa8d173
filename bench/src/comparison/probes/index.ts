import type { Probe } from '../probe.js';
import { clockSkew } from './clock-skew.js';
import { invalidWindow } from './invalid-window.js';
import { ipv6Network } from './ipv6-network.js';
import { keyFlood } from './key-flood.js';
import { lateRefund } from './late-refund.js';
import { longWindow } from './long-window.js';
import { mostInWindow } from './most-in-window.js';
import { oddKey } from './odd-key.js';
import { persistentClient } from './persistent-client.js';
import { redisGrowth } from './redis-growth.js';
import { redisSilent } from './redis-silent.js';
import { redisStopped } from './redis-stopped.js';
import { reportedWait } from './reported-wait.js';
import { requestsAtOnce } from './requests-at-once.js';
import { resetPattern } from './reset-pattern.js';
import { shortWindow } from './short-window.js';
import { timers } from './timers.js';
import { twoLimits } from './two-limits.js';

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
