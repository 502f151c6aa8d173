import type { Effort } from '../effort.js';
import { whole } from '../table.js';
import { canPin } from '../worker.js';

/** Describes how the benchmark measured the figures of the table. */
export function describeRedisMethod({ load, growth }: Effort['redis']): string[] {
  const pinning = canPin
    ? 'the server pinned to one core, the clients to another'
    : 'server and clients NOT pinned to separate cores, so the figures scatter more';
  return [
    "In parentheses: the figure of Rollgate's packed log divided by this one. All figures are from this run.",
    '',
    `- **Load**: limit 100 a minute, ${whole(load.keysAlone)} IPv4 keys with one check in flight, ${whole(load.keysTogether)} with several, each checked twice and allowed, on an empty server. One loop per check in flight, which awaits each check. One process per column, in turns, with one connection of ioredis with its defaults (no automatic pipelining), ${pinning}. Medians of ${load.rounds} rounds after a warm-up of ${whole(load.warmUp)} checks.`,
    '- **Client CPU**: user and system time of the client process, including garbage collection. **Server CPU within commands**: the time of scripts or transactions in `INFO commandstats`. It includes all commands inside them, and excludes reading, parsing and replying.',
    '- **Median ms**: from the call to its result. The plain EVALSHA is the same script with the arguments of one check, as the store sends them.',
    '- **Bytes**: `MEMORY USAGE` without sampling of all Redis keys that one key of the limiter uses, after sequential hits. The checks of rolling-rate-limiter read the whole log and would take a minute, so the benchmark writes its hits with the same ZADD.',
    '- **Rejected checks**: limit 10, 64 in flight, after a first rejection, with default options. rate-limiter-flexible can also reject from memory, with its option `inMemoryBlockOnConsumed`.',
    `- **Limits, log full**: sequential checks with an injected clock, so one hit leaves the window for each new one. Server time within commands, client time of the process. Medians of ${growth.rounds} rounds of ${whole(growth.checks)} checks.`,
  ];
}
