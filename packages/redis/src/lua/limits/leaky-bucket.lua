-- The leaky bucket: a queue that one unit leaves per interval. The counterpart of leaky-bucket.ts.
--
-- The text is one number, which Redis keeps in little memory: the time from which all slots are free, in microseconds, and the
-- scale in two digits (see clock-skew-bound.ts). Refunded slots with taken slots behind them follow after "/". Each such gap is its
-- start and its end in 17 digits each, in ascending order, merged where they touch (see queue-gaps.ts). The fixed width lets a
-- refund search them in O(log n).

local leaky_bucket = {}
algorithms['leaky-bucket'] = leaky_bucket

function leaky_bucket.rule(limit, interval, scale)
  return { limit = limit, interval = interval, scale = scale, keep = (limit + 1) * interval }
end

-- The number of digits of a time, and of a gap.
local TIME, GAP = 17, 34
-- The most gaps of a key. Every operation reads all of them, and every check writes them.
local MAX_GAPS = 64

local function time_at(gaps, from)
  return tonumber(string.sub(gaps, from, from + TIME - 1))
end

-- How many gaps end before `time`.
local function count_before(gaps, time)
  local low, high = 0, #gaps / GAP
  while low < high do
    local middle = math.floor((low + high) / 2)
    if time_at(gaps, middle * GAP + TIME + 1) < time then low = middle + 1 else high = middle end
  end
  return low
end

-- Returns the time from which all slots are free (nil without a state), the scale, the stamp of a reset, and the gaps.
local function read(key)
  local text, reset_stamp = string_state.read(key)
  if not text then return nil, 0, reset_stamp, '' end
  local bar, gaps = string.find(text, '/', 1, true), ''
  if bar then
    count_steps(#text / 100)
    text, gaps = string.sub(text, 1, bar - 1), string.sub(text, bar + 1)
  end
  local free_at, scale = string.match(text, '^(%-?%d+)(%d%d)$')
  if not free_at or #gaps % GAP > 0 then string_state.raise_foreign(key) end
  return tonumber(free_at), tonumber(scale), reset_stamp, gaps
end

local function format_state(free_at, scale, gaps)
  local text = string.format('%d%02d', free_at, scale)
  if gaps == '' then return text end
  count_steps(#gaps / 100)
  return text .. '/' .. gaps
end

leaky_bucket.read = read

function leaky_bucket.find(rule, key, now, stamp)
  local free_at, scale, reset_stamp, gaps = read(key)
  if free_at and not string_state.is_within_scale(free_at - now, scale) then
    string_state.reset(key, stamp) -- A broken clock wrote it.
    free_at, reset_stamp, gaps = nil, stamp, ''
  end
  return { key = key, reset_stamp = reset_stamp, free_at = free_at or now, scale = scale, gaps = gaps }
end

function leaky_bucket.test(rule, state, now, cost)
  local limit, interval = rule.limit, rule.interval
  local delay = math.max(0, state.free_at - now)
  local waiting = math.max(0, math.ceil(delay / interval) - 1)
  local wait = math.max(0, delay - (limit + 1 - cost) * interval)
  return {
    wait = cost > limit and NEVER or wait,
    delay = delay,
    remaining = math.max(0, limit - waiting),
    reset = math.max(0, delay - interval),
    -- `remaining` grows when the next unit leaves. It takes longer if another limit has let the queue become longer.
    next_unit = waiting > 0 and delay - math.min(waiting, limit) * interval or 0,
    at = now + delay,
  }
end

function leaky_bucket.record(rule, state, now, cost, verdict)
  state.scale = verdict.delay > 0 and math.max(state.scale, rule.scale) or rule.scale
  state.free_at = math.min(verdict.at + cost * rule.interval, now + MAX_AHEAD)
  local ahead = state.free_at - now
  if ahead > rule.keep then state.scale = math.max(state.scale, string_state.scale_of(ahead)) end -- More than the queue holds.
  -- Drops the gaps that have passed, because no action can use their slots.
  if state.gaps ~= '' then state.gaps = string.sub(state.gaps, count_before(state.gaps, now + 1) * GAP + 1) end
  string_state.write(state, format_state(state.free_at, state.scale, state.gaps))
  verdict = leaky_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.free_at, math.max(rule.keep, ahead)
  return verdict
end

function leaky_bucket.refund(rule, key, stamp, now, at, cost, kept, recorded_at)
  local free_at, scale, reset_stamp, gaps = read(key)
  at, cost = at + kept * rule.interval, cost - kept
  local ends = at + cost * rule.interval
  if not free_at or ends > free_at or (reset_stamp and reset_stamp > stamp) then return end

  -- The counterpart of addGap in queue-gaps.ts. It is defined here because a check does not need it.
  local function with_gap(from, to)
    local head_size = count_before(gaps, from) * GAP
    local start = head_size + 1
    if time_at(gaps, start + TIME) == from then from, start = time_at(gaps, start), start + GAP end
    local next_from = time_at(gaps, start)
    if next_from and next_from < to then return gaps end
    if next_from == to then to, start = time_at(gaps, start + TIME), start + GAP end
    local all = string.sub(gaps, 1, head_size) .. string.format('%017d%017d', from, to) .. string.sub(gaps, start)
    return string.sub(all, -MAX_GAPS * GAP)
  end

  if ends < free_at then
    if ends <= now then return end -- Nothing can use the slot.
    string_state.rewrite({ key = key, reset_stamp = reset_stamp }, format_state(free_at, scale, with_gap(at, ends)))
    return
  end
  free_at = at
  if gaps ~= '' and time_at(gaps, #gaps - TIME + 1) == at then
    free_at, gaps = time_at(gaps, #gaps - GAP + 1), string.sub(gaps, 1, -GAP - 1)
  end
  if at == recorded_at or (free_at < at and free_at <= now) then reset_stamp = stamp end -- The queue is empty.
  string_state.rewrite({ key = key, reset_stamp = reset_stamp }, format_state(free_at, scale, gaps))
  if not reset_stamp then return free_at, math.max(rule.keep, free_at - now) end
end

leaky_bucket.reset = string_state.reset
