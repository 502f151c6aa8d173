// Defects in the algorithms. Each replaces a text that occurs exactly once in its file.

const CONFORMANCE = [
  'packages/core/test/hit-ring.test.ts',
  'packages/core/test/large-totals.test.ts',
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
      'firstAfter(log, atMicros - this.windowMicros)',
      'firstAfter(log, atMicros - this.windowMicros - 1)',
    ],
    ['the reported wait is a microsecond too long', 'first, cost - free);', 'first, cost - free) + 1;'],
    ['the reported wait is a microsecond too short', 'first, cost - free);', 'first, cost - free) - 1;'],
    ['the last unit of the limit is rejected', 'cost <= free ? 0', 'cost < free ? 0'],
    ['a clock that steps back frees the window', 'Math.max(nowMicros, newestMicros);', 'nowMicros;'],
    [
      'a log expires before a minDifference that is longer than the window',
      'newestOf(log) + retentionOf(log);',
      'newestOf(log) + this.windowMicros;',
    ],
    [
      'a rejected attempt counts more than the limit',
      'const units = Math.min(cost, this.limit);',
      'const units = cost;',
    ],
    [
      'rejected attempts that count drop one unit too many',
      'keepNewest(log, this.limit - units);',
      'keepNewest(log, this.limit - units - 1);',
    ],
    [
      'the reset includes the minDifference',
      'newestMicros + this.windowMicros - nowMicros)',
      'newestMicros + this.keepMicros - nowMicros)',
    ],
    [
      'the minDifference ends a microsecond early',
      'this.minDifferenceMicros - nowMicros);',
      'this.minDifferenceMicros - nowMicros - 1);',
    ],
    ['the units left may be negative', 'remaining = Math.max(0, free);', 'remaining = free;'],
    [
      'a refund returns one unit, whatever the cost',
      'removeUnits(log, atMicros, cost - kept);',
      'removeUnits(log, atMicros, 1);',
    ],
    [
      'a state up to two windows ahead is plausible',
      'newestOf(log) - nowMicros <= this.windowMicros;',
      'newestOf(log) - nowMicros <= 2 * this.windowMicros;',
    ],
    [
      'the log is kept only as long as the last limit needs it',
      'Math.max(keepMicros, numbers[start + DIFFERENCE]!);',
      'keepMicros;',
    ],
    ['an allowed check reports the units that were remaining before it', 'verdict.remaining -= cost;', ''],
    [
      'the next unit ignores the new hit',
      'verdict.nextUnitMicros = this.#waitForUnit(log, nowMicros, firstAfter(log, startMicros), 1);',
      '',
    ],
    ['the next unit of an overdraft is free too early', 'first, Math.max(1, 1 - free));', 'first, 1);'],
    ['the reset ignores the new hit', 'verdict.resetMicros = atMicros + this.windowMicros - nowMicros;', ''],
  ]),
  ...of('hit-log', CONFORMANCE, [
    [
      'the search stops at hits of the same time',
      'while (step < hits && timeOf(log, step) <= micros)',
      'while (step < hits && timeOf(log, step) < micros)',
    ],
    ['a refund takes from more hits than one', '    left -= taken;\n', ''],
    [
      'a refund does not lower the total of its own hit',
      'lowerTotals(log, index, taken);',
      'lowerTotals(log, index + 1, taken);',
    ],
    [
      'totals grow beyond exact integers',
      'if (totalBefore(log, hitsOf(log)) + cost > Number.MAX_SAFE_INTEGER) {',
      'if (false) {',
    ],
  ]),
  ...of('hit-ring', CONFORMANCE, [
    ['dropped units are not subtracted', 'if (hasTotals(log)) setDropped(log, totalBefore(log, count));', ''],
    [
      'the first totals are one too low',
      'copy[hits + index] = totalBefore(log, index + 1);',
      'copy[hits + index] = totalBefore(log, index);',
    ],
    ['a log that empties again and again doubles', '2 * (hits + 1) <= capacity ? capacity >> 1 : capacity', 'capacity'],
    [
      'new totals leave no room for the next hit',
      '2 * (hits + 1) <= capacity ? capacity >> 1 : capacity',
      'capacity >> 1',
    ],
    ['the ring does not wrap around', 'place < capacity ? place : place - capacity', 'place'],
    [
      'the hits lose their order when the ring moves',
      'log.numbers[log.start + FIRST] = 0;\n  if (needs',
      '  if (needs',
    ],
    [
      'a ring that wraps around moves as it is',
      'if (!needsTotals && log.numbers[log.start + FIRST] === 0) {',
      'if (!needsTotals) {',
    ],
    ['a removed hit leaves its total', 'if (hasTotals(log)) numbers[totalAt(log, at)] = totalBefore(log, at + 2);', ''],
    ['a cleared log keeps its totals', 'numbers[start + DROPPED] = -1;', ''],
  ]),
  ...of('fixed-window', CONFORMANCE, [
    [
      'the window is still running at its end',
      'const isRunning = endMicros > nowMicros;',
      'const isRunning = endMicros >= nowMicros;',
    ],
    [
      'windows begin with the first action, not on the clock',
      '(Math.floor(nowMicros / this.windowMicros) + 1) * this.windowMicros',
      'nowMicros + this.windowMicros',
    ],
    ['the count of the previous window is kept', 'if (!isRunning) numbers[start + COUNT] = 0;', ''],
    [
      'a smaller limit lowers the scale',
      'isRunning ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale',
      'this.scale',
    ],
    [
      'a refund applies to any window',
      'if (numbers[start + END] === atMicros) numbers[start + COUNT] =',
      'numbers[start + COUNT] =',
    ],
    ['the last unit of the limit is rejected', 'cost > this.limit - used', 'cost >= this.limit - used'],
  ]),
  ...of('sliding-window-counter', CONFORMANCE, [
    ['the estimate is rounded down', 'full - mulDivUp(fading', 'full - mulDiv(fading'],
    [
      'an older window counts as the previous one',
      'atMicros === endMicros + this.windowMicros ? numbers[start + CURRENT]! : 0',
      'numbers[start + CURRENT]!',
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
    ['a refund by another window length counts', 'if (numbers[start + WINDOW] !== this.windowMicros) return;', ''],
    [
      'a late refund lowers the current window',
      'numbers[start + PREVIOUS] = Math.max(0, numbers[start + PREVIOUS]! - units)',
      'numbers[start + CURRENT] = Math.max(0, numbers[start + CURRENT]! - units)',
    ],
  ]),
  ...of('bucketed-window', CONFORMANCE, [
    [
      'a refund uses the previous bucket',
      '(Math.floor(latestMicros / widthMicros) + 1) * widthMicros',
      'Math.floor(latestMicros / widthMicros) * widthMicros',
    ],
    ['the reported wait is a microsecond too short', 'nowMicros, cost - free) : 0', 'nowMicros, cost - free) - 1 : 0'],
    [
      'a clock that steps back frees the window',
      'const latestMicros = Math.max(nowMicros, newestStart(state));\n    const used',
      'const latestMicros = nowMicros;\n    const used',
    ],
  ]),
  ...of('bucket-counts', CONFORMANCE, [
    ['a full sum counts no later units', 'if (excess > 0) dropOldestUnits(state, excess);', 'if (excess > 0) return;'],
    ['the oldest bucket never expires', 'index >= 0; index--) units', 'index > 0; index--) units'],
    [
      'a bucket counts for a microsecond too long',
      'endOf(state, 0) > micros) return 0',
      'endOf(state, 0) >= micros) return 0',
    ],
    [
      'units expire early when the width changes',
      'Math.min(endMicros - 1, latestMicros)',
      'Math.min(endMicros - widthMicros, latestMicros)',
    ],
    ['a refund removes more units than the bucket has', 'const taken = Math.min(held, units);', 'const taken = units;'],
    ['buckets change to the coarser width', 'Math.min(widthOf(state), widthMicros)', 'widthMicros'],
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
      'a shorter minDifference replaces a longer one',
      'Math.max(minDifferenceMicros, longestMicros)',
      'minDifferenceMicros',
    ],
    [
      'a clock that steps back shortens the minDifference',
      'longestMicros === 0 ? nowMicros : Math.max(nowMicros, numbers[start + NEWEST]!)',
      'nowMicros',
    ],
  ]),
  ...of('mul-div', CONFORMANCE, [['large whole quotients are rounded up by one', 'BigInt(c) - 1n)', 'BigInt(c))']]),
  ...of('clock-skew-bound', CONFORMANCE, [
    ['a state beyond half of the bound is implausible', '2 ** (scale + 1)', '2 ** scale'],
  ]),
];
