-- A queue, first in, first out, that one unit leaves every interval. The twin of leaky-bucket.ts.
--
-- The text is the time from which on no slot is taken, in microseconds, and the scale (see time-scale.ts) in two digits, both in one,
-- which Redis keeps as a number. Refunded slots with taken ones behind them follow after "/": the start and the end of each gap,
-- ascending, merged where they touch (see queue-gaps.ts), in fixed width, so that a refund searches them in O(log n).

local leaky_bucket = {}
algorithms['leaky-bucket'] = leaky_bucket

function leaky_bucket.rule(limit, interval, scale)
  return { limit = limit, interval = interval, scale = scale, keep = (limit + 1) * interval }
end

-- The digits of a time, and of a gap.
local TIME, GAP = 17, 34
-- The most gaps that a key keeps. Every operation reads them all, and every check writes them.
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

-- The time from which on no slot is taken, if anything is known; the scale; the stamp of a reset; the gaps.
local function read(key)
  local text, since = string_state.read(key)
  if not text then return nil, 0, since, '' end
  local bar, gaps = string.find(text, '/', 1, true), ''
  if bar then
    spend(#text / 100)
    text, gaps = string.sub(text, 1, bar - 1), string.sub(text, bar + 1)
  end
  local free, scale = string.match(text, '^(%-?%d+)(%d%d)$')
  if not free or #gaps % GAP > 0 then string_state.refuse(key) end
  return tonumber(free), tonumber(scale), since, gaps
end

local function text_with(free, scale, gaps)
  local text = string.format('%d%02d', free, scale)
  if gaps == '' then return text end
  spend(#gaps / 100)
  return text .. '/' .. gaps
end

function leaky_bucket.find(rule, key, now, stamp)
  local free, scale, since, gaps = read(key)
  if free and not string_state.is_within_scale(free - now, scale) then
    string_state.forget(key, stamp) -- A broken clock wrote it.
    free, since, gaps = nil, stamp, ''
  end
  return { key = key, since = since, free = free or now, scale = scale, gaps = gaps }
end

function leaky_bucket.test(rule, state, now, cost)
  local limit, interval = rule.limit, rule.interval
  local delay = math.max(0, state.free - now)
  local waiting = math.max(0, math.ceil(delay / interval) - 1)
  local wait = math.max(0, delay - (limit + 1 - cost) * interval)
  return {
    wait = cost > limit and NEVER or wait,
    delay = delay,
    remaining = math.max(0, limit - waiting),
    reset = math.max(0, delay - interval),
    -- A place more comes free when the one that leaves next has left; or later, when the queue was longer once.
    steady = waiting > 0 and delay - math.min(waiting, limit) * interval or NEVER,
    at = now + delay,
  }
end

function leaky_bucket.record(rule, state, now, cost, verdict)
  state.scale = verdict.delay > 0 and math.max(state.scale, rule.scale) or rule.scale
  state.free = verdict.at + cost * rule.interval
  -- Nothing can use the slots of gaps that have passed.
  if state.gaps ~= '' then state.gaps = string.sub(state.gaps, count_before(state.gaps, now + 1) * GAP + 1) end
  string_state.write(state, text_with(state.free, state.scale, state.gaps))
  verdict = leaky_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.free, rule.keep
  return verdict
end

function leaky_bucket.refund(rule, key, stamp, now, at, cost, recorded_at)
  local free, scale, since, gaps = read(key)
  local ends = at + cost * rule.interval
  if not free or ends > free or (since and since > stamp) then return end

  -- The twin of addGap in queue-gaps.ts. It is defined here because a check does not need it.
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

  if ends < free then
    string_state.rewrite({ key = key, since = since }, text_with(free, scale, with_gap(at, ends)))
    return
  end
  free = at
  if gaps ~= '' and time_at(gaps, #gaps - TIME + 1) == at then
    free, gaps = time_at(gaps, #gaps - GAP + 1), string.sub(gaps, 1, -GAP - 1)
  end
  if at == recorded_at or (free < at and free <= now) then since = stamp end -- Nothing is left of the queue.
  string_state.rewrite({ key = key, since = since }, text_with(free, scale, gaps))
  if not since then return free, rule.keep end
end

leaky_bucket.forget = string_state.forget
