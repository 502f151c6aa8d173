-- The window of a calendar. The counterpart of calendar-window.ts.
--
-- The value has four numbers in a binary form, because Redis keeps up to 28 bytes in little memory: the stamp of the period's
-- first record, the period's end, the count, and the scale (see clock-skew-bound.ts). Every later record of the period has a
-- larger stamp, so a refund finds only those. If units were added to the quota of the period, the scale is HAS_EXTRA more, and their
-- number follows. What follows then belongs to leased-calendar-window.lua, and stays.
--
-- The script knows no calendar. The settings are the limit, the keep, the scale, the start and the end of a period, and the end of the
-- next one. The client sends other periods if now is in neither.

-- The end of the period that contains now. Returns false and a message if none of the rule's periods does.
local function period_end_of(rule, now, first)
  local first_start, first_end, second_end = rule[first], rule[first + 1], rule[first + 2]
  if now >= first_start and now < first_end then return first_end end
  if now >= first_end and now < second_end then return second_end end
  return false, string.format('Expected the period of %d', now) -- The client reads this (see operation-sender.ts).
end

local HAS_EXTRA <const> = 64

-- The text of the numbers of a value.
local function pack_calendar_window(first, ends, count, scale, extra)
  if extra == 0 then return struct.pack('>dddB', first, ends, count, scale) end
  return struct.pack('>dddBd', first, ends, count, scale + HAS_EXTRA, extra)
end

-- Returns the numbers of a value (nil without one), and what follows them.
local function read_calendar_window(key)
  local text = redis.pcall('GET', key)
  if not text then return nil end
  if text.err then return false, text.err end
  local size, extra = 25, 0
  if #text >= 33 and string.byte(text, 25) >= HAS_EXTRA then size = 33 end
  -- Each part that leased-calendar-window.lua adds has 24 bytes.
  if #text < size or (#text - size) % 24 ~= 0 then return false, rare_steps().foreign(key) end
  local first, ends, count, scale = struct.unpack('>dddB', text)
  if size > 25 then scale, extra = scale - HAS_EXTRA, struct.unpack('>d', text, 26) end
  return first, ends, count, scale, string.sub(text, size + 1), extra
end

local function apply_calendar_window(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit = rule[1]
  local first, ends, count, scale, rest, extra
  local period_end, problem = period_end_of(rule, now, 4)
  if state then first, ends, count, scale, rest, extra = unpack(state, 1, 6)
  else
    first, ends, count, scale, rest, extra = read_calendar_window(key)
    if first == false then return false, ends end
    if first and ends > now and ends - now > 2 ^ (scale + 1) then
      local message = rare_steps().reset(key) -- A broken clock wrote it.
      if message then return false, message end
      first = nil
    end
    if not first or ends <= now then first, ends, count, scale, rest, extra = nil, -NEVER, 0, 0, '', 0 end
    if not period_end then return false, problem end
  end
  local left, quota = first and count + extra > 0 and ends - now or 0, math.min(limit + extra, MAX_UNITS)
  -- A later period has no room for a larger cost, so that what is allowed stays allowed.
  local wait = cost > limit and NEVER or cost > quota - count and left or 0
  if mode > CHECK or (mode == CHECK and wait == 0) then
    first, ends, scale, count = first or stamp, math.max(ends, period_end), math.max(scale, rule[3]), math.min(count + cost, MAX_UNITS)
    local message = write_text(key, pack_calendar_window(first, ends, count, scale, extra) .. rest, ends, rule[2], injected_now)
    if message then return false, message end
    left = ends - now
  end
  local tested = mode == TEST and { first, ends, count, scale, rest, extra } or nil
  local usage = string.format(extra > 0 and ' %d 0 %d 0' or ' %d 0', count, extra)
  return wait, math.max(0, quota - count), left, left, 0, nil, nil, tested, usage
end
-- end of what checks need

-- Writes what is left of a period.
local function rewrite_calendar_window(key, first, ends, count, scale, rest, extra)
  if count + extra == 0 then redis.call('UNLINK', key)
  else redis.call('SET', key, pack_calendar_window(first, ends, count, scale, extra) .. rest, 'KEEPTTL') end
end

-- The most units that can be added to a period, so that the sum is exact: as in counted-window.ts.
local MOST_EXTRA <const> = 70368744177664

-- What is left of so many used units after a credit, and the units that are added to the period.
local function credit_period(used, extra, units, is_beyond)
  local taken = math.min(units, used)
  return used - taken, is_beyond and math.min(extra + units - taken, MOST_EXTRA) or extra
end

changes['calendar-window'] = {
  read = read_calendar_window,
  refund = function(_, key, stamp, _, _, cost, kept, recorded_at)
    local first, ends, count, scale, rest, extra = raise_false(read_calendar_window(key))
    -- If the server's clock has stepped back to an earlier period, a state that began later may have an earlier stamp.
    if not first or first > stamp or recorded_at >= ends then return end
    rewrite_calendar_window(key, first, ends, math.max(0, count - (cost - kept)), scale, rest, extra)
  end,
  credit = function(rule, key, stamp, now, units, state, is_beyond)
    local first, ends, count, scale, rest, extra = unpack(state, 1, 6)
    if not first and not is_beyond then return end
    count, extra = credit_period(count, extra, units, is_beyond)
    if not is_beyond or count + extra == 0 then return rewrite_calendar_window(key, first, ends, count, scale, rest, extra) end
    ends = math.max(ends, period_end_of(rule, now, 4))
    redis.call('SET', key, pack_calendar_window(first or stamp, ends, count, math.max(scale, rule[3]), extra) .. rest)
    return ends, rule[2]
  end,
}
