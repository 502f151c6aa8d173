-- The check of plain windows: rolling windows that have no minDifference and count no rejected attempts, on packed logs. It
-- decides what rolling-window.lua decides, and leaves the bytes that hit-log-packed.lua leaves, in a third of the instructions.
--
-- `read` finds the log of a key in one of these states. In any other state, or if a log with totals rejects, the general check
-- decides, and this one has written nothing.
--
--                   empty: no hit, or all     plain: no hit has a total,     with totals: every hit has one
--                   have left the window      and the cost is 1
--   newest, oldest  nil, now                  their times                    their times
--   created         the stamp of the check    that of the log                that of the log
--   dropped, count  0, 0                      the hits that have left the window, and those in it
--   total           0 if the cost is not 1    nil                            the total of the newest hit
--   dropped_units   0                         0                              the total of the last hit that has left
--   free            the limit                 the limit less the hits        the limit less their units
--
-- `record` writes a log of up to 15 hits whole, and a longer one of which a fifth has left the window. To others it appends.

-- The forms of a log, and the sizes of a hit and of what follows the last one.
local PLAIN, HIT, END = 0xF8, 7, 32
local WITH_TOTALS, HIT_WITH_TOTAL, END_WITH_TOTALS = 0xF9, 14, 45
-- The number of hits, the size of the room and the form are one number here, because each number takes time. There is no room.
local ONE_HIT = 2 ^ 24
-- Redis accepts every log of this length, as in rolling-window.lua.
local SAFE_LENGTH = 2 ^ 20 - 100

-- Creates the functions of a window. They share variables instead of a table, which would make a check a tenth longer.
local function create_window(limit, window, cost, is_alone)
  local tail, newest, oldest, created, dropped, count, total, dropped_units, free
  local tail_start = cost == 1 and '-144' or '-269' -- The tail is the whole of a log of up to 16 hits.
  local half_start, expiry, figures, result -- Of the last check, because the next one often has the same.

  -- Finds the oldest hit in the window, among the first hits. Returns false if more hits have left.
  local function drop(key, start)
    local hit_size, end_size = HIT, END
    if total then hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS end
    local bytes, from, left = tail, #tail - end_size - hit_size * count, 0
    if from < 0 then
      from = hit_size * dropped
      bytes, from = call('GETRANGE', key, format('%d', from), format('%d', from + 9 * hit_size - 1)), 0
    end
    repeat
      left = left + 1
      if from + hit_size * left + 7 > #bytes then return false end
      oldest = unpack_at('>i7', bytes, from + hit_size * left + 1)
    until oldest > start
    dropped, count = dropped + left, count - left
    if total then dropped_units = unpack_at('>I7', bytes, from + 14 * left - 6) end
    return true
  end

  -- Returns whether there is room for the cost, or nil if the general check must decide.
  local function read(key, now, stamp)
    local start = now - window
    tail = call('GETRANGE', key, tail_start, '-1')
    local size, last = #tail, start
    if size > 0 then
      if size < HIT + END then return nil end
      local first, birth, keep, dropped_before, ending, last_total, units_before
      last, first, birth, keep, dropped_before, ending = unpack_at('>i7i7i7I7I4I7', tail, size - 38)
      local form = ending % ONE_HIT
      local hits = (ending - form) / ONE_HIT
      if form ~= PLAIN then
        if form ~= WITH_TOTALS or size < HIT_WITH_TOTAL + END_WITH_TOTALS then return nil end
        local plain_count, gaps_size
        last, last_total, plain_count, units_before, gaps_size = unpack_at('>i7I7I4I7I2', tail, size - 58)
        if plain_count > 0 or gaps_size > 0 or last_total - units_before > limit then return nil end
      end
      if keep ~= window or last > now or hits > limit then return nil end
      if last > start then
        if cost ~= 1 and not last_total then return nil end
        newest, oldest, created, dropped, count, total, dropped_units = last, first, birth, dropped_before, hits, last_total, units_before
        if first <= start and not drop(key, start) then return nil end
      end
    end
    if last <= start then newest, oldest, created, dropped, count, total, dropped_units = nil, now, stamp, 0, 0, cost ~= 1 and 0 or nil, 0 end
    if not is_alone then
      -- Redis would reject a write that makes this log too long, after those to other keys. GETBIT has the same bound as SETRANGE.
      local length = HIT_WITH_TOTAL * (dropped + count + 1) + END_WITH_TOTALS
      if length > SAFE_LENGTH and type(redis.pcall('GETBIT', key, format('%d', 8 * length - 1))) == 'table' then return nil end
    end
    if not total then
      free = limit - count
      return free > 0
    end
    free = limit - total + dropped_units
    -- A wait depends on the costs of the oldest hits, and the general check keeps large totals exact.
    return free >= cost and total + cost < 2 ^ 53 or nil
  end

  -- Adds a hit to the log, and returns the result of the rule.
  local function record(key, now, injected_now)
    -- The TTL changes only when a new half of a window has begun, as `expiry_of` in rolling-window.lua describes.
    local half = window / 2
    local start = now - now % half
    local keeps_ttl = newest and not injected_now and newest >= start
    if not keeps_ttl and half_start ~= start then
      half_start = start
      -- Rounds up, as `expire` in common.lua does.
      expiry = format('%d', injected_now and (window + half) / 1000 + 60000 or (start + half + window + 999) / 1000)
    end
    local is_whole = count < 16 or (dropped > 16 and dropped * 4 > count + 1)
    local dropped_before, hit_size, end_size, bytes = is_whole and 0 or dropped, HIT, END, nil
    if total then
      hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS
      bytes = pack('>i7I7I4I7I2i7i7I7I4I7', now, total + cost, 0, dropped_units, 0, oldest, created, window, dropped_before,
        (count + 1) * ONE_HIT + WITH_TOTALS)
    else bytes = pack('>i7i7i7I7I4I7', now, oldest, created, window, dropped_before, (count + 1) * ONE_HIT + PLAIN) end
    if is_whole then
      local from, first = #tail - end_size - hit_size * count, hit_size * dropped
      if count > 0 and from < 0 then
        bytes = call('GETRANGE', key, format('%d', first), format('%d', first + hit_size * count - 1)) .. bytes
        step_count = step_count + count / 40
      elseif count > 0 then bytes = sub(tail, from + 1, -1 - end_size) .. bytes end
      if keeps_ttl then call('SET', key, bytes, 'KEEPTTL')
      else call('SET', key, bytes, injected_now and 'PX' or 'PXAT', expiry) end
    else
      call('SETRANGE', key, format('%d', hit_size * (dropped + count)), bytes)
      if not keeps_ttl then call(injected_now and 'PEXPIRE' or 'PEXPIREAT', key, expiry) end
    end
    local next_unit = oldest + window - now
    local both = next_unit * (limit + 1) + free - cost
    if both >= 2 ^ 53 then return format('%d', free - cost) .. to_letters(next_unit) end
    if figures ~= both then figures, result = both, to_letters(both) end
    return result
  end

  -- Returns the result of the rule if this window or another one has no room.
  local function reject(now)
    if free < cost then return format('-%d %d', oldest + window - now, newest + window - now) end
    if newest then return format('0 0 %d %d %d', free, newest + window - now, oldest + window - now) end
    return format('0 0 %d 0 0', limit)
  end

  return { limit = limit, window = window, cost = cost, read = read, record = record, reject = reject }
end

local function check_generally(windows, injected_now, stamp, first_key)
  operations = operations or load_operations()
  return operations.check_plain_windows(windows, injected_now, stamp, first_key)
end

-- Does the same as `check_all`. Without the loops, a check takes 4 percent fewer instructions.
local function check_one(windows, injected_now, stamp, first_key)
  local window, now, key = windows[1], injected_now or stamp, keys[first_key + 1]
  local has_room = window.read(key, now, stamp)
  if has_room then return window.record(key, now, injected_now) end
  if has_room == false then return window.reject(now) end
  return check_generally(windows, injected_now, stamp, first_key)
end

local function check_all(windows, injected_now, stamp, first_key)
  local now, allowed, line = injected_now or stamp, true, nil
  for index = 1, #windows do
    local has_room = windows[index].read(keys[first_key + index], now, stamp)
    if has_room == nil then return check_generally(windows, injected_now, stamp, first_key) end
    allowed = allowed and has_room
  end
  for index = 1, #windows do
    local window = windows[index]
    local result = allowed and window.record(keys[first_key + index], now, injected_now) or window.reject(now)
    line = line and line .. ',' .. result or result
  end
  return line
end

-- Prepares the run of checks whose arguments start at `position`. Returns where the next run starts, too.
function prepare_plain(position)
  local injected_now, cost, key_count = tonumber(ARGV[position]), tonumber(ARGV[position + 1]), tonumber(ARGV[position + 2])
  local windows, costs = {}, position + 2 + 2 * key_count
  for index = 1, key_count do
    local place = position + 1 + 2 * index
    local own_cost = cost > 0 and cost or tonumber(ARGV[costs + index])
    windows[index] = create_window(tonumber(ARGV[place]), tonumber(ARGV[place + 1]), own_cost, key_count == 1)
  end
  return key_count == 1 and check_one or check_all, windows, injected_now, key_count, costs + (cost > 0 and 1 or key_count + 1)
end
