import { type Decision, type Limit, RateLimiter } from '@rollgate/core';
import type { Attempt, Delays, Next, StoreKind } from '../shared/protocol.js';
import { ALGORITHM_NAMES, type Algorithm, DEFAULT_SETTINGS, type RowName, type Settings } from '../shared/settings.js';
import { AttemptLog } from './attempt-log.js';
import type { Backend } from './backend.js';
import { toLimits } from './limits.js';
import { ResetError } from './reset-error.js';

/** All clients share one window. */
export const SHARED_KEY = 'everyone';
/** Limiters with this prefix share their state. Each algorithm has its own. */
export const PREFIX = 'rollgate-playground';

type Decisions = Readonly<Record<Algorithm, Decision>>;

/** The limits of all algorithms on one store, and the record of their decisions. It runs in Node and in browsers. */
export class Playground {
  readonly log = new AttemptLog({ settings: DEFAULT_SETTINGS, countedFromMs: 0, changedMs: 0 });
  readonly #backend: Backend;
  readonly #limiter: RateLimiter;
  /** Created again only when the settings change. */
  #limits = toLimits(DEFAULT_SETTINGS);
  /** Part of each ID, so that several engines on one store never use the same one. */
  readonly name = Math.random().toString(36).slice(2, 10);
  #attempts = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
    const { store } = backend;
    this.#limiter = new RateLimiter({ limits: null, store, prefix: PREFIX, onStoreError: 'fallback' });
    this.log.subscribe((event) => {
      if (event.kind === 'state') this.#limits = toLimits(event.state.settings);
    });
  }

  /** @throws Error if the backend cannot be read. */
  open(): Promise<void> {
    return this.#backend.open((event) => this.log.record(event));
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  /** The limit that decides about requests. */
  get limit(): Limit {
    return this.#limits[this.settings.algorithm];
  }

  /** Where the limits' state is. */
  get storeKind(): StoreKind {
    return this.#backend.kind;
  }

  get settings(): Settings {
    return this.log.state.settings;
  }

  now(): number {
    return this.#backend.clock.now();
  }

  /**
   * Moves the clock forward, so that the next fixed window starts in `leadMs`. That is possible only while nothing is on
   * record and no other process shares the clock.
   */
  skipToBoundary(leadMs: number): void {
    const { windowMs } = this.settings;
    const leftMs = windowMs - (this.now() % windowMs);
    // A boundary that is nearer may be too near for an attack.
    if (this.log.isEmpty) this.#backend.skip?.((leftMs - leadMs + windowMs) % windowMs);
  }

  /** Decides about a request by the limit. */
  check(): Promise<Decision> {
    return this.#limiter.check(SHARED_KEY, { limits: this.limit });
  }

  /** Returns when each row would allow the next request. */
  async next(): Promise<Readonly<Record<RowName, Next>>> {
    const decisions = await this.#forAll((limits) => this.#limiter.peek(SHARED_KEY, { limits }));
    const nowMs = this.now(); // The time after the response, so that no client retries too early.
    const toNext = ({ retryAfterMs, delayMs }: Decision): Next => ({
      allowedAtMs: nowMs + retryAfterMs,
      startsAtMs: nowMs + retryAfterMs + delayMs,
    });
    return { ...mapValues(decisions, toNext), ...(await this.log.next(nowMs)) };
  }

  /**
   * Records a request about which the limit has decided. The other algorithms decide about it by the same time.
   *
   * @param run The run of a scenario that sent it.
   * @returns A function to call if the request is aborted before its start.
   */
  record(decision: Decision, run: string | undefined): () => void {
    this.#attempts += 1;
    const id = `${this.name}-${this.#attempts}`;
    const recorded = this.#record(id, decision, run);
    return () => {
      recorded.then((decisions) => {
        // A refund that fails, or that the middleware has made, does nothing. The request then expires with its window.
        for (const made of Object.values(decisions)) void this.#limiter.refund(made).catch(() => {});
        void this.#backend.publish({ kind: 'aborted', id });
      });
    };
  }

  /**
   * Changes the settings for all users. Existing counts remain, unless the window changes. Then all limits start over, so
   * that the page and the limits count the same requests.
   *
   * @throws ResetError if Redis does not confirm the reset. Then the settings stay.
   */
  async change(settings: Settings): Promise<void> {
    const { settings: before, countedFromMs, changedMs } = this.log.state;
    const startsOver = settings.windowMs !== before.windowMs;
    if (startsOver) await this.#reset(toLimits(settings));
    const nowMs = this.now();
    const state = {
      settings,
      countedFromMs: startsOver ? nowMs : countedFromMs,
      changedMs: startsOver || settings.limit !== before.limit ? nowMs : changedMs,
    };
    await this.#backend.publish({ kind: 'state', state, clears: false });
  }

  /**
   * Empties all limits. `clears` deletes all requests, too.
   *
   * @throws ResetError if Redis does not confirm the reset.
   */
  async startOver(clears: boolean): Promise<void> {
    const { settings } = this;
    await this.#reset(this.#limits);
    const nowMs = this.now();
    await this.#backend.publish({
      kind: 'state',
      state: { settings, countedFromMs: nowMs, changedMs: nowMs },
      clears,
    });
  }

  /**
   * Empties all limits and deletes all requests if scenarios of this engine have sent all of them. The highest counts stay.
   *
   * @throws ResetError if Redis does not confirm the reset.
   */
  async clearOwn(): Promise<void> {
    const isOwn = (run: string | undefined) => run?.includes(`-${this.name}-`) === true;
    if (this.log.isEmpty || !this.log.records.attempts.every(({ run }) => isOwn(run))) return;
    await this.#reset(this.#limits);
    await this.#backend.publish({
      kind: 'state',
      state: { ...this.log.state, countedFromMs: this.now() },
      clears: true,
    });
  }

  /** @throws ResetError if Redis does not confirm the reset. */
  async #reset(limits: Readonly<Record<Algorithm, Limit>>): Promise<void> {
    const results = await Promise.allSettled(
      // Even if the first one fails, so that all count from the same moment.
      ALGORITHM_NAMES.map((name) => this.#limiter.reset(SHARED_KEY, { limits: limits[name] })),
    );
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw new ResetError(failure.reason as Error);
  }

  async #record(id: string, decision: Decision, run: string | undefined): Promise<Decisions> {
    const { settings, countedFromMs } = this.log.state;
    const { algorithm, limit, windowMs, minDifferenceMs } = settings;
    const { clock } = this.#backend;
    const atMs = clock.timeOf(decision);
    const decisions = await clock.runAt(atMs, () =>
      this.#forAll((limits, name) =>
        name === algorithm ? Promise.resolve(decision) : this.#limiter.check(SHARED_KEY, { limits }),
      ),
    );
    const { allowed, delayMs, remaining, degraded } = decision;
    const delays: Delays<Algorithm> = mapValues(decisions, (made) => (made.allowed ? made.delayMs : null));
    const attempt: Attempt<Algorithm> = {
      ...{ id, run, atMs, delayMs, allowed, delays, limit, windowMs, minDifferenceMs, countedFromMs },
      ...{ remaining, degraded: degraded !== false },
    };
    await this.#backend.publish({ kind: 'attempt', attempt });
    return decisions;
  }

  /** Calls `decide` for all algorithms at once, so that their checks reach Redis in one batch. */
  async #forAll(decide: (limits: Limit, name: Algorithm) => Promise<Decision>): Promise<Decisions> {
    const decisions = await Promise.all(ALGORITHM_NAMES.map((name) => decide(this.#limits[name], name)));
    return Object.fromEntries(ALGORITHM_NAMES.map((name, index) => [name, decisions[index]!])) as unknown as Decisions;
  }
}

function mapValues<Value>(
  decisions: Decisions,
  map: (decision: Decision) => Value,
): Readonly<Record<Algorithm, Value>> {
  return Object.fromEntries(ALGORITHM_NAMES.map((name) => [name, map(decisions[name])])) as Record<Algorithm, Value>;
}
