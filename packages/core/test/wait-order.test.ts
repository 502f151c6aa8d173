import assert from 'node:assert/strict';
import {
  type Decision,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { randomRuns } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createRowStore } from '@rollgate/test-support/rows';
import fc from 'fast-check';

/** All times are multiples of it, except the ends of timeouts, which are in between. So no two events depend on their order. */
const STEP_MS = 10;
const WINDOWS_MS = { shared: 100, own: 60 };
const QUOTAS = { shared: 4, own: 2 };
type Name = keyof typeof QUOTAS;
const NAMES = ['shared', 'own'] as const;

const limits = {
  shared: rollingWindow({ limit: QUOTAS.shared, window: `${WINDOWS_MS.shared}ms` }),
  own: rollingWindow({ limit: QUOTAS.own, window: `${WINDOWS_MS.own}ms` }),
};

type Step =
  | {
      readonly kind: 'wait';
      readonly limiter: number;
      readonly client: string;
      readonly cost: Record<Name, number>;
      readonly timeout: number | undefined;
    }
  | { readonly kind: 'advance'; readonly steps: number }
  | { readonly kind: 'abort'; readonly caller: number }
  | { readonly kind: 'refund'; readonly caller: number }
  | { readonly kind: 'reset'; readonly state: string };

/** A caller as the test sees it from outside. */
interface Caller {
  readonly states: ReadonlyMap<string, number>;
  readonly controller: AbortController;
  readonly limiter: RateLimiter;
  readonly arrivedMs: number;
  readonly dueMs: number;
  state: 'waiting' | 'started' | 'timeout' | 'aborted';
  startedMs: number;
  decision: Decision | undefined;
  isRefunded: boolean;
}

const clients = fc.constantFrom('ann', 'bob');
const costs = (mostShared: number, mostOwn: number) =>
  fc.record({ shared: fc.integer({ min: 0, max: mostShared }), own: fc.integer({ min: 0, max: mostOwn }) });
const waits = (cost: fc.Arbitrary<Record<Name, number>>) =>
  fc.record({
    kind: fc.constant('wait' as const),
    limiter: fc.integer({ min: 0, max: 1 }),
    client: clients,
    cost: cost.filter(({ shared, own }) => shared + own > 0),
    timeout: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined, freq: 3 }),
  });
const others = [
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), steps: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), caller: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refund' as const), caller: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('reset' as const),
      state: fc.constantFrom('shared all', 'own ann', 'own bob'),
    }),
  },
];
const histories = (cost: fc.Arbitrary<Record<Name, number>>) =>
  fc.array(fc.oneof({ weight: 6, arbitrary: waits(cost) }, ...others), { minLength: 10, maxLength: 40 });

const STORES: [string, (clock: ManualClock) => Store][] = [
  ['a MemoryStore', (clock) => new MemoryStore({ clock })],
  ['a store of createStore', createRowStore],
];

/** Runs a history at two limiters on one store. Its naive log of hits is what the test compares with. */
class Run {
  readonly clock = manualClock();
  readonly callers: Caller[] = [];
  /** The times of the last resets, by the names of the states. */
  readonly resets = new Map<string, number>();
  /** The callers in the order of their starts. */
  readonly starts: Caller[] = [];
  readonly #limiters: RateLimiter[];

  constructor(
    create: (clock: ManualClock) => Store,
    readonly inspect: (run: Run) => void,
  ) {
    const store = create(this.clock);
    this.#limiters = [new RateLimiter({ limits, store }), new RateLimiter({ limits, store })];
  }

  get waiting(): Caller[] {
    return this.callers.filter(({ state }) => state === 'waiting');
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'wait') this.#wait(step);
    else if (step.kind === 'advance') await this.advance(step.steps * STEP_MS);
    else if (step.kind === 'abort') this.callers[step.caller]?.controller.abort('bored');
    else if (step.kind === 'refund') await this.#refund(this.callers[step.caller]);
    else await this.#reset(step.state);
    await this.#settle();
  }

  /** Advances by halves of a step, so that timeouts end in between. */
  async advance(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS / 2) {
      this.clock.advance(STEP_MS / 2);
      await this.#settle();
    }
  }

  async #settle(): Promise<void> {
    await flushPromises();
    for (const state of ['shared all', 'own ann', 'own bob']) {
      assert.ok(this.usedOf(state) <= QUOTAS[nameOf(state)], `More units of ${state} than its limit`);
    }
    this.inspect(this);
  }

  /** The units of the state that are used at present. */
  usedOf(state: string): number {
    const nowMs = this.clock.now();
    const windowMs = WINDOWS_MS[nameOf(state)];
    const resetIndex = this.resets.get(state) ?? 0;
    return this.starts
      .filter((caller, index) => index >= resetIndex && !caller.isRefunded && caller.startedMs > nowMs - windowMs)
      .reduce((sum, { states }) => sum + (states.get(state) ?? 0), 0);
  }

  fits({ states }: Caller): boolean {
    return [...states].every(([state, cost]) => this.usedOf(state) + cost <= QUOTAS[nameOf(state)]);
  }

  #wait({ limiter: index, client, cost, timeout }: Step & { kind: 'wait' }): void {
    const limiter = this.#limiters[index]!;
    const controller = new AbortController();
    const nowMs = this.clock.now();
    const timeoutMs = timeout === undefined ? undefined : timeout * STEP_MS + STEP_MS / 2;
    const keys = { shared: 'all', own: client };
    const states = new Map(NAMES.filter((name) => cost[name] > 0).map((name) => [`${name} ${keys[name]}`, cost[name]]));
    const caller: Caller = {
      ...{ states, controller, limiter, arrivedMs: nowMs, dueMs: nowMs + (timeoutMs ?? Infinity) },
      ...{ state: 'waiting', startedMs: -1, decision: undefined, isRefunded: false },
    };
    this.callers.push(caller);
    limiter.wait(keys, { cost, timeout: timeoutMs, signal: controller.signal }).then(
      (decision) => {
        Object.assign(caller, { state: 'started', startedMs: this.clock.now(), decision });
        this.starts.push(caller);
      },
      (error) => {
        caller.state = error === 'bored' ? 'aborted' : 'timeout';
      },
    );
  }

  async #refund(caller: Caller | undefined): Promise<void> {
    if (caller?.decision === undefined) return;
    caller.isRefunded = true;
    await caller.limiter.refund(caller.decision);
  }

  async #reset(state: string): Promise<void> {
    const [name, key] = state.split(' ');
    this.resets.set(state, this.starts.length);
    await this.#limiters[0]!.reset({ [name!]: key! });
  }
}

function nameOf(state: string): Name {
  return state.split(' ')[0] as Name;
}

/** Whether both callers need one state. */
function shareState(one: Caller, other: Caller): boolean {
  return [...one.states.keys()].some((state) => other.states.has(state));
}

describe.each(STORES)('with %s', (_, create) => {
  /** Runs a history to its end. `inspect` checks what holds whenever everything has happened that is due. */
  async function run(steps: readonly Step[], inspect: (run: Run) => void): Promise<void> {
    const history = new Run(create, inspect);
    for (const step of steps) await history.take(step);
    // Every caller starts or reaches its timeout, without any further event.
    const longestMs = history.waiting.length * (WINDOWS_MS.shared + WINDOWS_MS.own);
    for (let ms = 0; ms < longestMs && history.waiting.length > 0; ms += STEP_MS) await history.advance(STEP_MS);
    expect(history.waiting).toEqual([]);
    for (const { state, startedMs, dueMs } of history.callers) {
      if (state === 'started') expect(startedMs).toBeLessThanOrEqual(dueMs);
    }
  }

  test('callers of one limit start exactly in the order of their calls, as soon as their units are free', async () => {
    await fc.assert(
      fc.asyncProperty(histories(costs(QUOTAS.shared, 0)), (steps) =>
        run(steps, (history) => {
          const order = history.starts.map((caller) => history.callers.indexOf(caller));
          assert.deepEqual(
            order,
            order.toSorted((one, other) => one - other),
          );
          const [first] = history.waiting;
          assert.ok(first === undefined || !history.fits(first), 'The first caller waits although its units are free');
        }),
      ),
      randomRuns(10, 3000),
    );
  });

  test('a caller of two limits is overtaken only while a state keeps it that the later caller does not need', async () => {
    await fc.assert(
      fc.asyncProperty(histories(costs(QUOTAS.shared, QUOTAS.own)), (steps) => {
        let inspected = 0;
        return run(steps, (history) => {
          const { starts, callers, waiting } = history;
          const isEarlier = (one: Caller, other: Caller) => callers.indexOf(one) < callers.indexOf(other);
          for (const started of starts.slice(inspected)) {
            for (const overtaken of waiting.filter((one) => isEarlier(one, started) && shareState(one, started))) {
              const foreign = [...overtaken.states.keys()].filter((state) => !started.states.has(state));
              const isKept = foreign.some(
                (state) =>
                  history.usedOf(state) + overtaken.states.get(state)! > QUOTAS[nameOf(state)] ||
                  waiting.some((one) => isEarlier(one, overtaken) && one.states.has(state)),
              );
              assert.ok(isKept, 'A caller is overtaken although no state keeps it');
            }
          }
          inspected = starts.length;
          for (const one of waiting) {
            const isFirst = !waiting.some((other) => isEarlier(other, one) && shareState(other, one));
            assert.ok(!isFirst || !history.fits(one), 'The first caller waits although its units are free');
          }
        });
      }),
      randomRuns(10, 3000),
    );
  });
});
