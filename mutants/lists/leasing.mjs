// Defects in the leases of @rollgate/leasing, and in the settlements that they need of the stores.

const TESTS = ['lease', 'leasing-store', 'several-limits', 'model', 'schedules'].map(
  (name) => `packages/leasing/test/${name}.test.ts`,
);
const SETTLEMENTS = ['packages/leasing/test/repeated-settlements.test.ts'];

const of = (file, mutants, tests = TESTS) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}`, description, find, replace, tests }));

export const leasing = [
  ...of('leasing/src/lease-terms.ts', [
    [
      'the store counts units for no longer than the window',
      'limit.windowMicros / 1000 + leaseMs',
      'limit.windowMicros / 1000',
    ],
    [
      'a lease is used for twice its time',
      'leaseMs * (1 - options.clockDrift)',
      '2 * leaseMs * (1 - options.clockDrift)',
    ],
    ['a lease takes all that is free', 'Math.floor(free * maxShare)', 'free'],
    ['a short window is leased', 'windowMs < MIN_LEASES_PER_WINDOW * leaseMs', 'windowMs < leaseMs'],
  ]),
  ...of('leasing/src/leased-plan.ts', [
    ['all lengths of leases share a log', '`${rule.name}+lease${terms.leaseMs}ms`', '`${rule.name}+lease`'],
    [
      'a settlement uses the names of the limiter',
      '[[inner.rules[index]!.name, costs[name]!]]',
      '[[name, costs[name]!]]',
    ],
  ]),
  ...of('leasing/src/lease.ts', [
    ['a settlement begins with all units again', 'this.#recorded = spent;\n      },', '},'],
    [
      'two settlements run at once',
      'if (this.#settling !== undefined) return',
      'if (this.#recorded < 0 && this.#settling !== undefined) return',
    ],
    ['a settlement follows a lost one', '        this.#isLost = true;\n        throw', '        throw'],
    ['a refund of a closed lease can be spent again', 'if (this.isClosed) return this.#settle();', ''],
    ['a refund is not spent less', '    this.#spent -= units;\n', ''],
    ['a lease returns nothing', 'this.#isLost || spent >= this.#recorded', 'true'],
    ['a spent unit is left', '    this.left -= units;\n', ''],
  ]),
  ...of('leasing/src/held-leases.ts', [
    ['a lease is spent after its end', 'current.left >= units && nowMs < current.untilMs', 'current.left >= units'],
    ['a lease is spent beyond its units', 'current.left >= units && nowMs', 'current.left >= 0 && nowMs'],
    ['leases outlive a reset', 'this.#current = this.#next = undefined;', ''],
  ]),
  ...of('leasing/src/credit-account.ts', [
    [
      'a lease begins with the reply',
      'const untilMs = sentMs + this.terms.usableMs',
      'const untilMs = this.port.now() + this.terms.usableMs',
    ],
    ['units that a caller cannot use stay here', 'this.#leases.closeIfShort(units, nowMs);', ''],
    ['what is free is not requested', 'remaining >= units || retryAfterMs > this.terms.leaseMs', 'false'],
    ['a decision waits for the next request', 'this.port.afterTurn(() => {', 'void [0].forEach(() => {'],
    ['a lease that is over stays open', 'if (!isKept) lease.close();', ''],
    [
      'callers that came later use a lease that is over',
      'for (const listener of this.#takeListeners()) listener.onEnd(undefined);',
      'for (const listener of this.#takeListeners()) notify(listener);',
    ],
  ]),
  ...of('leasing/src/leased-check.ts', [
    [
      'units stay spent when another limit rejects',
      'if (isOver || !decision.allowed) giveBack();',
      'if (isOver) giveBack();',
    ],
    ['units that this process holds reject its checks', 'account.returnUnits()', 'false'],
    [
      'units of a key that comes seldom reject its checks next to a lease',
      'if (!decision.allowed && this.#returnUnits(inStore))',
      'if (0 > 1)',
    ],
  ]),
  ...of('leasing/src/checked-parts.ts', [
    ['slots are decided apart', 'let mayLease = !plan.isWhole && ', 'let mayLease = '],
    ['the figures of a limit without a cost are guessed', 'mayLease &&= account.hasFiguresAt(nowMs);', ''],
  ]),
  ...of('leasing/src/demand.ts', [['every key is leased', '>= this.minDecisions', '>= 0']]),
  ...of('leasing/src/accounts.ts', [['idle leases are never swept', 'account.sweep(nowMs);', '']]),
  ...of('leasing/src/settle-spent.ts', [
    ['a refund returns units that a settlement has added', 'Math.min(own.units, cost)', 'cost'],
    ['a settlement charges what the store settles', ' || inStore.includes(index)', ''],
    ['an overdraft is not recorded', 'if (more === 0) return', 'if (more >= 0) return'],
  ]),
  ...of(
    'core/src/engine/recorded-hit.ts',
    [['a settlement leaves the cost', 'if (!hasLeases', 'if (hasLeases']],
    SETTLEMENTS,
  ),
  ...of(
    'redis/src/changes/state-changes.ts',
    [['a settlement leaves the cost', 'hit.cost = Math.min(hit.cost, cost);', '']],
    SETTLEMENTS,
  ),
];
