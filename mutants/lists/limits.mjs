// Defects in the algorithms. Each replaces a text that occurs exactly once in its file.

const CONFORMANCE = [
  'packages/core/test/changed-settings.test.ts',
  'packages/core/test/exact-units.test.ts',
  'packages/store-conformance/test/explorer.test.ts',
  'packages/store-conformance/test/memory-store.test.ts',
  'packages/core/test/memory-store.test.ts',
];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/core/src/limits/${name}.ts`, description, find, replace, tests };
  });

export const limits = [
  ...of('rolling-window', CONFORMANCE, [
    [
      'a hit counts for a microsecond too long',
      'log.firstAfter(atMicros - this.windowMicros)',
      'log.firstAfter(atMicros - this.windowMicros - 1)',
    ],
    [
      'the reported wait is a microsecond too long',
      'cost - free)) + this.windowMicros',
      'cost - free)) + this.windowMicros + 1',
    ],
    ['the reported wait is a microsecond too short', 'cost - free)) +', 'cost - free)) - 1 +'],
    ['the last unit of the limit is rejected', 'cost <= free ? 0', 'cost < free ? 0'],
    ['a clock that steps back frees the window', 'Math.max(nowMicros, log.newestMicros);', 'nowMicros;'],
    [
      'a minDifference longer than the window is forgotten',
      'log.newestMicros + this.#retentionOf(log);',
      'log.newestMicros + this.windowMicros;',
    ],
    [
      'a rejected attempt counts more than the limit',
      'const units = Math.min(cost, this.limit);',
      'const units = cost;',
    ],
    [
      'rejected attempts push out one unit too many',
      'log.keepNewest(this.limit - units);',
      'log.keepNewest(this.limit - units - 1);',
    ],
    [
      'the reset includes the minDifference',
      'log.newestMicros + this.windowMicros - nowMicros)',
      'log.newestMicros + this.keepMicros - nowMicros)',
    ],
    [
      'the minDifference ends a microsecond early',
      'this.minDifferenceMicros - nowMicros);',
      'this.minDifferenceMicros - nowMicros - 1);',
    ],
    ['the units left may be negative', 'remaining: Math.max(0, free),', 'remaining: free,'],
    ['a refund returns one unit, whatever the cost', 'log.remove(atMicros, cost);', 'log.remove(atMicros, 1);'],
    [
      'a state twice as far ahead is believed',
      'log.newestMicros - nowMicros <= this.windowMicros;',
      'log.newestMicros - nowMicros <= 2 * this.windowMicros;',
    ],
  ]),
  ...of('hit-log', CONFORMANCE, [
    [
      'dropped units are not subtracted',
      'if (this.#totals !== undefined) this.#dropped = this.#totalBefore(count);',
      '',
    ],
    [
      'a refund leaves its own total as it was',
      'let at = this.#start + index; at',
      'let at = this.#start + index + 1; at',
    ],
    ['the first totals are one too low', 'Math.max(0, index + 1 - this.#start)', 'Math.max(0, index - this.#start)'],
    [
      'the search stops at hits of the same time',
      'while (step < size && this.timeOf(step) <= micros)',
      'while (step < size && this.timeOf(step) < micros)',
    ],
    ['a refund takes from more hits than one', '      left -= taken;\n', ''],
    [
      'totals grow beyond exact integers',
      '> Number.MAX_SAFE_INTEGER) this.#restartTotals();',
      '> Infinity) this.#restartTotals();',
    ],
  ]),
  ...of('fixed-window', CONFORMANCE, [
    [
      'the window runs at its end still',
      'const isRunning = endMicros > nowMicros;',
      'const isRunning = endMicros >= nowMicros;',
    ],
    [
      'windows begin with the first action, not on the clock',
      '(Math.floor(nowMicros / this.windowMicros) + 1) * this.windowMicros',
      'nowMicros + this.windowMicros',
    ],
    ['the count of the last window stays', 'if (!isRunning) state.count = 0;', ''],
    ['a smaller limit lowers the scale', 'isRunning ? Math.max(state.scale, this.scale) : this.scale', 'this.scale'],
    ['a refund finds any window', 'if (state.endMicros === atMicros) state.count', 'state.count'],
    ['the last unit of the limit is rejected', 'cost > this.limit - used', 'cost >= this.limit - used'],
  ]),
  ...of('sliding-window-counter', CONFORMANCE, [
    ['the estimate is rounded down', 'full - mulDivUp(fading', 'full - mulDiv(fading'],
    [
      'an older window counts as the previous one',
      'atMicros === state.endMicros + this.windowMicros ? state.current : 0',
      'state.current',
    ],
    [
      'the wait for the next window is rounded the other way',
      'this.windowMicros - mulDiv(most, this.windowMicros, current)',
      'this.windowMicros - mulDivUp(most, this.windowMicros, current)',
    ],
    ['an exactly full window waits for the next one', 'isRunning && current <= most', 'isRunning && current < most'],
    [
      'windows of another length do not follow each other',
      'if (endMicros + windowMicros > nowMicros) return endMicros + windowMicros;',
      '',
    ],
    ['a refund by another window length counts', 'if (state.windowMicros !== this.windowMicros) return;', ''],
    [
      'a late refund lowers the current window',
      'state.previous = Math.max(0, state.previous - cost)',
      'state.current = Math.max(0, state.current - cost)',
    ],
  ]),
  ...of('bucketed-window', CONFORMANCE, [
    [
      'a refund looks into the bucket before',
      '(Math.floor(latestMicros / widthMicros) + 1) * widthMicros',
      'Math.floor(latestMicros / widthMicros) * widthMicros',
    ],
    [
      'the reported wait is a microsecond too short',
      'cost - free) + windowMicros - nowMicros',
      'cost - free) + windowMicros - nowMicros - 1',
    ],
    [
      'a clock that steps back frees the window',
      'const latestMicros = Math.max(nowMicros, counts.newestStartMicros);\n    const used',
      'const latestMicros = nowMicros;\n    const used',
    ],
  ]),
  ...of('bucket-counts', CONFORMANCE, [
    ['the oldest bucket counts for ever', 'index >= 0; index--) units', 'index > 0; index--) units'],
    [
      'a bucket counts for a microsecond too long',
      'this.#endOf(0) > micros) return 0',
      'this.#endOf(0) >= micros) return 0',
    ],
    [
      'units are forgotten early when the width changes',
      '[this.#endOf(index) - 1, units]',
      '[this.#endOf(index) - this.widthMicros, units]',
    ],
    ['a refund takes more than there is', 'const taken = Math.min(held, units);', 'const taken = units;'],
    ['buckets go over to the coarser width', 'Math.min(this.widthMicros, widthMicros)', 'widthMicros'],
  ]),
  ...of('min-difference', CONFORMANCE, [
    [
      'the minDifference ends a microsecond early',
      'minDifferenceMicros - nowMicros);',
      'minDifferenceMicros - nowMicros - 1);',
    ],
    [
      'at a tie the minDifference is the reason',
      'differenceWaitMicros > quotaWaitMicros',
      'differenceWaitMicros >= quotaWaitMicros',
    ],
    [
      'a shorter minDifference forgets a longer one',
      'Math.max(minDifferenceMicros, minDifference.minDifferenceMicros)',
      'minDifferenceMicros',
    ],
    [
      'a clock that steps back shortens the minDifference',
      'newestMicros: Math.max(nowMicros, minDifference.newestMicros)',
      'newestMicros: nowMicros',
    ],
  ]),
  ...of('mul-div', CONFORMANCE, [['great whole quotients are rounded up by one', 'BigInt(c) - 1n)', 'BigInt(c))']]),
  ...of('clock-skew-bound', CONFORMANCE, [['half of the reach is implausible', '2 ** (scale + 1)', '2 ** scale']]),
];
