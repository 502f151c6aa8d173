-- The main program: runs the operations of one call in order. Each operation is atomic, and fails without the others.
--
-- KEYS     for each operation, the keys of its rules in the order of the rules
-- ARGV[1]  one flat JSON list, because Redis takes twice as long to read nested lists:
--          the number of plans; for each plan the number of its rules; for each rule its algorithm, 1 if it counts rejected
--          attempts, the number of its settings, and the settings. Then the operations:
--            "check",  plan, cost, times, now    decides and records, as often as `times` says, each time for the next keys
--            "peek",   plan, cost, times, now    decides only
--            "reset",  plan                      deletes the state of the keys
--            "refund", plan, cost, now, stamp, recorded_at, count, and `count` times the number of a rule and `at`
--                                                refunds, rule by rule, what the check with this stamp recorded
--            "count",  width, span, expiry, units, interval, now
--                                                adds to a rolling counter, and returns its count
--          `now` is false for the server's time.
-- returns  the server's time, one text, and the messages of the operations that failed, in order. Clients read one text much
--          faster than many numbers. The text has a line for each operation that ran, which is at least the first one:
--            "!" for an operation that failed
--            nothing for a reset or refund
--            the count for a "count"
--            the results of the rules, with a comma between them, for a check or peek
--          The result of a rule that recorded an undelayed action is "remaining reset". If the hit was recorded ahead of now,
--          the difference follows. Any other result has five numbers:
--            the delay of the action; -1 if the limit rejects it, -2 if the minDifference does
--            the wait; -1 if it is infinite
--            the remaining units
--            the reset
--            how far ahead of now the hit was recorded. If nothing was recorded: for how long the verdict is stable, -1 if
--            that is infinite
--          The time and the stamp of an operation are the server's time plus the number of operations before it. So no two
--          checks record at the same microsecond, and a refund that the client sends twice finds nothing the second time.

local input, position = cjson.decode(ARGV[1]), 0

local function next_value()
  position = position + 1
  return input[position]
end

local plans = {}
for plan = 1, next_value() do
  local rules = {}
  for index = 1, next_value() do
    local algorithm, counts_rejected, count = algorithms[next_value()], next_value() == 1, next_value()
    local rule = algorithm.rule(unpack(input, position + 1, position + count))
    position = position + count
    rule.algorithm, rule.counts_rejected = algorithm, counts_rejected
    rules[index] = rule
  end
  plans[plan] = rules
end

local time = redis.call('TIME')
local server_time = time[1] * 1000000 + time[2]

local lines, next_key = {}, 0
local states, verdicts = {}, {}
local last_expires_ms, last_expires_text

-- Rounds up, because a key must not expire before its state does. An injected clock may stand still, so a key then lives for
-- its keep and a minute by the server's clock.
local function expire(key, expires, keep, injected_now)
  if injected_now then redis.call('PEXPIRE', key, math.ceil(keep / 1000) + 60000) return end
  local expires_ms = math.ceil(expires / 1000)
  if expires_ms ~= last_expires_ms then last_expires_ms, last_expires_text = expires_ms, string.format('%d', expires_ms) end
  redis.call('PEXPIREAT', key, last_expires_text)
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
    local is_allowed, delay, last = verdict.wait == 0, verdict.delay or 0, verdict.stable
    if records and (allowed or rule.counts_rejected) then
      last = verdict.at - now
      verdict = rule.algorithm.record(rule, states[index], now, cost, verdict, stamp)
      expire(KEYS[next_key + index], verdict.expires, verdict.keep, injected_now)
    end
    local result
    if allowed and records and delay == 0 then
      if last == 0 then result = string.format('%d %d', verdict.remaining, verdict.reset)
      else result = string.format('%d %d %d', verdict.remaining, verdict.reset, last) end
    else
      local wait = allowed and 0 or finite(verdict.wait)
      local delay_or_reason = allowed and delay or 0
      if not is_allowed then delay_or_reason = verdict.by_min_difference and -2 or -1 end
      result = string.format('%d %d %d %d %d', delay_or_reason, wait, verdict.remaining, verdict.reset, finite(last))
    end
    line = line and line .. ',' .. result or result
  end
  return line
end

local function reset(plan)
  for index = 1, #plan do
    local key, reset_key = KEYS[next_key + index], plan[index].algorithm.reset
    if reset_key then reset_key(key, server_time + #lines) else redis.call('UNLINK', key) end
  end
  return ''
end

local function refund(plan, cost, injected_now, stamp, recorded_at, count)
  local now = injected_now or server_time + #lines
  for index = 1, count do
    local rule, at = plan[input[position + 2 * index - 1]], input[position + 2 * index]
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

local read_only_message
local reply = { server_time, '' }

-- Adds the result of an operation, or its error, and moves on to the keys of the next one.
local function finish(key_count, succeeded, result)
  next_key = next_key + key_count
  count_steps(10 * key_count)
  if not succeeded then
    local message = type(result) == 'table' and result.err or tostring(result)
    if string.find(message, 'READONLY', 1, true) then read_only_message = message end
    reply[#reply + 1], result = message, '!' -- Separate from the text, because a message may contain anything.
  end
  lines[#lines + 1] = result
end

-- After MAX_STEPS the remaining operations wait for the next script, so that other clients get their turn.
while position < #input and step_count < MAX_STEPS do
  local kind = next_value()
  if kind == 'count' then
    finish(1, pcall(count, unpack(input, position + 1, position + 6)))
    position = position + 6
  else
    local plan = plans[next_value()]
    if kind == 'reset' then
      finish(#plan, pcall(reset, plan))
    elseif kind == 'refund' then
      local cost, now, stamp, recorded_at, hits = next_value(), next_value(), next_value(), next_value(), next_value()
      finish(hits, pcall(refund, plan, cost, now, stamp, recorded_at, hits))
      position = position + 2 * hits
    else
      local cost, times, now = next_value(), next_value(), next_value()
      local key_count, records = #plan, kind == 'check'
      for _ = 1, times do
        finish(key_count, pcall(decide, plan, cost, now, records))
        if step_count >= MAX_STEPS then break end
      end
    end
  end
end

-- Clients detect a failover by an error of the whole call. A read-only server has written nothing.
if read_only_message then return redis.error_reply(read_only_message) end
reply[2] = table.concat(lines, '\n')
return reply
