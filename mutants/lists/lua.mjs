// Defects in the scripts of @rollgate/redis.

const test = (name) => `packages/redis/test/${name}.test.ts`;

const CONFORMANCE = ['changed-settings', 'exact-units', 'twins', 'algorithms', 'state'].map(test);
const REFUNDS = ['changed-settings', 'exact-units', 'twins', 'resent', 'far-refunds', 'algorithms', 'state'].map(test);
const FRAME = ['script-slices', 'error-messages', 'batching', 'resent', 'twins', 'algorithms', 'state'].map(test);
const DENIALS = [test('denial-cache'), ...CONFORMANCE];

const of = (name, tests, mutants) =>
  mutants.map(([description, find, replace]) => {
    return { file: `packages/redis/src/lua/${name}.lua`, description, find, replace, tests };
  });

export const lua = [
  ...of('main', FRAME, [
    [
      'the checks of a batch record at one microsecond',
      'local stamp = server_time + #lines',
      'local stamp = server_time',
    ],
    ['the last limit decides alone', 'allowed = allowed and verdict.wait == 0', 'allowed = verdict.wait == 0'],
    ['a rejected check is recorded', 'if records and (allowed or rule.counts_rejected) then', 'if records then'],
    [
      'a key expires up to a millisecond early',
      'local expires_ms = math.ceil(expires / 1000)',
      'local expires_ms = math.floor(expires / 1000) - 1',
    ],
    ['keys never expire', "  redis.call('PEXPIREAT', key, last_expires_text)\n", ''],
    [
      'a refund does not shorten the expiry',
      'if expires then expire(key, expires, keep, injected_now) end\n  end',
      'end',
    ],
    [
      'a script does any amount of work',
      'while position < #input and step_count < MAX_STEPS do',
      'while position < #input do',
    ],
    [
      'an error takes the message of the first failure',
      "reply[#reply + 1], result = message, '!'",
      "reply[3], result = message, '!'",
    ],
    [
      'a reset forgets the first key only',
      'for index = 1, #plan do\n    local key, reset_key',
      'for index = 1, 1 do\n    local key, reset_key',
    ],
    ['a peek records', "local key_count, records = #plan, kind == 'check'", 'local key_count, records = #plan, true'],
  ]),
  ...of('rolling-window', REFUNDS, [
    [
      'a hit counts at the end of its window',
      'if hits.oldest <= at - window then',
      'if hits.oldest < at - window then',
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
    ['the wait goes beyond what is remembered', 'if wait > left then wait = left end', ''],
    ['rejected attempts keep one unit too many', 'if excess > 0 then', 'if excess > 1 then'],
    [
      'a refund finds what was reset',
      'if hits.size == 0 or log.created(hits) > stamp then return nil end',
      'if hits.size == 0 then return nil end',
    ],
    [
      'one unit is subtracted, whatever the cost',
      'verdict.remaining = verdict.remaining - cost',
      'verdict.remaining = verdict.remaining - 1',
    ],
    [
      'the key expires before the minDifference',
      'verdict.expires, verdict.keep = at + keep, keep',
      'verdict.expires, verdict.keep = at + rule.window, rule.window',
    ],
  ]),
  ...of('rolling-window', DENIALS, [
    [
      'a rejection is stable for too long',
      'if first == 0 then stable = hits.oldest + window - now',
      'if first == 0 then stable = left',
    ],
  ]),
  ...of('hit-log-list', REFUNDS, [
    [
      'a refund does not lower the total',
      'hits.size - removed, hits.total - removed, nil',
      'hits.size - removed, hits.total, nil',
    ],
    [
      'the oldest hit cannot be refunded',
      'if removed < cost and hits.oldest == time then log.drop(hits, 1, 0) end',
      '',
    ],
    ['a hit counts as one unit, whatever the cost', 'hits.total = hits.total + cost', 'hits.total = hits.total + 1'],
    [
      'the beginning of the totals is not written',
      "if begins_totals then redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end",
      '',
    ],
    [
      'dropped hits stay in the list',
      "if index == 1 then redis.call('LPOP', hits.key) else redis.call('LTRIM', hits.key, index, -1) end",
      '',
    ],
  ]),
  ...of('hit-log-sorted-set', REFUNDS, [
    ['hits of one microsecond lose their order', "string.format('%016d:%d'", "string.format('%d:%d'"],
    ['the units before a kept hit are not dropped', 'local first = math.max(before, dropped)', 'local first = before'],
  ]),
  ...of('hit-log', REFUNDS, [
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
    ['a far refund returns one unit', 'local units = math.min(left, after - before)', 'local units = 1'],
  ]),
];
