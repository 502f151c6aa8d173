// Defects in the TypeScript of @rollgate/redis: batches, receipts, keys and the denial cache.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const BATCHES = ['script-slices', 'sharing', 'batching', 'algorithms', 'conformance'].map(test);
const DENIALS = ['sharing', 'denial-cache', 'simulation', 'conformance'].map(test);
const RECEIPTS = [test('resent'), ...BATCHES, test('far-refunds')];
const KEYS = ['key-names', 'keys', 'algorithms'].map(test);

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/${name}.ts`, description, find, replace, tests };
  });

export const redis = [
  ...of('batcher', BATCHES, [
    ['a large batch is sent more than once', 'items.slice(start, start + LARGEST)', 'items.slice(start)'],
    ['all of a large batch goes into one script', 'const LARGEST = 100;', 'const LARGEST = 1_000_000;'],
    ['batches are never halved', 'this.#lockstepCount > IN_LOCKSTEP', 'this.#lockstepCount > Infinity'],
  ]),
  ...of('operation-sender', BATCHES, [
    ['what a script left is not sent', 'if (doneCount < operations.length) await', 'if (doneCount < 0) await'],
    ['a failed operation is answered', 'if (error !== undefined) operation.fail(error);\n  else if', 'if'],
  ]),
  ...of('script-request', RECEIPTS, [
    ['checks of different costs travel as one', 'one.cost === other.cost &&', ''],
    ['a refund names the rule before', 'items.push(index + 1, atMicros);', 'items.push(index, atMicros);'],
    [
      'a refund always has the time of the server',
      'cost, clockMicros ?? false, stamp, recordedMicros',
      'cost, false, stamp, recordedMicros',
    ],
  ]),
  ...of('script-reply', RECEIPTS, [
    [
      'all operations of a batch have one stamp',
      'return this.#serverMicros + this.#place;',
      'return this.#serverMicros;',
    ],
    ['a receipt forgets how far ahead its hit is', 'nowMicros + Number(line.slice(second + 1))', 'nowMicros'],
    [
      'receipts of several limits forget how far ahead a hit is',
      'index, atMicros: nowMicros + last }',
      'index, atMicros: nowMicros }',
    ],
    ['the reason is always the limit', "delay === MIN_DIFFERENCE ? 'minDifference' : 'limit'", "'limit'"],
    ['"never" is a wait below 0', 'return micros < 0 ? Infinity : micros;', 'return micros;'],
  ]),
  ...of('cached-denial', DENIALS, [
    [
      'a rejection outlives its steady time',
      'sinceAsked < steadyMicros && nowMs < keptUntilMs;',
      'nowMs < keptUntilMs;',
    ],
    ['a rejection outlives its greatest age', ' && nowMs < keptUntilMs;', ';'],
    [
      'waits run down too fast',
      'function runDown({ said, answeredMicros }',
      'function runDown({ said, askedMicros: answeredMicros }',
    ],
  ]),
  ...of('key-change-tracker', DENIALS, [
    [
      'a check of another plan changes nothing',
      '      note.text = text;\n      note.version += 1;',
      '      note.text = text;',
    ],
    ['keys of dropped rejections are kept', 'if (note.useCount === 0) this.#notes.delete(key);', ''],
  ]),
  ...of('denial-cache', DENIALS, [
    [
      'a rejection outlives a change of its keys',
      'notes.every(({ version }, index) => version === versions[index])',
      'versions.length > 0 && notes.length > 0',
    ],
    ['rejections of limits that count them are kept', 'encoded.countsRejected || answeredMicros', 'answeredMicros'],
    [
      'one rejection more than maxKeys is kept',
      'this.#denials.size >= this.#limits.maxKeys',
      'this.#denials.size > this.#limits.maxKeys',
    ],
    [
      'rejections of other costs are mixed up',
      'family.denials.get(subject.cost);\n    if (denial === undefined)',
      'first(family.denials.values());\n    if (denial === undefined)',
    ],
  ]),
  ...of('denial-estimate', DENIALS, [
    [
      'a cost above the limit waits until the reset',
      "if (cost > limit) return { reason: 'limit', retryAfterMs: Infinity };",
      '',
    ],
    [
      'a smaller cost that fits is rejected',
      'return cost <= one.remaining || knownCost > limit;',
      'return knownCost > limit;',
    ],
  ]),
  ...of('redis-store', DENIALS, [
    [
      'a rejection is served after a local record',
      'if (receipt !== undefined) this.#denials?.dropAll(subject.keys);\n      else',
      'if (receipt === undefined)',
    ],
    [
      'a rejection asked for before a reset is kept after it',
      'if (receipt === undefined && changes === this.#changes) {',
      'if (receipt === undefined) {',
    ],
    [
      'a reset leaves the rejections',
      '    this.#changes += 1;\n    this.#denials?.dropAll(keys);\n    return',
      '    this.#changes += 1;\n    return',
    ],
    ['a clock that steps back leaves the rejections', '      this.#denials?.clear();\n', ''],
  ]),
  ...of(
    'plan-encoding',
    [...KEYS, ...DENIALS, test('cluster')],
    [
      ['algorithms share their keys', 'name + suffixOf(limit)', 'name'],
      [
        'a cluster takes different keys by key',
        "if (clusterSlot === 'key' && typeof keys !== 'string') refuseDifferent(keys);",
        '',
      ],
      ['no attempt counts when it is rejected', 'rules.some(({ limit }) => limit.countRejected)', 'false'],
    ],
  ),
  ...of('algorithm-registry', [...BATCHES], [['countRejected does not reach Redis', 'countRejected ? 1 : 0', '0']]),
  ...of('redis-keys', KEYS, [
    ['an empty key is an empty pair of braces', "if (text === '') return '%';", ''],
    ['odd characters share a code', 'hex(odd, 2) : `u${hex(odd, 4)}`', "'00' : `u${hex(odd, 4)}`"],
  ]),
];
