// Defects in the scripts of @rollgate/redis for algorithms whose state is one text.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const CONFORMANCE = ['vectors', 'queue-gaps', 'memory-parity', 'algorithms', 'log-state'].map(test);
const REFUNDS = [...CONFORMANCE, test('resent')];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/lua/${name}.lua`, description, find, replace, tests };
  });

export const luaStates = [
  ...of('limits/fixed-window', REFUNDS, [
    [
      'the window is still running at its end',
      'local is_running = window_end > now',
      'local is_running = window_end >= now',
    ],
    [
      'the count of the previous window is kept',
      'state.window_end, state.count = verdict.at, 0 end',
      'state.window_end = verdict.at end',
    ],
    [
      'a refund finds a state that was created after a reset',
      'state.window_end ~= at or (state.reset_stamp and state.reset_stamp > stamp)',
      'state.window_end ~= at',
    ],
    ['a count of 10,000 is written in four digits', 'state.count >= 10000', 'state.count > 10000'],
    [
      'a smaller limit lowers the scale',
      'is_running and math.max(state.scale, rule.scale) or rule.scale',
      'rule.scale',
    ],
  ]),
  ...of('limits/token-bucket', REFUNDS, [
    ['a wait does not include the fraction of a microsecond', '(parts > spared_parts and 1 or 0)', '0'],
    [
      'a refund returns tokens that had refilled before it was recorded',
      'math.min(latest + state.refunded - at, latest - recorded_at)',
      'latest + state.refunded - at',
    ],
    ['the record is not written', "  redis.call('SET', state.key, format_state(state))\n", ''],
    ['each record begins a new life of the key', 'state.created = state.created or stamp', 'state.created = stamp'],
    ['the state does not sum refunds', 'state.refunded = state.refunded + micros + (parts > 0 and 1 or 0)', ''],
  ]),
  ...of(
    'limits/token-bucket',
    [test('clock-steps')],
    [
      [
        'a refund after a clock step back finds a state that was created later',
        ' or recorded_at > state.newest_action then',
        ' then',
      ],
    ],
  ),
  ...of(
    'limits/token-bucket',
    [test('conformance')],
    [
      [
        'a refund after a clock step back returns tokens that had refilled',
        'local latest = math.max(state.newest_action, now)',
        'local latest = now',
      ],
    ],
  ),
  ...of(
    'limits/leaky-bucket',
    [test('queue'), ...REFUNDS],
    [
      ['the queue has room for one unit too few', '(limit + 1 - cost) * interval', '(limit - cost) * interval'],
      ['the last start stays taken after its refund', 'if ends < free_at then', 'if ends <= free_at then'],
      [
        'passed gaps stay',
        "if state.gaps ~= '' then state.gaps = string.sub(state.gaps, count_before(state.gaps, now + 1) * GAP + 1) end",
        '',
      ],
      [
        'starts refunded before the last one stay taken',
        "if gaps ~= '' and time_at(gaps, #gaps - TIME + 1) == at then",
        'if false then',
      ],
    ],
  ),
  ...of('limits/sliding-window-counter', REFUNDS, [
    ['the estimate is rounded down', 'mul_div_up(fading, covered, window)', 'mul_div(fading, covered, window)'],
    [
      'an older window counts as the previous one',
      'verdict.at == state.window_end + rule.window and state.current or 0',
      'state.current',
    ],
    [
      'a late refund lowers the current window',
      'then state.previous = math.max(0, state.previous - units)',
      'then state.current = math.max(0, state.current - units)',
    ],
  ]),
  ...of('limits/bucketed-window', REFUNDS, [
    [
      'a refund uses the previous bucket',
      '(math.floor(state.latest / width) + 1) * width',
      'math.floor(state.latest / width) * width',
    ],
    ['buckets that have left the window count', 'bucket_counts.drop(state.buckets, state.latest - window)', ''],
  ]),
  ...of('limits/bucket-counts', REFUNDS, [
    [
      'a bucket counts for a microsecond too long',
      'math.floor(micros / width)) - 1',
      'math.ceil(micros / width) - 1) - 1',
    ],
    ['a refund removes more units than the bucket has', 'local taken = math.min(held, units)', 'local taken = units'],
    ['buckets change to the coarser width', 'math.min(buckets.width, width) or width', 'width or width'],
    [
      'a full sum counts no later units',
      'if excess > 0 then bucket_counts.drop_units(buckets, excess) end',
      'if excess > 0 then return end',
    ],
  ]),
  ...of(
    'limits/bucket-counts',
    [test('script-slices')],
    [
      ['a refund takes no steps', 'count_steps(index / 10)', ''],
      ['a change of the width takes no steps', 'count_steps(buckets.size / 2)\n      parts', 'parts'],
      ['a long text takes no steps', 'count_steps(#body / 125)', ''],
    ],
  ),
  ...of('limits/min-difference', REFUNDS, [
    [
      'an expired state is found at its expiry',
      'if state.expires <= now then return false end',
      'if state.expires < now then return false end',
    ],
    [
      'the action of a limit without a minDifference is not recorded',
      'if state.newest then\n    state.newest, state.longest_difference',
      'if state.newest and rule.min_difference > 0 then\n    state.newest, state.longest_difference',
    ],
    [
      'at a tie the minDifference is the reason',
      'if difference_wait > verdict.wait then',
      'if difference_wait >= verdict.wait then',
    ],
  ]),
  ...of('program/string-state', REFUNDS, [
    ['a refund removes the expiry', "redis.call('SET', key, text, 'PX', ttl)", "redis.call('SET', key, text)"],
    ['a state beyond half of the bound is implausible', '2 ^ (scale + 1)', '2 ^ scale'],
    ['a reset leaves no marker', "replace(key, with_reset_mark('', stamp))", "replace(key, '')"],
  ]),
  ...of('program/mul-div', CONFORMANCE, [
    ['large products are rounded', 'if product < EXACT then', 'if product < NEVER then'],
  ]),
];
