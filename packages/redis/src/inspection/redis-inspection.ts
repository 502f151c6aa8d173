import type { Decision, LimitDecision } from '@rollgate/core';
import {
  isKeyHash,
  isUsed,
  type KeyPage,
  MAX_KEY_LENGTH,
  type Plan,
  type Rule,
  type StoredKey,
  type StoreInspection,
} from '@rollgate/core/store';
import type { RedisClient } from '../clients/redis-clients.js';
import type { RedisConnection } from '../clients/redis-connection.js';
import { type ClusterSlot, escapeKeyPart, keyPartsOf } from '../operations/redis-keys.js';
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
  /** Peeks at the states that have these Redis keys, one for each rule. */
  peek(plan: Plan, redisKeys: readonly string[]): PromiseLike<Decision>;
}

/** One listing: the servers that are left, and where the scan of the first one goes on. */
interface Listing {
  readonly scans: readonly Scan[];
  cursor: string;
  /** For each rule, a plan of its limit with the block of the limit, and one without. The store encodes each plan once. */
  readonly plans: readonly (readonly [whole: Plan, first: Plan])[];
}

/** Lists the keys of a store by SCAN. A peek of each key shows whether it still has a state. */
export class RedisInspection implements Omit<StoreInspection, 'options'> {
  readonly #store: InspectedStore;

  constructor(store: InspectedStore) {
    this.#store = store;
  }

  async listKeys(plan: Plan, start: string, next: unknown): Promise<KeyPage> {
    if (start.length > MAX_KEY_LENGTH) return { keys: [], next: undefined };
    const listing = (next as Listing | undefined) ?? (await this.#startListing(plan));
    const { keyPrefix } = this.#store.connection;
    const { before, ends } = keyPartsOf(plan, this.#store.clusterSlot);
    const beginning = keyPrefix + before;
    const pattern = `${escapePattern(beginning + (start === '' ? '' : escapeKeyPart(start)))}*`;
    const [cursor, found] = await listing.scans[0]!(listing.cursor, pattern);
    const keys = await Promise.all(
      found.map((key) => {
        const end = ends.findIndex((one) => key.endsWith(one));
        if (end < 0) return undefined;
        const part = key.slice(beginning.length, -ends[end]!.length);
        const peek = async (some: Plan) => {
          const redisKeys = some.rules.map((rule) => before + part + ends[plan.rules.indexOf(rule)]);
          return (await this.#store.peek(some, redisKeys)).limits[plan.rules[end]!.name]!;
        };
        return toStoredKey(part, plan.rules[end]!, listing.plans[end]!, peek);
      }),
    );
    listing.cursor = cursor;
    const scans = cursor === '0' ? listing.scans.slice(1) : listing.scans;
    return {
      keys: keys.filter((key) => key !== undefined),
      mayRepeat: true,
      next: scans.length > 0 ? { ...listing, scans } : undefined,
    };
  }

  async writeNote(name: string, text: string, forMs: number): Promise<void> {
    await this.#store.connection.eval(WRITE_NOTE, [NOTES], [name, text, String(Math.ceil(forMs))]);
  }

  async readNotes(): Promise<string[]> {
    const notes = (await this.#store.connection.eval(READ_NOTES, [NOTES], [])) as string[];
    return notes.map((note) => note.slice(1));
  }

  async #startListing(plan: Plan): Promise<Listing> {
    const { client, connection } = this.#store;
    const scans = await createScans(client, connection.isCluster);
    const plans = plan.rules.map(({ name }) => {
      const rules = plan.rules.filter((rule) => rule.name === name);
      return [
        { ...plan, rules },
        { ...plan, rules: rules.slice(0, 1) },
      ] as const;
    });
    return { scans, cursor: '0', plans };
  }
}

/** Returns the key, unless it has no state in the limit. The block of a limit lists the keys that have no state in the limit itself. */
async function toStoredKey(
  part: string,
  rule: Rule,
  [whole, first]: Listing['plans'][number],
  peek: (plan: Plan) => Promise<LimitDecision>,
): Promise<StoredKey | undefined> {
  const ofFirst = await peek(first);
  if (isUsed(ofFirst) !== (rule === first.rules[0])) return undefined;
  const result = whole.rules.length === 1 ? ofFirst : await peek(whole);
  const isHashed = isKeyHash(part);
  return isUsed(result)
    ? { limit: rule.name, key: isHashed ? part : unescapeKeyPart(part), isHashed, result }
    : undefined;
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
