import { RedisServer } from '@rollgate/test-support';
import { measureRounds, perRound, type Subject } from '../http/rounds.js';
import { FRAMEWORKS } from '../http/subjects.js';
import { median } from '../statistics.js';
import { canPin } from '../worker.js';
import type { PlainRow } from './row.js';

/** A server may be faster or slower for good from its start on, so each starts three times. */
const EFFORT = { starts: 3, rounds: 4, roundMs: 400, warmUpMs: 1_500 };
const LOAD_CORE = 1;

const ALLOWED = ['none', 'rollgate on Redis', 'alternative on Redis'] as const;

/** Compares what a limiter on Redis adds to a server's processor time for each request. */
export async function measurePlainHttp(): Promise<PlainRow[]> {
  const redis = await RedisServer.start(canPin ? { core: LOAD_CORE } : {});
  try {
    return [await measureFramework('express', redis.url), await measureFramework('fastify', redis.url)];
  } finally {
    await redis.stop();
  }
}

async function measureFramework(framework: 'express' | 'fastify', redisUrl: string): Promise<PlainRow> {
  const limiters = { allowed: ALLOWED, rejected: [] };
  const [bare, rollgate, alternative] = await measureRounds(framework, limiters, EFFORT, true, redisUrl);
  const added = (subject: Subject) => median(perRound(subject, bare!, (one, other) => one - other));
  const { title, alternative: name } = FRAMEWORKS[framework];
  return {
    what: `${title} on Redis, CPU added against ${name} on Redis`,
    value: added(rollgate!) / added(alternative!),
    bar: ['at most', 0.4],
  };
}
