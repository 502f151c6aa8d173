// Plants one defect at a time in the Lua scripts, which StrykerJS cannot change, and runs the tests that should notice it:
// node packages/redis/lua-defects.mjs [part of a file name or description]. With --check, it only looks whether all defects apply.
// Only a generated file changes, and the next run or build restores it, too.
import './embed-lua.mjs';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The TypeScript that embeds the scripts. The tests run on it. */
const GENERATED = ['script/lua', 'waiting/queues'].map((name) => new URL(`src/${name}.generated.ts`, import.meta.url));
/** Tests of clients, servers and networks, which take long and say little about what scripts decide, and the test of this list. */
const ELSEWHERE = 'test/[^/]*(client|cluster|defects|failover|faults|processes)';

/** By file: what is wrong, the code as it is embedded, with values for constants, and what replaces it. */
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
    [
      'a credit keeps the whole hit with the last unit',
      'units = units - before } })',
      'units = log.total_before(hits, index + 1) - hits.dropped - before } })',
    ],
    ['restarted totals include refunded units', 'units = units + gap.units\n    end', 'end'],
  ],
  'block.lua': [
    ['the newest block decides', 'ends, longest = math.max(ends, length ==', 'ends, longest = math.max(0, length =='],
    ['a short block shortens the memory of a long one', 'math.max(longest, length)', 'length'],
    ['a block of a wrong clock stays', '2 * longest', '1e9 * longest'],
    ['a cost above the limit closes a key that `blockFor` closes', ' and cost <= used_up.limit', ''],
    ['the check that begins a block waits for units only', 'if used_up then rule.wait, wait = length, length end', ''],
  ],
  'bucket-counts.lua': [
    [
      'a bucket counts for a microsecond too long',
      'math.floor(micros / width)) - 1',
      'math.ceil(micros / width) - 1) - 1',
    ],
    ['buckets change to the coarser width', 'math.min(buckets.width, width) or width', 'width or width'],
    ['a refund takes no steps', 'step_count = step_count + index / 10', ''],
    [
      'a credit keeps the whole bucket with the last unit',
      "string.format('%d', left), 1\n",
      "string.format('%d', count), 1\n",
    ],
  ],
  'bucketed-window.lua': [
    ['the next unit of an overdraft is free too early', 'math.max(1, 1 - limit + used))', '1)'],
    ['the next unit ignores the new hit', '    next_unit = bucket_counts.end_of_unit(buckets, 1) + window - now\n', ''],
    [
      'a refund uses the previous bucket',
      '(math.floor(latest / width) + 1) * width',
      'math.floor(latest / width) * width',
    ],
  ],
  'calendar-window.lua': [
    ['a period includes its end', 'now >= first_start and now < first_end', 'now >= first_start and now <= first_end'],
    ['a time before both periods is in the first one', 'now >= first_start and now <', 'now <'],
    ['a refund finds a later period', ' or first > stamp or', ' or'],
  ],
  'concurrency.lua': [
    ['a lease counts at its end', "'(' .. now_text", 'now_text'],
    ['a settlement leaves no extra units', '+ math.max(0, kept - 1))', ')'],
    ['a renewal does not count the slots that it has just taken', '        used = used + units\n', ''],
  ],
  'fixed-window.lua': [
    ['a refund finds what follows a state that a credit has ended', 'newest and window_end > now then', 'false then'],
    ['the count of the previous window is kept', 'is_running and count or 0', 'count'],
    [
      'a refund finds a state that was created after a reset',
      'window_end ~= at or (reset_stamp and reset_stamp > stamp)',
      'window_end ~= at',
    ],
    ['a count of 10,000 is written in four digits', 'count < 10000', 'count <= 10000'],
    [
      'the action of a limit without a minDifference is not recorded',
      'if newest then newest, longest =',
      'if newest and min_difference > 0 then newest, longest =',
    ],
  ],
  'leaky-bucket.lua': [
    ['an overdraft of the queue has a place too early', 'math.min(waiting, limit) * interval', 'waiting * interval'],
    [
      'passed gaps stay',
      "if gaps ~= '' then gaps = string.sub(gaps, count_gaps_before(gaps, now + 1) * 34 + 1) end",
      '',
    ],
    ['a late caller leaves its start unused', '  free_at = at\n', ''],
  ],
  'leased-calendar-window.lua': [
    [
      'a settlement after a credit takes what others have reserved',
      'math.max(math.min(state.count, reserved), state.count -',
      'math.max(0, state.count -',
    ],
    ['a credit gives reserved units back', 'credit_period(state.count - reserved,', 'credit_period(state.count,'],
    ['ended reservations stay', '  elseif state.earliest <= now then', '  elseif false then'],
    ['a lost reservation is settled by the difference', 'not position and rule[5] == 1 and not is_spent', 'false'],
    ['a settlement that finds nothing left stays in the old life', 'state.first = nil end', 'end'],
    ['a settlement leaves the reserved units', 'state.reserved = math.max(0, state.reserved - cost)', ''],
  ],
  'report-numbers.lua': [
    ['older numbers replace newer ones', 'is_newer = sent >= state.at or', 'is_newer = true or'],
    ['a higher level replaces a lower one', 'remaining >= reported_state.units_at(state, now)', 'false'],
    ['a first rejection shows a cost', ' and reported.needed == 0', ''],
  ],
  'reported-quota.lua': [
    [
      'open calls do not count',
      'time_of_units(state, units + others + reserve)',
      'time_of_units(state, units + reserve)',
    ],
    [
      'a check without a cost learns nothing',
      'if rule[5] then report_numbers(rule, state, now, recorded_at',
      'if rule[5] and cost ~= 0 then report_numbers(rule, state, now, recorded_at',
    ],
  ],
  'reported-state.lua': [
    ['a window ends a microsecond late', 'at >= state.one and reported', 'at > state.one and reported'],
    ['a window has a reserve', 'if state.kind ~= 2 then return 0 end', ''],
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
      '\n    return life_of(hits.newest, hits.recorder.keep)\n  end\n\n  local function credit',
      '\n  end\n\n  local function credit',
    ],
    ['usual: totals of hits that have left the window stay', 'size, total = 0, nil', 'size = 0'],
    ['usual: a hit with a cost follows plain ones', 'elseif cost ~= 1 and newest > start then break end', 'end'],
    ['usual: a hit counts for a microsecond too long', 'until oldest > start', 'until oldest >= start'],
    ['usual: the rewritten log contains dropped hits', 'local first = hit_size * dropped', 'local first = 0'],
  ],
  'sliding-window-counter.lua': [
    ['a refund finds what follows a state that a credit has ended', 'newest and window_end > now then', 'false then'],
    [
      'a key that a credit has emptied goes before its window ends',
      'math.max(expires, window_end), newest',
      'expires, newest',
    ],
    ['a credit takes units of both windows', 'math.max(0, previous - left)', 'math.max(0, previous - units)'],
    ['the next unit is free one unit late', 'math.max(0, free) + 1)', 'math.max(0, free) + 2)'],
    ['the estimate is rounded down', ' - (left > 0 and 1 or 0)', ''],
    ['an older window counts as the previous one', 'at == window_end + window and current or 0', 'current'],
    ['a state beyond half of the bound is implausible', '2 ^ (scale + 1)', '2 ^ scale'],
  ],
  'token-bucket.lua': [
    [
      'a credit after a clock step back fills the bucket',
      'math.max(newest_action, now), math.min(parts',
      'now, math.min(parts',
    ],
    ['the next unit is free one unit late', 'own_parts, now, remaining + 1)', 'own_parts, now, remaining + 2)'],
    [
      'a refund returns tokens that had refilled before it was recorded',
      'math.min(latest + refunded - at, latest - recorded_at)',
      'latest + refunded - at',
    ],
    ['the state does not sum refunds', 'refunded = refunded + micros + (returned_parts > 0 and 1 or 0)', ''],
  ],
  'main.lua': [
    ['the checks of a batch record at one microsecond', 'server_time + done, nil', 'server_time, nil'],
    [
      'a run of equal checks takes any number of steps',
      'while done < last and step_count < MAX_STEPS do',
      'while done < last do',
    ],
    ['one operation that cannot write fails the call', 'read_only_count == done and', 'read_only_count > 0 and'],
    ['a check of one limit costs one unit', 'injected_now or stamp, cost,', 'injected_now or stamp, 1,'],
    [
      'a check of one limit takes the time of the server',
      'keys[next_key + 1], injected_now or stamp,',
      'keys[next_key + 1], stamp,',
    ],
    ['figures above 2^53 share a number', 'if number < 2 ^ 53 then', 'if true then'],
  ],
  'mul-div.lua': [['large products are rounded', 'if product < ', 'if true or product < ']],
  'string-state.lua': [
    ['a refund removes the expiry', "or text, 'PX', ttl)", 'or text)'],
    ['a key expires up to a millisecond early', 'math.ceil(expires / 1000)', 'math.floor(expires / 1000) - 1'],
    ['a reset leaves no marker', "if type(ttl) == 'number' and ttl > 0 then", 'if false then'],
  ],
  'estimates.lua': [
    [
      'the windows before a ticket do not count',
      'math.max(longest, wait + rounds * period)',
      'math.max(longest, wait)',
    ],
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
    ['a check that callers hold up takes units', 'nil, cost_list(costs), not waits,', 'nil, cost_list(costs), true,'],
  ],
  'tickets.lua': [
    ['a lease from before the clock was set back never ends', ' or ends > now + 1 + 2 ^ span * 1000', ''],
    ['owners whose lease has ended stay', "if string.sub(member, 1, 1) == '!' then", 'if false then'],
    ['a process that has ended keeps its turns', 'contact ~= 1 or receivers_of(line, owner) > 0', 'true'],
  ],
  'turns.lua': [
    ['freed units wake only a new first ticket', 'if has_freed or line.former', 'if line.former'],
    [
      'a ticket does not leave the queue when it is granted',
      '      remove_from_all(line, ticket)\n      add_item',
      '      add_item',
    ],
    ['the hits of a start ahead look like present ones', 'rule.is_dated = wait > 0 or nil', 'rule.is_dated = nil'],
  ],
  'errors.lua': [
    ['keys never expire', "redis.call('PEXPIREAT', key, string.format('%d', math.ceil(expires / 1000)))", ''],
  ],
  'changes.lua': [
    ['a refund needs memory', "string.find(message_of(failure), 'OOM', 1, true)", 'false'],
    ['a credit of several limits needs memory', 'if frees and', 'if false and'],
    ['an operation that was sent twice runs twice', 'local was_done = reply == 1', 'local was_done = false'],
    [
      'a charge records one unit',
      'now, units, stamp, injected_now, states[index])',
      'now, 1, stamp, injected_now, states[index])',
    ],
    [
      'an overdraft records the settled cost',
      'overdraw(rule, key, now, settled - cost,',
      'overdraw(rule, key, now, settled,',
    ],
    [
      'a renewal treats all keys as one',
      'while last < count and KEYS[first_key + last + 1] == key do',
      'while last < count do',
    ],
  ],
  'decide.lua': [
    ['the next unit is free at the reset', 'next_unit = next_unit or reset', 'next_unit = reset'],
    [
      'a limit that only reports forgives the limits before it',
      'if not rule.is_unenforced then allowed = false end',
      'allowed = rule.is_unenforced or false',
    ],
    ['a peek records', 'if records and own_cost > 0 then', 'if own_cost > 0 then'],
  ],
  'rolling-counter.lua': [
    [
      'units before the interval count',
      '  bucket_counts.drop(buckets, math.max(now, bucket_counts.newest_start(buckets)) - interval)\n',
      '',
    ],
  ],
  'unless-tickets.lua': [
    ['a check passes one caller', "'0', '+inf') > 0", "'0', '+inf') > 1"],
    [
      'a check looks into the queues of another one',
      'index = next_key + key_count - queue_count + 1, next_key + key_count do',
      'index = key_count - queue_count + 1, key_count do',
    ],
  ],
};

const EMBEDDED = GENERATED.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const inText = (code) => JSON.stringify(code).slice(1, -1);

/** The generated file with a defect, and without it. `undefined` unless the Lua file has the code exactly once. */
function plant(file, find, replace) {
  for (const { path, text } of EMBEDDED) {
    const lines = text.split('\n');
    const at = lines.findIndex((line) => line.startsWith(`  "${file}": `));
    const parts = lines[at]?.split(inText(find)) ?? [];
    if (parts.length !== 2) continue;
    lines[at] = parts.join(inText(replace));
    return { path, text, defective: lines.join('\n') };
  }
}

/** Whether a test fails with the defect. */
function isNoticed({ path, text, defective }) {
  try {
    writeFileSync(path, defective);
    const jest = [
      'node_modules/jest/bin/jest.js',
      'packages/redis',
      '--bail',
      '--passWithNoTests',
      '--testPathIgnorePatterns',
      ELSEWHERE,
    ];
    return spawnSync(process.execPath, jest, { cwd: ROOT, stdio: 'ignore' }).status !== 0;
  } finally {
    writeFileSync(path, text);
  }
}

const entries = Object.entries(DEFECTS).flatMap(([file, defects]) =>
  defects.map(([what, find, replace]) => ({ name: `${file}: ${what}`, planted: plant(file, find, replace) })),
);
const obsolete = entries.filter(({ planted }) => !planted).map(({ name }) => `\n  ${name}`);
const [wanted = ''] = process.argv.slice(2);
const chosen = wanted === '--check' ? [] : entries.filter(({ name }) => name.includes(wanted));
if (obsolete.length > 0) {
  console.error(
    `Expected the code of each defect exactly once in its file. Change or delete these entries:${obsolete.join('')}`,
  );
  process.exitCode = 1;
} else {
  for (const { name, planted } of chosen) {
    const noticed = isNoticed(planted);
    console.log(`${name}: ${noticed ? 'noticed' : 'NOT NOTICED'}`);
    if (!noticed) process.exitCode = 1;
  }
}
