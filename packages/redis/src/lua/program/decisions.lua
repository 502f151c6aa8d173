-- Checks, peeks and resets in their general form.

-- The states and verdicts of an operation's rules. They are tables of the script, because creating them takes time.
local states, verdicts = {}, {}

-- Fails before the first write if a later one would fail, so that a check records in all of its keys or in none.
local function ensure_all_fit(plan, allowed, costs)
  for index = 1, #plan do
    local rule = plan[index]
    local ensure_fits = rule.algorithm.ensure_fits
    local records = (allowed or rule.counts_rejected) and not (costs and costs[2 + index] == 0)
    if ensure_fits and records then ensure_fits(states[index]) end
  end
end

-- `costs` has the cost of each rule from its third number on, if they differ.
local function decide(plan, cost, injected_now, records, stamp, first_key, costs)
  local now = injected_now or stamp
  local allowed = true
  for index = 1, #plan do
    local rule = plan[index]
    local own_cost = costs and costs[2 + index] or cost
    local state = rule.algorithm.find(rule, KEYS[first_key + index], now, stamp)
    local verdict = rule.algorithm.test(rule, state, now, own_cost)
    if own_cost == 0 then verdict.wait, verdict.delay = 0, 0 end
    states[index], verdicts[index] = state, verdict
    allowed = allowed and verdict.wait == 0
  end
  if records and #plan > 1 then ensure_all_fit(plan, allowed, costs) end
  local line
  for index = 1, #plan do
    local rule, verdict = plan[index], verdicts[index]
    local own_cost = costs and costs[2 + index] or cost
    local is_allowed, delay, last = verdict.wait == 0, verdict.delay or 0, verdict.next_unit or 0
    local has_recorded = records and own_cost > 0 and (allowed or rule.counts_rejected)
    if has_recorded then
      last = verdict.at - now
      verdict = rule.algorithm.record(rule, states[index], now, own_cost, verdict, stamp)
      expire(KEYS[first_key + index], verdict.expires, verdict.keep, injected_now)
    end
    local next_unit, result = verdict.next_unit or verdict.reset, nil
    if allowed and has_recorded and delay == 0 then
      if last == 0 then result = string.format('%d %d', verdict.remaining, verdict.reset)
      else result = string.format('%d %d %d', verdict.remaining, verdict.reset, last) end
      if next_unit ~= verdict.reset then result = result .. to_letters(next_unit) end
    else
      local wait = allowed and 0 or verdict.wait
      if wait == NEVER then wait = -1 end
      local delay_or_reason = allowed and delay or 0
      if not is_allowed then
        delay_or_reason = verdict.by_min_difference and -2 or verdict.is_estimate and -3 or -1
      end
      result = string.format('%d %d %d %d %d', delay_or_reason, wait, verdict.remaining, verdict.reset, last)
      if has_recorded then result = result .. to_letters(next_unit)
      elseif not records and rule.algorithm.usage then result = result .. rule.algorithm.usage(rule, states[index], now) end
    end
    line = line and line .. ',' .. result or result
  end
  return line
end

function kinds.check(plan, input, stamp, first_key)
  return decide(plan, input[1], input[2], true, stamp, first_key, #input > 2 and input)
end

function kinds.peek(plan, input, stamp, first_key)
  return decide(plan, input[1], input[2], false, stamp, first_key, #input > 2 and input)
end

local function reset(plan, stamp, first_key)
  for index = 1, #plan do
    local key, reset_key = KEYS[first_key + index], plan[index].algorithm.reset
    if reset_key then reset_key(key, stamp) else redis.call('UNLINK', key) end
  end
  return ''
end

function kinds.reset(plan, _, stamp, first_key)
  return change_without_memory(first_key, #plan, reset, plan, stamp, first_key)
end
