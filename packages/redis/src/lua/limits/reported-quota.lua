-- A quota whose numbers a server reports. The counterpart of reported-quota.ts and reported-verdict.ts. The settings are the limit,
-- the lease, the largest age of the numbers, and the advice of when to retry. Those of a limit with reported numbers have the numbers
-- behind these: see report-numbers.lua.

-- When a call of this cost may start while so many units are open.
local function time_of(rule, state, cost, open)
  local time = NEVER
  if state.kind == NOTHING then
    -- Without open calls, a state that knows nothing has expired, so a call of any cost starts as a probe.
    if cost <= rule[1] - open then time = -NEVER end
  elseif not reported_state.is_above_limit(state, cost) then
    -- After a window without a reported limit, a call of any cost starts as a probe.
    local limit, others = math.max(cost, reported_state.limit_of(state)), reported_state.expected_units(state, open)
    local units = math.min(reported_state.expected_units(state, cost), limit)
    local reserve = reported_state.reserve_next_to(state, units)
    if others <= limit - units - reserve then time = reported_state.time_of_units(state, units + others + reserve) end
  end
  return math.max(state.blocked, time)
end

-- The remaining units, the reset and how long until more units remain. They do not depend on the cost, and their times ignore open
-- calls.
local function figures_of(rule, state, now, open)
  local limit = reported_state.limit_of(state)
  local is_known, is_blocked = state.kind ~= NOTHING, state.blocked > now
  local units = is_known and reported_state.units_at(state, now) or rule[1]
  local is_full = units == limit and open == 0 -- A call may take all units.
  local reserve = reported_state.reserve_next_to(state, 0)
  local function wait_for(count)
    local time = math.max(state.blocked, is_known and reported_state.time_of_units(state, count) or -NEVER)
    return math.max(0, math.min(time, reported_state.forgotten(state)) - now)
  end
  local free = is_full and units or reported_state.cost_within(state, units - reported_state.expected_units(state, open) - reserve)
  local reset = wait_for(is_known and limit or 1)
  local next_cost = 1 + (is_blocked and 0 or reported_state.cost_within(state, units - reserve))
  local next_units = math.min(limit, reported_state.expected_units(state, next_cost) + reserve)
  return is_blocked and 0 or math.max(0, free), reset, reset == 0 and 0 or wait_for(next_units)
end

local function decide_on_calls(rule, key, now, cost, mode, stamp, injected_now, state)
  local lease, retry_after = rule[2], rule[4]
  state = state or reported_state.find(key, now)
  local open = reported_state.open_units(state, now)
  -- The wait by the numbers alone, and the wait if all calls stay open until their leases end.
  local wait, forgotten, reason = NEVER, reported_state.forgotten(state), nil
  if now >= forgotten or not reported_state.is_above_limit(state, cost) then
    wait = math.max(0, math.min(time_of(rule, state, cost, 0), forgotten) - now)
  end
  local open_wait = math.max(0, math.min(time_of(rule, state, cost, open), reported_state.expires_of(state)) - now)
  if open_wait > wait then wait, reason = math.max(wait, math.min(open_wait, retry_after)), -3 end
  local id = math.max(1, now, state.newest + 1)
  local remaining, reset, next_unit = figures_of(rule, state, now, open)
  if mode > CHECK or (mode == CHECK and wait == 0) then
    reported_state.drop_ended(state, now)
    if mode < OVERDRAW then
      state.calls[#state.calls + 1] = { id = id, ends = now + lease, units = cost, length = lease }
      state.newest = id
    elseif rule[5] then report_numbers(rule, state, now, now - reported_by(rule).age, 0)
    else reported_state.spend(state, cost, now) end
    local expires, keep = reported_state.write(state, now, stamp)
    expire(key, expires, keep, injected_now)
    if mode < OVERDRAW then remaining, reset, next_unit = figures_of(rule, state, now, reported_state.open_units(state, now)) end
  end
  if mode ~= TEST then return wait, remaining, reset, next_unit, id - now, nil, reason end
  local spent = state.kind ~= NOTHING and reported_state.limit_of(state) - reported_state.units_at(state, now) or 0
  return wait, remaining, reset, next_unit, id - now, nil, reason, state, string.format(' %d %d', spent, open)
end

local function apply_reported_quota(...) return protect(decide_on_calls, ...) end
-- end of what checks need

-- Closes a call. Returns whether it was open.
local function close(state, id)
  for index, call in ipairs(state.calls) do
    if call.id == id then
      table.remove(state.calls, index)
      return true
    end
  end
  return false
end

-- Closes the call of a check, and applies what its response has reported or counts what it has cost. A negative cost stands for one
-- that a release has counted before. `state` is what `find` has returned.
local function settle_call(rule, state, stamp, recorded_stamp, recorded_at, now, id, cost, settled)
  local is_own_life = state.first and state.first <= recorded_stamp
  local spent = math.max(0, -cost)
  if not is_own_life and not rule[5] and settled <= spent then return end
  reported_state.drop_ended(state, now)
  local was_open = is_own_life and close(state, id)
  if rule[5] then report_numbers(rule, state, now, recorded_at, math.abs(cost))
  else reported_state.spend(state, was_open and settled or math.max(0, settled - spent), now) end
  return reported_state.write(state, now, stamp)
end

-- The input of a lease is the stamp of its check, its length, its units and its id. A call in an earlier life of the key has
-- nothing to lose.
local function renew_calls(key, input, first, last, now, lost)
  local state = reported_state.find(key, now)
  if not state.first then return end
  local calls = {}
  for _, call in ipairs(state.calls) do calls[call.id] = call end
  for index = first, last do
    local stamp, lease, _, id = unpack(input, 4 * index - 2, 4 * index + 1)
    local call = calls[id]
    if state.first <= stamp then
      if call and call.ends > now then call.ends, call.length = now + lease, lease
      else lost[#lost + 1] = index - 1 end
    end
  end
  return (reported_state.write(state, now))
end

changes['reported-quota'] = {
  read = reported_state.read,
  find = function(_, key, now) return reported_state.find(key, now) end,
  settle = settle_call,
  settles_free_calls = true,
  renew = renew_calls,
}
