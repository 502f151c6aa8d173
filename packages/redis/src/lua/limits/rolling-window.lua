-- The rolling window: at no instant are there more than `limit` units in the last `window`. The counterpart of
-- rolling-window.ts.
--
-- common.lua describes times, stamps and the steps of an algorithm, and has what all algorithms share. hit-log.lua describes
-- `log`, which is that of hit-log-packed.lua or hit-log-sorted-set.lua.

local rolling_window = {}
algorithms['rolling-window'] = rolling_window

-- The most hits that one check drops. A sorted set takes time for each of them, and the server serves no other client until
-- then. Hits outside the window do not count, so the rest can wait for the next check.
local MAX_DROPPED = 10000
-- Redis accepts every string of this length and one more hit, because `proto-max-bulk-len` is at least 1 MiB.
local SAFE_LENGTH = 2 ^ 20 - 100
-- How far ahead of now a queue records hits at most (see tickets.lua). The log of such hits is dated.
local MAX_DATED = 1000000

function rolling_window.rule(limit, window, min_difference)
  local keep = math.max(window, min_difference)
  return { limit = limit, window = window, min_difference = min_difference, keep = keep }
end

-- When a key with its newest hit at `time` expires: `keep` after the end of the half of a keep in which the time lies. So most
-- hits leave the TTL as it is.
local function expiry_of(time, keep)
  local half = keep / 2
  return time - time % half + half + keep
end

-- For how long after its newest hit a key lives at most.
local function longest_life(keep)
  return keep + keep / 2
end

-- How long until a unit more is free, if the hits from `first` on leave `free`. One of them is in the window.
local function until_next_unit(hits, first, free, window, now)
  if free < 0 then first = log.index_of_unit(hits, first, 1 - free) end
  return (first == 0 and hits.oldest or log.time_of(hits, first)) + window - now
end

-- From what time on windows end for a check at `now`. A newest hit ahead of now means that the clock has stepped back, so time
-- stands still until then. That of a dated log is a start that is due soon, and all hits in the window that ends now count.
local function present(hits, now)
  local newest = hits.newest
  if newest <= now then return now end
  return hits.is_dated and math.max(now, newest - MAX_DATED) or newest
end

rolling_window.read = log.open

function rolling_window.find(rule, key, now)
  local hits = log.open(key, rule)
  if hits.size == 0 then return hits end
  local newest = hits.newest
  if newest - now > rule.window + (hits.is_dated and MAX_DATED or 0) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return log.empty(key)
  end
  -- The log of a start ahead of now still has hits that count until then.
  if newest + hits.recorder.keep > now - (rule.is_dated and MAX_DATED or 0) then return hits end
  local empty = log.empty(key)
  empty.expired = hits
  return empty
end

function rolling_window.test(rule, hits, now, cost)
  local limit, window = rule.limit, rule.window
  local wait, by_min_difference = 0, nil
  if hits.size == 0 then
    if cost > limit then wait = NEVER end
    return { wait = wait, remaining = limit, reset = 0, at = now, next_unit = 0 }
  end
  local newest = hits.newest
  local at, time = now, now
  if newest > now then at, time = newest, present(hits, now) end
  local first, dropped = 0, hits.dropped
  if hits.oldest <= time - window then
    first = log.first_after(hits, time - window)
    dropped = log.total_before(hits, first)
  end
  local free = limit - (hits.total - dropped)
  -- The key expires by the limit that recorded last and the longest minDifference. No wait is longer, because an expired key
  -- rejects nothing.
  local left = newest + hits.recorder.keep - now
  if left < 0 then left = 0 end -- A start ahead of now finds a log that ends before it.
  if cost > limit then wait = NEVER
  else
    if cost > free then wait = log.time_of(hits, log.index_of_unit(hits, first, cost - free)) + window - now end
    local difference_wait = rule.min_difference > 0 and newest + rule.min_difference - now or 0
    if difference_wait > wait then wait, by_min_difference = difference_wait, true end
    if wait > left then wait = left end
  end
  local reset = newest + window - now
  if reset > left then reset = left end
  local next_unit = free < limit and until_next_unit(hits, first, free, window, now) or 0
  return {
    wait = wait,
    remaining = free > 0 and free or 0,
    reset = reset > 0 and reset or 0,
    at = at,
    next_unit = next_unit < left and next_unit or left,
    by_min_difference = by_min_difference,
  }
end

-- Raises an error if the record would make the log too long for Redis.
function rolling_window.ensure_fits(hits)
  if hits.length and hits.length > SAFE_LENGTH then log.ensure_fits(hits) end
end

-- The recorder of the log after `rule` records. It keeps the longest minDifference of all limits that have recorded.
local function next_recorder(recorder, rule)
  local longest = recorder and recorder.min_difference or 0
  if longest <= rule.min_difference then return rule end
  return { keep = math.max(rule.keep, longest), min_difference = longest }
end

function rolling_window.record(rule, hits, now, cost, verdict, stamp)
  local at = verdict.at
  -- Only the newest `limit` units affect decisions with countRejected. An overdraft must not make the units inexact.
  local most = rule.counts_rejected and rule.limit or MAX_UNITS
  local units = math.min(cost, most)
  local finish = hits.expired and log.clear(hits.expired)
  if hits.recorder ~= rule then
    local last, recorder = hits.recorder, next_recorder(hits.recorder, rule)
    if not last or last.keep ~= recorder.keep or last.min_difference ~= recorder.min_difference then
      log.set_recorder(hits, recorder, stamp)
    end
  end
  local keep = hits.recorder.keep
  -- Older versions reject a dated log, whose hits they would count wrongly. It is dated as long as a hit may be ahead of now.
  hits.is_dated = rule.is_dated or (hits.is_dated and hits.size > 0 and hits.newest > now) or nil
  local oldest_kept = at - keep - (hits.is_dated and MAX_DATED or 0)
  local overflows = hits.total + hits.refunded + units > MAX_UNITS
  local first, dropped = 0, hits.dropped
  if hits.size > 0 and hits.oldest <= oldest_kept then
    first = log.first_after(hits, oldest_kept)
    dropped = log.total_before(hits, first)
  end
  local excess = hits.total - dropped - (most - units)
  if excess > 0 then
    dropped = dropped + excess
    first = dropped == hits.total and hits.size or log.index_of_unit(hits, 0, dropped - hits.dropped + 1)
  end
  if first > MAX_DROPPED and first < hits.size and not overflows then
    first, dropped = MAX_DROPPED, log.total_before(hits, MAX_DROPPED)
  end
  count_steps(first / 10)
  if first > 0 and first == hits.size then finish = log.clear(hits)
  elseif first > 0 or dropped > hits.dropped then log.drop(hits, first, dropped) end
  if overflows and hits.size > 0 then log.restart(hits) end
  log.append(hits, at, units)
  if finish then finish() end
  if rule.counts_rejected then
    local rejection = verdict
    verdict = rolling_window.test(rule, hits, now, cost)
    -- What rejected the attempt stays its reason, even if the attempt has filled the window.
    if rejection.wait > 0 then verdict.by_min_difference = rejection.by_min_difference end
  else
    verdict.remaining = math.max(0, verdict.remaining - cost)
    verdict.reset = at + rule.window - now
    local start = (hits.is_dated and math.max(now, at - MAX_DATED) or at) - rule.window
    first = hits.oldest <= start and log.first_after(hits, start) or 0
    verdict.next_unit = until_next_unit(hits, first, 0, rule.window, now)
  end
  verdict.expires, verdict.keep = expiry_of(at, keep), longest_life(keep)
  return verdict
end

function rolling_window.refund(_, key, stamp, _, at, cost, kept)
  local hits = log.open(key)
  if hits.size == 0 or log.created(hits) > stamp then return nil end
  log.refund(hits, at, cost - kept)
  if hits.size == 0 then return nil end
  -- The newest hit may be gone. Then the key expires earlier.
  return expiry_of(hits.newest, hits.recorder.keep), longest_life(hits.recorder.keep)
end
