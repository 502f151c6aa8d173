import type { Effort } from '../effort.js';
import { whole } from '../table.js';
import { canPin } from '../worker.js';

/** How the figures came about, for who reads the table. */
export function describeRedisMethod({ load, growth }: Effort['redis']): string[] {
  const pinning = canPin
    ? 'the server pinned to one core, the clients to another'
    : 'server and clients NOT pinned to cores of their own: the figures scatter more';
  return [
    "In parentheses: the figure of Rollgate's list divided by this one. All figures are of this run.",
    '',
    `- **Load**: limit 100 a minute, ${whole(load.keysAlone)} IPv4 keys with one check in flight, ${whole(load.keysTogether)} with several, each checked twice and allowed, on an empty server. As many loops as checks in flight, each awaiting its check. A process for each column over one connection of ioredis with its defaults (no pipelining of its own), in turns, ${pinning}; medians of ${load.rounds} rounds after a warm-up of ${whole(load.warmUp)} checks.`,
    '- **Client CPU**: user and system time of the client process, garbage collection included. **Server CPU within commands**: what `INFO commandstats` says of scripts or transactions, with all that runs inside them; reading, parsing and answering are not in it.',
    '- **Median ms**: from the call to its answer. The plain EVALSHA is the same script with the arguments of one check, as the store sends them.',
    '- **Bytes**: `MEMORY USAGE` of all that one key of the limiter takes at the server, with no sampling, its hits made one after another. rolling-rate-limiter, whose check reads the whole log, would take a minute: its hits are written by the ZADD that it sends.',
    '- **Refused checks**: limit 10, 64 in flight, after a first refusal; defaults throughout. rate-limiter-flexible would answer from memory as well if told to (`inMemoryBlockOnConsumed`).',
    `- **Limits, log full**: one check after another under an injected clock, so that for each new hit one leaves the window; server time within commands, client time of the process; medians of ${growth.rounds} times ${whole(growth.checks)} checks.`,
  ];
}
