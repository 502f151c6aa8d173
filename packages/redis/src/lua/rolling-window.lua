-- At no instant do more than `limit` units lie inside the last `window`. The twin of rolling-window.ts.

local rolling_window = {}
algorithms['rolling-window'] = rolling_window

-- Beyond it sums of units are no longer exact.
local LARGEST_TOTAL = 2 ^ 53 - 1
-- So many hits are dropped at once, because others wait meanwhile. Hits that have left the window count no more, there or not.
local MOST_DROPPED = 10000

function rolling_window.rule(limit, window, min_difference)
  local keep = math.max(window, min_difference)
  local signature = min_difference > 0 and string.format(' %d+%d ', keep, min_difference) or string.format(' %d ', keep)
  return { limit = limit, window = window, min_difference = min_difference, keep = keep, signature = signature }
end

function rolling_window.find(rule, key, now)
  local hits = log.open(key, rule)
  if hits.size == 0 then return hits end
  local newest = hits.newest
  if newest - now > rule.window then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return { key = key, size = 0, dropped = 0, total = 0, taken = 0 }
  end
  if newest + hits.by.keep > now then return hits end
  return { key = key, size = 0, dropped = 0, total = 0, taken = 0, is_expired = true }
end

function rolling_window.test(rule, hits, now, cost)
  local limit, window = rule.limit, rule.window
  local wait, is_apart = 0, nil
  if hits.size == 0 then
    if cost > limit then wait = NEVER end
    return { wait = wait, remaining = limit, reset = 0, at = now, steady = NEVER }
  end
  local newest = hits.newest
  local at = newest > now and newest or now
  local first, dropped = 0, hits.dropped
  if hits.oldest <= at - window then
    first = log.first_after(hits, at - window)
    dropped = log.total_before(hits, first)
  end
  local free = limit - (hits.total - dropped)
  -- The key is kept no longer than the limit that recorded last and the longest minDifference need it: then nothing is in the way.
  local left = newest + hits.by.keep - now
  if cost > limit then wait = NEVER
  else
    if cost > free then wait = log.time_of(hits, log.index_of_unit(hits, first, cost - free)) + window - now end
    local until_apart = rule.min_difference > 0 and newest + rule.min_difference - now or 0
    if until_apart > wait then wait, is_apart = until_apart, true end
    if wait > left then wait = left end
  end
  local reset = newest + window - now
  if reset > left then reset = left end
  local steady = left
  if first == 0 then steady = hits.oldest + window - now
  elseif first < hits.size then steady = log.time_of(hits, first) + window - now end
  return {
    wait = wait,
    remaining = free > 0 and free or 0,
    reset = reset > 0 and reset or 0,
    at = at,
    steady = steady < left and steady or left,
    is_apart = is_apart,
  }
end

-- By which keep hits are kept when `rule` records after `by`: also for a longer minDifference of a limit that has recorded before.
local function next_by(by, rule)
  local longest = by and by.min_difference or 0
  if longest <= rule.min_difference then return rule end
  local keep = math.max(rule.keep, longest)
  return { keep = keep, min_difference = longest, signature = string.format(' %d+%d ', keep, longest) }
end

function rolling_window.record(rule, hits, now, cost, verdict, stamp)
  local at = verdict.at
  local units = rule.counts_rejected and math.min(cost, rule.limit) or cost
  if hits.is_expired then redis.call('UNLINK', hits.key) end
  if hits.by ~= rule then
    local by = next_by(hits.by, rule)
    if not hits.by or by.signature ~= hits.by.signature then log.sign(hits, by, stamp) end
  end
  local keep = hits.by.keep
  local first, dropped = 0, hits.dropped
  if hits.size > 0 and hits.oldest <= at - keep then
    first = log.first_after(hits, at - keep)
    dropped = log.total_before(hits, first)
  end
  if rule.counts_rejected then
    -- Beyond `limit` units no older hit can change a decision: whatever it says, the newer ones say already.
    local excess = hits.total - dropped - (rule.limit - units)
    if excess > 0 then
      dropped = dropped + excess
      first = dropped == hits.total and hits.size or log.index_of_unit(hits, 0, dropped - hits.dropped + 1)
    end
  end
  if first > MOST_DROPPED and first < hits.size then first, dropped = MOST_DROPPED, log.total_before(hits, MOST_DROPPED) end
  spend(first / 10)
  if first > 0 or dropped > hits.dropped then log.drop(hits, first, dropped) end
  if hits.total + hits.taken + units > LARGEST_TOTAL then log.replace(hits, 0, log.entries(hits, 0)) end
  log.append(hits, at, units)
  if rule.counts_rejected then
    verdict = rolling_window.test(rule, hits, now, cost)
  else
    verdict.remaining = verdict.remaining - cost
    verdict.reset = at + rule.window - now
  end
  verdict.expires, verdict.keep = at + keep, keep
  return verdict
end

function rolling_window.refund(_, key, stamp, _, at, cost)
  local hits = log.open(key)
  if hits.size == 0 or log.since(hits) > stamp then return nil end
  log.take_back(hits, at, cost)
  if hits.size == 0 then return nil end
  return hits.newest + hits.by.keep, hits.by.keep
end
