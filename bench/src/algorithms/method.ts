import type { Effort } from '../effort.js';
import { whole } from '../table.js';
import { HITS_PER_WINDOW, LIMIT } from './columns.js';

/** How the figures came about, for who reads the table. */
export function describeAlgorithmsMethod({ algorithms, redis: { load } }: Effort): string[] {
  return [
    "In parentheses: the figure divided by rollingWindow's of the same run.",
    '',
    `- **All**: limit ${LIMIT} a minute, tokenBucket with ${LIMIT} tokens and ${LIMIT} more a minute, leakyBucket with ${LIMIT} places and one leaving every 600 ms, bucketedWindow with its default of 60 buckets; every check allowed.`,
    `- **Memory, bytes**: heap and buffers after garbage collection, in a fresh process for each figure, with ${whole(algorithms.keys)} IPv4 keys; the key's text counts. The ${LIMIT} hits are spread over a minute by an injected clock, so that all buckets are in use.`,
    `- **Memory, ns/check**: \`decide\`, not awaited, under an injected clock; 1,000 keys with 90 hits in each one's window, for one of which that comes one leaves: nine times 10 at once, or evenly, when tokenBucket and leakyBucket have forgotten a key each time that it comes, and make it anew. A process for each algorithm, pinned to one core, in turns; medians of ${algorithms.rounds} rounds of ${whole(algorithms.checksPerKey * 1000)} checks after one that warms up.`,
    `- **Redis, bytes**: \`MEMORY USAGE\` of the one key that there is, with no sampling, of a user's key of 20 characters under the default prefix and name; the ${LIMIT} hits are spread over a minute.`,
    `- **Redis, CPU**: as the Redis part does it. New keys: ${whole(load.keysTogether)} IPv4 keys, each checked twice, on an empty server. Hits in the window: ${whole(load.keysAlone / 4)} keys, which an injected clock gives ${HITS_PER_WINDOW} hits in every window, each checked 10 times a round. Medians of ${load.rounds} rounds in turns.`,
  ];
}
