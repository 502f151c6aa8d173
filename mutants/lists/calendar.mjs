// Defects in the windows of a calendar: the counter, the periods, and what the scripts of @rollgate/redis do with both.

const CORE = ['packages/calendar/test/calendar-window.test.ts', 'packages/store-conformance/test/memory-store.test.ts'];
const PERIODS = ['packages/calendar/test/calendar-window.test.ts', 'packages/calendar/test/periods.test.ts'];
const REDIS = ['calendar-periods', 'vectors', 'clock-steps'].map((name) => `packages/redis/test/${name}.test.ts`);

const RESERVATIONS = [
  'packages/calendar/test/reservations.test.ts',
  'packages/store-conformance/test/memory-store.test.ts',
  'packages/store-conformance/test/custom-store.test.ts',
];
const LEASED_REDIS = [
  'packages/redis/test/reservations.test.ts',
  'packages/redis/test/vectors.test.ts',
  'packages/redis/test/memory-parity.test.ts',
];

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}`, description, find, replace, tests }));

export const calendar = [
  ...of('core/src/limits/calendar-window.ts', CORE, [
    [
      'another calendar ends the period early',
      'Math.max(numbers[start + END]!, this.calendar.periodAt(nowMicros).endMicros)',
      'this.calendar.periodAt(nowMicros).endMicros',
    ],
    [
      'another calendar prolongs no period',
      'Math.max(numbers[start + END]!, this.calendar.periodAt(nowMicros).endMicros)',
      'numbers[start + END]! > nowMicros ? numbers[start + END]! : this.calendar.periodAt(nowMicros).endMicros',
    ],
    ['the last unit of the limit is rejected', 'cost > this.limit - used', 'cost >= this.limit - used'],
    ['the units left may be negative', 'Math.max(0, this.limit - used)', 'this.limit - used'],
    ['a smaller limit lowers the scale', 'Math.max(numbers[start + SCALE]!, this.scale)', 'this.scale'],
    ['a refund returns the whole cost', '+ kept - cost', '- cost'],
    [
      'a key without units lives until its period ends',
      'numbers[start + COUNT]! > 0 ? numbers[start + END]! : -Infinity',
      'numbers[start + END]!',
    ],
    [
      'a state far ahead stays',
      'return isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]!);',
      'return true;',
    ],
  ]),
  ...of('calendar/src/days.ts', PERIODS, [
    ['a week begins a day late', '1970, 1, 5 + index', '1970, 1, 6 + index'],
    [
      'a day before the first one is in the wrong period',
      'Math.floor(first.until(day).days / length)',
      'Math.trunc(first.until(day).days / length)',
    ],
    ['a month begins before its anchor', '> 0 ? index - 1 : index', '> 0 ? index : index'],
    ['the anchor is in the next period', 'firstDay(days, index), day) > 0', 'firstDay(days, index), day) >= 0'],
    ['a year has no leap day', '(months / 12) * 366', '(months / 12) * 365'],
    ['months that do not divide a year need no date', '12 % months === 0 && months < 12', 'months < 12'],
    ['a month has 32 days', '(dayOfMonth as number) <= 31', '(dayOfMonth as number) <= 32'],
    [
      'a day has an anchor',
      "if (anchor !== undefined) throw invalidOption('anchor', \"no value with the period 'day'\", anchor);",
      '',
    ],
  ]),
  ...of('calendar/src/day-calendar.ts', PERIODS, [
    ['the last period is that of any later time', 'micros < last.endMicros', 'micros <= last.endMicros'],
    ['the last period is that of any earlier time', 'last.startMicros <= micros && ', ''],
    ['a repeated midnight begins no period', 'endMicros <= micros; endMicros', 'false; endMicros'],
    ['periods begin at midnight in UTC', 'toZonedDateTime(this.#timeZone)', "toZonedDateTime('UTC')"],
  ]),
  ...of('calendar/src/hour-calendar.ts', PERIODS, [
    ['hours begin at those of UTC', '(ms + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs', 'ms / HOUR_MS) * HOUR_MS'],
    ['an hour goes on when the clock has changed', 'Math.max(startMs, previous)', 'startMs'],
    ['an hour goes on when the clock will change', 'Math.min(startMs + HOUR_MS, next)', 'startMs + HOUR_MS'],
    ['the last hour is that of any later time', 'micros < last.endMicros', 'micros <= last.endMicros'],
    ['the last hour is that of any earlier time', 'last.startMicros <= micros && ', ''],
    ['a change of the clock is in the hour before it', 'toZoned(ms + 1, this.#timeZone)', 'zoned'],
  ]),
  ...of('redis/src/lua/limits/calendar-window.lua', REDIS, [
    [
      'a period includes its end',
      'now >= rule.first_start and now < rule.first_end',
      'now >= rule.first_start and now <= rule.first_end',
    ],
    ['a time before both periods is in the first one', 'now >= rule.first_start and now <', 'now <'],
    ['another calendar ends the period early', 'math.max(state.ends, state.period_end)', 'state.period_end'],
    ['a refund finds a later period', ' or state.first > stamp or', ' or'],
    ['a refund after a clock step finds another period', ' or recorded_at >= state.ends then', ' then'],
    ['each record begins a new period', 'state.first = state.first or stamp', 'state.first = stamp'],
    ['a refund makes a key permanent', ", 'KEEPTTL')", ')'],
    ['a smaller limit lowers the scale', 'math.max(state.scale, rule.scale)', 'rule.scale'],
  ]),
  ...of('redis/src/lua/program/settlements.lua', REDIS, [
    [
      'a charge is marked as done before it can fail',
      '  -- First, because an operation that fails here runs again.\n',
      '  if number then is_done(KEYS[first_key + #plan + 1], number) end\n',
    ],
  ]),
  ...of('redis/src/sending/missing-period.ts', REDIS, [
    ['operations are sent again forever', ' || attempt >= MAX_ATTEMPTS', ''],
    ['an operation is sent again with the same periods', '  encodePeriods(encodedPlan, Number(micros));\n', ''],
  ]),
  ...of('core/src/slots/leased-calendar-window.ts', RESERVATIONS, [
    ['an overdraft is reserved', '    if (isOverdraft) return;\n', ''],
    ['reservations do not end', '    this.#dropEnded(state, nowMicros);\n    super.record', '    super.record'],
    ['a settlement leaves the reservation', 'leases.keepUnits(list, index, 0)', 'undefined'],
    ['a lost reservation is settled by the difference', 'this.refundsUnsettled && !isSpent', 'false'],
    ['a released reservation is recorded twice', 'this.refundsUnsettled && !isSpent', 'this.refundsUnsettled'],
    ['a settlement returns nothing', 'Math.max(0, hit.cost - cost));', '0);'],
    ['a settlement records no overdraft', 'return Math.max(0, cost - hit.cost);', 'return 0;'],
    ['an ended lease is renewed', 'leases.untilOf(list, index) <= nowMicros', 'false'],
    ['a release after a settlement spends again', 'isRelease && hit.wantedCost === 0', 'false'],
    ['a renewal keeps settled reservations', '    hit.wantedCost = 0;\n', ''],
    ['`charge` returns the units', 'if (!this.refundsUnsettled) leases', 'if (false) leases'],
    [
      'a wait for reserved units is exact',
      'verdict.isEstimate = cost > free && cost <= this.limit - spent',
      'verdict.isEstimate = false',
    ],
    [
      'reserved units count as spent',
      'return { spent: Math.max(0, used - reserved -',
      'return { spent: Math.max(0, used -',
    ],
    ['a wait for spent units is an estimate', ' && cost <= this.limit - spent;', ';'],
  ]),
  ...of('core/src/slots/reservation-settlement.ts', RESERVATIONS, [
    [
      'a later period gets only the difference',
      'this.#settled - (this.isSpent ? this.#reserved : 0)',
      'this.#settled - this.#reserved',
    ],
    ['a settlement finds a later period', '|| state?.life !== this.life', '|| state === undefined'],
  ]),
  ...of('redis/src/lua/limits/leased-calendar-window.lua', LEASED_REDIS, [
    ['ended reservations stay', '  elseif state.earliest <= now then', '  elseif false then'],
    ['what stays spent comes back', 'returned + math.max(0, units)', 'returned + math.abs(units)'],
    ['a settlement finds a later period', 'state.first <= recorded_stamp and', 'true and'],
    ['a lost reservation is settled by the difference', 'not position and rule.refunds and not is_spent', 'false'],
    [
      'a renewal changes nothing',
      "        redis.call('SETRANGE', key, LEASES_START + position + 7, struct.pack('>d', now + lease))\n",
      '',
    ],
    [
      'an ended lease is renewed',
      " > now then\n        redis.call('SETRANGE'",
      " > 0 then\n        redis.call('SETRANGE'",
    ],
    ['a settlement leaves the reserved units', 'state.reserved = math.max(0, state.reserved - cost)', ''],
    ['a key keeps the list without reservations', "state.leases == '' and now == stamp", 'false'],
    ['the next reservation replaces the others', "(state.leases or '') .. lease)", 'lease)'],
  ]),
];
