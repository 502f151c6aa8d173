import type { LibraryName } from './libraries/index.js';

/**
 * What no program observes. A person has taken it from the documentation of the compared versions, and has to look again when
 * the versions change.
 */
export interface Facts {
  /** How many algorithms, and which. */
  readonly algorithms: string;
  /** The frameworks that it has code for. */
  readonly frameworks: string;
  readonly stores: string;
  /** Whether it limits on platforms that reach Redis only over HTTP. */
  readonly edge: string;
}

export const FACT_TITLES: Readonly<Record<keyof Facts, string>> = {
  algorithms: 'algorithms',
  frameworks: 'frameworks',
  stores: 'stores',
  edge: 'edge runtimes (Redis over HTTP)',
};

const NO_FRAMEWORK = 'none: you call it yourself';

export const FACTS: Readonly<Record<LibraryName, Facts>> = {
  rollgate: {
    algorithms: '8: see [Algorithms](algorithms.md)',
    frameworks: 'Express, Fastify, Hono, Koa, NestJS, `node:http`, Fetch handlers',
    stores: 'memory, Redis, PostgreSQL, SQLite, your own store',
    edge: 'yes',
  },
  'express-rate-limit': {
    algorithms: '1: fixed window',
    frameworks: 'Express',
    stores: 'memory, others in separate packages',
    edge: 'no',
  },
  '@fastify/rate-limit': {
    algorithms: '1: fixed window',
    frameworks: 'Fastify',
    stores: 'memory, Redis, your own class',
    edge: 'no',
  },
  'hono-rate-limiter': {
    algorithms: '1: fixed window',
    frameworks: 'Hono',
    stores: 'memory, Redis, unstorage, Cloudflare',
    edge: 'yes',
  },
  '@nestjs/throttler': {
    algorithms: '1: sliding window log, with a block',
    frameworks: 'NestJS',
    stores: 'memory, others from third parties',
    edge: 'no',
  },
  'rate-limiter-flexible': {
    algorithms: '1: fixed window, with bursts and a queue',
    frameworks: NO_FRAMEWORK,
    stores: 'memory, Redis, ten others',
    edge: 'no',
  },
  'rolling-rate-limiter': {
    algorithms: '1: sliding window log',
    frameworks: NO_FRAMEWORK,
    stores: 'memory, Redis',
    edge: 'no',
  },
  'sliding-window-rate-limiter': {
    algorithms: '1: sliding window log',
    frameworks: NO_FRAMEWORK,
    stores: 'memory, Redis',
    edge: 'no',
  },
  '@upstash/ratelimit': {
    algorithms: '3: fixed window, sliding window, token bucket',
    frameworks: NO_FRAMEWORK,
    stores: 'Upstash Redis',
    edge: 'yes',
  },
  limiter: {
    algorithms: '2: token bucket and interval counter',
    frameworks: NO_FRAMEWORK,
    stores: 'memory',
    edge: 'no',
  },
};
