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
import type { CheckInput, CheckOperation } from '../operations/operations.js';
import { type ClusterSlot, escapeKeyPart, keyPartsOf } from '../operations/redis-keys.js';
import { FoundKey } from './found-key.js';
import { createScans, type Scan } from './scan.js';

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
  /** What follows the caller's key in the Redis key of each rule: that of the limit, and that of its block. */
  readonly ends: readonly string[];
}

/** One listing of a plan. */
interface Listing {
  readonly limits: readonly ListedLimit[];
  /** What stands before the caller's key in all Redis keys. */
  readonly before: string;
  /** What stands before the caller's key in the results of SCAN, to which the client does not add its `keyPrefix`. */
  readonly beginning: string;
  /** What SCAN looks for. */
  readonly pattern: string;
}

/** Some of the keys, and how to begin to read those that follow. */
interface Page {
  readonly keys: readonly StoredKey[];
  readonly readNext: (() => Promise<Page>) | undefined;
}

/** Lists the keys of a store by SCAN. A peek of each key shows whether it still has a state. */
export class RedisInspection implements Omit<StoreInspection, 'options'> {
  readonly #store: InspectedStore;

  constructor(store: InspectedStore) {
    this.#store = store;
  }

  /** Redis reads a page while this process works on the one before. */
  async listKeys(plan: Plan, start: string, next: unknown): Promise<KeyPage> {
    if (start.length > MAX_KEY_LENGTH) return { keys: [], next: undefined };
    const { keys, readNext } = await ((next as Promise<Page> | undefined) ?? this.#readFirst(plan, start));
    const following = readNext?.();
    // Whoever asks for the page gets its error, but nobody may.
    following?.catch(() => {});
    return { keys, mayRepeat: true, next: following };
  }

  async #readFirst(plan: Plan, start: string): Promise<Page> {
    const { client, connection } = this.#store;
    const scans = await createScans(client, connection.isCluster);
    return this.#read(this.#toListing(plan, start), scans, FIRST);
  }

  /** Reads from a cursor of the first server on. The other servers follow. */
  async #read(listing: Listing, scans: readonly Scan[], from: string): Promise<Page> {
    const [cursor, found] = await scans[0]!(from, listing.pattern);
    const left = cursor === FIRST ? scans.slice(1) : scans;
    return this.#peekSome(listing, found, left.length === 0 ? undefined : () => this.#read(listing, left, cursor));
  }

  /** Returns a page of the first of the found keys. The others follow, before what `readAfter` returns. */
  async #peekSome(listing: Listing, found: readonly string[], readAfter: Page['readNext']): Promise<Page> {
    const [some, rest] = [found.slice(0, PEEKED), found.slice(PEEKED)];
    const keys = await Promise.all(listing.limits.map((limit) => this.#peek(listing, limit, some)));
    return {
      keys: keys.flat(),
      readNext: rest.length === 0 ? readAfter : () => this.#peekSome(listing, rest, readAfter),
    };
  }

  /** Returns those of the found keys that have a state in this limit, or are closed by its block. */
  async #peek(
    { beginning, before }: Listing,
    { plan, ends }: ListedLimit,
    found: readonly string[],
  ): Promise<StoredKey[]> {
    const input = this.#store.toInput(plan);
    const peeks: FoundKey[] = [];
    // One promise for all peeks takes less memory than one for each.
    await new Promise<void>((resolve, reject) => {
      let peeked = 0;
      const onPeeked = () => ++peeked === peeks.length && resolve();
      for (const key of found) {
        const index = ends.findIndex((end) => key.endsWith(end));
        if (index < 0) continue;
        const part = key.slice(beginning.length, -ends[index]!.length);
        const ownKey = key.slice(beginning.length - before.length);
        const keys = ends.map((end, rule) => (rule === index ? ownKey : before + part + end));
        peeks.push(new FoundKey(input, keys, part, index, onPeeked, reject));
      }
      if (peeks.length === 0) resolve();
      for (const peek of peeks) this.#store.send(peek);
    });
    return peeks.map((peek) => toStoredKey(plan, peek)).filter((key) => key !== undefined);
  }

  #toListing(plan: Plan, start: string): Listing {
    const { connection, clusterSlot } = this.#store;
    const { before, ends } = keyPartsOf(plan, clusterSlot);
    const beginning = connection.keyPrefix + before;
    const pattern = `${escapePattern(beginning + (start === '' ? '' : escapeKeyPart(start)))}*`;
    const names = new Set(plan.rules.map(({ name }) => name));
    const limits = Array.from(names, (name) => ({
      plan: { ...plan, rules: plan.rules.filter((rule) => rule.name === name) },
      ends: ends.filter((_, index) => plan.rules[index]!.name === name),
    }));
    return { limits, before, beginning, pattern };
  }

  async writeNote(name: string, text: string, forMs: number): Promise<void> {
    await this.#store.connection.eval(WRITE_NOTE, [NOTES], [name, text, String(Math.ceil(forMs))]);
  }

  async readNotes(): Promise<string[]> {
    const notes = (await this.#store.connection.eval(READ_NOTES, [NOTES], [])) as string[];
    return notes.map((note) => note.slice(1));
  }
}

/** Returns the key, unless it has no state in the limit. A block lists the keys that have no state in its limit. */
function toStoredKey({ rules }: Plan, { index, part, results }: FoundKey): StoredKey | undefined {
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
