// Defects in the token bucket and the leaky bucket. Each replaces a text that occurs exactly once in its file.

const CONFORMANCE = [
  'packages/store-conformance/test/explorer.test.ts',
  'packages/store-conformance/test/memory-store.test.ts',
  'packages/core/test/memory-store.test.ts',
];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/core/src/limits/${name}.ts`, description, find, replace, tests };
  });

export const buckets = [
  ...of('token-bucket', CONFORMANCE, [
    [
      'a wait does not include a started microsecond',
      'numbers[start + PARTS]! > 0 ? fullMicros + 1 : fullMicros',
      'fullMicros',
    ],
    ['the fraction of a microsecond is lost', 'this.micros, parts)', 'this.micros, 0)'],
    [
      'the wait is a microsecond too long',
      'parts > this.#parts(mayBeMissing) ? 1 : 0',
      'parts >= this.#parts(mayBeMissing) ? 1 : 0',
    ],
    [
      'a bucket that becomes full in this microsecond loses its fraction',
      'const parts = fullMicros < nowMicros ? 0',
      'const parts = fullMicros <= nowMicros ? 0',
    ],
    [
      'a refund returns tokens that have already refilled',
      'const refilledMicros = Math.max(0, sinceStartMicros - this.#wholeMicros(kept));',
      'const refilledMicros = 0;',
    ],
    [
      'a refund after a clock step back returns tokens that had refilled',
      'const latestMicros = Math.max(nowMicros, numbers[start + LATEST]!);',
      'const latestMicros = nowMicros;',
    ],
    ['a very late refund takes tokens away', 'if (micros < 0) return;', ''],
    ['the state does not sum refunds', 'numbers[start + REFUNDED]! += parts > 0 ? micros + 1 : micros;', ''],
    [
      'a hit ignores the refunds before it',
      'Math.max(fullMicros, nowMicros) + numbers[start + REFUNDED]!',
      'Math.max(fullMicros, nowMicros)',
    ],
    [
      'the next action fills the bucket first',
      'this.#setFull(state, Math.max(fullMicros, nowMicros) +',
      'this.#setFull(state, nowMicros +',
    ],
    [
      'the fraction that another limit wrote has no bound',
      'Math.min(numbers[start + PARTS]!, this.tokens - 1)',
      'numbers[start + PARTS]!',
    ],
  ]),
  ...of(
    'leaky-bucket',
    [...CONFORMANCE, 'packages/core/test/queue-refunds.test.ts'],
    [
      [
        'the queue has room for one unit too few',
        '(limit + 1 - cost) * intervalMicros',
        '(limit - cost) * intervalMicros',
      ],
      [
        'one waiting action too many is counted',
        'Math.ceil(delayMicros / intervalMicros) - 1',
        'Math.floor(delayMicros / intervalMicros)',
      ],
      [
        'an action of several units takes one start',
        '= atMicros + cost * this.intervalMicros;',
        '= atMicros + this.intervalMicros;',
      ],
      ['the last start stays taken after its refund', 'if (endMicros < freeMicros)', 'if (endMicros <= freeMicros)'],
      ['starts refunded before the last one stay taken', 'takeLastGap(state, atMicros) ?? atMicros', 'atMicros'],
    ],
  ),
  ...of(
    'queue-gaps',
    [...CONFORMANCE, 'packages/core/test/queue-refunds.test.ts'],
    [
      ['a start refunded twice is two gaps', 'if (next < to) return;', ''],
      ['gaps that touch are not merged', 'else if (next === to) setBound(state, after, from);', ''],
      ['the search finds the next gap', '< micros) low = middle + 1', '<= micros) low = middle + 1'],
    ],
  ),
];
