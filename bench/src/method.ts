import type { Effort } from './effort.js';
import { whole } from './table.js';
import { canPin } from './worker.js';

/** How the figures came about, for who reads the table. */
export function describeMethod({ memory, http, bytes, scaling }: Effort): string[] {
  const pinning = canPin
    ? 'the server pinned to one core, the load (autocannon, 50 connections kept alive) to another'
    : 'server and load (autocannon, 50 connections kept alive) NOT pinned to cores of their own: the figures scatter more';
  return [
    "In parentheses: Rollgate's figure divided by this one. All figures are of this run.",
    '',
    `- **Memory**: limit 100 a minute, ${whole(memory.keys)} IPv4 keys in turn (rolling-rate-limiter, being slow: ${whole(memory.keys / 5)}), each call awaited. Filling: a fresh store, 100 checks for each key. Long mix: 300 for each, so two of three are refused. A process for each library, in turns; medians of ${memory.rounds} rounds after one that warms up. @fastify/rate-limit: its LocalStore, with room for all keys.`,
    `- **HTTP**: each server in a process of its own, ${pinning}. CPU: user and system time of the server process during ${whole(http.express.round)} (Express) or ${whole(http.fastify.round)} (Fastify) requests; "added" is the median, over ${http.rounds} rounds in turns of each of ${http.starts} starts, of the difference to the bare route in the same round; after each start a warm-up of ${whole(http.express.warmUp)} or ${whole(http.fastify.warmUp)} requests. One client address. Allowed: a limit that is not reached; refused: one that was reached before.`,
    `- **Bytes**: heap and buffers after garbage collection, in a fresh process for each figure, with ${whole(bytes.keysOfOneHit)} keys of 1 hit, ${whole(bytes.keysOfHundredHits)} of 100; the key's text counts.`,
    `- **Ours, ns/check**: \`decide\`, not awaited, under an injected clock, medians of ${scaling.rounds} rounds. Log full, 10 keys: for each new hit one leaves the window (allowed), or 100 are tried for each that leaves (refused, 1 in 100 allowed). Over keys: 5 hits in each key's window.`,
  ];
}
