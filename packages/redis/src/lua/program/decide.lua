-- Decides checks and peeks.

-- The result of a rule as numbers with spaces between them:
--   "both"                            the action was recorded at now without a delay, and the reset is the window. `both` is how
--                                     long until more units remain, times the limit plus one, plus the remaining units
--   "-wait reset"                     the limit rejects, has no units left, and has one after the wait
--   "remaining reset next"            the action was recorded at now without a delay
--   "delay wait remaining reset next" nothing was recorded. The delay is -1 if the limit rejects, -2 if the minDifference does, -3
--                                     if reserved units do. The wait and the reset are -1 if they are infinite. `next` is how long
--                                     until more units remain, and 0 if the full quota is free
--   with another number               something was recorded, so far ahead of now
--   with two more                     the spent units and the reserved ones, for a peek or a charge of an algorithm that reports them, and
--                                     for a check of a calendar's window, which then has all six numbers or five
--   with four more                    these two, the units that were added to the period, and 0
local function to_result(rule, allowed, has_recorded, is_allowed, wait, remaining, reset, next_unit, ahead, delay, reason, usage)
  if not reset then -- It is the window.
    local both = next_unit * (rule.limit + 1) + remaining
    if both >= 2 ^ 53 then return string.format('%d %d %d', remaining, rule.window, next_unit) end
    rule.figures, rule.result = both, string.format('%d', both)
    return rule.result
  end
  if not is_allowed and not has_recorded and not reason and remaining == 0 and wait == next_unit and not usage then
    return string.format('-%d %d', wait, reset)
  end
  if has_recorded then next_unit = next_unit or reset end
  if allowed and has_recorded and (delay or 0) == 0 and ahead == 0 and not usage then
    return string.format('%d %d %d', remaining, reset, next_unit)
  end
  local first = not allowed and 0 or delay or 0
  if not is_allowed then first = reason or -1 end
  if allowed then wait = 0 elseif wait == NEVER then wait = -1 end
  if has_recorded then
    return string.format('%d %d %d %d %d %d', first, wait, remaining, reset, next_unit, ahead) .. (usage or '')
  end
  return string.format('%d %d %d %d %d', first, wait, remaining, reset, next_unit or 0) .. (usage or '')
end

-- Decides for all rules of a plan, and returns their results. Each rule has its own cost if there are `costs`. A peek does not record.
-- Leaves the state and the wait of each in the rule, and what remains if it rejects. A check tests all rules but the last one, which
-- decides at once. Then it records in the others, or in none. A rule that never rejects records what exceeds it as an overdraft, and
-- describes what is left then. If it fails, returns false and a message. A lone check of one rule does not need this.
local decide = (#KEYS > 1 or #ARGV > 2) and function(plan, cost, costs, records, injected_now, stamp, first_key)
  local now, count, allowed, mode, misfit, line = injected_now or stamp, #plan, true, TEST, nil, nil
  local wait, remaining, reset, next_unit, ahead, delay, reason, state, usage
  for index = 1, count do
    local rule, own_cost = plan[index], costs and costs[index] or cost
    if index == count and records and allowed and not misfit and own_cost > 0 and not rule.is_unenforced then mode = CHECK end
    wait, remaining, reset, next_unit, ahead, delay, reason, state, usage =
      rule.apply(rule, keys[first_key + index], now, own_cost, mode, stamp, injected_now)
    if wait == false then return false, remaining end
    if own_cost == 0 then wait, delay = 0, 0 end
    rule.state, rule.wait = state, wait
    if wait ~= 0 then
      rule.remaining = remaining
      if not rule.is_unenforced then allowed = false end
    end
    misfit = misfit or own_cost > 0 and state and state.misfit
  end
  -- Fails before the first write if a later one would fail.
  if misfit and records and allowed then return false, misfit end
  for index = count, 1, -1 do
    local rule, own_cost = plan[index], costs and costs[index] or cost
    local has_recorded, is_overdraft = false, false
    if records and own_cost > 0 then
      has_recorded = allowed or rule.counts_rejected
      is_overdraft = allowed and rule.wait ~= 0
    end
    if index < count or mode == TEST and records then
      wait, remaining, reset, next_unit, ahead, delay, reason, state, usage = rule.apply(rule, keys[first_key + index], now, own_cost,
        is_overdraft and OVERDRAW or has_recorded and RECORD or TEST, stamp, injected_now, rule.state)
      if is_overdraft and wait then
        local _
        wait, remaining, reset, next_unit, _, _, _, _, usage =
          rule.apply(rule, keys[first_key + index], now, own_cost, TEST, stamp, injected_now)
      end
      if wait == false then return false, remaining end
      if own_cost == 0 then wait, delay = 0, 0 end
    end
    local is_allowed, result = rule.wait == 0, nil
    if not reset and rule.figures == next_unit * (rule.limit + 1) + remaining then
      result = rule.result -- The next check often has the same.
    else
      result = to_result(rule, allowed and is_allowed, has_recorded, is_allowed, wait, remaining, reset, next_unit, ahead, delay, reason,
        usage and (not records or rule.name ~= 'reported-quota') and usage or nil)
    end
    line = line and result .. ',' .. line or result
  end
  return line
end
