-- Decides checks and peeks. A limit of another kind than rolling windows on usual logs takes the same way.

-- The result of a rule as numbers with spaces between them:
--   "both"                            the action was recorded at now without a delay, and the reset is the window. `both` is how
--                                     long until more units remain, times the limit plus one, plus the remaining units
--   "-wait reset"                     the limit rejects, has no units left, and has one after the wait
--   "remaining reset next"            the action was recorded at now without a delay
--   "delay wait remaining reset next" nothing was recorded. The delay is -1 if the limit rejects, -2 if the minDifference does, -3
--                                     if reserved units do. The wait and the reset are -1 if they are infinite. `next` is how long
--                                     until more units remain, and 0 if the full quota is free
--   with another number               something was recorded, so far ahead of now
--   with two more                     the spent units and the reserved ones, for a peek or a charge of an algorithm that reports them
local function to_result(rule, allowed, has_recorded, is_allowed, wait, remaining, reset, next_unit, ahead, delay, reason)
  if not is_allowed and not has_recorded and not reason and remaining == 0 and wait == next_unit and not rule.algorithm.usage then
    return string.format('-%d %d', wait, reset)
  end
  if has_recorded then next_unit = next_unit or reset end
  if allowed and has_recorded and (delay or 0) == 0 and ahead == 0 then
    return to_allowed(rule.limit, rule.window, remaining, reset, next_unit)
  end
  local first = not allowed and 0 or delay or 0
  if not is_allowed then first = reason or -1 end
  if allowed then wait = 0 elseif wait == NEVER then wait = -1 end
  if not has_recorded then return string.format('%d %d %d %d %d', first, wait, remaining, reset, next_unit or 0) end
  return string.format('%d %d %d %d %d %d', first, wait, remaining, reset, next_unit, ahead)
end

-- Decides for all rules of a run, and returns their results. Leaves the state and the wait of each in the rule. Tests all rules,
-- and then records in all of them or in none. A single rule does both at once.
local function decide(run, stamp, first_key)
  local plan, cost, mode, injected_now = run.plan, run.cost, run.mode, run.injected_now
  local now = injected_now or stamp
  if #plan == 1 and (cost or 0) > 0 and mode == CHECK then
    local rule = plan[1]
    local wait, remaining, reset, next_unit, ahead, delay, reason =
      rule.apply(rule, KEYS[first_key + 1], now, cost, CHECK, stamp, injected_now)
    local allowed = wait == 0
    rule.wait = wait
    return to_result(rule, allowed, allowed or rule.counts_rejected, allowed, wait, remaining, reset, next_unit, ahead, delay, reason)
  end
  local costs, allowed, line = run.costs, true, nil
  for index = 1, #plan do
    local rule = plan[index]
    local own_cost, wait, _ = costs and costs[index] or cost, nil, nil
    wait, _, _, _, _, _, _, rule.state = rule.apply(rule, KEYS[first_key + index], now, own_cost, TEST, stamp, injected_now)
    rule.wait = own_cost == 0 and 0 or wait
    allowed = allowed and rule.wait == 0
  end
  local records = mode == CHECK
  if records then
    -- Fails before the first write if a later one would fail.
    for index = 1, #plan do
      local rule = plan[index]
      local ensure_fits = rule.algorithm.ensure_fits
      if ensure_fits and (allowed or rule.counts_rejected) and (costs and costs[index] or cost) > 0 then
        ensure_fits(rule.state)
      end
    end
  end
  for index = 1, #plan do
    local rule, own_cost = plan[index], costs and costs[index] or cost
    local has_recorded = records and own_cost > 0 and (allowed or rule.counts_rejected)
    local wait, remaining, reset, next_unit, ahead, delay, reason, state =
      rule.apply(rule, KEYS[first_key + index], now, own_cost, has_recorded and RECORD or TEST, stamp, injected_now, rule.state)
    if own_cost == 0 then wait, delay = 0, 0 end
    local result = to_result(rule, allowed, has_recorded, rule.wait == 0, wait, remaining, reset, next_unit, ahead, delay, reason)
    local usage = not records and rule.algorithm.usage
    if usage then result = result .. usage(rule, state, now) end
    line = line and line .. ',' .. result or result
  end
  return line
end
