import { setTimeout as delay } from 'node:timers/promises';
import { RedisStore } from '@rollgate/redis';
import { type ChainableCommander, Redis } from 'ioredis';
import { isRetained, MAX_ATTEMPTS } from '../shared/retention.js';
import type { Backend } from './backend.js';
import type { News } from './records.js';
import { RedisClock } from './redis-clock.js';

const NEWS = 'rollgate-playground:news';
/** Those that must be kept, which a flood drives out of the news. */
const KEPT = 'rollgate-playground:kept';
const TOTALS = 'rollgate-playground:totals';
const STATE = 'rollgate-playground:state';
/** What is left behind in Redis is gone after a day. */
const KEEP_SECONDS = 24 * 60 * 60;

/** How long Redis may take at the start, and to be told of one attempt. */
const PATIENCE_MS = 3000;
const OPTIONS = {
  connectTimeout: PATIENCE_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (times: number) => Math.min(50 * times, 500),
};

type Entries = [id: string, fields: string[]][];
type Strings = Readonly<Record<string, string>>;

/**
 * All servers on one Redis. They tell each other by a stream, and not by publish and subscribe, so that one that starts
 * later or was cut off for a while hears what it missed, and all of them the same in the same order.
 */
export class RedisBackend implements Backend {
  readonly name: string;
  readonly store: RedisStore;
  readonly clock: RedisClock;
  readonly #client: Redis;
  readonly #reader: Redis;
  #hear: (news: News) => void = () => {};
  #isOpen = true;
  #lastId = '0';

  /** @throws Error naming REDIS_URL when it is none. */
  constructor(url: string) {
    if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) {
      throw new TypeError(`Expected \`REDIS_URL\` to be a URL such as redis://localhost:6379, got "${url}" (string)`);
    }
    this.name = `on the Redis of ${new URL(url).host}`; // Not the whole URL, in which a password may be.
    this.#client = new Redis(url, { ...OPTIONS, commandTimeout: PATIENCE_MS });
    this.#reader = new Redis(url, OPTIONS);
    for (const client of [this.#client, this.#reader]) client.on('error', () => {}); // What waits for it tells.
    this.store = new RedisStore({ client: this.#client });
    this.clock = new RedisClock(this.#client);
  }

  async open(hear: (news: News) => void): Promise<void> {
    this.#hear = hear;
    try {
      await this.clock.start();
      await this.#readAll();
    } catch (cause) {
      await this.close();
      throw new Error(`Could not start ${this.name}: ${String(cause)}`, { cause });
    }
    void this.#follow();
  }

  async publish(news: News): Promise<void> {
    const commands = this.#client.multi();
    commands.xadd(NEWS, 'MAXLEN', '~', MAX_ATTEMPTS, '*', 'news', JSON.stringify(news));
    note(commands, news);
    for (const key of [NEWS, KEPT, TOTALS, STATE]) commands.expire(key, KEEP_SECONDS);
    const replies = await commands.exec().catch(() => null);
    const isTold = replies?.every(([error]) => error === null);
    if (!isTold)
      this.#hear(news); // While Redis is away, each server shows its own.
    else if (news.kind === 'state') await this.#heard(replies![0]![1] as string);
  }

  /** Resolves when the news with this ID have been read; or after a while, if Redis is away again. */
  async #heard(id: string): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    while (this.#isOpen && !this.#hasRead(id) && performance.now() < untilMs) await delay(5);
  }

  #hasRead(id: string): boolean {
    const [ms = 0, number = 0] = id.split('-').map(Number);
    const [lastMs = 0, lastNumber = 0] = this.#lastId.split('-').map(Number);
    return lastMs > ms || (lastMs === ms && lastNumber >= number);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.clock.stop();
    this.#client.disconnect();
    this.#reader.disconnect();
  }

  /** Reads what is there at one moment, so that the totals are those of the news. */
  async #readAll(): Promise<void> {
    const all = this.#client.multi().get(STATE).xrange(KEPT, '-', '+').xrange(NEWS, '-', '+').hgetall(TOTALS);
    const replies = (await all.exec()) ?? [];
    const [state, kept, news, totals] = replies.map(([, reply]) => reply) as [string | null, Entries, Entries, Strings];
    if (state !== null) this.#hear(JSON.parse(state) as News);
    for (const [, [, text]] of kept) this.#hear(JSON.parse(text!) as News);
    for (const [id, [, text]] of news) this.#read(id, text!);
    const { allowed = 0, rejected = 0 } = totals;
    this.#hear({ kind: 'totals', totals: { allowed: Number(allowed), rejected: Number(rejected) } });
  }

  async #follow(): Promise<void> {
    while (this.#isOpen) {
      try {
        const found = await this.#reader.xread('BLOCK', 0, 'STREAMS', NEWS, this.#lastId);
        for (const [id, [, text]] of found?.[0]?.[1] ?? []) this.#read(id, text!);
      } catch {
        await delay(100); // Until Redis is back.
      }
    }
  }

  #read(id: string, text: string): void {
    this.#lastId = id;
    this.#hear(JSON.parse(text) as News);
  }
}

/** Notes what a server has to know that starts when these news may be gone. */
function note(commands: ChainableCommander, news: News): void {
  if (news.kind === 'state') {
    commands.set(STATE, JSON.stringify({ ...news, forgets: false }));
    if (news.forgets) commands.del(KEPT, TOTALS);
  }
  if (news.kind === 'left') commands.hincrby(TOTALS, 'allowed', -1);
  if (news.kind === 'attempt') commands.hincrby(TOTALS, news.attempt.allowed ? 'allowed' : 'rejected', 1);
  if (news.kind === 'left' || (news.kind === 'attempt' && isRetained(news.attempt))) {
    commands.xadd(KEPT, 'MAXLEN', '~', MAX_ATTEMPTS, '*', 'news', JSON.stringify(news));
  }
}
