// Defects in the queues of @rollgate/redis: their scripts and the processes that use them. The explorer of
// packages/redis/test/queue-model plants more of them.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const QUEUES = [
  'fair-turns',
  'fair-known-hangs',
  'fair-limits',
  'fair-waiting',
  'fair-waiting-faults',
  'queue-model',
].map(test);
const PLACES = [test('fair-moves'), ...QUEUES];
/** The explorer alone detects these. */
const MODEL = [test('queue-model')];
/** Those of starts that are assigned for later. */
const STARTS = ['fair-turns', 'fair-known-hangs', 'queue-model'].map(test);
const TURNS = ['fair-turns', 'fair-waiting-faults', 'fair-waiting', 'fair-known-hangs'].map(test);

const of = (file, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/${file}`, description, find, replace, tests };
  });

export const queues = [
  ...of('lua/queues/tickets.lua', QUEUES, [
    ['a lease from before the clock was set back never ends', ' or ends > now + 1 + 2 ^ span * 1000', ''],
    ['owners whose lease has ended stay', "if string.sub(member, 1, 1) == '!' then", 'if false then'],
    ['the units of a ticket that leaves stay', 'add_units(line, index, ticket, -units_of(line, index, ticket))', ''],
    ['a process that has ended keeps its turns', 'contact ~= COUNTED or receivers_of(line, owner) > 0', 'true'],
    ['a queue never expires', "    redis.call('PEXPIRE', line[index], format_integer(2 * line.lease + 1000))\n", ''],
  ]),
  ...of('lua/queues/places.lua', PLACES, [
    ['a ticket is passed for ever', 'passed > #line.queues and (own.period == 0 or wait <= own.period)', 'false'],
    [
      'a move behind an earlier ticket counts',
      'if is_behind then passed = 0\n  elseif not places[kept_by]',
      'if not places[kept_by]',
    ],
    [
      'later tickets are before a ticket',
      'head.number < ticket.number then return',
      'head.number > ticket.number then return',
    ],
  ]),
  ...of('lua/queues/estimates.lua', QUEUES, [
    ['the windows before a ticket do not count', 'verdict.wait + rounds * period', 'verdict.wait'],
    [
      'tickets before count with the own cost',
      "return all - units_between(line, index, '(' .. number, '+inf')",
      'return count * units_of(line, index, ticket)',
    ],
  ]),
  ...of('lua/queues/turns.lua', QUEUES, [
    ['freed units wake only a new first ticket', 'if has_freed or line.former', 'if line.former'],
    [
      'a ticket does not leave the queue when it is granted',
      '      remove_from_all(line, ticket)\n      add_item',
      '      add_item',
    ],
    [
      'the hits of a start ahead look like present ones',
      'rule.is_dated = wait > 0 or nil end',
      'rule.is_dated = nil end',
    ],
  ]),
  ...of('lua/queues/ticket-operations.lua', QUEUES, [
    ['a late caller goes to the end', 'number == 0 and next_number(line) or number', 'next_number(line)'],
    ['a full queue takes one more', "'0', '+inf') >= most", "'0', '+inf') > most"],
    ['an arrival that is sent again arrives twice', 'local waits = ticket.number > 0', 'local waits = false'],
    [
      'a check that callers hold up takes units',
      'line.injected_now, not waits, stamp',
      'line.injected_now, true, stamp',
    ],
    ['a check takes the units that others wait for', 'if wait > 0 or has_difference then', 'if has_difference then'],
  ]),
  ...of('lua/queues/unless-queued.lua', QUEUES, [
    ['a check passes one caller', "'0', '+inf') > 0 then return ''", "'0', '+inf') > 1 then return ''"],
    ['a check looks into the queues of another one', 'index = first_key + own_count + 1', 'index = own_count + 1'],
  ]),
  ...of(
    'waiting/ask-lead.ts',
    [test('fair-limits')],
    [['a process asks long before a turn', 'Math.max(LEAST_MS, MARGIN * this.#slowestMs)', 'Infinity']],
  ),
  ...of(
    'waiting/ticket-group.ts',
    [test('fair-limits')],
    [['turns of several limits are granted as late as those of one', 'limits.length > 1', 'false']],
  ),
  ...of(
    'waiting/ticket.ts',
    [test('ticket-line')],
    [['a late caller ignores news after the clock was set back', 'this.grantedMicros = -Infinity;', '']],
  ),
  ...of('waiting/ticket.ts', TURNS, [
    ['a turn that is read twice frees a unit in use', 'if (this.#seen.has(turn)) return false;', ''],
  ]),
  ...of('waiting/waiting-room.ts', TURNS, [
    ['a caller that is late starts', 'if (!this.#startTimes.isLate(turn, ticket)) {', 'if (true) {'],
    [
      'a turn that nobody uses stays recorded',
      'if (turn !== undefined) this.refund(turn);',
      'if (turn !== undefined) void turn;',
    ],
  ]),
  ...of('waiting/ticket-group.ts', STARTS, [
    [
      'a late caller arrives again before its start in a leaky bucket is free',
      'limits.some((limit) => limit.canDelay === true)',
      'false',
    ],
  ]),
  ...of('lua/limits/leaky-bucket.lua', MODEL, [
    ['a refund frees the starts behind it, too', 'if ends < free_at then', 'if false then'],
    ['a late caller leaves its start unused', '  free_at = at\n', ''],
    [
      'an action takes one start for all of its units',
      'verdict.at + cost * rule.interval',
      'verdict.at + rule.interval',
    ],
    [
      'a bucket assigns one start more than its capacity',
      '(limit + 1 - cost) * interval',
      '(limit + 2 - cost) * interval',
    ],
  ]),
  ...of('lua/queues/turns.lua', MODEL, [
    [
      'an assigned start is not recorded',
      'decide(line.rules, 0, nil, true, at, line.first_key, input)',
      'decide(line.rules, 0, nil, false, at, line.first_key, input)',
    ],
  ]),
  ...of('lua/program/decisions.lua', MODEL, [
    [
      'a bucket next to a window assigns no start',
      'if own_cost == 0 then verdict',
      'if own_cost == 0 or index > 1 then verdict',
    ],
  ]),
  ...of('waiting/read-turn.ts', STARTS, [
    ['the action of an assigned start runs at once', 'at / 1000 + decision.delayMs', 'at / 1000'],
    [
      'a start on an injected clock is never free again',
      'clockMicros: hasClock ? at : undefined',
      'clockMicros: undefined',
    ],
  ]),
  ...of('waiting/ticket-line.ts', STARTS, [
    [
      'a turn that comes after its caller has left stays recorded',
      "if (ticket.state !== 'waits') {\n      this.#room.refund(turn);",
      "if (ticket.state !== 'waits') {",
    ],
  ]),
  ...of('waiting/waiting-room.ts', STARTS, [
    ['a start seems late by the only reply', 'if (this.#startTimes.needsReply(turn))', 'if (false)'],
    ['no caller waits for its start', 'await this.#startTimes.sleepUntil(turn, call);', ''],
    ['a late caller arrives before its start is free', 'if (!group.canDelay) enter();', 'enter();'],
    ['a late caller does not return to a bucket', 'group.canDelay ? enter : undefined', 'undefined'],
  ]),
  ...of('store/redis-store.ts', STARTS, [
    [
      'others are woken before a late caller has returned',
      '    beforeWake?.();\n    this.#wakeQueues(receipt);',
      '    this.#wakeQueues(receipt);\n    beforeWake?.();',
    ],
  ]),
  ...of('waiting/start-times.ts', STARTS, [
    [
      'a late reply delays a start that is assigned for later',
      'Math.min(mostMs, Math.max(leastMs, RECHECK_MS))',
      'mostMs',
    ],
    ['a caller waits until its timeout for a later start', '    cancellation.throwIfTooLong(leastMs, nowMs);\n', ''],
  ]),
  ...of(
    'waiting/ask-schedule.ts',
    [test('fair-waiting')],
    [
      [
        'each key needs its own call to extend its lease',
        'if (isBeat) this.#room.askAll(',
        'if (false) this.#room.askAll(',
      ],
    ],
  ),
  ...of('waiting/server-clock.ts', TURNS, [
    [
      'an action may start any time after its turn',
      'serverMs + this.#low + SLACK_MS',
      'serverMs + Infinity + SLACK_MS',
    ],
    ['each of the replies that came late together counts', '    if (sentMs < this.#countedMs) return;\n', ''],
  ]),
];
