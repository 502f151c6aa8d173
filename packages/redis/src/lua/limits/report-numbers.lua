-- What numbers of a server change in the state of a reported quota. The counterpart of report-numbers.ts.

local TOLERANCE, DEFAULT_SPAN, MAX_FILL = 1000000, 60000000, 2 ^ 51
local DECAY, MOST_RESERVES, MOST_EXCESS = 0.9995, 4, 3000

local function replace(state, reported, limit, remaining, now, max_age)
  state.kind, state.limit, state.remaining, state.at = reported.kind, limit, remaining, now
  state.keep = math.max(max_age, state.blocked - now) -- A block stays plausible.
end

local function report_window(state, reported, limit, remaining, now, sent, max_age)
  local latest, earliest, known = now + reported.reset, sent + reported.reset, state.one
  local is_over = now >= known
  -- Once a window is over, only numbers of a later one matter.
  local is_newer = earliest > known
  if not is_over then is_newer = sent >= state.at or earliest > known + TOLERANCE end
  if state.kind ~= WINDOW or is_newer then
    replace(state, reported, limit, remaining, now, max_age)
    state.one, state.other = latest, earliest
    return
  end
  local is_rolling, is_lower = limit == 0, remaining < reported_state.units_at(state, now)
  local matters = not is_over or is_rolling and is_lower
  if latest + TOLERANCE < state.other or not matters then return end -- Of an earlier window.
  if is_lower then state.limit, state.remaining, state.at = limit, remaining, now end
  -- Without a limit, the earlier reset may be that of a unit which the later response has taken. Otherwise the window cannot end
  -- before its earliest end, so that a late response of a short window that has ended does not end the present one.
  if is_rolling then state.one = math.max(known, latest)
  elseif latest >= state.other then state.one = math.min(known, latest) end
  state.other = math.min(math.max(state.other, earliest), state.one)
end

-- Learns from a response what calls take, and what other clients take between two of them. While nothing is known, one call is open.
-- If the quota was full before, what is missing shows what the call has taken. This guess fades quickly.
local function learn_costs(state, reported, limit, remaining, cost)
  local is_known, missing = state.kind == REFILL, 0
  if is_known and reported.needed > 0 then missing = math.max(0, reported_state.expected_units(state, cost) - remaining) end
  -- Twice what was missing leaves room for more.
  local grown = math.max(reported.reserve, state.reserve * DECAY) + 2 * missing
  state.reserve = math.min(grown, MOST_RESERVES * reported.reserve)
  local taken, learned, known = 0, 0, mul_div(state.excess, 99, 100)
  if state.kind == NOTHING and reported.needed == 0 then taken = limit - remaining
  elseif is_known and missing == 0 then taken = reported.needed end
  if cost > 0 then learned = mul_div_up(taken, 1000, cost) - 1000 end
  state.excess = learned > MOST_EXCESS and known or math.max(known, learned)
end

local function report_refill(state, reported, limit, remaining, now, sent, max_age)
  local is_known, missing = state.kind == REFILL, limit - remaining
  if is_known and sent < state.at and remaining >= reported_state.units_at(state, now) then return end
  local fill, span = state.one, state.other
  if reported.window > 0 then fill, span = limit, reported.window
  elseif missing > 0 and reported.reset > 0 then fill, span = missing, reported.reset
  elseif not is_known then fill, span = limit, DEFAULT_SPAN end
  replace(state, reported, limit, remaining, now, max_age)
  state.one, state.other, state.since = math.min(fill, MAX_FILL), span, now
end

-- What the server has reported in the response that the rule is for.
local function reported_by(rule)
  return {
    kind = rule[5], remaining = rule[6], limit = rule[7], reset = rule[8], window = rule[9], block = rule[10], age = rule[11],
    reserve = rule[12], needed = rule[13],
  }
end

-- Updates what a key knows by the numbers of a call that was sent at a time. Its cost is 0 if no check knows it.
local function report_numbers(rule, state, now, sent, cost)
  local reported = reported_by(rule)
  if reported.block > 0 then
    state.blocked = math.max(state.blocked, now + reported.block)
    state.keep = math.max(state.keep, rule[3])
  end
  if reported.kind == NOTHING then return end
  -- A window that has ended shows nothing of the present one.
  if reported.kind == WINDOW and reported.reset == 0 and state.kind ~= NOTHING then return end
  local limit, report_kind = reported.limit, report_window
  if reported.kind == REFILL then
    limit, report_kind = limit > 0 and limit or math.max(1, state.limit, reported.remaining), report_refill
  elseif limit == 0 and state.kind == WINDOW and state.limit > 0 then
    limit = math.max(state.limit, reported.remaining) -- A response that lacks the limit leaves it.
  end
  local remaining = limit > 0 and math.min(reported.remaining, limit) or reported.remaining
  if reported.kind == REFILL then learn_costs(state, reported, limit, remaining, cost) end
  report_kind(state, reported, limit, remaining, now, math.min(sent, now), rule[3])
end
