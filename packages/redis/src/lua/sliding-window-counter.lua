-- Two counters for an estimate of the rolling window. The twin of sliding-window-counter.ts.
--
-- The text is "end:window:current:previous:scale", the first two in milliseconds: the end of the window that runs, and the
-- length of those of the limit that recorded last; then, for a minDifference, ":newest:apart". For the scale see time-scale.ts.

local sliding_window_counter = {}
algorithms['sliding-window-counter'] = sliding_window_counter

function sliding_window_counter.rule(limit, window, scale, min_difference)
  return { limit = limit, window = window, scale = scale, min_difference = min_difference }
end

local function empty(key, since)
  return { key = key, since = since, window_end = -NEVER, current = 0, previous = 0, scale = 0, expires = NEVER }
end

local function expires_of(state)
  if state.current > 0 then return state.window_end + state.window end
  return state.previous > 0 and state.window_end or -NEVER
end

local function read(key)
  local text, since = string_state.read(key)
  if not text then return empty(key, since), false end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$'
  local window_end, window, current, previous, scale, newest, apart = string.match(text, pattern)
  if not window_end then string_state.refuse(key) end
  local state = { key = key, since = since, window_end = window_end * 1000, window = window * 1000 }
  state.current, state.previous, state.scale = tonumber(current), tonumber(previous), tonumber(scale)
  min_difference_state.read(state, newest, apart, expires_of(state))
  return state, true
end

local function text_with(state)
  local window_end, window = state.window_end / 1000, state.window / 1000
  local text = string.format('%d:%d:%d:%d:%d', window_end, window, state.current, state.previous, state.scale)
  return text .. min_difference_state.text(state)
end

function sliding_window_counter.find(rule, key, now, stamp)
  local state, is_known = read(key)
  local keep = math.max(rule.window, rule.min_difference)
  local ahead = not string_state.is_within_scale(state.window_end - now, state.scale)
  if is_known and min_difference_state.is_live(rule, state, now, ahead, keep, stamp) then return state end
  return empty(key, state.since)
end

-- When no more than `most` units are counted.
local function until_free(rule, state, most, runs)
  if runs and state.current <= most then
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
  -- Before its end a window counts in full and weighs down the one before it; after its end it is the one before.
  local runs = window_end > now
  local full, fading, faded = 0, state.current, window_end + window
  if runs then full, fading, faded = state.current, state.previous, window_end end
  local covered = math.min(window, math.max(0, faded - now))
  local free = limit - full - (fading > 0 and mul_div_up(fading, covered, window) or 0)
  local remaining = math.max(0, free)
  local reset = 0
  if state.current > 0 then reset = math.max(0, window_end + window - now)
  elseif fading > 0 then reset = math.max(0, faded - now) end
  return min_difference_state.verdict(rule, state, now, cost, {
    wait = cost > free and cost <= limit and until_free(rule, state, limit - cost, runs) - now or 0,
    remaining = remaining,
    reset = reset,
    steady = remaining < limit and until_free(rule, state, limit - remaining - 1, runs) - now or NEVER,
    at = end_of_window(rule, window_end, now),
  })
end

function sliding_window_counter.record(rule, state, now, cost, verdict)
  local runs = verdict.at == state.window_end
  state.scale = runs and math.max(state.scale, rule.scale) or rule.scale
  if not runs then
    state.previous = verdict.at == state.window_end + rule.window and state.current or 0
    state.current, state.window_end = 0, verdict.at
  end
  state.current, state.window = state.current + cost, rule.window
  min_difference_state.note(rule, state, now)
  string_state.write(state, text_with(state))
  state.expires = min_difference_state.expires(state, expires_of(state))
  verdict = sliding_window_counter.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.expires, min_difference_state.keep(state, 2 * rule.window)
  return verdict
end

function sliding_window_counter.refund(rule, key, stamp, _, at, cost)
  local state, is_known = read(key)
  if not is_known or state.window ~= rule.window or (state.since and state.since > stamp) then return end
  if state.window_end == at then state.current = math.max(0, state.current - cost)
  elseif state.window_end == at + rule.window then state.previous = math.max(0, state.previous - cost)
  else return end
  local text = (state.current > 0 or state.previous > 0 or state.newest) and text_with(state)
  string_state.rewrite(state, text, stamp)
  if text and not state.since then
    return min_difference_state.expires(state, expires_of(state)), min_difference_state.keep(state, 2 * rule.window)
  end
end

sliding_window_counter.forget = string_state.forget
