-- A queue, first in, first out, that one unit leaves every interval. The twin of leaky-bucket.ts.
--
-- The text is the time from which on no place is taken, in microseconds, and the scale (see scale.ts) in two digits, both in one,
-- which Redis keeps as a number.

local leaky_bucket = {}
algorithms['leaky-bucket'] = leaky_bucket

function leaky_bucket.rule(limit, interval, scale)
  return { limit = limit, interval = interval, scale = scale, keep = (limit + 1) * interval }
end

-- From when on no place is taken, if anything is known; the scale; and the stamp of a reset.
local function read(key)
  local text, since = cell.read(key)
  if not text then return nil, 0, since end
  local free, scale = string.match(text, '^(%-?%d+)(%d%d)$')
  if not free then cell.refuse(key) end
  return tonumber(free), tonumber(scale), since
end

local function text_with(free, scale)
  return string.format('%d%02d', free, scale)
end

function leaky_bucket.find(rule, key, now, stamp)
  local free, scale, since = read(key)
  if free and not cell.is_within_scale(free - now, scale) then
    cell.forget(key, stamp) -- A broken clock wrote it.
    free, since = nil, stamp
  end
  return { key = key, since = since, free = free or now, scale = scale }
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
  cell.write(state, text_with(state.free, state.scale))
  verdict = leaky_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.free, rule.keep
  return verdict
end

function leaky_bucket.refund(rule, key, stamp, _, at, cost, recorded_at)
  local free, scale, since = read(key)
  if free ~= at + cost * rule.interval or (since and since > stamp) then return end
  if at == recorded_at then since = stamp end -- It began the queue: nothing is left of it.
  cell.rewrite({ key = key, since = since }, text_with(at, scale))
  if not since then return at, rule.keep end
end

leaky_bucket.forget = cell.forget
