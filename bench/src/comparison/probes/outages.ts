import { setTimeout as sleep } from 'node:timers/promises';
import type { Library } from '../library.js';
import { PrivateRedis } from '../private-redis.js';
import type { Probe } from '../probe.js';

export const redisStopped: Probe = {
  title: 'Redis stopped',
  method:
    'Stops the Redis server, sends 15 requests at once with a limit of 10, and waits up to 15 seconds for the decisions. Reports "still limited" if some of the requests are allowed and the others rejected. The Redis clients have their default options, too. Some libraries have options for outages that are off by default, such as `insuranceLimiter` of rate-limiter-flexible.',
  run: (library) => describeOutage(library, (redis) => redis.stop()),
};

export const redisSilent: Probe = {
  title: 'Redis silent',
  method: 'Does the same with a server that stays connected but never replies.',
  run: (library) => describeOutage(library, (redis) => redis.pause()),
};

const LIMIT = 10;
/** Above the limit, so that a limiter that still limits rejects some. */
const CHECKS = 15;
const PATIENCE_MS = 15_000;

/** Uses Redis, starts the outage, and describes what a limiter does then, with the default options of both it and its client. */
async function describeOutage(
  library: Library,
  startOutage: (redis: PrivateRedis) => unknown,
): Promise<string | undefined> {
  if (library.inRedis === undefined) return undefined;
  const redis = await PrivateRedis.start();
  const limiter = await library.inRedis({ limit: LIMIT, windowMs: 3_600_000 }, redis);
  await limiter.check('192.0.2.1');
  await startOutage(redis);

  const start = performance.now();
  const checks = Array.from({ length: CHECKS }, () => limiter.check('192.0.2.1'));
  const settled = await Promise.race([Promise.allSettled(checks), sleep(PATIENCE_MS, undefined)]);
  if (settled === undefined) return `no reply in ${PATIENCE_MS / 1000} s`;
  const ms = performance.now() - start;
  const results = settled.map((result) => (result.status === 'fulfilled' ? result.value.allowed : 'error'));
  return `${describe(results)}, ${ms < 1000 ? 'within 1 s' : `after ${Math.round(ms / 1000)} s`}`;
}

function describe(results: readonly (boolean | 'error')[]): string {
  if (results.every((result) => result === 'error')) return 'error';
  if (results.every((result) => result === true)) return 'all allowed';
  if (results.every((result) => result === false)) return 'all rejected';
  return results.includes('error') ? 'some errors' : 'still limited';
}
