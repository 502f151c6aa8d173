import type { Effort } from './effort.js';
import { whole } from './table.js';
import { canPin } from './worker.js';

/** Describes how the benchmark measured the figures of the table. */
export function describeMethod({ memory, http, bytes, scaling }: Effort): string[] {
  const pinning = canPin
    ? 'the server pinned to one core, the load (autocannon, 50 connections kept alive) to another'
    : 'server and load (autocannon, 50 connections kept alive) NOT pinned to separate cores, so the figures scatter more';
  return [
    "In parentheses: Rollgate's figure divided by this one. All figures are from this run.",
    '',
    `- **Memory**: limit 100 a minute, ${whole(memory.keys)} IPv4 keys in turn (${whole(memory.keys / 5)} for rolling-rate-limiter, which is slow), each call awaited. Filling: a new store, 100 checks per key. Long mix: 300 checks per key, so two of three are rejected. One process per library, in turns. Medians of ${memory.rounds} rounds after a warm-up. @fastify/rate-limit: its LocalStore, with room for all keys.`,
    `- **HTTP**: each server in a separate process, ${pinning}. CPU: user and system time of the server process during ${whole(http.express.round)} (Express) or ${whole(http.fastify.round)} (Fastify) requests; "added" is the median difference from the bare route in the same round, over ${http.starts} starts with ${http.rounds} rounds each. Each start begins with a warm-up of ${whole(http.express.warmUp)} or ${whole(http.fastify.warmUp)} requests. One client address. Allowed: the requests never reach the limit. Rejected: earlier requests have reached it.`,
    `- **Bytes**: heap and buffers after garbage collection, in a new process for each figure, with ${whole(bytes.keysOfOneHit)} keys of 1 hit or ${whole(bytes.keysOfHundredHits)} keys of 100 hits, including the keys' text.`,
    `- **Rollgate, ns/check**: \`decide\`, not awaited, with an injected clock. Medians of ${scaling.rounds} rounds. Log full: 10 keys, one check for each hit that leaves the window (allowed), or 100 checks for each (rejected, 1 in 100 allowed). Keys: 5 hits in each key's window.`,
  ];
}
