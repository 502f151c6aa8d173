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
  /** The same in what SCAN finds: the client adds its `keyPrefix` to other commands only. */
  readonly beginning: string;
  /** What SCAN looks for. */
  readonly pattern: string;
}

/** Begins to read a page. */
type Read = () => { readonly page: Promise<{ readonly keys: readonly StoredKey[]; readonly next: Read | undefined }> };

/** Handles an error of what is read ahead. Whoever asks for the page gets it, but nobody may. */
const ignore = () => {};

/** Lists the keys of a store by SCAN. A peek of each key shows whether it still has a state. */
export class RedisInspection implements Omit<StoreInspection, 'options'> {
  readonly #store: InspectedStore;

  constructor(store: InspectedStore) {
    this.#store = store;
  }

  /** Redis reads a page while this process works on the one before. */
  async listKeys(plan: Plan, start: string, next: unknown): Promise<KeyPage> {
    if (start.length > MAX_KEY_LENGTH) return { keys: [], next: undefined };
    const { client, connection } = this.#store;
    const begin = async () =>
      this.#scan(this.#toListing(plan, start), await createScans(client, connection.isCluster), '0')!();
    const read = (next as ReturnType<Read> | undefined) ?? (await begin());
    const page = await read.page;
    return { keys: page.keys, mayRepeat: true, next: page.next?.() };
  }

  /** Scans the first of the servers that are left, from a cursor on. Returns what reads the keys that it finds. */
  #scan(listing: Listing, scans: readonly Scan[], from: string): Read | undefined {
    const scanned = scans[0]?.(from, listing.pattern);
    if (scanned === undefined) return undefined;
    const readPage = async () => {
      const [cursor, found] = await scanned;
      const next = this.#scan(listing, cursor === '0' ? scans.slice(1) : scans, cursor);
      const keys = await Promise.all(listing.limits.map((limit) => this.#peek(listing, limit, found)));
      return { keys: keys.flat(), next };
    };
    scanned.catch(ignore);
    return () => {
      const page = readPage();
      page.catch(ignore);
      return { page };
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
