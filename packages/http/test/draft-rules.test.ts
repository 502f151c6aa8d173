import assert from 'node:assert/strict';
import { MemoryStore } from '@rollgate/core';
import { Gate, type Host, type Outcome } from '@rollgate/http';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import {
  type AlgorithmName,
  type LimitSpec,
  limitsOf,
  oracleOf,
  quotaNames,
} from '../../store-conformance/src/algorithms.js';
import { smallLimit } from '../../store-conformance/src/arbitraries/limits.js';
import { TestClock } from '../../store-conformance/src/test-clock.js';
import { parseField } from './support/structured-fields';

// The rules of draft-ietf-httpapi-ratelimit-headers-11 for the parameter `t`, compared with the naive oracles:
// - The client can use no more than `r` units within `t` seconds (section 4.1.2).
// - `Retry-After` is not earlier than the end of that window (section 6).
// A time in whole seconds is rounded up, so the first rule holds until the last second begins.

const SECOND = 1e6;
/** Makes the small limits of the conformance tests so slow that seconds distinguish them. */
const SLOWER = 1777;

const counting = quotaNames.filter((algorithm) => algorithm !== 'concurrency');
const slowed = (algorithm: AlgorithmName): fc.Arbitrary<LimitSpec> =>
  smallLimit(algorithm, 1).map(({ options }) => {
    const entries = Object.entries(options).map(([name, value]) => [
      name,
      ['window', 'every', 'interval', 'minDifference'].includes(name) && value !== undefined ? value * SLOWER : value,
    ]);
    return { algorithm, options: Object.fromEntries(entries) } as LimitSpec;
  });

const command = fc.record({
  stepMicros: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 12 * SLOWER * 1000 })),
  cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, fc.integer({ min: 2, max: 6 })),
});

/** The oracle of one limit, with the state of one key. */
class Quota {
  readonly #spec: LimitSpec;
  #state: unknown;

  constructor(spec: LimitSpec) {
    this.#spec = spec;
    this.#state = this.#oracle.empty;
  }

  get #oracle() {
    return oracleOf(this.#spec, false);
  }

  get size(): number {
    return this.#oracle.quota;
  }

  get countsRejected(): boolean {
    return this.#oracle.countRejected === true;
  }

  /** The estimate of this algorithm falls faster after more units, so a greedy client may get one before the others. */
  get isEstimate(): boolean {
    return this.#spec.algorithm === 'slidingWindowCounter';
  }

  allows(at: number, cost: number): boolean {
    return cost <= this.size && this.#oracle.allows(this.#state, at, cost);
  }

  free(at: number): number {
    return Math.max(0, this.#oracle.free(this.#state, at));
  }

  record(at: number, cost: number): void {
    [this.#state] = this.#oracle.record(this.#state, at, cost);
  }

  /** The units that a client gets until `at` which uses all that it can at once, and the rest then. */
  greedyUse(now: number, at: number): number {
    const atOnce = this.free(now);
    if (atOnce === 0 || this.isEstimate) return this.free(at);
    const [state] = this.#oracle.record(this.#state, now, atOnce);
    return atOnce + Math.max(0, this.#oracle.free(state, at));
  }
}

const HOST: Host<object, Map<string, string>> = {
  name: 'rateLimit',
  ownOptions: [],
  resetUnit: 'delta',
  getClientAddress: () => undefined,
  getRequestHeader: () => undefined,
  isDisconnected: () => false,
  getSetHeader: (headers) => headers.set,
  getHeader: (headers, name) => headers.get(name),
  lowercaseHeaders: true,
};

/** Expects that the headers of a response keep the rules. */
function expectRules(
  headers: Map<string, string>,
  quotas: Map<string, Quota>,
  violated: string[],
  now: number,
  cost: number,
) {
  const items = parseField(headers.get('ratelimit')!) as [string, { r: number; t?: number }][];
  assert.deepEqual(
    items.map(([name]) => name),
    violated.length === 0 ? [...quotas.keys()] : violated,
  );
  for (const [name, { r, t }] of items) {
    const quota = quotas.get(name)!;
    assert.deepEqual([r, t === undefined], [quota.free(now), quota.free(now) === quota.size]);
    if (t === undefined) continue;
    assert.equal(quota.greedyUse(now, now + (t - 1) * SECOND), r);
    // No later than necessary: at its end, more is free, or the action that came too soon is allowed.
    const end = now + t * SECOND;
    assert.ok(quota.free(end) > r || (violated.includes(name) && quota.allows(end, cost)));
    assert.ok(Number(headers.get('retry-after') ?? Infinity) >= t);
  }
}

test.each(counting)('t and Retry-After keep the rules of the draft: %s next to any limit', (algorithm) => {
  const specs = fc.record({ one: slowed(algorithm), two: fc.oneof(...counting.map(slowed)) });
  const property = fc.property(specs, fc.array(command, { maxLength: 25 }), (specs, commands) => {
    const clock = new TestClock();
    clock.micros = 1e15;
    let cost = 1;
    const gate = new Gate(HOST, {
      limits: limitsOf(specs),
      store: new MemoryStore({ clock }),
      key: () => 'ann',
      cost: () => cost,
      headers: 'draft-11',
    });
    const quotas = new Map(Object.entries(specs).map(([name, spec]) => [name, new Quota(spec)]));
    for (const command of commands) {
      clock.micros += command.stepMicros;
      cost = command.cost;
      const now = clock.micros;
      const outcome = gate.judge({}) as Extract<Outcome, { kind: 'allowed' | 'rejected' }>;
      const headers = new Map<string, string>();
      gate.headers.write(headers, outcome);
      const violated = [...quotas].filter(([, quota]) => !quota.allows(now, cost)).map(([name]) => name);
      assert.equal(outcome.kind, violated.length === 0 ? 'allowed' : 'rejected');
      for (const quota of quotas.values()) if (violated.length === 0 || quota.countsRejected) quota.record(now, cost);
      expectRules(headers, quotas, violated, now, cost);
    }
  });
  fc.assert(property, randomRuns(60, 5000));
});
