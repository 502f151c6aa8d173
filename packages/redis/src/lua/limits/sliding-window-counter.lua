-- The sliding window counter. The counterpart of sliding-window-counter.ts.
--
-- The text is "end:window:current:previous:scale". `end` is the end of the current window, and `window` is the length of the
-- window of the limit that recorded last, both in milliseconds. For the scale see clock-skew-bound.ts. For a minDifference,
-- ":newest:longest_difference" follows.

local sliding_window_counter = {}
algorithms['sliding-window-counter'] = sliding_window_counter

function sliding_window_counter.rule(limit, window, scale, min_difference)
  return { limit = limit, window = window, scale = scale, min_difference = min_difference }
end

local function empty(key, reset_stamp)
  return { key = key, reset_stamp = reset_stamp, window_end = -NEVER, current = 0, previous = 0, scale = 0, expires = NEVER }
end

local function expires_of(state)
  if state.current > 0 then return state.window_end + state.window end
  return state.previous > 0 and state.window_end or -NEVER
end

local function read(key)
  local text, reset_stamp = string_state.read(key)
  if not text then return empty(key, reset_stamp), false end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$'
  local window_end, window, current, previous, scale, newest, longest_difference = string.match(text, pattern)
  if not window_end then string_state.raise_foreign(key) end
  local state = { key = key, reset_stamp = reset_stamp, window_end = window_end * 1000, window = window * 1000 }
  state.current, state.previous, state.scale = tonumber(current), tonumber(previous), tonumber(scale)
  min_difference_state.read(state, newest, longest_difference, expires_of(state))
  return state, true
end

local function format_state(state)
  local window_end, window = state.window_end / 1000, state.window / 1000
  local text = string.format('%d:%d:%d:%d:%d', window_end, window, state.current, state.previous, state.scale)
  return text .. min_difference_state.format(state)
end

sliding_window_counter.read = read

function sliding_window_counter.find(rule, key, now, stamp)
  local state, is_known = read(key)
  local keep = math.max(rule.window, rule.min_difference)
  local ahead = not string_state.is_within_scale(state.window_end - now, state.scale)
  if is_known and min_difference_state.is_valid(rule, state, now, ahead, keep, stamp) then return state end
  return empty(key, state.reset_stamp)
end

-- The time from which the estimate is at most `most` units.
local function until_free(rule, state, most, is_running)
  if is_running and state.current <= most then
    return state.window_end - mul_div(most - state.current, rule.window, state.previous)
  end
  return state.window_end + rule.window - mul_div(most, rule.window, state.current)
end

local function end_of_window(rule, window_end, now)
  if window_end > now then return window_end end
  if window_end + rule.window > now then return window_end + rule.window end
  return (math.floor(now / rule.window) + 1) * rule.window
end

function sliding_window_counter.test(rule, state, now, cost)
  local limit, window, window_end = rule.limit, rule.window, state.window_end
  -- Before its end, the current window counts in full and the previous one fades. After its end, the current one fades.
  local is_running = window_end > now
  local full, fading, faded = 0, state.current, window_end + window
  if is_running then full, fading, faded = state.current, state.previous, window_end end
  local covered = math.min(window, math.max(0, faded - now))
  local free = limit - full - (fading > 0 and mul_div_up(fading, covered, window) or 0)
  local remaining = math.max(0, free)
  local reset = 0
  if state.current > 0 then reset = math.max(0, window_end + window - now)
  elseif fading > 0 then reset = math.max(0, faded - now) end
  return min_difference_state.verdict(rule, state, now, cost, {
    wait = cost > free and cost <= limit and until_free(rule, state, limit - cost, is_running) - now or 0,
    remaining = remaining,
    reset = reset,
    next_unit = remaining < limit and until_free(rule, state, limit - remaining - 1, is_running) - now or 0,
    at = end_of_window(rule, window_end, now),
  })
end

function sliding_window_counter.record(rule, state, now, cost, verdict)
  local is_running = verdict.at == state.window_end
  state.scale = is_running and math.max(state.scale, rule.scale) or rule.scale
  if not is_running then
    state.previous = verdict.at == state.window_end + rule.window and state.current or 0
    state.current, state.window_end = 0, verdict.at
  end
  state.current, state.window = math.min(state.current + cost, MAX_UNITS), rule.window
  min_difference_state.record(rule, state, now)
  string_state.write(state, format_state(state))
  state.expires = min_difference_state.expires(state, expires_of(state))
  verdict = sliding_window_counter.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.expires, min_difference_state.keep(state, 2 * rule.window)
  return verdict
end

function sliding_window_counter.refund(rule, key, stamp, _, at, cost, kept)
  local state, is_known = read(key)
  if not is_known or state.window ~= rule.window or (state.reset_stamp and state.reset_stamp > stamp) then return end
  local units = cost - kept
  if state.window_end == at then state.current = math.max(0, state.current - units)
  elseif state.window_end == at + rule.window then state.previous = math.max(0, state.previous - units)
  else return end
  local text = (state.current > 0 or state.previous > 0 or state.newest) and format_state(state)
  string_state.rewrite(state, text, stamp)
  if text and not state.reset_stamp then
    return min_difference_state.expires(state, expires_of(state)), min_difference_state.keep(state, 2 * rule.window)
  end
end

sliding_window_counter.reset = string_state.reset
