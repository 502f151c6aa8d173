// Plants one defect at a time in the Lua scripts, which StrykerJS cannot change, and runs the tests that should notice it:
// node packages/redis/lua-defects.mjs [part of a file name or description]. Only a generated file changes, and `npm run build` restores it, too.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The TypeScript that embeds the scripts. The tests run on it. */
const GENERATED = ['script/lua', 'waiting/queues'].map((name) => new URL(`src/${name}.generated.ts`, import.meta.url));
/** Tests of clients, servers and networks, which take long and say little about what scripts decide. */
const ELSEWHERE = 'client|cluster|faults|outage|processes|sentinel';

/** By file: what is wrong, the code, and what replaces it. */
const DEFECTS = {
  'hit-log-packed-rewrite.lua': [
    [
      'a refund moves older hits to the wrong place',
      "string.format('%d', first + gap), moved)",
      "string.format('%d', first), moved)",
    ],
    ['a refund keeps the time of the oldest hit', 'if first == 0 then hits.oldest = log.time_of(hits, stop) end', ''],
    ['a refund of a hit without a total returns nothing', 'if not total then hits.dropped = hits.dropped + 1 end', ''],
  ],
  'hit-log-packed.lua': [
    ['a long log drops no bytes', 'or (hits.dropped_hits > 16 and hits.dropped_hits * 4 > hits.size)', ''],
    [
      'the first totals start a hit too late',
      'hits.plain_count = hits.dropped_hits + hits.size end',
      'hits.plain_count = hits.dropped_hits + hits.size + 1 end',
    ],
    ['the longest minDifference is not written', 'form = form + HAS_MIN_DIFFERENCE', ''],
  ],
  'hit-log-sorted-set.lua': [
    ['hits of one microsecond lose their order', "string.format('%016d:%d'", "string.format('%d:%d'"],
    ['the units before a kept hit are not dropped', 'local first = math.max(before, dropped)', 'local first = before'],
    ['the key goes while all members are replaced', '      finish = hold(hits)\n', ''],
  ],
  'hit-log.lua': [
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
    ['restarted totals include refunded units', 'units = units + gap.units\n    end', 'end'],
  ],
  'block.lua': [
    [
      'the newest block decides',
      'state.ends = math.max(state.ends, rule.length',
      'state.ends = math.max(0, rule.length',
    ],
    ['a short block shortens the memory of a long one', 'math.max(state.longest, rule.length)', 'rule.length'],
    ['a block of a wrong clock stays', '2 * longest', '1e9 * longest'],
  ],
  'bucket-counts.lua': [
    [
      'a bucket counts for a microsecond too long',
      'math.floor(micros / width)) - 1',
      'math.ceil(micros / width) - 1) - 1',
    ],
    ['buckets change to the coarser width', 'math.min(buckets.width, width) or width', 'width or width'],
    ['a refund takes no steps', 'count_steps(index / 10)', ''],
  ],
  'bucketed-window.lua': [
    ['the next unit of an overdraft is free too early', 'math.max(1, 1 - free)) + window', '1) + window'],
    [
      'the next unit ignores the new hit',
      'verdict.next_unit = bucket_counts.end_of_unit(buckets, 1) + rule.window - now\n',
      '',
    ],
    [
      'a refund uses the previous bucket',
      '(math.floor(state.latest / width) + 1) * width',
      'math.floor(state.latest / width) * width',
    ],
  ],
  'calendar-window.lua': [
    [
      'a period includes its end',
      'now >= rule.first_start and now < rule.first_end',
      'now >= rule.first_start and now <= rule.first_end',
    ],
    ['a time before both periods is in the first one', 'now >= rule.first_start and now <', 'now <'],
    ['a refund finds a later period', ' or state.first > stamp or', ' or'],
  ],
  'concurrency.lua': [
    ['a lease counts at its end', "'(' .. now_text", 'now_text'],
    ['a settlement leaves no extra units', '+ math.max(0, kept - 1))', ')'],
    ['a renewal does not count the slots that it has just taken', '        used = used + units\n', ''],
  ],
  'fixed-window.lua': [
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
  ],
  'leaky-bucket.lua': [
    ['an overdraft of the queue has a place too early', 'math.min(waiting, limit) * interval', 'waiting * interval'],
    [
      'passed gaps stay',
      "if state.gaps ~= '' then state.gaps = string.sub(state.gaps, count_before(state.gaps, now + 1) * GAP + 1) end",
      '',
    ],
    ['a late caller leaves its start unused', '  free_at = at\n', ''],
  ],
  'leased-calendar-window.lua': [
    ['ended reservations stay', '  elseif state.earliest <= now then', '  elseif false then'],
    ['a lost reservation is settled by the difference', 'not position and rule.refunds and not is_spent', 'false'],
    ['a settlement leaves the reserved units', 'state.reserved = math.max(0, state.reserved - cost)', ''],
  ],
  'min-difference.lua': [
    [
      'the next unit is free later than the expiry of the state',
      '  if verdict.next_unit > left then verdict.next_unit = left end\n',
      '',
    ],
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
  ],
  'report-numbers.lua': [
    ['older numbers replace newer ones', 'is_newer = sent >= state.at or', 'is_newer = true or'],
    ['a higher level replaces a lower one', 'remaining >= reported_state.units_at(state, now)', 'false'],
    ['a first rejection shows a cost', 'state.kind == NOTHING and reported.needed == 0', 'state.kind == NOTHING'],
  ],
  'reported-quota.lua': [
    [
      'open calls do not count',
      'time_of_units(state, units + others + reserve)',
      'time_of_units(state, units + reserve)',
    ],
    [
      'a call may need more than the quota',
      'math.min(reported_state.expected_units(state, cost), limit)',
      'reported_state.expected_units(state, cost)',
    ],
    [
      'a check without a cost learns nothing',
      'if rule.reported then report_numbers(rule, state, now, recorded_at, math.abs(cost))',
      'if rule.reported and cost ~= 0 then report_numbers(rule, state, now, recorded_at)',
    ],
  ],
  'reported-state.lua': [
    ['a window ends a microsecond late', 'at >= state.one and reported', 'at > state.one and reported'],
    ['a window has a reserve', 'if state.kind ~= REFILL then return 0 end', ''],
    ['an ended call stays open', 'if call.ends > now then left[#left + 1] = call end', 'left[#left + 1] = call'],
  ],
  'rolling-window.lua': [
    ['the next unit of an overdraft is free too early', 'if free < 0 then first = log', 'if false then first = log'],
    [
      'the reported wait is a microsecond too short',
      'cost - free)) + window - now end',
      'cost - free)) + window - now - 1 end',
    ],
    [
      'a refund of the newest hit leaves the expiry of the key',
      '  return expiry_of(hits.newest, hits.recorder.keep), longest_life(hits.recorder.keep)\n',
      '',
    ],
  ],
  'sliding-window-counter.lua': [
    ['the next unit is free one unit late', 'limit - remaining - 1, is_running', 'limit - remaining - 2, is_running'],
    ['the estimate is rounded down', 'mul_div_up(fading, covered, window)', 'mul_div(fading, covered, window)'],
    [
      'an older window counts as the previous one',
      'verdict.at == state.window_end + rule.window and state.current or 0',
      'state.current',
    ],
  ],
  'token-bucket.lua': [
    ['the next unit is free one unit late', 'verdict.remaining + 1)', 'verdict.remaining + 2)'],
    [
      'a refund returns tokens that had refilled before it was recorded',
      'math.min(latest + state.refunded - at, latest - recorded_at)',
      'latest + state.refunded - at',
    ],
    ['the state does not sum refunds', 'state.refunded = state.refunded + micros + (parts > 0 and 1 or 0)', ''],
  ],
  'common.lua': [
    [
      'a key expires up to a millisecond early',
      'local expires_ms = math.ceil(expires / 1000)',
      'local expires_ms = math.floor(expires / 1000) - 1',
    ],
    ['keys never expire', "  redis.call('PEXPIREAT', key, last_expires_text)\n", ''],
    ['a refund needs memory', "string.find(message_of(failure), 'OOM', 1, true)", 'false'],
  ],
  'decisions.lua': [
    ['the next unit is free at the reset', 'verdict.next_unit or verdict.reset, nil', 'verdict.reset, nil'],
    ['the last limit decides alone', 'allowed = allowed and verdict.wait == 0', 'allowed = verdict.wait == 0'],
    ['a peek records', 'input[2], false, stamp', 'input[2], true, stamp'],
  ],
  'letters.lua': [
    ['numbers above 2^36 lose their highest digits', 'if number < 64 ^ 6 then', 'if true then'],
    ['numbers above 2^48 lose their highest digit', 'h == number and letters or ', 'letters or '],
    ['the seventh digit is the sixth', '(g - f) / 64 ^ 6', '(f - e) / 64 ^ 5'],
  ],
  'main.lua': [
    [
      'the checks of a batch record at one microsecond',
      'run(plan, input, server_time + before, first_key)',
      'run(plan, input, server_time, first_key)',
    ],
    [
      'a run of equal checks takes any number of steps',
      'done_count < last and step_count < MAX_STEPS',
      'done_count < last',
    ],
    [
      'one operation that cannot write fails the call',
      'if read_only_count == done_count and',
      'if read_only_count > 0 and',
    ],
  ],
  'mul-div.lua': [['large products are rounded', 'if product < EXACT then', 'if product < NEVER then']],
  'operations.lua': [
    ['a check of plain windows costs one unit', 'rule, plain.cost', 'rule, 1'],
    ['a check of plain windows takes the time of the server', '{ 0, injected_now or false }', '{ 0, false }'],
  ],
  'plain-window-check.lua': [
    ['costs of limits are read one place off', 'ARGV[costs + index])', 'ARGV[costs + index - 1])'],
    ['a hit with a cost follows plain ones', 'if cost ~= 1 and not last_total then return nil end', ''],
    [
      'the rewritten log contains dropped hits',
      "format('%d', first), format('%d', first + hit_size",
      "'0', format('%d', first + hit_size",
    ],
  ],
  'renewals.lua': [
    [
      'a renewal treats all keys as one',
      'while last < count and KEYS[first_key + last + 1] == key do',
      'while last < count do',
    ],
  ],
  'settlements.lua': [
    [
      'a charge is marked as done before it can fail',
      '  -- First, because an operation that fails here runs again.\n',
      '  if number then is_done(KEYS[first_key + #plan + 1], number) end\n',
    ],
    [
      'a charge records one unit',
      'overdraw(plan[index], states[index], KEYS[first_key + index], units,',
      'overdraw(plan[index], states[index], KEYS[first_key + index], 1,',
    ],
    ['an overdraft records the settled cost', 'key, settled - cost, injected_now', 'key, settled, injected_now'],
  ],
  'string-state.lua': [
    ['a refund removes the expiry', "redis.call('SET', key, text, 'PX', ttl)", "redis.call('SET', key, text)"],
    ['a state beyond half of the bound is implausible', '2 ^ (scale + 1)', '2 ^ scale'],
    ['a reset leaves no marker', "replace(key, with_reset_mark('', stamp))", "replace(key, '')"],
  ],
  'estimates.lua': [
    ['the windows before a ticket do not count', 'verdict.wait + rounds * period', 'verdict.wait'],
    [
      'tickets before count with the own cost',
      "return all - units_between(line, index, '(' .. number, '+inf')",
      'return count * units_of(line, index, ticket)',
    ],
  ],
  'places.lua': [
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
  ],
  'ticket-operations.lua': [
    ['a late caller goes to the end', 'number == 0 and next_number(line) or number', 'next_number(line)'],
    ['a full queue takes one more', "'0', '+inf') >= most", "'0', '+inf') > most"],
    [
      'a check that callers hold up takes units',
      'line.injected_now, not waits, stamp',
      'line.injected_now, true, stamp',
    ],
  ],
  'tickets.lua': [
    ['a lease from before the clock was set back never ends', ' or ends > now + 1 + 2 ^ span * 1000', ''],
    ['owners whose lease has ended stay', "if string.sub(member, 1, 1) == '!' then", 'if false then'],
    ['a process that has ended keeps its turns', 'contact ~= COUNTED or receivers_of(line, owner) > 0', 'true'],
  ],
  'turns.lua': [
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
  ],
  'unless-queued.lua': [
    ['a check passes one caller', "'0', '+inf') > 0 then return ''", "'0', '+inf') > 1 then return ''"],
    ['a check looks into the queues of another one', 'index = first_key + own_count + 1', 'index = own_count + 1'],
  ],
};

const [wanted = ''] = process.argv.slice(2);
const embed = () => execFileSync(process.execPath, [fileURLToPath(new URL('embed-lua.mjs', import.meta.url))]);
const inText = (code) => JSON.stringify(code).slice(1, -1);
const problems = [];

/** Whether a test fails while the code is replaced; `undefined` if the scripts do not contain it exactly once. */
function isNoticed(find, replace) {
  const texts = GENERATED.map((file) => readFileSync(file, 'utf8'));
  const counts = texts.map((text) => text.split(inText(find)).length - 1);
  if (counts[0] + counts[1] !== 1) return undefined;
  const at = counts.indexOf(1);
  try {
    writeFileSync(
      GENERATED[at],
      texts[at].replace(inText(find), () => inText(replace)),
    );
    const jest = ['node_modules/jest/bin/jest.js', 'packages/redis', '--bail', '--testPathIgnorePatterns', ELSEWHERE];
    return spawnSync(process.execPath, jest, { cwd: ROOT, stdio: 'ignore' }).status !== 0;
  } finally {
    embed();
  }
}

for (const [file, defects] of Object.entries(DEFECTS)) {
  for (const [what, find, replace] of defects.filter(([name]) => `${file} ${name}`.includes(wanted))) {
    const noticed = isNoticed(find, replace);
    const result = noticed === undefined ? 'not planted: its code has changed' : noticed ? 'noticed' : 'NOT NOTICED';
    console.log(`${file}: ${what}: ${result}`);
    if (noticed !== true) problems.push(what);
  }
}
process.exitCode = problems.length === 0 ? 0 : 1;
