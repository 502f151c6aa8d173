-- The leaky bucket: a queue that one unit leaves per interval. The counterpart of leaky-bucket.ts.
--
-- The text is one number, which Redis keeps in little memory: the time from which all slots are free, in microseconds, and the
-- scale in two digits (see clock-skew-bound.ts). Refunded slots with taken slots behind them follow after "/". Each such gap is its
-- start and its end in 17 digits each, in ascending order, merged where they touch (see queue-gaps.ts). The fixed width lets a
-- refund search them in O(log n). The settings are the limit, the interval and the scale.

-- How many gaps end before `time`.
local function count_gaps_before(gaps, time)
  local low, high = 0, #gaps / 34
  while low < high do
    local middle = math.floor((low + high) / 2)
    if (tonumber(string.sub(gaps, middle * 34 + 18, middle * 34 + 34)) or 0) < time then low = middle + 1 else high = middle end
  end
  return low
end

-- Returns the time from which all slots are free (nil without a state), the scale, the stamp of a reset, and the gaps.
local function read_leaky_bucket(key)
  local text, reset_stamp = read_text(key)
  if text == false then return false, reset_stamp end
  if not text then return nil, 0, reset_stamp, '' end
  local bar, gaps = string.find(text, '/', 1, true), ''
  if bar then
    step_count = step_count + #text / 100
    text, gaps = string.sub(text, 1, bar - 1), string.sub(text, bar + 1)
  end
  local free_at, scale = string.match(text, '^(%-?%d+)(%d%d)$')
  if not free_at or #gaps % 34 > 0 or string.find(gaps, '[^%d-]') then return false, rare_steps().foreign(key) end
  return free_at + 0, scale + 0, reset_stamp, gaps
end

local function format_leaky_bucket(free_at, scale, gaps)
  local text = string.format('%d%02d', free_at, scale)
  if gaps == '' then return text end
  step_count = step_count + #gaps / 100
  return text .. '/' .. gaps
end

local function apply_leaky_bucket(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, interval, own_scale = rule[1], rule[2], rule[3]
  local free_at, scale, reset_stamp, gaps
  if state then free_at, scale, reset_stamp, gaps = unpack(state, 1, 4)
  else
    free_at, scale, reset_stamp, gaps = read_leaky_bucket(key)
    if free_at == false then return false, scale end
    if free_at and free_at - now > 2 ^ (scale + 1) then
      local message = rare_steps().reset(key, stamp) -- A broken clock wrote it.
      if message then return false, message end
      free_at, reset_stamp, gaps = now, stamp, ''
    end
    free_at = free_at or now
  end
  local delay = math.max(0, free_at - now)
  local wait, busy = cost > limit and NEVER or math.max(0, delay - (limit + 1 - cost) * interval), delay
  if mode > CHECK or (mode == CHECK and wait == 0) then
    scale = delay > 0 and math.max(scale, own_scale) or own_scale
    busy = math.min(delay + cost * interval, MAX_AHEAD)
    local keep = (limit + 1) * interval
    if busy > keep then scale = math.max(scale, rare_steps().scale_of(busy)) end -- More than the queue holds.
    -- Drops the gaps that have passed, because no action can use their slots.
    if gaps ~= '' then gaps = string.sub(gaps, count_gaps_before(gaps, now + 1) * 34 + 1) end
    local text = format_leaky_bucket(now + busy, scale, gaps)
    if reset_stamp then text = text .. string.format('r%d', reset_stamp) end
    local message = write_text(key, text, now + busy, math.max(keep, busy), injected_now)
    if message then return false, message end
  end
  local waiting = math.max(0, math.ceil(busy / interval) - 1)
  -- `remaining` grows when the next unit leaves. It takes longer if another limit has let the queue become longer.
  local next_unit = waiting > 0 and busy - math.min(waiting, limit) * interval or 0
  return wait, math.max(0, limit - waiting), math.max(0, busy - interval), next_unit, delay, delay, nil,
    mode == TEST and { free_at, scale, reset_stamp, gaps } or nil
end
-- end of what checks need

do
  -- The number of digits of a time, and of a gap.
  local TIME <const>, GAP <const> = 17, 34
  -- The most gaps of a key. Every operation reads all of them, and every check writes them.
  local MAX_GAPS <const> = 64

  local function time_at(gaps, from)
    return tonumber(string.sub(gaps, from, from + TIME - 1))
  end

  -- The counterpart of addGap in queue-gaps.ts.
  local function with_gap(gaps, from, to)
    local head_size = count_gaps_before(gaps, from) * GAP
    local start = head_size + 1
    if time_at(gaps, start + TIME) == from then from, start = time_at(gaps, start), start + GAP end
    local next_from = time_at(gaps, start)
    if next_from and next_from < to then return gaps end
    if next_from == to then to, start = time_at(gaps, start + TIME), start + GAP end
    local all = string.sub(gaps, 1, head_size) .. string.format('%017d%017d', from, to) .. string.sub(gaps, start)
    return string.sub(all, -MAX_GAPS * GAP)
  end

  changes['leaky-bucket'] = {
    read = read_leaky_bucket,
    has_marker = true,
    refund = function(rule, key, stamp, now, at, cost, kept, recorded_at)
      local free_at, scale, reset_stamp, gaps = raise_false(read_leaky_bucket(key))
      local interval = rule[2]
      at, cost = at + kept * interval, cost - kept
      local ends = at + cost * interval
      if not free_at or ends > free_at or (reset_stamp and reset_stamp > stamp) then return end
      if ends < free_at then
        if ends <= now then return end -- Nothing can use the slot.
        rewrite_text(key, format_leaky_bucket(free_at, scale, with_gap(gaps, at, ends)), reset_stamp, stamp)
        return
      end
      free_at = at
      if gaps ~= '' and time_at(gaps, #gaps - TIME + 1) == at then
        free_at, gaps = time_at(gaps, #gaps - GAP + 1), string.sub(gaps, 1, -GAP - 1)
      end
      if at == recorded_at or (free_at < at and free_at <= now) then reset_stamp = stamp end -- The queue is empty.
      rewrite_text(key, format_leaky_bucket(free_at, scale, gaps), reset_stamp, stamp)
      if not reset_stamp then return free_at, math.max((rule[1] + 1) * interval, free_at - now) end
    end,
  }
end
