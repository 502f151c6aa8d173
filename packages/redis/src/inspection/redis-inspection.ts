import type { LimitDecision } from '@rollgate/core';
import {
  isKeyHash,
  isUsed,
  type KeyPage,
  MAX_KEY_LENGTH,
  type Plan,
  type StoredKey,
  type StoreInspection,
  toDecision,
} from '@rollgate/core/store';
import type { RedisClient } from '../clients/redis-clients.js';
import type { RedisConnection } from '../clients/redis-connection.js';
import type { CheckInput, CheckOperation, CheckResult } from '../operations/operations.js';
import { type ClusterSlot, escapeKeyPart, keyPartsOf } from '../operations/redis-keys.js';
import { createScans } from './scan.js';

/** How many of the found keys are peeked at together. Redis handles the checks of others before the next ones. */
const PEEKED = 250;

/** The cursor before the first keys of a server. SCAN also returns it after the last ones. */
const FIRST = '0';

/** The hash with the notes. No Redis key of a limiter is like it, because each has braces. */
const NOTES = '#rollgate:notes';

/** Each value begins with the time in milliseconds until which it is valid. The script drops those that are over, and leaves fields of other programs alone. */
const WRITE_NOTE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d ', now + ARGV[3]) .. ARGV[2])
local last = 0
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  local stop = tonumber(string.match(redis.call('HGET', KEYS[1], name), '^(%d+) ') or '')
  if not stop then -- It is foreign.
  elseif stop <= now then redis.call('HDEL', KEYS[1], name) else last = math.max(last, stop) end
end
redis.call('PEXPIREAT', KEYS[1], string.format('%d', last))`;

/** An equals sign before each text keeps clients from parsing it as JSON. */
const READ_NOTES = `
local time = redis.call('TIME')
local notes, now = {}, time[1] * 1000 + math.floor(time[2] / 1000)
for _, value in ipairs(redis.call('HVALS', KEYS[1])) do
  local stop, text = string.match(value, '^(%d+) (.*)$')
  if stop and tonumber(stop) > now then notes[#notes + 1] = '=' .. text end
end
return notes`;

/** What the inspection needs of a store. */
export interface InspectedStore {
  readonly client: RedisClient;
  readonly connection: RedisConnection;
  readonly clusterSlot: ClusterSlot | undefined;
  /** Encodes the peeks at some keys of a plan. */
  toInput(plan: Plan): Omit<CheckInput, 'keys'>;
  send(operation: CheckOperation): void;
}

/** The Redis keys of one limit. */
interface ListedLimit {
  readonly plan: Plan;
  /** What stands before the caller's key. */
  readonly before: string;
  /** What follows the caller's key in the Redis key of each rule: that of the limit, and that of its block. */
  readonly ends: readonly string[];
}

type Pages = AsyncGenerator<readonly StoredKey[], undefined, undefined>;

/** A listing, and its next page. */
interface Listing {
  readonly pages: Pages;
  readonly page: ReturnType<Pages['next']>;
}

/** Lists the keys of a store by SCAN. A peek of each key shows whether it still has a state. */
export class RedisInspection implements Omit<StoreInspection, 'options'> {
  constructor(private readonly store: InspectedStore) {}

  async listKeys(plan: Plan, start: string, next: unknown): Promise<KeyPage> {
    if (start.length > MAX_KEY_LENGTH) return { keys: [], next: undefined };
    const { pages, page } = (next as Listing | undefined) ?? readNext(this.#pages(plan, start));
    const { done, value: keys } = await page;
    return done ? { keys: [], next: undefined } : { keys, mayRepeat: true, next: readNext(pages) };
  }

  async *#pages(plan: Plan, start: string): Pages {
    const { client, connection, clusterSlot } = this.store;
    const { before, ends } = keyPartsOf(plan, clusterSlot);
    const limits = Array.from(new Set(plan.rules.map(({ name }) => name)), (name) => ({
      plan: { ...plan, rules: plan.rules.filter((rule) => rule.name === name) },
      before,
      ends: ends.filter((_, index) => plan.rules[index]!.name === name),
    }));
    // The client does not add its prefix to the pattern, and leaves it in the results.
    const { keyPrefix } = connection;
    const pattern = `${escapePattern(keyPrefix + before + (start === '' ? '' : escapeKeyPart(start)))}*`;
    for (const scan of await createScans(client, connection.isCluster)) {
      let cursor = FIRST;
      do {
        const [nextCursor, found] = await scan(cursor, pattern);
        const keys = found.map((key) => key.slice(keyPrefix.length));
        do {
          const some = keys.splice(0, PEEKED);
          const peeks = limits.flatMap((limit) => {
            const input = this.store.toInput(limit.plan); // One for all, so that they share a time and an operation.
            return some.map((key) => this.#peek(limit, key, input));
          });
          yield (await Promise.all(peeks)).filter((key) => key !== undefined);
        } while (keys.length > 0);
        cursor = nextCursor;
      } while (cursor !== FIRST);
    }
  }

  /** Returns a found key if it has a state in this limit, or is closed by its block. */
  async #peek(
    { plan, before, ends }: ListedLimit,
    found: string,
    input: Omit<CheckInput, 'keys'>,
  ): Promise<StoredKey | undefined> {
    const index = ends.findIndex((end) => found.endsWith(end));
    if (index < 0) return undefined;
    const part = found.slice(before.length, -ends[index]!.length);
    const keys = ends.map((end) => before + part + end);
    const { limitDecisions } = await new Promise<CheckResult>((resolve, reject) => {
      this.store.send({ kind: 'peek', ...input, keys, resolve, reject });
    });
    return toStoredKey(plan, index, part, limitDecisions);
  }

  async writeNote(name: string, text: string, forMs: number): Promise<void> {
    await this.store.connection.eval(WRITE_NOTE, [NOTES], [name, text, String(Math.ceil(forMs))]);
  }

  async readNotes(): Promise<string[]> {
    const notes = (await this.store.connection.eval(READ_NOTES, [NOTES], [])) as string[];
    return notes.map((note) => note.slice(1));
  }
}

/** Redis reads a page while this process works on the one before. */
function readNext(pages: Pages): Listing {
  const page = pages.next();
  page.catch(() => {}); // Whoever asks for the page gets its error, but nobody may.
  return { pages, page };
}

/**
 * Returns the key that was found for the rule at `index`, unless it has no state in the limit. A block lists the keys that have no state
 * in its limit.
 */
function toStoredKey(
  { rules }: Plan,
  index: number,
  part: string,
  results: readonly LimitDecision[],
): StoredKey | undefined {
  const [first] = results;
  if (isUsed(first!) !== (index === 0)) return undefined;
  const { name, limit } = rules[0]!;
  const isWhole = rules.length === 1 && limit.enforced !== false;
  const result = isWhole ? first! : toDecision(rules, results, undefined).limits[name]!;
  if (!isUsed(result)) return undefined;
  const isHashed = isKeyHash(part);
  return { limit: name, key: isHashed ? part : unescapeKeyPart(part), isHashed, result };
}

/** Escapes what has a meaning in a pattern of SCAN. */
function escapePattern(text: string): string {
  return text.replace(/[*?[\]\\^-]/g, '\\$&');
}

/** Returns the text that {@link escapeKeyPart} has escaped. A hash stays as it is. */
export function unescapeKeyPart(part: string): string {
  return part.replace(/%(?:u([\dA-F]{4})|([\dA-F]{2}))/g, (_, long: string | undefined, short: string) =>
    String.fromCharCode(Number.parseInt(long ?? short, 16)),
  );
}
