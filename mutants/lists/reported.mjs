// Defects in the quota that a server reports: what is known, the order of responses, and the same in the script of Redis.

const MEMORY = ['packages/store-conformance/test/memory-store.test.ts', 'packages/core/test/outgoing.test.ts'];
const LEASES = ['packages/store-conformance/test/custom-store.test.ts', 'packages/core/test/outgoing.test.ts'];
const REPORT = ['packages/core/test/outgoing.test.ts'];
const REDIS = ['reported-quota', 'vectors', 'conformance'].map((name) => `packages/redis/test/${name}.test.ts`);

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => ({ file: `packages/${file}`, description, find, replace, tests }));

export const reported = [
  ...of('core/src/slots/reported-state.ts', MEMORY, [
    ['a window ends a microsecond late', 'micros >= numbers[start + RESET]!', 'micros > numbers[start + RESET]!'],
    ['a quota refills above its limit', 'Math.min(limit, remaining +', 'Math.max(remaining, remaining +'],
    ['units that were not reported come back never', 'Math.max(0, left - units)', '0'],
    ['a window has a reserve', 'if (numbers[start + KIND] !== REFILL) return 0;', ''],
    ['a call leaves a reserve that it needs', ', numbers[start + LIMIT]! - units);', ', Infinity);'],
    ['calls take no more than their costs', 'mulDivUp(cost, numbers[start + EXCESS]!, 1000)', '0'],
    ['units that are too few for a cost are free', 'mulDiv(units, 1000, 1000 + numbers[start + EXCESS]!)', 'units'],
    [
      'units count after the end of the window',
      'kind === NOTHING || (kind === WINDOW && nowMicros >= numbers[start + RESET]!)',
      'kind === NOTHING',
    ],
    [
      'what has refilled is lost when units are counted',
      'if (kind === REFILL) numbers[start + SINCE] = Math.max(numbers[start + SINCE]!, nowMicros);',
      '',
    ],
    ['a state far ahead stays', '- nowMicros <= 2 * state.numbers', '- nowMicros <= 200 * state.numbers'],
    [
      'a key is forgotten while calls are open',
      'Math.max(forgottenMicros(state), endOf(openCallsOf(state)))',
      'forgottenMicros(state)',
    ],
  ]),
  ...of('core/src/slots/reported-verdict.ts', MEMORY, [
    ['the guess counts no open calls', 'cost <= guess - open ?', 'cost <= guess ?'],
    ['open calls do not count', 'timeOfUnits(state, units + others + reserve)', 'timeOfUnits(state, units + reserve)'],
    ['open calls use up the reserve', 'others <= limit - units - reserve ?', 'others <= limit - units ?'],
    ['open calls take no more than their costs', 'const others = expectedUnits(state, open);', 'const others = open;'],
    [
      'a call may need more than the quota',
      'Math.min(expectedUnits(state, cost), limit)',
      'expectedUnits(state, cost)',
    ],
    ['a full quota keeps its reserve', 'isFull ? units : costWithin', 'costWithin'],
    ['the next unit is in the reserve', 'expectedUnits(state, next) + reserve)', 'expectedUnits(state, next))'],
    [
      'a call above the limit waits',
      'const isNever = nowMicros < forgottenMicros(state) && isAboveLimit(state, cost);',
      'const isNever = false;',
    ],
    ['a forgotten limit rejects', 'nowMicros < forgottenMicros(state) && isAboveLimit', 'isAboveLimit'],
    ['a probe needs a limit', 'Math.max(cost, limitOf(state))', 'limitOf(state)'],
    ['a wait for open calls is exact', 'verdict.isEstimate = openWait > reportedWait;', 'verdict.isEstimate = false;'],
    ['a blocked key has units left', 'isBlocked ? 0 : Math.max(0, free)', 'Math.max(0, free)'],
    [
      'the next unit comes during a block',
      '(isBlocked ? 0 : costWithin(state, units - reserve))',
      'costWithin(state, units - reserve)',
    ],
  ]),
  ...of('core/src/slots/report-numbers.ts', MEMORY, [
    [
      'a shorter block replaces a longer one',
      'Math.max(numbers[start + BLOCKED]!, nowMicros + reported.blockMicros)',
      'nowMicros + reported.blockMicros',
    ],
    ['older numbers replace newer ones', 'sent >= numbers[start + AT]! ||', 'true ||'],
    ['newer numbers only lower the count', 'sent >= numbers[start + AT]! ||', 'false ||'],
    ['a later window changes nothing', '|| earliest > known + TOLERANCE_MICROS', ''],
    [
      'numbers of an earlier window count',
      'latest + TOLERANCE_MICROS < numbers[start + EARLIEST_RESET]! || !matters',
      '!matters',
    ],
    ['late numbers close a window again', 'isOver ? earliest > known :', 'isOver ? true :'],
    ['a later reset of the same window counts', ': Math.min(known, latest);', ': known;'],
    ['an earlier reset of a rolling quota counts', '? Math.max(known, latest)', '? Math.min(known, latest)'],
    ['late numbers of a rolling quota are lost', '!isOver || (isRolling && isLower)', '!isOver'],
    ['late numbers close a rolling quota again', '!isOver || (isRolling && isLower)', '!isOver || isRolling'],
    ['a response without the limit erases it', '|| knownLimit(state, reported.remaining)', ''],
    ['the lower count keeps its time', '    numbers[start + AT] = now;\n  }\n', '  }\n'],
    ['a higher level replaces a lower one', 'reported.remaining >= unitsAt(state, now)', 'false'],
    [
      'the whole limit refills until the reset',
      'setRate(state, missing, reported.resetMicros)',
      'setRate(state, reported.limit, reported.resetMicros)',
    ],
    ['a block outlives its plausibility', 'Math.max(keep, numbers[start + BLOCKED]! - now)', 'keep'],
    ['a grown reserve stays', 'numbers[start + RESERVE]! * DECAY', 'numbers[start + RESERVE]!'],
    ['a reserve grows without an end', 'Math.min(grown, MOST_RESERVES * reserve)', 'grown'],
    ['a first response lets the reserve grow', 'kind === REFILL && needed > 0 ?', 'needed > 0 ?'],
    ['a first rejection shows a cost', 'kind === NOTHING && needed === 0', 'kind === NOTHING'],
    ['a first report after a window shows a cost', 'kind === NOTHING && needed', 'kind !== REFILL && needed'],
    ['what others have used is a cost', 'learned > MOST_EXCESS ? known : ', ''],
    ['what others take is a cost', 'kind === REFILL && missing === 0)', 'kind === REFILL)'],
    ['costs that were learned stay', 'EXCESS]!, 99, 100)', 'EXCESS]!, 1, 1)'],
    ['a lower cost replaces a higher one', ': Math.max(known, learned);', ': learned;'],
    ['a call is newer than the present', 'Math.min(sentMicros, nowMicros)', 'sentMicros'],
  ]),
  ...of('core/src/slots/reported-quota.ts', LEASES, [
    ['a reset may be later than the greatest age', 'Math.min(micros, this.maxAgeMicros)', 'micros'],
    ['a long refill has a higher rate', 'reported.kind === server.REFILL ?', 'false ?'],
    [
      'calls of dead processes stay open',
      '    leases.dropExpired(calls, nowMicros);\n    const index',
      '    const index',
    ],
    ['a closed call stays open', 'if (isOpen) leases.keepUnits(calls, index, 0);', ''],
    [
      'a settlement after a release counts twice',
      '|| !isSpent ? cost : Math.max(0, cost - hit.cost)',
      '|| true ? cost : 0',
    ],
    ['a call that has ended is renewed', '|| leases.untilOf(calls, index) <= nowMicros', ''],
    ['a call is closed again by a release', 'if (isRelease && hit.wantedCost === 0) return [];', ''],
  ]),
  ...of('core/src/slots/report-settlement.ts', LEASES, [
    ['a response closes no call', 'if (state.life === life) this.#limit.close(state, nowMicros, this.#hit);', ''],
    ['a response counts as sent now', 'sentMicros: recordedMicros', 'sentMicros: nowMicros'],
    ['a response of a later life is lost', '?? states.create(rule, key)', '!'],
  ]),
  ...of('core/src/outgoing/settle-part.ts', REPORT, [
    ['limits that a report has closed are settled again', 'held.receipt = rest;', ''],
    [
      'slots that stay open are not renewed',
      'if (!left.some(({ limit }) => hasLeases(limit))) held.renewer?.delete(held);',
      'held.renewer?.delete(held);',
    ],
    ['a call that stays open wakes no caller', 'wakeWaiters(store, () => store.namesOfReceipt?.(part))', 'undefined'],
  ]),
  ...of('redis/src/store/redis-store.ts', REDIS.slice(0, 1), [
    [
      'a call that stays open lets no caller of another process start',
      'checkedHits.length < checkedPlan',
      'hits.length < checkedPlan',
    ],
  ]),
  ...of('core/src/outgoing/with-limits.ts', REPORT, [
    ['a closed call is renewed', 'hit.wantedCost = 0;', ''],
    ['the fallback memory gets no numbers', 'new FallbackReceipt(withLimits(receipt.receipt, limits))', 'receipt'],
  ]),
  ...of('core/src/outgoing/outgoing-limiter.ts', REPORT, [
    ['a report with a key wakes no caller', 'wakeWaiters(this.#store,', '(() => {})(this.#store,'],
  ]),
  ...of(
    'core/src/failure/end-late-check.ts',
    ['packages/calendar/test/late-checks.test.ts'],
    [
      ['a check that replies late leaves its call open', 'return limit.opensCalls === true', 'return false'],
      ['a call that no policy has let go counts as used', "policy === 'allow' || policy === 'fallback'", 'true'],
      [
        'what a late check has reserved is spent',
        'const part = receiptPart(receipt, names) ?? receipt',
        'const part = receipt',
      ],
    ],
  ),
  ...of('redis/src/lua/limits/reported-state.lua', REDIS, [
    ['a window ends a microsecond late', 'at >= state.one and reported', 'at > state.one and reported'],
    ['a window has a reserve', 'if state.kind ~= REFILL then return 0 end', ''],
    ['an ended call stays open', 'if call.ends > now then left[#left + 1] = call end', 'left[#left + 1] = call'],
    ['an expired state comes back', 'if state.first or state.replaces then', 'if state.first then'],
  ]),
  ...of('redis/src/lua/limits/report-numbers.lua', REDIS, [
    ['older numbers replace newer ones', 'is_newer = sent >= state.at or', 'is_newer = true or'],
    ['a later window changes nothing', ' or earliest > known + TOLERANCE end', ' end'],
    ['an earlier window counts', 'latest + TOLERANCE < state.other or not matters', 'not matters'],
    ['an earlier reset of a rolling quota counts', 'math.max(known, latest)', 'math.min(known, latest)'],
    ['a higher level replaces a lower one', 'remaining >= reported_state.units_at(state, now)', 'false'],
    ['a grown reserve stays', 'state.reserve * DECAY', 'state.reserve'],
    ['a reserve never grows', ' + 2 * missing', ''],
    [
      'a first response lets the reserve grow',
      'if is_known and reported.needed > 0 then',
      'if reported.needed > 0 then',
    ],
    ['a first rejection shows a cost', 'state.kind == NOTHING and reported.needed == 0', 'state.kind == NOTHING'],
    ['what others have used is a cost', 'learned > MOST_EXCESS and known or ', ''],
    ['what others take is a cost', 'elseif is_known and missing == 0 then', 'elseif is_known then'],
    ['costs that were learned stay', 'state.excess, 99, 100)', 'state.excess, 1, 1)'],
  ]),
  ...of('redis/src/lua/limits/reported-quota.lua', REDIS, [
    [
      'open calls do not count',
      'time_of_units(state, units + others + reserve)',
      'time_of_units(state, units + reserve)',
    ],
    ['open calls use up the reserve', 'others <= limit - units - reserve then', 'others <= limit - units then'],
    [
      'a call may need more than the quota',
      'math.min(reported_state.expected_units(state, cost), limit)',
      'reported_state.expected_units(state, cost)',
    ],
    [
      'the next unit is in the reserve',
      'expected_units(state, next_cost) + reserve)',
      'expected_units(state, next_cost))',
    ],
    [
      'a call above the limit waits',
      '  if now >= forgotten or not reported_state.is_above_limit(state, cost) then\n    reported_wait',
      '  if true then\n    reported_wait',
    ],
    [
      'a check without a cost learns nothing',
      'if rule.reported then report_numbers(rule, state, now, recorded_at, math.abs(cost))',
      'if rule.reported and cost ~= 0 then report_numbers(rule, state, now, recorded_at)',
    ],
    ['a call in an earlier life is closed', 'state.first and state.first <= recorded_stamp', 'state.first'],
    ['a call that has ended is renewed', 'if call and call.ends > now then', 'if call then'],
    [
      'a refund of a lost call writes',
      'if not is_own_life and not rule.reported and settled <= spent then return end',
      '',
    ],
  ]),
];
