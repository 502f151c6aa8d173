// Defects in what locks keys: blocks, lockouts, and calls with the keys of some limits.

const BLOCK = ['packages/core/test/block.test.ts', 'packages/store-conformance/test/memory-store.test.ts'];
const LOCKOUT = ['packages/core/test/lockout.test.ts'];
const KEYS = [
  'packages/core/test/costs.test.ts',
  'packages/core/test/types.test.ts',
  'packages/core/test/block.test.ts',
  'packages/core/test/fallback-limits.test.ts',
  'packages/store-conformance/test/memory-store.test.ts',
];
const REDIS = ['blocks', 'vectors', 'malformed-replies'].map((name) => `packages/redis/test/${name}.test.ts`);
const HTTP = ['packages/http/test/block-headers.test.ts'];

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}`, description, find, replace, tests }));

export const locks = [
  ...of('core/src/blocks/block.ts', BLOCK, [
    [
      'the newest block decides',
      'Math.max(numbers[start + END]!, length === FOREVER',
      'Math.max(0, length === FOREVER',
    ],
    [
      'blocks add up',
      'FOREVER : nowMicros + length)',
      'FOREVER : Math.max(numbers[start + END]!, nowMicros) + length)',
    ],
    ['a block without an end has one', 'length === FOREVER ? FOREVER : nowMicros + length', 'nowMicros + length'],
    ['its wait has an end', 'return end === FOREVER ? Infinity : end;', 'return end;'],
    ['a short block shortens the memory of a long one', 'Math.max(numbers[start + LONGEST]!, length)', 'length'],
    ['a block of a wrong clock stays', '2 * numbers[start + LONGEST]!', '1e9 * numbers[start + LONGEST]!'],
    ['a step back of the clock ends a block', '<= 2 * numbers[start + LONGEST]!', '<= numbers[start + LONGEST]!'],
    [
      'an open key has a wait',
      'Math.max(0, toTime(numbers[start + END]!) - nowMicros)',
      'toTime(numbers[start + END]!) - nowMicros',
    ],
    ['the reason is the quota', "verdict.reason = 'blocked';", "verdict.reason = 'limit';"],
    ['a closed key has units left', 'wait > 0 ? 0 : Infinity', 'Infinity'],
    ['a check records', 'this.testsOnly = lengthMicros === 0;', 'this.testsOnly = false;'],
    ['a block records nothing', 'this.testsOnly = lengthMicros === 0;', 'this.testsOnly = true;'],
    ['a duration is in microseconds', "', or Infinity') * 1000);", "', or Infinity'));"],
    ['the fallback closes nothing', 'fallback: fallback && close(fallback),', 'fallback,'],
    ['a block closes all keys', 'return close(selectLimits(plan, key));', 'return close(plan);'],
    ['a key of another limit is ignored', "if (typeof key !== 'object') return [];", 'return [];'],
    ['a key for all limits closes none but blocks', "if (typeof key !== 'object') return [];", ''],
  ]),
  ...of('core/src/engine/rule-check.ts', BLOCK, [
    ['a check of several limits creates states of blocks', 'rule.limit.testsOnly ? 0 : cost', 'cost'],
  ]),
  ...of('core/src/engine/decide-one.ts', BLOCK, [
    ['a check of one block creates a state', '(allowed && !limit.testsOnly)', 'allowed'],
  ]),
  ...of('core/src/failure/decide-by-policy.ts', BLOCK, [
    [
      'a block that nothing remembers seems to succeed',
      " && operation === 'charge' && closesKeys(plan))",
      ' && false)',
    ],
    ['a charge fails like a block', 'limit.testsOnly === false', 'limit.testsOnly !== true'],
    ['the fallback forgets blocks', "policy !== 'fallback' && operation === 'charge'", "operation === 'charge'"],
  ]),
  ...of('core/src/blocks/blocking-limit.ts', BLOCK, [
    ['a limiter without a block has no error for it', '  if (!limit) throw withCode', '  if (false) throw withCode'],
  ]),
  ...of('core/src/limiter/key-changes.ts', BLOCK, [
    ['a store need not charge', "if (store.charge === undefined) throw unsupported('charge');", ''],
  ]),
  ...of('core/src/limits/lockout.ts', LOCKOUT, [
    ['all windows have the same limit', 'limit: attempts * number', 'limit: attempts'],
    ['the last window is shorter than `max`', 'ms * factor > maxMs ? maxMs : ms', 'ms'],
    ['there is a window more', 'ms <= maxMs; ms *= factor', 'ms <= maxMs * factor; ms *= factor'],
    ['there is a window less', 'ms <= maxMs; ms *= factor', 'ms < maxMs; ms *= factor'],
    [
      '`max` may be too short',
      "if (maxMs < firstMs * factor) throw invalidOption('max', 'at least `first` times `factor`', options.max ?? '1d');",
      '',
    ],
    ['`max` must exceed the second window', 'maxMs < firstMs * factor', 'maxMs <= firstMs * factor'],
    ['the windows do not grow by the factor', 'ms *= factor', 'ms *= 4'],
    [
      'unknown options are ignored',
      "validateOptionNames('lockout', options, ['attempts', 'first', 'factor', 'max']);",
      '',
    ],
    ['the limits get their names as keys', 'map((name) => [name, key])', 'map((name) => [name, name])'],
  ]),
  ...of('core/src/plan/create-plan.ts', KEYS, [
    ['all limits are selected', 'rules.filter(({ name }) => Object.hasOwn(key, name))', 'rules'],
    [
      'the others are selected',
      'filter(({ name }) => Object.hasOwn(key, name))',
      'filter(({ name }) => !Object.hasOwn(key, name))',
    ],
    ['a record without keys selects nothing', "if (rules.length === 0) throw invalidKey('key', SOME_KEYS, key);", ''],
    [
      'the fallback decides by all limits',
      '{ ...selected, fallback: toPlan(prefix, select(fallback)) }',
      '{ ...selected, fallback }',
    ],
    [
      'the fallback has the settings of the store',
      'return fallback === undefined ? selected :',
      'return true ? selected :',
    ],
    [
      'unknown names are ignored in a selection',
      '  validateNames(\n    plan.rules.map(({ name }) => name),\n    key,\n  );\n  const select =',
      '  const select =',
    ],
  ]),
  ...of('core/src/limiter/settlement.ts', KEYS, [
    ['a refund ignores the keys', "if (typeof key === 'object') {", 'if (false) {'],
    ['a refund with keys keeps a unit', 'map((name) => [name, 0])', 'map((name) => [name, 1])'],
  ]),
  ...of('redis/src/lua/limits/block.lua', REDIS, [
    [
      'the newest block decides',
      'state.ends = math.max(state.ends, rule.length',
      'state.ends = math.max(0, rule.length',
    ],
    ['a block without an end has one', 'rule.length == FOREVER and FOREVER or now + rule.length', 'now + rule.length'],
    ['a short block shortens the memory of a long one', 'math.max(state.longest, rule.length)', 'rule.length'],
    ['a check writes', 'if rule.length > 0 then', 'if true then'],
    ['an expired block goes on', 'or ends <= now then', 'then'],
    ['a block of a wrong clock stays', '2 * longest', '1e9 * longest'],
    ['a step back of the clock ends a block', '<= 2 * longest', '<= longest'],
    ['an open key is closed', 'left > 0 and 0 or 1', '0'],
    ['the block of a wrong clock counts again', "redis.call('UNLINK', key) -- A broken clock wrote it.", ''],
  ]),
  ...of('redis/src/script/check-result.ts', REDIS, [
    ['the reason is the quota', "isBlock ? 'blocked' : ", ''],
    [
      'an open key has one unit left',
      'isBlock && figures.remaining > 0 ? Infinity : figures.remaining',
      'figures.remaining',
    ],
  ]),
  ...of('redis/src/script/figures.ts', REDIS, [
    ['a wait without an end is negative', 'return micros === -1 ? Infinity : micros;', 'return micros;'],
    ['a window may last forever', ' && (reset !== Infinity || !hasQuota({ limit }))', ''],
  ]),
  ...of('http/src/headers/rate-limit-headers.ts', HTTP, [
    ['an open block has headers', '      if (!hasQuota(figures)) return;\n', ''],
    ['the limit of a block is infinite', 'hasQuota(figures) ? figures.limit : 0', 'figures.limit'],
    [
      'the reset of a block without an end is infinite',
      'figures.resetMs === Infinity ? undefined : String(',
      'String(',
    ],
  ]),
  ...of('http/src/headers/draft-headers.ts', HTTP, [
    ['a block has a policy', '.filter(([, limit]) => hasQuota(limit))', ''],
    ['a block that rejects has no policy', 'if (!hasQuota(results[name]!)) value +=', 'if (false) value +='],
    ['an open block has units', '    if (remaining === Infinity) continue; // It has no quota.\n', ''],
    ['a block without an end has a time', ' && nextUnitMs !== Infinity', ''],
  ]),
];
