import assert from 'node:assert/strict';
import { type Limit, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { type LimitSpec, limitOf } from '../../../store-conformance/src/algorithms.js';
import type { LimitSpecs } from '../../../store-conformance/src/reference-model.js';
import type { StoreCall } from './call-records.js';
import { FallbackMemory } from './fallback-memory.js';
import { HealthModel } from './health-model.js';
import { ObservedStore } from './observed-store.js';
import type { LimiterSpec, ProcessSpec, Schedule } from './schedules.js';
import { SimulatedClient } from './simulated-client.js';
import type { SimulatedServer } from './simulated-server.js';
import type { Owner, VirtualTime } from './virtual-time.js';

/** The options of {@link SimulatedProcess}. */
export interface ProcessOptions {
  readonly time: VirtualTime;
  readonly server: SimulatedServer;
  readonly schedule: Schedule;
  readonly spec: ProcessSpec;
  readonly draw: () => number;
  /** Called with each result and failure of the store. */
  readonly onSettled: (process: SimulatedProcess, call: StoreCall) => void;
  readonly onViolation: (error: unknown) => void;
}

/** A limiter of the process with its settings. */
export interface ProcessLimiter {
  readonly spec: LimiterSpec;
  readonly specs: LimitSpecs;
  readonly limiter: RateLimiter<Record<string, Limit>>;
}

/** A process of an application: a client, a store, its limiters. */
export class SimulatedProcess implements Owner {
  pausedUntilMicros = 0;
  /** All pauses so far, in microseconds, and how many there were. */
  readonly pauses = { micros: 0, count: 0 };
  /** When a call was last settled without the store. */
  lastFailureMicros = -Infinity;
  readonly client: SimulatedClient;
  readonly store: ObservedStore;
  readonly limiters: readonly ProcessLimiter[];
  readonly health = new HealthModel();
  readonly memory: FallbackMemory;
  /** All calls of the store. */
  readonly calls: StoreCall[] = [];
  /** The calls for Redis that are not sent yet. */
  readonly #unsent: StoreCall[] = [];
  /** The call of the store that the last call of a limiter made. */
  lastCall: StoreCall | undefined;
  /** The spec of each limit, for the model. */
  readonly #specs = new Map<Limit, LimitSpec>();
  readonly spec: ProcessSpec;

  constructor(options: ProcessOptions) {
    const { time, server, schedule, spec, draw } = options;
    this.spec = spec;
    const takeCalls = (keyCount: number) => this.#takeCalls(keyCount);
    const returnCalls = (calls: readonly StoreCall[]) => this.#unsent.unshift(...calls);
    this.client = new SimulatedClient({ time, server, owner: this, spec, draw, takeCalls, returnCalls });
    const denialCache = spec.denialMaxAgeMs !== null && { maxAge: spec.denialMaxAgeMs };
    const inner = new RedisStore({ client: this.client, log: schedule.log, denialCache });
    this.store = new ObservedStore({
      time,
      inner,
      resends: spec.resends,
      specOf: (limit) => this.#specs.get(limit)!,
      onCall: (call) => {
        this.lastCall = call;
        this.calls.push(call);
        if (call.keyCount > 0) this.#unsent.push(call);
      },
      onSettled: (call) => {
        if (call.isFromCache) this.#unsent.splice(this.#unsent.indexOf(call), 1);
        options.onSettled(this, call);
      },
    });
    this.memory = new FallbackMemory(this.store, options.onViolation);
    this.limiters = spec.limiters.map((one) => this.#makeLimiter(one, schedule));
  }

  /** Blocks the process for a while. Its tasks run afterwards. */
  pause(nowMicros: number, forMicros: number): void {
    this.pausedUntilMicros = Math.max(this.pausedUntilMicros, nowMicros + forMicros);
    this.pauses.micros += forMicros;
    this.pauses.count += 1;
  }

  #makeLimiter(spec: LimiterSpec, { plans }: Schedule): ProcessLimiter {
    const specs = plans[spec.plan % plans.length]!;
    const limits = Object.fromEntries(
      Object.entries(specs).map(([name, one]) => {
        const limit = limitOf(one);
        this.#specs.set(limit, one);
        return [name, limit];
      }),
    );
    const { timeoutMs: timeout, onStoreError } = spec;
    return { spec, specs, limiter: new RateLimiter({ limits, store: this.store, timeout, onStoreError }) };
  }

  /** The calls of the next message: the oldest ones that together have this many keys. */
  #takeCalls(keyCount: number): readonly StoreCall[] {
    const calls: StoreCall[] = [];
    for (let count = 0; count < keyCount; count += calls.at(-1)!.keyCount) {
      const call = this.#unsent.shift();
      assert(call !== undefined, 'Expected the keys of a message to be those of the calls of the store');
      call.indexInMessage = calls.length;
      calls.push(call);
    }
    return calls;
  }
}
