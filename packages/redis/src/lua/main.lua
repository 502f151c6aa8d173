-- The frame around the algorithms: runs the operations of one call in their order. Each is atomic, and fails alone.
--
-- KEYS     for each operation the keys of its rules, in the order of the rules
-- ARGV[1]  JSON: one list, read from front to back (a list of lists takes Redis twice as long to read)
--          how many plans there are; for each how many rules; for each its algorithm, whether it counts rejected
--          attempts, how many numbers it has, and the numbers; then the operations until the end:
--            "check",  plan, cost, times, now    decide and record, so many times, each for the keys that follow
--            "peek",   plan, cost, times, now    decide only
--            "reset",  plan                      forget the keys
--            "refund", plan, cost, now, stamp, then, count, and so often the number of a rule, at
--                                                take back, rule by rule, what was recorded then with this stamp
--            "count",  width, span, expiry, units, interval, now
--                                                add to a rolling counter, and count
--          `now` is false where the server's time is meant.
-- returns  the server's time, one text (which clients read in a fraction of the time of so many numbers), and then the
--          messages of the operations that failed, in their order. The text has a line for each operation that was run, which is
--          at least the first. "!" for one that failed; nothing for a reset or refund; the count; for a check or peek, a
--          comma between the rules, either "remaining reset" of a rule that recorded an action which may go ahead now, with
--          how far ahead of now it was recorded behind it if that is not 0, or
--            how long to hold the action; -1 when the rule rejects it by its limit, -2 by its minDifference
--            the wait, -1 for ever
--            the units left
--            the reset
--            how far ahead of now the hit was recorded; when none was, how long the verdict is steady, -1 for ever
--          The time and the stamp of an operation are the server's time plus how many operations came before it: no two
--          checks record at the same microsecond, so that a refund that is sent twice finds nothing the second time.

local tape, place = cjson.decode(ARGV[1]), 0

local function next_value()
  place = place + 1
  return tape[place]
end

local plans = {}
for plan = 1, next_value() do
  local rules = {}
  for index = 1, next_value() do
    local algorithm, counts_rejected, count = algorithms[next_value()], next_value() == 1, next_value()
    local rule = algorithm.rule(unpack(tape, place + 1, place + count))
    place = place + count
    rule.algorithm, rule.counts_rejected = algorithm, counts_rejected
    rules[index] = rule
  end
  plans[plan] = rules
end

local time = redis.call('TIME')
local server_time = time[1] * 1000000 + time[2]

local lines, next_key = {}, 0
local states, verdicts = {}, {}
local expires_written, expires_text

-- Never before what the key says is over, for Redis counts whole milliseconds. An injected clock may stand still while
-- the server's does not.
local function expire(key, expires, keep, injected_now)
  if injected_now then redis.call('PEXPIRE', key, math.ceil(keep / 1000) + 60000) return end
  local expires_ms = math.ceil(expires / 1000)
  if expires_ms ~= expires_written then expires_written, expires_text = expires_ms, string.format('%d', expires_ms) end
  redis.call('PEXPIREAT', key, expires_text)
end

local function finite(number)
  return number == NEVER and -1 or number
end

local function decide(plan, cost, injected_now, records)
  local stamp = server_time + #lines
  local now = injected_now or stamp
  local allowed = true
  for index = 1, #plan do
    local rule = plan[index]
    local state = rule.algorithm.find(rule, KEYS[next_key + index], now, stamp)
    local verdict = rule.algorithm.test(rule, state, now, cost)
    states[index], verdicts[index] = state, verdict
    allowed = allowed and verdict.wait == 0
  end
  local line
  for index = 1, #plan do
    local rule, verdict = plan[index], verdicts[index]
    local passed, delay, last = verdict.wait == 0, verdict.delay or 0, verdict.steady
    if records and (allowed or rule.counts_rejected) then
      last = verdict.at - now
      verdict = rule.algorithm.record(rule, states[index], now, cost, verdict, stamp)
      expire(KEYS[next_key + index], verdict.expires, verdict.keep, injected_now)
    end
    local said
    if allowed and records and delay == 0 then
      if last == 0 then said = string.format('%d %d', verdict.remaining, verdict.reset)
      else said = string.format('%d %d %d', verdict.remaining, verdict.reset, last) end
    else
      local wait = allowed and 0 or finite(verdict.wait)
      local held = allowed and delay or 0
      if not passed then held = verdict.is_apart and -2 or -1 end
      said = string.format('%d %d %d %d %d', held, wait, verdict.remaining, verdict.reset, finite(last))
    end
    line = line and line .. ',' .. said or said
  end
  return line
end

local function reset(plan)
  for index = 1, #plan do
    local key, forget = KEYS[next_key + index], plan[index].algorithm.forget
    if forget then forget(key, server_time + #lines) else redis.call('UNLINK', key) end
  end
  return ''
end

local function refund(plan, cost, injected_now, stamp, recorded_at, count)
  local now = injected_now or server_time + #lines
  for index = 1, count do
    local rule, at = plan[tape[place + 2 * index - 1]], tape[place + 2 * index]
    local key = KEYS[next_key + index]
    local expires, keep = rule.algorithm.refund(rule, key, stamp, now, at, cost, recorded_at)
    if expires then expire(key, expires, keep, injected_now) end
  end
  return ''
end

local function count(width, span, expiry, units, interval, injected_now)
  local now = injected_now or server_time + #lines
  local key = KEYS[next_key + 1]
  local counted, expires = algorithms['rolling-counter'].add(key, width, span, expiry, units, interval, now)
  if expires then expire(key, expires, expiry, injected_now) end
  return string.format('%d', counted)
end

local read_only
local reply = { server_time, '' }

-- Goes on with the next operation, whatever came of this one.
local function finish(key_count, succeeded, said)
  next_key = next_key + key_count
  spend(10 * key_count)
  if not succeeded then
    local message = type(said) == 'table' and said.err or tostring(said)
    if string.find(message, 'READONLY', 1, true) then read_only = message end
    reply[#reply + 1], said = message, '!' -- Apart, because a message may contain anything.
  end
  lines[#lines + 1] = said
end

-- After so much work the rest waits for the next script, so that other clients get their turn.

while place < #tape and work < MAX_STEPS do
  local kind = next_value()
  if kind == 'count' then
    finish(1, pcall(count, unpack(tape, place + 1, place + 6)))
    place = place + 6
  else
    local plan = plans[next_value()]
    if kind == 'reset' then
      finish(#plan, pcall(reset, plan))
    elseif kind == 'refund' then
      local cost, now, stamp, recorded_at, hits = next_value(), next_value(), next_value(), next_value(), next_value()
      finish(hits, pcall(refund, plan, cost, now, stamp, recorded_at, hits))
      place = place + 2 * hits
    else
      local cost, times, now = next_value(), next_value(), next_value()
      local key_count, records = #plan, kind == 'check'
      for _ = 1, times do
        finish(key_count, pcall(decide, plan, cost, now, records))
        if work >= MAX_STEPS then break end
      end
    end
  end
end

-- Clients look at errors of the call as a whole for whether this is still a master; nothing was written if it is not.
if read_only then return redis.error_reply(read_only) end
reply[2] = table.concat(lines, '\n')
return reply
