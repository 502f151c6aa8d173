-- The fixed window. The counterpart of fixed-window.ts.
--
-- The text is one number, which Redis keeps in little memory: the window's end in milliseconds, the count in four digits and
-- the scale in two (see clock-skew-bound.ts). A larger count needs "end:count:scale". The newest action for a minDifference needs
-- "end:count:scale:newest:longest_difference".

local fixed_window = {}
algorithms['fixed-window'] = fixed_window

function fixed_window.rule(limit, window, scale, min_difference)
  local keep = math.max(window, min_difference)
  return { limit = limit, window = window, scale = scale, min_difference = min_difference, keep = keep }
end

local function read(key)
  local text, reset_stamp = string_state.read(key)
  local state = { key = key, reset_stamp = reset_stamp, count = 0, scale = 0, window_end = -NEVER, expires = NEVER }
  if not text then return state, false end
  local window_end, count, scale, newest, longest_difference = string.match(text, '^(%-?%d+)(%d%d%d%d)(%d%d)$')
  if not window_end then
    window_end, count, scale, newest, longest_difference = string.match(text, '^(%-?%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$')
  end
  if not window_end then string_state.raise_foreign(key) end
  state.window_end, state.count, state.scale = window_end * 1000, tonumber(count), tonumber(scale)
  min_difference_state.read(state, newest, longest_difference, state.count > 0 and state.window_end or -NEVER)
  return state, true
end

local function format_state(state)
  local end_ms = state.window_end / 1000
  if state.newest or state.count >= 10000 then
    return string.format('%d:%d:%d', end_ms, state.count, state.scale) .. min_difference_state.format(state)
  end
  return string.format('%d%04d%02d', end_ms, state.count, state.scale)
end

fixed_window.read = read

function fixed_window.find(rule, key, now, stamp)
  local state, is_known = read(key)
  local ahead = not string_state.is_within_scale(state.window_end - now, state.scale)
  if is_known and min_difference_state.is_valid(rule, state, now, ahead, rule.keep, stamp) then return state end
  return { key = key, reset_stamp = state.reset_stamp, count = 0, scale = 0, window_end = -NEVER, expires = NEVER }
end

function fixed_window.test(rule, state, now, cost)
  local limit, window_end = rule.limit, state.window_end
  local is_running = window_end > now
  local used = is_running and state.count or 0
  local left = used > 0 and window_end - now or 0
  return min_difference_state.verdict(rule, state, now, cost, {
    wait = cost > limit - used and left or 0,
    remaining = math.max(0, limit - used),
    reset = left,
    next_unit = left,
    at = is_running and window_end or (math.floor(now / rule.window) + 1) * rule.window,
  })
end

function fixed_window.record(rule, state, now, cost, verdict)
  local is_running = verdict.at == state.window_end
  if not is_running then state.window_end, state.count = verdict.at, 0 end
  state.scale = is_running and math.max(state.scale, rule.scale) or rule.scale
  state.count = math.min(state.count + cost, MAX_UNITS)
  min_difference_state.record(rule, state, now)
  string_state.write(state, format_state(state))
  verdict.remaining, verdict.reset = math.max(0, rule.limit - state.count), state.window_end - now
  verdict.next_unit = verdict.reset
  verdict.expires = min_difference_state.expires(state, state.window_end)
  verdict.keep = min_difference_state.keep(state, rule.window)
  return verdict
end

function fixed_window.refund(_, key, stamp, _, at, cost, kept)
  local state, is_known = read(key)
  if not is_known or state.window_end ~= at or (state.reset_stamp and state.reset_stamp > stamp) then return end
  state.count = math.max(0, state.count - (cost - kept))
  string_state.rewrite(state, (state.count > 0 or state.newest) and format_state(state), stamp)
end

fixed_window.reset = string_state.reset
