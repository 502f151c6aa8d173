import { setTimeout as delay } from 'node:timers/promises';
import type { Awaitable, Decision } from '@rollgate/core';
import type { Costs, Keys, Plan } from '@rollgate/core/store';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { type ChainableCommander, Redis } from 'ioredis';
import type { SharedEvent } from '../engine/attempt-log.js';
import type { Backend } from '../engine/backend.js';
import { DecisionClock } from '../engine/decision-clock.js';
import { isRetained, MAX_ATTEMPTS } from '../shared/retention.js';
import { RedisClock } from './redis-clock.js';
import { describeFailure } from './redis-failure.js';

const EVENTS = 'rollgate-playground:news';
/** The events that must be kept, which a flood displaces from the stream. */
const RETAINED_EVENTS = 'rollgate-playground:kept';
const TOTALS = 'rollgate-playground:totals';
const STATE = 'rollgate-playground:state';
/** All keys expire after a day. */
const EXPIRY_SECONDS = 24 * 60 * 60;

/** How long Redis may take at the start and for each event. */
const TIMEOUT_MS = 3000;
const OPTIONS = {
  connectTimeout: TIMEOUT_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (times: number) => Math.min(50 * times, 500),
};

type StreamEntries = [id: string, fields: string[]][];
type HashFields = Readonly<Record<string, string>>;

class TimedRedisStore extends RedisStore {
  readonly #clock: DecisionClock;

  constructor(client: RedisClient, clock: DecisionClock) {
    super({ client, clock });
    this.#clock = clock;
  }

  override check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#clock.check(() => super.check(plan, keys, costs));
  }
}

/**
 * A backend for all servers on one Redis. It uses a stream instead of publish and subscribe. So a server that starts late
 * or reconnects gets the events that it missed, in the same order as the others.
 */
export class RedisBackend implements Backend {
  readonly name: string;
  readonly kind = 'redis';
  readonly store: RedisStore;
  readonly clock: DecisionClock;
  readonly #redisClock: RedisClock;
  readonly #client: Redis;
  readonly #reader: Redis;
  #onEvent: (event: SharedEvent) => void = () => {};
  #lastError: unknown;
  #isOpen = true;
  #lastReadId = '0';

  /** @throws TypeError if `url` is not a URL of Redis. */
  constructor(url: string) {
    if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) {
      throw new TypeError(`Expected \`REDIS_URL\` to be a URL such as redis://localhost:6379, got "${url}" (string)`);
    }
    this.name = `on the Redis of ${new URL(url).host}`; // Not the whole URL, which may contain a password.
    this.#client = new Redis(url, { ...OPTIONS, commandTimeout: TIMEOUT_MS });
    this.#reader = new Redis(url, OPTIONS);
    for (const client of [this.#client, this.#reader]) {
      client.on('error', (error) => {
        this.#lastError = error; // The calls fail, but their errors do not contain the cause.
      });
    }
    this.#redisClock = new RedisClock(this.#client);
    this.clock = new DecisionClock(this.#redisClock);
    this.store = new TimedRedisStore(this.#client, this.clock);
  }

  async open(onEvent: (event: SharedEvent) => void): Promise<void> {
    this.#onEvent = onEvent;
    try {
      await this.#redisClock.start();
      await this.#readAll();
    } catch (cause) {
      await this.close();
      throw new Error(`Could not start ${this.name}. ${describeFailure(cause, this.#lastError)}`, { cause });
    }
    void this.#follow();
  }

  async publish(event: SharedEvent): Promise<void> {
    const commands = this.#client.multi();
    commands.xadd(EVENTS, 'MAXLEN', '~', MAX_ATTEMPTS, '*', 'news', JSON.stringify(event));
    addRecords(commands, event);
    for (const key of [EVENTS, RETAINED_EVENTS, TOTALS, STATE]) commands.expire(key, EXPIRY_SECONDS);
    const replies = await commands.exec().catch(() => null);
    const isPublished = replies?.every(([error]) => error === null);
    if (!isPublished)
      this.#onEvent(event); // During an outage, each server shows only its own attempts.
    else if (event.kind === 'state') await this.#waitUntilRead(replies![0]![1] as string);
  }

  /** Resolves when this server has read the entry with this ID, or after a while if Redis is unavailable again. */
  async #waitUntilRead(id: string): Promise<void> {
    const untilMs = performance.now() + TIMEOUT_MS;
    while (this.#isOpen && !this.#hasRead(id) && performance.now() < untilMs) await delay(5);
  }

  #hasRead(id: string): boolean {
    const [ms = 0, number = 0] = id.split('-').map(Number);
    const [lastMs = 0, lastNumber = 0] = this.#lastReadId.split('-').map(Number);
    return lastMs > ms || (lastMs === ms && lastNumber >= number);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#redisClock.stop();
    this.#client.disconnect();
    this.#reader.disconnect();
  }

  /** Reads everything in one transaction, so that the totals match the events. A flood takes longer than one event. */
  async #readAll(): Promise<void> {
    const all = this.#reader
      .multi()
      .get(STATE)
      .xrange(RETAINED_EVENTS, '-', '+')
      .xrange(EVENTS, '-', '+')
      .hgetall(TOTALS);
    const replies = (await all.exec()) ?? [];
    const [state, kept, recent, totals] = replies.map(([, reply]) => reply) as [
      string | null,
      StreamEntries,
      StreamEntries,
      HashFields,
    ];
    if (state !== null) this.#onEvent(JSON.parse(state) as SharedEvent);
    const recentTexts = new Set(recent.map(([, [, text]]) => text));
    // In the order in which they happened: first those that the stream has dropped.
    for (const [, [, text]] of kept) if (!recentTexts.has(text)) this.#onEvent(JSON.parse(text!) as SharedEvent);
    for (const [id, [, text]] of recent) this.#read(id, text!);
    const { allowed = 0, rejected = 0 } = totals;
    this.#onEvent({ kind: 'totals', totals: { allowed: Number(allowed), rejected: Number(rejected) } });
  }

  async #follow(): Promise<void> {
    while (this.#isOpen) {
      try {
        const found = await this.#reader.xread('BLOCK', 0, 'STREAMS', EVENTS, this.#lastReadId);
        for (const [id, [, text]] of found?.[0]?.[1] ?? []) this.#read(id, text!);
      } catch {
        await delay(100); // Retries until Redis is available.
      }
    }
  }

  #read(id: string, text: string): void {
    this.#lastReadId = id;
    this.#onEvent(JSON.parse(text) as SharedEvent);
  }
}

/** Records what a server needs that starts after the stream has dropped this event. */
function addRecords(commands: ChainableCommander, event: SharedEvent): void {
  if (event.kind === 'state') {
    commands.set(STATE, JSON.stringify({ ...event, clears: false }));
    if (event.clears) commands.del(RETAINED_EVENTS, TOTALS);
  }
  if (event.kind === 'aborted') commands.hincrby(TOTALS, 'allowed', -1);
  if (event.kind === 'attempt') commands.hincrby(TOTALS, event.attempt.allowed ? 'allowed' : 'rejected', 1);
  if (event.kind === 'aborted' || (event.kind === 'attempt' && isRetained(event.attempt))) {
    commands.xadd(RETAINED_EVENTS, 'MAXLEN', '~', MAX_ATTEMPTS, '*', 'news', JSON.stringify(event));
  }
}
