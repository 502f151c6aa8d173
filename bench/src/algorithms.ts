import { ALGORITHM_HEADERS, HITS_PER_WINDOW, LIMIT } from './algorithms/columns.js';
import { measureKeys, measureTime } from './algorithms/memory.js';
import { measureServerBytes } from './algorithms/redis-bytes.js';
import { measureServer } from './algorithms/redis-load.js';
import type { Effort } from './effort.js';
import type { Algorithm } from './limits.js';
import { withServer } from './redis.js';
import { type Report, whole } from './table.js';

/** Measures each of Rollgate's algorithms in memory and at a private Redis server. */
export async function measureAlgorithms(effort: Effort): Promise<Report<Algorithm>> {
  const rows = [...(await measureKeys(effort.algorithms)), ...(await measureTime(effort.algorithms))];
  await withServer(async (server) => {
    rows.push(...(await measureServerBytes(server)), ...(await measureServer(server, effort.redis.load)));
  });
  return { headers: ALGORITHM_HEADERS, rows, method: describeAlgorithmsMethod(effort) };
}

function describeAlgorithmsMethod({ algorithms, redis: { load } }: Effort): string[] {
  return [
    "In parentheses: the figure divided by rollingWindow's of the same run.",
    '',
    `- **All**: limit ${LIMIT} a minute, tokenBucket with ${LIMIT} tokens and ${LIMIT} more a minute, leakyBucket with a capacity of ${LIMIT} and a start every 600 ms, bucketedWindow with its default of 60 buckets. Every check is allowed.`,
    `- **Memory, bytes**: heap and buffers after garbage collection, in a new process for each figure, with ${whole(algorithms.keys)} IPv4 keys, including their text. An injected clock spreads the ${LIMIT} hits over a minute, so all buckets are in use.`,
    `- **Memory, ns/check**: \`decide\`, not awaited, with an injected clock. 1,000 keys with 90 hits in each window, of which one leaves for each new one. The hits come 10 at once or evenly. When they come evenly, the states of tokenBucket and leakyBucket expire before each check, so they are created again. One process per algorithm, pinned to one core, in turns. Medians of ${algorithms.rounds} rounds of ${whole(algorithms.checksPerKey * 1000)} checks after a warm-up.`,
    `- **Redis, bytes**: \`MEMORY USAGE\` without sampling of the only Redis key, for a key of 20 characters with the default prefix and name. The ${LIMIT} hits are spread over a minute.`,
    `- **Redis, CPU**: measured as in the Redis part. New keys: ${whole(load.keysTogether)} IPv4 keys, each checked twice, on an empty server. Hits in the window: ${whole(load.keysAlone / 4)} keys with ${HITS_PER_WINDOW} hits in every window by an injected clock, each checked 10 times a round. Medians of ${load.rounds} rounds in turns.`,
  ];
}
