-- The sliding window counter. The counterpart of sliding-window-counter.ts.
--
-- The text is "end:window:current:previous:scale". `end` is the end of the current window, and `window` is the length of the
-- window of the limit that recorded last, both in milliseconds. For the scale see clock-skew-bound.ts. For a minDifference,
-- ":newest:longest_difference" follows. The settings are the limit, the window, the scale and the minDifference.

-- Returns the numbers of a state in the order of the text, and the stamp of a reset.
local function read_sliding_window_counter(key)
  local text, reset_stamp = read_text(key)
  if text == false then return false, reset_stamp end
  if not text then return nil, nil, 0, 0, 0, nil, nil, reset_stamp end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$'
  local window_end, window, current, previous, scale, newest, longest = string.match(text, pattern)
  if newest ~= '' then newest, longest = tonumber(newest), tonumber(longest) else newest, longest = nil, nil end
  if not window_end or (newest and not longest) then return false, rare_steps().foreign(key) end
  return window_end * 1000, window * 1000, current + 0, previous + 0, scale + 0, newest, longest, reset_stamp
end

local function format_sliding_window_counter(window_end, window, current, previous, scale, newest, longest)
  local text = string.format('%d:%d:%d:%d:%d', window_end / 1000, window / 1000, current, previous, scale)
  return newest and text .. string.format(':%d:%d', newest, longest) or text
end

-- When a state expires, which ends with its counts or with the longest minDifference.
local function sliding_window_counter_expires(window_end, window, current, previous, newest, longest)
  local expires = current > 0 and window_end + window or previous > 0 and window_end or -NEVER
  return newest and math.max(expires, newest + longest) or expires
end

-- The free units, the reset, and how long until `most` units are free. `most` is nil for one more than now.
local function judge_counts(limit, window, window_end, current, previous, now, most)
  -- Before its end, the current window counts in full and the previous one fades. After its end, the current one fades.
  local is_running = window_end > now
  local full, fading, faded = 0, current, window_end + window
  if is_running then full, fading, faded = current, previous, window_end end
  local covered = math.min(window, math.max(0, faded - now))
  local units, left = 0, 0
  if fading > 0 then units, left = divide_product(fading, covered, window) end
  local free = limit - full - units - (left > 0 and 1 or 0)
  local reset, time = 0, now
  if current > 0 then reset = math.max(0, window_end + window - now)
  elseif fading > 0 then reset = math.max(0, faded - now) end
  -- The time from which the estimate is at most so many units.
  units = limit - (most or math.max(0, free) + 1)
  if units >= 0 and free < (most or limit) then
    if is_running and current <= units then time = window_end - (divide_product(units - current, window, previous))
    else time = window_end + window - (divide_product(units, window, current)) end
  end
  return free, reset, time - now
end

local function apply_sliding_window_counter(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, window, own_scale, min_difference = rule[1], rule[2], rule[3], rule[4]
  local window_end, last_window, current, previous, scale, newest, longest, reset_stamp
  if state then window_end, last_window, current, previous, scale, newest, longest, reset_stamp = unpack(state, 1, 8)
  else
    window_end, last_window, current, previous, scale, newest, longest, reset_stamp = read_sliding_window_counter(key)
    if window_end == false then return false, last_window end
    if window_end then
      if sliding_window_counter_expires(window_end, last_window, current, previous, newest, longest) <= now then
        -- A credit has ended it before its window. Refunds of what was recorded before find nothing of what follows in that window.
        if newest and window_end > now then reset_stamp = stamp end
        window_end = nil
      elseif window_end - now > 2 ^ (scale + 1) or (newest and newest - now > math.max(window, min_difference)) then
        local message = rare_steps().reset(key, stamp) -- A broken clock wrote it.
        if message then return false, message end
        window_end, reset_stamp = nil, stamp
      end
    end
    if not window_end then
      window_end, last_window, current, previous, scale, newest, longest = -NEVER, window, 0, 0, 0, nil, nil
    end
  end
  local free, reset, next_unit = judge_counts(limit, window, window_end, current, previous, now)
  local wait, at, reason = cost > limit and NEVER or 0, window_end, nil
  if cost > free and cost <= limit then
    wait = select(3, judge_counts(limit, window, window_end, current, previous, now, cost))
  end
  if window_end <= now then
    at = window_end + window
    if at <= now then at = (math.floor(now / window) + 1) * window end
  end
  if newest and min_difference > 0 and wait < NEVER and newest + min_difference - now > wait then
    wait, reason = newest + min_difference - now, -2
  end
  local is_known = current > 0 or previous > 0 or newest
  -- An expired state rejects nothing.
  local left = is_known and sliding_window_counter_expires(window_end, last_window, current, previous, newest, longest) - now or 0
  if wait < NEVER then wait = math.min(wait, left) end
  if mode > CHECK or (mode == CHECK and wait == 0) then
    local is_running = at == window_end
    scale = is_running and math.max(scale, own_scale) or own_scale
    if not is_running then
      previous = at == window_end + window and current or 0
      current, window_end = 0, at
    end
    current = math.min(current + cost, MAX_UNITS)
    -- Actions of limits without a minDifference count too once a limit with one has recorded.
    if newest then newest, longest = math.max(now, newest), math.max(min_difference, longest)
    elseif min_difference > 0 then newest, longest = now, min_difference end
    local expires = sliding_window_counter_expires(window_end, window, current, previous, newest, longest)
    local text = format_sliding_window_counter(window_end, window, current, previous, scale, newest, longest)
    if reset_stamp then text = text .. string.format('r%d', reset_stamp) end
    local message = write_text(key, text, expires, newest and math.max(2 * window, longest) or 2 * window, injected_now)
    if message then return false, message end
    free, reset, next_unit = judge_counts(limit, window, window_end, current, previous, now)
    left = expires - now
  end
  return wait, math.max(0, free), math.min(reset, left), math.min(next_unit, left), at - now, nil, reason,
    mode == TEST and { window_end, last_window, current, previous, scale, newest, longest, reset_stamp } or nil
end
-- end of what checks need

-- Writes what is left of a state. Returns when the key expires and its keep, unless it has a marker, which stays as long as before. The
-- key stays until the window ends, so that the next action in it finds that the state has ended before.
local function rewrite_counts(key, stamp, window_end, window, current, previous, scale, newest, longest, reset_stamp)
  local has_left = current > 0 or previous > 0 or newest
  local text = has_left and format_sliding_window_counter(window_end, window, current, previous, scale, newest, longest)
  rewrite_text(key, text, reset_stamp, stamp)
  if text and not reset_stamp then
    local expires = sliding_window_counter_expires(window_end, window, current, previous, newest, longest)
    return math.max(expires, window_end), newest and math.max(2 * window, longest) or 2 * window
  end
end

changes['sliding-window-counter'] = {
  read = read_sliding_window_counter,
  has_marker = true,
  refund = function(rule, key, stamp, _, at, cost, kept)
    local window_end, window, current, previous, scale, newest, longest, reset_stamp =
      raise_false(read_sliding_window_counter(key))
    if not window_end or window ~= rule[2] or (reset_stamp and reset_stamp > stamp) then return end
    local units = cost - kept
    if window_end == at then current = math.max(0, current - units)
    elseif window_end == at + window then previous = math.max(0, previous - units)
    else return end
    return rewrite_counts(key, stamp, window_end, window, current, previous, scale, newest, longest, reset_stamp)
  end,
  credit = function(_, key, stamp, _, units, state)
    local window_end, window, current, previous, scale, newest, longest, reset_stamp = unpack(state, 1, 8)
    if current + previous == 0 then return end
    local left = math.max(0, units - current)
    current, previous = math.max(0, current - units), math.max(0, previous - left)
    return rewrite_counts(key, stamp, window_end, window, current, previous, scale, newest, longest, reset_stamp)
  end,
}
