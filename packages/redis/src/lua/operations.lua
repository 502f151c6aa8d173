-- All operations in their general form. main.lua runs them, and this file returns how to prepare a run: `prepare` for the
-- operations of a run of ARGV, and `prepare_usual` for the usual checks that usual-check.lua leaves to it.
--
-- A plan is a flat JSON list, because Redis takes twice as long to read nested lists: for each rule its algorithm, 1 if it counts
-- rejected attempts, the number of its settings, and the settings. The input of an operation is a JSON list, too:
--   "check"   cost, now                decides and records
--   "peek"    cost, now                decides only
--   "reset"                            deletes the state of the keys
--   "refund"  cost, now, stamp, recorded_at, and for each key the number of a rule and `at`
--                                      refunds, rule by rule, what the check with this stamp recorded
--   "count"   now, width, span, expiry, units, interval
--                                      adds to a rolling counter, and returns its count. It has no plan
-- `now` is false for the server's time.

local plans = {}
local states, verdicts = {}, {}
local last_expires_ms, last_expires_text

local function read_plan(text)
  if plans[text] then return plans[text] end
  local values, plan, position = cjson.decode(text), {}, 0
  while position < #values do
    local algorithm, counts_rejected, count = unpack(values, position + 1, position + 3)
    position = position + 3
    local rule = algorithms[algorithm].rule(unpack(values, position + 1, position + count))
    rule.algorithm, rule.counts_rejected = algorithms[algorithm], counts_rejected == 1
    plan[#plan + 1], position = rule, position + count
  end
  plans[text] = plan
  return plan
end

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

-- Fails before the first write if a later one would fail, so that a check records in all of its keys or in none.
local function ensure_all_fit(plan, allowed)
  for index = 1, #plan do
    local rule = plan[index]
    local ensure_fits = rule.algorithm.ensure_fits
    if ensure_fits and (allowed or rule.counts_rejected) then ensure_fits(states[index]) end
  end
end

local function decide(plan, cost, injected_now, records, stamp, first_key)
  local now = injected_now or stamp
  local allowed = true
  for index = 1, #plan do
    local rule = plan[index]
    local state = rule.algorithm.find(rule, KEYS[first_key + index], now, stamp)
    local verdict = rule.algorithm.test(rule, state, now, cost)
    states[index], verdicts[index] = state, verdict
    allowed = allowed and verdict.wait == 0
  end
  if records and #plan > 1 then ensure_all_fit(plan, allowed) end
  local line
  for index = 1, #plan do
    local rule, verdict = plan[index], verdicts[index]
    local is_allowed, delay, last = verdict.wait == 0, verdict.delay or 0, verdict.stable
    if records and (allowed or rule.counts_rejected) then
      last = verdict.at - now
      verdict = rule.algorithm.record(rule, states[index], now, cost, verdict, stamp)
      expire(KEYS[first_key + index], verdict.expires, verdict.keep, injected_now)
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

local kinds = {}

function kinds.check(plan, input, stamp, first_key)
  return decide(plan, input[1], input[2], true, stamp, first_key)
end

function kinds.peek(plan, input, stamp, first_key)
  return decide(plan, input[1], input[2], false, stamp, first_key)
end

function kinds.reset(plan, _, stamp, first_key)
  for index = 1, #plan do
    local key, reset_key = KEYS[first_key + index], plan[index].algorithm.reset
    if reset_key then reset_key(key, stamp) else redis.call('UNLINK', key) end
  end
  return ''
end

function kinds.refund(plan, input, stamp, first_key)
  local cost, injected_now, recorded_stamp, recorded_at = unpack(input, 1, 4)
  local now = injected_now or stamp
  for index = 1, (#input - 4) / 2 do
    local rule, at = plan[input[3 + 2 * index]], input[4 + 2 * index]
    local key = KEYS[first_key + index]
    local expires, keep = rule.algorithm.refund(rule, key, recorded_stamp, now, at, cost, recorded_at)
    if expires then expire(key, expires, keep, injected_now) end
  end
  return ''
end

function kinds.count(_, input, stamp, first_key)
  local injected_now, width, span, expiry, units, interval = unpack(input, 1, 6)
  local now, key = injected_now or stamp, KEYS[first_key + 1]
  local counted, expires = algorithms['rolling-counter'].add(key, width, span, expiry, units, interval, now)
  if expires then expire(key, expires, expiry, injected_now) end
  return string.format('%d', counted)
end

-- Returns the function that runs an operation of this kind, its plan and input, and how many keys it has.
local function prepare(kind, plan_text, input_text)
  local plan, input = read_plan(plan_text), cjson.decode(input_text)
  local key_count = kind == 'count' and 1 or kind == 'refund' and (#input - 4) / 2 or #plan
  return kinds[kind], plan, input, key_count
end

-- Does the same for usual checks, which have another form.
local function prepare_usual(usual_rules, injected_now)
  local plan = {}
  for index, usual in ipairs(usual_rules) do
    local rule = algorithms['rolling-window'].rule(usual.limit, usual.window, 0)
    rule.algorithm = algorithms['rolling-window']
    plan[index] = rule
  end
  return kinds.check, plan, { 1, injected_now or false }
end

return prepare, prepare_usual
