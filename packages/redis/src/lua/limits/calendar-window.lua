-- The window of a calendar. The counterpart of calendar-window.ts.
--
-- The value has four numbers in a binary form, because Redis keeps up to 28 bytes in little memory: the stamp of the period's
-- first record, the period's end, the count, and the scale (see clock-skew-bound.ts). Every later record of the period has a
-- larger stamp, so a refund finds only those. What follows belongs to leased-calendar-window.lua, and stays.
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

-- Returns the numbers of a value (nil without one), and what follows them.
local function read_calendar_window(key)
  local text = redis.pcall('GET', key)
  if not text then return nil end
  if text.err then return false, text.err end
  -- Each part that leased-calendar-window.lua adds has 24 bytes.
  if #text ~= 25 and (#text < 25 or (#text - 25) % 24 ~= 0) then return false, rare_steps().foreign(key) end
  local first, ends, count, scale = struct.unpack('>dddB', text)
  return first, ends, count, scale, string.sub(text, 26)
end

local function apply_calendar_window(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit = rule[1]
  local first, ends, count, scale, rest
  local period_end, problem = period_end_of(rule, now, 4)
  if state then first, ends, count, scale, rest = unpack(state, 1, 5)
  else
    first, ends, count, scale, rest = read_calendar_window(key)
    if first == false then return false, ends end
    if first and ends > now and ends - now > 2 ^ (scale + 1) then
      local message = rare_steps().reset(key) -- A broken clock wrote it.
      if message then return false, message end
      first = nil
    end
    if not first or ends <= now then first, ends, count, scale, rest = nil, -NEVER, 0, 0, '' end
    if not period_end then return false, problem end
  end
  local left = count > 0 and ends - now or 0
  local wait = cost > limit and NEVER or cost > limit - count and left or 0
  if mode > CHECK or (mode == CHECK and wait == 0) then
    first, ends, scale, count = first or stamp, math.max(ends, period_end), math.max(scale, rule[3]), math.min(count + cost, MAX_UNITS)
    local message = write_text(key, struct.pack('>dddB', first, ends, count, scale) .. rest, ends, rule[2], injected_now)
    if message then return false, message end
    left = ends - now
  end
  local tested = mode == TEST and { first, ends, count, scale, rest } or nil
  return wait, math.max(0, limit - count), left, left, 0, nil, nil, tested, string.format(' %d 0', count)
end
-- end of what checks need

local function write_calendar_count(key, first, ends, count, scale, rest)
  if count == 0 then redis.call('UNLINK', key)
  else redis.call('SET', key, struct.pack('>dddB', first, ends, count, scale) .. rest, 'KEEPTTL') end
end

changes['calendar-window'] = {
  read = read_calendar_window,
  refund = function(_, key, stamp, _, _, cost, kept, recorded_at)
    local first, ends, count, scale, rest = raise_false(read_calendar_window(key))
    -- If the server's clock has stepped back to an earlier period, a state that began later may have an earlier stamp.
    if not first or first > stamp or recorded_at >= ends then return end
    write_calendar_count(key, first, ends, math.max(0, count - (cost - kept)), scale, rest)
  end,
  credit = function(_, key, _, _, units, state)
    local first, ends, count, scale, rest = unpack(state, 1, 5)
    if first then write_calendar_count(key, first, ends, math.max(0, count - units), scale, rest) end
  end,
}
