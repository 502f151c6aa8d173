-- The fixed window. The counterpart of fixed-window.ts.
--
-- The text is one number, which Redis keeps in little memory: the window's end in milliseconds, the count in four digits and
-- the scale in two (see clock-skew-bound.ts). A larger count needs "end:count:scale". The newest action for a minDifference needs
-- "end:count:scale:newest:longest_difference". The settings are the limit, the window, the scale and the minDifference.

-- Returns the numbers of a state in the order of the text, and the stamp of a reset.
local function read_fixed_window(key)
  local text, reset_stamp = read_text(key)
  if text == false then return false, reset_stamp end
  if not text then return nil, 0, 0, nil, nil, reset_stamp end
  local window_end, count, scale, newest, longest = string.match(text, '^(%-?%d+)(%d%d%d%d)(%d%d)$')
  if not window_end then
    window_end, count, scale, newest, longest = string.match(text, '^(%-?%d+):(%d+):(%d+):?(%-?%d*):?(%d*)$')
    newest, longest = tonumber(newest), tonumber(longest)
    if not window_end or (newest and not longest) then return false, rare_steps().foreign(key) end
  end
  return window_end * 1000, count + 0, scale + 0, newest, longest, reset_stamp
end

local function format_fixed_window(window_end, count, scale, newest, longest)
  if not newest and count < 10000 then return string.format('%d%04d%02d', window_end / 1000, count, scale) end
  local text = string.format('%d:%d:%d', window_end / 1000, count, scale)
  return newest and text .. string.format(':%d:%d', newest, longest) or text
end

local function apply_fixed_window(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, window, own_scale, min_difference = rule[1], rule[2], rule[3], rule[4]
  local window_end, count, scale, newest, longest, reset_stamp
  if state then window_end, count, scale, newest, longest, reset_stamp = unpack(state, 1, 6)
  else
    window_end, count, scale, newest, longest, reset_stamp = read_fixed_window(key)
    if window_end == false then return false, count end
    local expires = count > 0 and window_end or -NEVER
    if newest and newest + longest > expires then expires = newest + longest end
    if expires <= now then
      -- A credit has ended it before its window. Refunds of what was recorded before find nothing of what follows in that window.
      if newest and window_end > now then reset_stamp = stamp end
      window_end = nil
    elseif window_end - now > 2 ^ (scale + 1) or (newest and newest - now > math.max(window, min_difference)) then
      local message = rare_steps().reset(key, stamp) -- A broken clock wrote it.
      if message then return false, message end
      window_end, reset_stamp = nil, stamp
    end
    if not window_end then window_end, count, scale, newest, longest = -NEVER, 0, 0, nil, nil end
  end
  local is_running = window_end > now
  -- All units of one window are interchangeable.
  local at = is_running and window_end or (math.floor(now / window) + 1) * window
  local units = is_running and count or 0
  local wait, reason = cost > limit and NEVER or cost > limit - units and window_end - now or 0, nil
  if newest and min_difference > 0 and wait < NEVER then
    if newest + min_difference - now > wait then wait, reason = newest + min_difference - now, -2 end
    -- An expired state rejects nothing.
    wait = math.min(wait, math.max(units > 0 and window_end or -NEVER, newest + longest) - now)
  end
  if mode > CHECK or (mode == CHECK and wait == 0) then
    units = math.min(units + cost, MAX_UNITS)
    scale = is_running and math.max(scale, own_scale) or own_scale
    -- Actions of limits without a minDifference count too once a limit with one has recorded.
    if newest then newest, longest = math.max(now, newest), math.max(min_difference, longest)
    elseif min_difference > 0 then newest, longest = now, min_difference end
    local text, expires, keep = format_fixed_window(at, units, scale, newest, longest), at, window
    if newest then expires, keep = math.max(at, newest + longest), math.max(window, longest) end
    if reset_stamp then text = text .. string.format('r%d', reset_stamp) end
    local message = write_text(key, text, expires, keep, injected_now)
    if message then return false, message end
  end
  local left = units > 0 and at - now or 0
  return wait, math.max(0, limit - units), left, left, at - now, nil, reason,
    mode == TEST and { window_end, count, scale, newest, longest, reset_stamp } or nil
end
-- end of what checks need

-- Lowers the count of a state, and keeps its expiry.
local function lower_count(key, stamp, units, window_end, count, scale, newest, longest, reset_stamp)
  count = math.max(0, count - units)
  local text = (count > 0 or newest) and format_fixed_window(window_end, count, scale, newest, longest)
  rewrite_text(key, text, reset_stamp, stamp)
end

changes['fixed-window'] = {
  read = read_fixed_window,
  has_marker = true,
  refund = function(_, key, stamp, _, at, cost, kept)
    local window_end, count, scale, newest, longest, reset_stamp = raise_false(read_fixed_window(key))
    if window_end ~= at or (reset_stamp and reset_stamp > stamp) then return end
    lower_count(key, stamp, cost - kept, window_end, count, scale, newest, longest, reset_stamp)
  end,
  credit = function(_, key, stamp, _, units, state)
    if state[2] > 0 then lower_count(key, stamp, units, unpack(state, 1, 6)) end
  end,
}
