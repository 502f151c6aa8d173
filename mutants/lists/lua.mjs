// Defects in the scripts of @rollgate/redis.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const CONFORMANCE = ['vectors', 'memory-parity', 'algorithms', 'log-state'].map(test);
const REFUNDS = ['vectors', 'memory-parity', 'resent', 'far-refunds', 'algorithms', 'log-state'].map(test);
const PACKED = [
  test('plain-window-check'),
  ...REFUNDS,
  ...['log-totals', 'long-logs', 'faults-out-of-memory'].map(test),
];
const PLAIN_WINDOWS = [
  test('plain-window-check'),
  test('denial-cache'),
  test('long-logs'),
  ...REFUNDS,
  test('faults-out-of-memory'),
];
const FRAME = ['script-slices', 'error-messages', 'batching', 'resent', 'memory-parity', 'algorithms', 'log-state'].map(
  test,
);
const NEXT_UNIT = ['plain-window-check', 'vectors', 'memory-parity', 'algorithms', 'conformance'].map(test);
const DENIALS = [test('denial-cache'), ...CONFORMANCE];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/lua/${name}.lua`, description, find, replace, tests };
  });

export const lua = [
  ...of('program/main', FRAME, [
    [
      'the checks of a batch record at one microsecond',
      'run(plan, input, server_time + before, first_key)',
      'run(plan, input, server_time, first_key)',
    ],
    [
      'a script takes any number of steps',
      'while done_count < last and step_count < MAX_STEPS do',
      'while done_count < last do',
    ],
    [
      'a run of equal checks takes any number of steps',
      'done_count < last and step_count < MAX_STEPS',
      'done_count < last',
    ],
    [
      'an error has the message of the first failure',
      'messages[#messages + 1], lines[done_count]',
      'messages[1], lines[done_count]',
    ],
  ]),
  ...of(
    'program/plain-window-check',
    [test('plain-window-check')],
    [['costs of limits are read one place off', 'ARGV[costs + index])', 'ARGV[costs + index - 1])']],
  ),
  ...of('program/letters', NEXT_UNIT, [
    ['numbers above 2^36 lose their highest digits', 'if number < 64 ^ 6 then', 'if true then'],
    ['numbers above 2^48 lose their highest digit', 'h == number and letters or ', 'letters or '],
    ['the seventh digit is the sixth', '(g - f) / 64 ^ 6', '(f - e) / 64 ^ 5'],
  ]),
  ...of('program/decisions', NEXT_UNIT, [
    ['the next unit is free at the reset', 'verdict.next_unit or verdict.reset, nil', 'verdict.reset, nil'],
    [
      'a delayed action has no next unit',
      'if has_recorded then result = result .. to_letters(next_unit)',
      'if has_recorded then result = result',
    ],
    [
      'the rest of the reply is read as the next unit',
      'verdict.delay or 0, verdict.next_unit or 0',
      'verdict.delay or 0, 0',
    ],
  ]),
  ...of('program/plain-window-check', NEXT_UNIT, [
    [
      'the next unit is free when the newest hit leaves',
      'local next_unit = oldest + window',
      'local next_unit = (newest or now) + window',
    ],
    ['the figures leave out the cost', 'next_unit * (limit + 1) + free - cost', 'next_unit * (limit + 1) + free'],
    [
      'an unrecorded check has no next unit',
      'newest + window - now, oldest + window - now) end\n    return',
      'newest + window - now, 0) end\n    return',
    ],
  ]),
  ...of('limits/rolling-window', NEXT_UNIT, [
    ['the next unit of an overdraft is free too early', 'if free < 0 then first = log', 'if false then first = log'],
    ['the next unit is free later than the expiry of the state', 'next_unit < left and next_unit or left', 'next_unit'],
    [
      'the next unit ignores the new hit',
      'verdict.next_unit = until_next_unit(hits, first, 0, rule.window, now)\n',
      '',
    ],
  ]),
  ...of('limits/bucketed-window', NEXT_UNIT, [
    ['the next unit of an overdraft is free too early', 'math.max(1, 1 - free)) + window', '1) + window'],
    [
      'the next unit ignores the new hit',
      'verdict.next_unit = bucket_counts.end_of_unit(buckets, 1) + rule.window - now\n',
      '',
    ],
  ]),
  ...of('limits/sliding-window-counter', NEXT_UNIT, [
    ['the next unit is free one unit late', 'limit - remaining - 1, is_running', 'limit - remaining - 2, is_running'],
  ]),
  ...of('limits/leaky-bucket', NEXT_UNIT, [
    ['an overdraft of the queue has a place too early', 'math.min(waiting, limit) * interval', 'waiting * interval'],
  ]),
  ...of('limits/token-bucket', NEXT_UNIT, [
    ['the next unit is free one unit late', 'verdict.remaining + 1)', 'verdict.remaining + 2)'],
  ]),
  ...of('limits/min-difference', NEXT_UNIT, [
    [
      'the next unit is free later than the expiry of the state',
      '  if verdict.next_unit > left then verdict.next_unit = left end\n',
      '',
    ],
  ]),
  ...of('program/decisions', FRAME, [
    ['the last limit decides alone', 'allowed = allowed and verdict.wait == 0', 'allowed = verdict.wait == 0'],
    ['a rejected check is recorded', 'own_cost > 0 and (allowed or rule.counts_rejected)', 'own_cost > 0'],
    ['a limit without a cost rejects', 'if own_cost == 0 then verdict.wait, verdict.delay = 0, 0 end', ''],
    [
      'a reset deletes the first key only',
      'for index = 1, #plan do\n    local key, reset_key',
      'for index = 1, 1 do\n    local key, reset_key',
    ],
    ['a peek records', 'input[2], false, stamp', 'input[2], true, stamp'],
  ]),
  ...of('program/common', FRAME, [
    [
      'a key expires up to a millisecond early',
      'local expires_ms = math.ceil(expires / 1000)',
      'local expires_ms = math.floor(expires / 1000) - 1',
    ],
    ['keys never expire', "  redis.call('PEXPIREAT', key, last_expires_text)\n", ''],
  ]),
  ...of(
    'program/main',
    [test('faults-read-only')],
    [
      [
        'one operation that cannot write fails the call',
        'if read_only_count == done_count and',
        'if read_only_count > 0 and',
      ],
      ['a script that has not run all operations fails the call', ' and next_key == #keys then return', ' then return'],
    ],
  ),
  ...of(
    'program/common',
    [test('faults-out-of-memory'), test('resent')],
    [
      ['a refund needs memory', "string.find(message_of(failure), 'OOM', 1, true)", 'false'],
      ['the checks behind a refund get its memory', '        step_count = MAX_STEPS\n', ''],
    ],
  ),
  ...of(
    'program/settlements',
    [...FRAME, test('settlements')],
    [
      [
        'a charge records one unit',
        'overdraw(plan[index], states[index], KEYS[first_key + index], units,',
        'overdraw(plan[index], states[index], KEYS[first_key + index], 1,',
      ],
      ['an overdraft records the settled cost', 'key, settled - cost, injected_now', 'key, settled, injected_now'],
      [
        'a refund does not shorten the expiry',
        'if expires then expire(key, expires, keep, injected_now) end\n    end',
        'end',
      ],
    ],
  ),
  ...of('program/operations', FRAME, [
    ['a check of plain windows costs one unit', 'rule, plain.cost', 'rule, 1'],
    ['a check of plain windows takes the time of the server', '{ 0, injected_now or false }', '{ 0, false }'],
  ]),
  ...of(
    'program/decisions',
    [test('long-logs')],
    [
      [
        'a check is recorded in the logs before one that is too long',
        'if records and #plan > 1 then ensure_all_fit(plan, allowed, costs) end',
        '',
      ],
      ['a log that is too long fails a rejected check', 'if ensure_fits and records then', 'if ensure_fits then'],
    ],
  ),
  ...of('program/plain-window-check', PLAIN_WINDOWS, [
    ['a hit counts at the end of its window', 'until oldest > start', 'until oldest >= start'],
    ['one hit too many is allowed', 'return free > 0', 'return free >= 0'],
    ['the last limit decides alone', 'allowed = allowed and has_room', 'allowed = has_room'],
    ['a log of another window is read', 'keep ~= window or ', ''],
    ['the room after a refund is read as hits', 'ending % ONE_HIT', 'ending % 256'],
    ['plain hits in front of others are read as those with totals', 'if plain_count > 0 or gaps', 'if gaps'],
    ['a hit with a cost follows plain ones', 'if cost ~= 1 and not last_total then return nil end', ''],
    ['one unit too many is allowed', 'return free >= cost and', 'return free >= cost - 1 and'],
    ['dropped units count', "dropped_units = unpack_at('>I7', bytes, from + 14 * left - 6)", 'local _'],
    ['totals lose their exactness', ' and total + cost < 2 ^ 53 or nil', ' or nil'],
    ['a hit with a cost begins a plain log', 'cost ~= 1 and 0 or nil, 0', 'nil, 0'],
    ['a clock that steps back records out of order', ' or last > now', ''],
    ['hits of a larger limit make the units negative', ' or hits > limit then return', ' then return'],
    ['a log continues at its expiry', 'if last > start then', 'if last >= start then'],
    ['dropped hits count', 'dropped, count = dropped + left, count - left', 'dropped = dropped + left'],
    ['a long log drops no bytes', ' or (dropped > 16 and dropped * 4 > count + 1)', ''],
    [
      'the rewritten log contains dropped hits',
      "format('%d', first), format('%d', first + hit_size",
      "'0', format('%d', first + hit_size",
    ],
    ['the TTL is never written again', 'newest and not injected_now and newest >= start', 'newest'],
    [
      'a half window keeps the TTL of another',
      'if not keeps_ttl and half_start ~= start then',
      'if not half_start then',
    ],
    ['a key expires half a window early', '(start + half + window + 999)', '(start + window + 999)'],
    [
      'a long log never expires',
      "if not keeps_ttl then call(injected_now and 'PEXPIRE'",
      "if false then call(injected_now and 'PEXPIRE'",
    ],
    ['a short log loses its TTL', "bytes, 'KEEPTTL')", 'bytes)'],
    ['the figures are those of another check', 'if figures ~= both then', 'if not figures then'],
    ['large figures lose their exactness', 'if both >= 2 ^ 53 then', 'if false then'],
    ['a rejection waits until the reset', "format('-%d %d', oldest + window", "format('-%d %d', newest + window"],
    ['a limit that allows is reported full', 'if free < cost then return format', 'if true then return format'],
    ['a check is recorded in the logs before one that is too long', 'if not is_alone then', 'if false then'],
    [
      'a key of an injected clock expires before another half window ends',
      '(window + half) / 1000 + 60000',
      'window / 1000 + 60000',
    ],
  ]),
  ...of(
    'limits/rolling-window',
    [...REFUNDS, test('conformance')],
    [
      [
        'a hit counts at the end of its window',
        'if hits.oldest <= time - window then',
        'if hits.oldest < time - window then',
      ],
      [
        'the reported wait is a microsecond too short',
        'cost - free)) + window - now end',
        'cost - free)) + window - now - 1 end',
      ],
      [
        'an implausible state stays',
        "redis.call('UNLINK', key) -- A broken clock wrote it.",
        '-- A broken clock wrote it.',
      ],
      ['a wait is longer than the state is kept', 'if wait > left then wait = left end', ''],
      ['rejected attempts keep one unit too many', 'if excess > 0 then', 'if excess > 1 then'],
      [
        'a refund finds a state that was created after a reset',
        'if hits.size == 0 or log.created(hits) > stamp then return nil end',
        'if hits.size == 0 then return nil end',
      ],
      [
        'one unit is subtracted, whatever the cost',
        'math.max(0, verdict.remaining - cost)',
        'math.max(0, verdict.remaining - 1)',
      ],
      [
        'the key expires before the minDifference',
        'verdict.expires, verdict.keep = expiry_of(at, keep), longest_life(keep)',
        'verdict.expires, verdict.keep = expiry_of(at, rule.window), longest_life(rule.window)',
      ],
    ],
  ),
  ...of(
    'limits/rolling-window',
    [test('log-state')],
    [
      [
        'a refund of the newest hit leaves the expiry of the key',
        '  return expiry_of(hits.newest, hits.recorder.keep), longest_life(hits.recorder.keep)\n',
        '',
      ],
    ],
  ),
  ...of(
    'limits/rolling-window',
    [test('log-totals'), test('far-refunds')],
    [
      ['a drop of few hits makes totals inexact', ' and not overflows then', ' then'],
      ['totals grow without a bound', 'if overflows and hits.size > 0 then log.restart(hits) end', ''],
    ],
  ),
  ...of(
    'limits/rolling-window',
    [test('plain-window-check')],
    [['a key of an injected clock expires before another half window ends', 'return keep + keep / 2', 'return keep']],
  ),
  ...of('limits/rolling-window', DENIALS, [
    [
      'a rejection is stable for too long',
      'local next_unit = free < limit and until_next_unit(hits, first, free, window, now) or 0',
      'local next_unit = left',
    ],
  ]),
  ...of('hit-log/hit-log-packed', PACKED, [
    ['a long log drops no bytes', 'or (hits.dropped_hits > 16 and hits.dropped_hits * 4 > hits.size)', ''],
    [
      'hits without a total are lost when a log is rewritten',
      'hits.plain_count = math.max(0, hits.plain_count - hits.dropped_hits)',
      'hits.plain_count = 0',
    ],
    [
      'the room after a refund is not written',
      "string.rep('\\0', room) .. description(hits, room)",
      'description(hits, 0)',
    ],
    [
      'a short log loses its TTL',
      "redis.call('SET', hits.key, bytes, 'KEEPTTL')",
      "redis.call('SET', hits.key, bytes)",
    ],
    [
      'the first totals start a hit too late',
      'hits.plain_count = hits.dropped_hits + hits.size end',
      'hits.plain_count = hits.dropped_hits + hits.size + 1 end',
    ],
    [
      'totals do not include what was refunded',
      "pack('>i7I7', time, hits.total + hits.refunded)",
      "pack('>i7I7', time, hits.total)",
    ],
    [
      'dropped units count again',
      'if hits.plain_count then hits.dropped = dropped else hits.total = hits.size end',
      'if not hits.plain_count then hits.total = hits.size end',
    ],
    [
      'text is read as a log',
      'if form < FORM or form > FORM + HAS_TOTALS + HAS_MIN_DIFFERENCE + IS_DATED then',
      'if false then',
    ],
    [
      'bytes of another program are read as a log',
      'if hits.from < 0 or (hits.from > 0 and size < TAIL) or count == 0 then',
      'if false then',
    ],
    ['the longest minDifference is not written', 'form = form + HAS_MIN_DIFFERENCE', ''],
    ['gaps are not written', "local gaps = hits.gaps and log.gaps_text(hits) or ''", "local gaps = ''"],
    ['a hit that counts in part counts wholly', '  if index == 0 then return hits.dropped end\n', ''],
    ['a log that is too long is not detected', "if type(reply) ~= 'table' or not reply.err or", 'if true or'],
  ]),
  ...of('hit-log/hit-log-packed-rewrite', PACKED, [
    [
      'a refund moves older hits to the wrong place',
      "string.format('%d', first + gap), moved)",
      "string.format('%d', first), moved)",
    ],
    ['a refund keeps the time of the oldest hit', 'if first == 0 then hits.oldest = log.time_of(hits, stop) end', ''],
    ['a refund of a hit without a total returns nothing', 'if not total then hits.dropped = hits.dropped + 1 end', ''],
    ['a refund removes all hits of its microsecond', 'local first = math.max(from, stop - cost)', 'local first = from'],
  ]),
  ...of('hit-log/hit-log-sorted-set', REFUNDS, [
    ['hits of one microsecond lose their order', "string.format('%016d:%d'", "string.format('%d:%d'"],
    ['the units before a kept hit are not dropped', 'local first = math.max(before, dropped)', 'local first = before'],
  ]),
  ...of(
    'hit-log/hit-log-sorted-set',
    [test('cluster')],
    [
      ['the key goes while all members are replaced', '      finish = hold(hits)\n', ''],
      ['the key goes while all figures change', 'local finish = first == 0 and hold(hits)', 'local finish'],
    ],
  ),
  ...of(
    'hit-log/hit-log-sorted-set',
    [test('script-slices')],
    [['a search of a sorted set takes no steps', '  count_steps(5)\n', '']],
  ),
  ...of(
    'hit-log/hit-log-packed',
    [test('script-slices')],
    [['a search of a packed log takes no steps', '    count_steps(5)\n', '']],
  ),
  ...of(
    'hit-log/hit-log',
    [...REFUNDS, test('conformance')],
    [
      [
        'a gap counts one position late',
        'if gap.position > position then break end',
        'if gap.position >= position then break end',
      ],
      [
        'the search stops at hits of the same time',
        'log.time_of(hits, step) <= time do',
        'log.time_of(hits, step) < time do',
      ],
      ['a refund of an old hit returns one unit', 'local units = math.min(left, after - before)', 'local units = 1'],
    ],
  ),
  ...of(
    'hit-log/hit-log',
    [test('log-totals'), test('far-refunds')],
    [
      ['restarted totals include refunded units', 'units = units + gap.units\n    end', 'end'],
      ['a script does more work after a restart of totals', 'count_steps(5 * hits.size)', ''],
    ],
  ),
];
