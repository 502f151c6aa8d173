-- A queue, first in, first out, that one unit leaves every interval. The twin of leaky-bucket.ts.
--
-- The text is the time from which on no place is taken, in microseconds, which Redis keeps as a number.

local leaky_bucket = {}
algorithms['leaky-bucket'] = leaky_bucket

function leaky_bucket.rule(limit, interval)
  return { limit = limit, interval = interval, keep = (limit + 1) * interval }
end

function leaky_bucket.find(rule, key, now, stamp)
  local text, since = cell.read(key)
  local free = tonumber(text or nil)
  if free and free - now > 2 * rule.keep then
    cell.forget(key, stamp) -- A broken clock wrote it, or a limit of much greater numbers.
    free, since = nil, stamp
  end
  return { key = key, since = since, free = free or now }
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
  state.free = verdict.at + cost * rule.interval
  cell.write(state, text_of(state.free))
  verdict = leaky_bucket.test(rule, state, now, cost)
  verdict.expires, verdict.keep = state.free, rule.keep
  return verdict
end

function leaky_bucket.refund(rule, key, stamp, _, at, cost)
  local text, since = cell.read(key)
  if not text or tonumber(text) ~= at + cost * rule.interval or (since and since > stamp) then return end
  cell.rewrite({ key = key, since = since }, text_of(at))
  if not since then return at, rule.keep end
end

leaky_bucket.forget = cell.forget
