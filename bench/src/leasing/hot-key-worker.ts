import { type Decision, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { percentile } from '../statistics.js';
import { handleTasks } from '../worker.js';

/** `memory` counts in each process alone. */
export type StoreName = 'plain' | 'leased' | 'memory';

/** The checks of one process. */
export interface HotKeyTask {
  readonly prefix: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly leaseMs: number;
  /** The checks of this process per second, or `undefined` for as many as it can make. */
  readonly perSecond?: number | undefined;
  readonly seconds: number;
}

export interface HotKeyResult {
  readonly decisions: number;
  readonly allowed: number;
  /** Decisions that were there when the call returned. */
  readonly local: number;
  /** How long these calls took, in microseconds. */
  readonly localP99Micros: number | undefined;
  /** How long all callers waited, in milliseconds. */
  readonly p99Ms: number;
  /** The processor time of the process. */
  readonly cpuSeconds: number;
}

/** The callers of the closed loop. */
const CALLERS = 128;
/** A caller of the closed loop yields to the event loop after so many decisions. */
const DECISIONS_PER_TURN = 64;
/** One call in so many is timed. */
const TIMED = 16;

const [name, address] = process.argv.slice(2) as [StoreName, string];
const client = new Redis(address);

handleTasks(async (task: HotKeyTask): Promise<HotKeyResult> => {
  const run = new Run(task);
  await run.limiter.peek('hot');
  await (task.perSecond === undefined ? run.checkInLoop() : run.checkAtRate(task.perSecond));
  return run.result();
});

class Run {
  readonly limiter: RateLimiter;
  readonly #endMs: number;
  readonly #cpu = process.cpuUsage();
  readonly #callMicros: number[] = [];
  readonly #waitsMs: number[] = [];
  #decisions = 0;
  #allowed = 0;
  #local = 0;

  constructor({ prefix, limit, windowMs, leaseMs, seconds }: HotKeyTask) {
    const store = createStore(leaseMs);
    const limits = rollingWindow({ limit, window: `${windowMs}ms` });
    this.limiter = new RateLimiter({ limits, store, prefix, timeout: '30s' });
    this.#endMs = performance.now() + seconds * 1000;
  }

  async checkInLoop(): Promise<void> {
    const loop = async () => {
      for (let count = 1; performance.now() < this.#endMs; count++) {
        const decision = this.#decide();
        if (decision !== undefined) await decision;
        else if (count % DECISIONS_PER_TURN === 0) await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, loop));
  }

  /** Makes the checks that are due in each millisecond, whether or not earlier ones are decided. */
  async checkAtRate(perSecond: number): Promise<void> {
    const pending: Promise<void>[] = [];
    let lastMs = performance.now();
    for (let due = 0; lastMs < this.#endMs; ) {
      const nowMs = performance.now();
      due += ((nowMs - lastMs) * perSecond) / 1000;
      lastMs = nowMs;
      for (; due >= 1; due--) {
        const decision = this.#decide();
        if (decision !== undefined) pending.push(decision);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(pending);
  }

  result(): HotKeyResult {
    const { user, system } = process.cpuUsage(this.#cpu);
    return {
      cpuSeconds: (user + system) / 1e6,
      decisions: this.#decisions,
      allowed: this.#allowed,
      local: this.#local,
      localP99Micros: this.#callMicros.length === 0 ? undefined : percentile(this.#callMicros, 0.99),
      p99Ms: percentile([...this.#waitsMs, ...this.#callMicros.map((micros) => micros / 1000)], 0.99),
    };
  }

  /** Returns a promise if the caller has to wait. */
  #decide(): Promise<void> | undefined {
    const startMs = this.#decisions % TIMED === 0 ? performance.now() : undefined;
    const decision = this.limiter.decide('hot');
    if ('then' in decision) {
      const sentMs = startMs ?? -1;
      return Promise.resolve(decision).then((late) => {
        if (sentMs >= 0) this.#waitsMs.push(performance.now() - sentMs);
        this.#count(late);
      });
    }
    if (startMs !== undefined) this.#callMicros.push((performance.now() - startMs) * 1000);
    this.#local += 1;
    this.#count(decision);
    return undefined;
  }

  #count({ allowed }: Decision): void {
    this.#decisions += 1;
    if (allowed) this.#allowed += 1;
  }
}

function createStore(leaseMs: number): Store {
  if (name === 'memory') return new MemoryStore();
  const redis = new RedisStore({ client });
  return name === 'plain' ? redis : new LeasingStore({ store: redis, lease: leaseMs });
}
