import { type OnStoreError, RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { type AppClient, listenersOf } from './fault-client.js';
import { Load, type Outcome } from './fault-load.js';
import { ProcessTime } from './process-time.js';

/** Longer than the default. If a busy machine exceeded it, that would be another outage. */
export const TIMEOUT_MS = 2000;
/** How long after its deadline a call may settle, by {@link ProcessTime}. */
export const SLACK_MS = 250;
/** A timeout that a busy machine does not exceed. */
export const LONG_TIMEOUT_MS = 30_000;

const POLICIES: readonly OnStoreError[] = ['fallback', 'allow', 'deny', 'throw'];
const IN_FLIGHT = 12;

/** One failure per recovery. A failing server that becomes silent publishes a second failure. */
const VALID_SUMMARY = /^((failure|silence|failure silence) recovery ?)*$/;

/** An application that uses Redis all the time, with its own policy. */
interface App {
  readonly name: string;
  readonly policy: OnStoreError;
  readonly log: OutageLog;
  readonly load: Load;
}

/** Runs apps under load while a fault happens to their Redis, one app per client and policy, with twelve calls per client at once. */
export class Trial {
  readonly #clients: readonly AppClient[];
  readonly #apps: readonly App[];
  readonly #timeoutMs: number;
  #listeners: readonly Record<string, number>[] | undefined;

  /** @param timeoutMs The apps' `timeout`. If no call may fail, it must be long enough for a busy machine. */
  constructor(clients: readonly AppClient[], timeoutMs = TIMEOUT_MS) {
    this.#clients = clients;
    this.#timeoutMs = timeoutMs;
    this.#apps = clients.flatMap((client) => POLICIES.map((policy) => createApp(client, policy, timeoutMs)));
  }

  /** The number of calls that waited without a decision by the store, per concurrent call. */
  get waitedPerCaller(): number {
    const waited = this.#outcomes.filter(
      ({ tookMs, decision }) => decision?.degraded !== false && tookMs > this.#timeoutMs / 2,
    );
    return waited.length / (this.#clients.length * IN_FLIGHT);
  }

  /** The number of calls that Redis did not decide before their deadline. */
  get failedCount(): number {
    return this.#apps.reduce((sum, { load }) => sum + load.failedCount, 0);
  }

  /** The errors of the calls with `'throw'`. */
  get errorMessages(): string {
    const messages = this.#outcomes.flatMap(({ error }) => (error instanceof StoreError ? [error.message] : []));
    return [...new Set(messages)].join('\n');
  }

  /** Resolves when Redis has served thirty new calls of every app in a row, with the time that this took. */
  async untilServed(): Promise<number> {
    const time = new ProcessTime();
    const settled = new Map(this.#apps.map(({ load }) => [load, load.outcomes.length]));
    await this.#untilAll('calls are served', ({ load }) => {
      return Math.min(load.consecutiveServedCount, load.outcomes.length - settled.get(load)!) >= 30;
    });
    this.#listeners ??= this.#clients.map(listenersOf);
    time.stop();
    return time.runningMs;
  }

  /** Resolves when the policy has decided fifty calls of every app. */
  async untilFailing(): Promise<void> {
    await this.#untilAll('calls fail', ({ load }) => load.failedCount >= 50);
  }

  /** Ends the load and the clients after a recovery from every failure, and verifies each call. */
  async finish(outages?: number): Promise<void> {
    try {
      await this.#untilAll(
        'a recovery from every failure',
        ({ log }) => log.summary.length === 0 || log.summary.at(-1) === 'recovery',
      );
      expect(this.#clients.map(listenersOf)).toEqual(this.#listeners);
    } finally {
      await this.stop();
    }
    for (const { name, policy, log, load } of this.#apps) {
      expect([name, ...load.outcomes.filter((outcome) => !isExpected(policy, outcome))]).toEqual([name]);
      expect([name, log.summary.join(' ')]).toEqual([name, expect.stringMatching(VALID_SUMMARY)]);
      if (outages !== undefined) expect([name, log.recoveries.length]).toEqual([name, outages]);
    }
    expect(Math.max(...this.#outcomes.map(({ tookMs }) => tookMs))).toBeLessThan(this.#timeoutMs + SLACK_MS);
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    await Promise.all(this.#apps.map(({ load }) => load.stop()));
    for (const { log } of this.#apps) log.stop();
    for (const client of this.#clients) client.end();
  }

  get #outcomes(): readonly Outcome[] {
    return this.#apps.flatMap(({ load }) => load.outcomes);
  }

  async #untilAll(what: string, isTrue: (app: App) => boolean): Promise<void> {
    await until(what, async () => this.#apps.every(isTrue));
  }
}

function createApp({ kind, client }: AppClient, policy: OnStoreError, timeout: number): App {
  const store = new RedisStore({ client });
  const limits = rollingWindow({ limit: 1_000_000, window: '1h' });
  const limiter = new RateLimiter({ limits, store, timeout, onStoreError: policy });
  const load = new Load(limiter, IN_FLIGHT / POLICIES.length);
  return { name: `${kind}, ${policy}`, policy, log: new OutageLog(store), load };
}

/** Whether Redis or the app's policy decided. */
function isExpected(policy: OnStoreError, { decision, error }: Outcome): boolean {
  if (decision === undefined) return policy === 'throw' && error instanceof StoreError;
  return decision.degraded === false || decision.degraded === policy;
}
