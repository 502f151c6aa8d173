-- A quota whose numbers a server reports. The counterpart of reported-quota.ts and reported-verdict.ts.

local reported_quota = {}
algorithms['reported-quota'] = reported_quota

reported_quota.read = reported_state.read

-- The settings of a limit with reported numbers have these behind the others.
function reported_quota.rule(limit, lease, max_age, retry_after, kind, remaining, reported_limit, reset, window, block, age,
    reserve, needed)
  local rule = { limit = limit, lease = lease, max_age = max_age, retry_after = retry_after }
  if kind then
    rule.reported = {
      kind = kind, remaining = remaining, limit = reported_limit, reset = reset, window = window, block = block, age = age,
      reserve = reserve, needed = needed,
    }
  end
  return rule
end

function reported_quota.find(_, key, now) return reported_state.find(key, now) end

-- When a call of this cost may start while so many units are open.
local function time_of(rule, state, cost, open)
  local time = NEVER
  if state.kind == NOTHING then
    -- Without open calls, a state that knows nothing has expired, so a call of any cost starts as a probe.
    if cost <= rule.limit - open then time = -NEVER end
  elseif not reported_state.is_above_limit(state, cost) then
    -- After a window without a reported limit, a call of any cost starts as a probe.
    local limit, others = math.max(cost, reported_state.limit_of(state)), reported_state.expected_units(state, open)
    local units = math.min(reported_state.expected_units(state, cost), limit)
    local reserve = reported_state.reserve_next_to(state, units)
    if others <= limit - units - reserve then time = reported_state.time_of_units(state, units + others + reserve) end
  end
  return math.max(state.blocked, time)
end

-- Fills in the figures that do not depend on the cost. Their times ignore open calls.
local function fill_figures(rule, state, now, open, verdict)
  local limit = reported_state.limit_of(state)
  local is_known, is_blocked = state.kind ~= NOTHING, state.blocked > now
  local units = is_known and reported_state.units_at(state, now) or rule.limit
  local is_full = units == limit and open == 0 -- A call may take all units.
  local reserve = reported_state.reserve_next_to(state, 0)
  local function wait_for(count)
    local time = math.max(state.blocked, is_known and reported_state.time_of_units(state, count) or -NEVER)
    return math.max(0, math.min(time, reported_state.forgotten(state)) - now)
  end
  local free = is_full and units or reported_state.cost_within(state, units - reported_state.expected_units(state, open) - reserve)
  verdict.remaining = is_blocked and 0 or math.max(0, free)
  verdict.reset = wait_for(is_known and limit or 1)
  local next_cost = 1 + (is_blocked and 0 or reported_state.cost_within(state, units - reserve))
  local next_units = math.min(limit, reported_state.expected_units(state, next_cost) + reserve)
  verdict.next_unit = verdict.reset == 0 and 0 or wait_for(next_units)
  return verdict
end

function reported_quota.test(rule, state, now, cost)
  local open = reported_state.open_units(state, now)
  -- The wait by the numbers alone, and the wait if all calls stay open until their leases end.
  local reported_wait, forgotten = NEVER, reported_state.forgotten(state)
  if now >= forgotten or not reported_state.is_above_limit(state, cost) then
    reported_wait = math.max(0, math.min(time_of(rule, state, cost, 0), forgotten) - now)
  end
  local open_wait = math.max(0, math.min(time_of(rule, state, cost, open), reported_state.expires_of(state)) - now)
  local verdict = { wait = reported_wait, at = math.max(1, now, state.newest + 1) }
  if open_wait > reported_wait then
    verdict.wait, verdict.is_estimate = math.max(reported_wait, math.min(open_wait, rule.retry_after)), true
  end
  return fill_figures(rule, state, now, open, verdict)
end

function reported_quota.usage(_, state, now)
  local spent = state.kind ~= NOTHING and reported_state.limit_of(state) - reported_state.units_at(state, now) or 0
  return string.format(' %d %d', spent, reported_state.open_units(state, now))
end

function reported_quota.record(rule, state, now, cost, verdict, stamp)
  reported_state.drop_ended(state, now)
  state.calls[#state.calls + 1] = { id = verdict.at, ends = now + rule.lease, units = cost, length = rule.lease }
  state.newest = verdict.at
  verdict.expires, verdict.keep = reported_state.write(state, now, stamp)
  return fill_figures(rule, state, now, reported_state.open_units(state, now), verdict)
end

-- Records without opening a call.
function reported_quota.overdraw(rule, state, now, cost, verdict, stamp)
  reported_state.drop_ended(state, now)
  if rule.reported then report_numbers(rule, state, now, now - rule.reported.age, 0) else reported_state.spend(state, cost, now) end
  verdict.expires, verdict.keep = reported_state.write(state, now, stamp)
  return verdict
end

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
function reported_quota.settle(rule, state, stamp, recorded_stamp, recorded_at, now, id, cost, settled)
  local is_own_life = state.first and state.first <= recorded_stamp
  local spent = math.max(0, -cost)
  if not is_own_life and not rule.reported and settled <= spent then return end
  reported_state.drop_ended(state, now)
  local was_open = is_own_life and close(state, id)
  if rule.reported then report_numbers(rule, state, now, recorded_at, math.abs(cost))
  else reported_state.spend(state, was_open and settled or math.max(0, settled - spent), now) end
  return reported_state.write(state, now, stamp)
end

-- The input of a lease is the stamp of its check, its length, its units and its id. A call in an earlier life of the key has
-- nothing to lose.
function reported_quota.renew(key, input, first, last, now, lost)
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
