-- The hits of one key as a Redis sorted set, as in the widely published algorithm. The score of a member is the time of a hit
-- in microseconds.
--
-- A member is "before:cost keep created". `before` is the units of all earlier hits, in 16 digits, so that hits of one
-- microsecond stay in order. `keep` belongs to the limit that recorded the hit, and `created` is the stamp of the first record.
-- Once a limit with a minDifference has recorded, the keep is at least the longest minDifference so far, and "+" and this
-- minDifference follow it. The oldest member also contains ";" and the gaps, if there are any (see hit-log.lua).

local log = {}

-- A log with more hits is deleted at once, because removing its members would take too long.
local MAX_REMOVED = 10000

-- The time of the hit at `index`, the units before it and its own, and its member.
local function read(hits, index)
  count_steps(5)
  local found = redis.call('ZRANGE', hits.key, index, index, 'WITHSCORES')
  local before, cost = string.match(found[1], '^(%d+):(%d+)[ ;]')
  if not before then
    if index >= 0 then error('damaged', 0) end
    log.raise_foreign(hits.key)
  end
  return tonumber(found[2]), tonumber(before), tonumber(cost), found[1]
end

-- How a member contains the limit that recorded it.
local function signature_of(recorder)
  local signature, keep, longest = recorder.signature, recorder.keep, recorder.min_difference
  signature = signature or longest > 0 and string.format(' %d+%d ', keep, longest) or string.format(' %d ', keep)
  recorder.signature = signature
  return signature
end

function log.empty(key)
  return { key = key, size = 0, dropped = 0, total = 0, refunded = 0 }
end

-- Opens the log of a key. `rule` is probably the limit that recorded last. Raises 'damaged' if the log contradicts itself, so that it
-- is dropped.
function log.open(key, rule)
  local size = redis.call('ZCARD', key)
  if size == 0 then return log.empty(key) end
  local hits = { key = key, size = size, refunded = 0 }
  local newest, before, cost, text = read(hits, -1)
  hits.newest, hits.text, hits.total = newest, text, before + cost
  if rule and string.find(text, signature_of(rule), 1, true) then hits.recorder = rule
  else
    local keep, longest = string.match(text, ' (%d+)%+?(%d*) ')
    hits.recorder = { keep = tonumber(keep), min_difference = tonumber(longest) or 0 }
  end
  hits.oldest, hits.dropped = newest, before
  local oldest_text, _ = text, nil
  if size > 1 then hits.oldest, hits.dropped, _, oldest_text = read(hits, 0) end
  if string.find(oldest_text, ';', 1, true) then
    log.read_gaps(hits, string.match(oldest_text, ';([%d,]*)'))
    hits.total = hits.total - hits.refunded
  end
  if not hits.recorder.keep or hits.total <= hits.dropped or hits.total > MAX_UNITS then error('damaged', 0) end
  return hits
end

function log.created(hits)
  return hits.stamp or tonumber(string.match(hits.text, '%d+$')) or error('damaged', 0)
end

local function add(hits, time, before, cost, gaps)
  local figures = string.format('%016d:%d', before, cost) .. (gaps or '')
  local member = figures .. signature_of(hits.recorder) .. string.format('%d', log.created(hits))
  redis.call('ZADD', hits.key, string.format('%d', time), member)
  return member
end

-- Replaces a member. Adds the new one first, because the key must stay (see hit-log.lua).
local function replace(hits, member, time, before, cost, gaps)
  if add(hits, time, before, cost, gaps) ~= member then redis.call('ZREM', hits.key, member) end
end

-- Adds the newest hit.
function log.append(hits, time, cost)
  add(hits, time, hits.total + hits.refunded, cost)
  if hits.size == 0 then hits.oldest = time end
  hits.size, hits.newest, hits.total = hits.size + 1, time, hits.total + cost
end

define_lazily(log, function()
  -- Keeps the key while all of its members are replaced (see hit-log.lua), until the returned function is called.
  local function hold(hits)
    redis.call('ZADD', hits.key, '+inf', '')
    return function() redis.call('ZREM', hits.key, '') end
  end

  -- The units of all hits before `index`, including those before the oldest hit.
  function log.total_before(hits, index)
    if index == hits.size then return hits.total end
    if hits.total - hits.dropped == hits.size then return hits.dropped + index end -- Every hit is one unit.
    local _, before = read(hits, index)
    return before - log.refunded_before(hits, before)
  end

  -- Drops the hits before `index`, and the units before the unit number `dropped`.
  function log.drop(hits, index, dropped)
    hits.stamp = log.created(hits)
    if index > 0 then redis.call('ZREMRANGEBYRANK', hits.key, 0, index - 1) end
    hits.size = hits.size - index
    if hits.size == 0 then
      hits.dropped, hits.total, hits.gaps, hits.refunded = 0, 0, nil, 0
      return
    end
    local time, before, cost, member = read(hits, 0)
    local had_gaps = hits.gaps
    if had_gaps then dropped = dropped + log.drop_gaps_before(hits, before) end
    hits.oldest, hits.dropped = time, dropped
    if dropped > before or had_gaps then
      local first = math.max(before, dropped)
      replace(hits, member, time, first, before + cost - first, log.gaps_text(hits))
    end
  end

  -- A member cannot be removed alone, because all later ones contain the units before them.
  function log.remove() return false end

  -- The hits from `index` on, as a list of times and units.
  function log.entries(hits, index)
    local entries = {}
    local found = redis.call('ZRANGE', hits.key, index, -1, 'WITHSCORES')
    for place = 1, #found, 2 do
      local cost = string.match(found[place], '^%d+:(%d+)') or error('damaged', 0)
      entries[#entries + 1] = { time = tonumber(found[place + 1]), units = tonumber(cost) }
    end
    return entries
  end

  -- Empties the log. A hit must follow. Returns what must be called then.
  function log.clear(hits)
    local finish
    if hits.size > MAX_REMOVED then redis.call('UNLINK', hits.key)
    else
      finish = hold(hits)
      redis.call('ZREMRANGEBYRANK', hits.key, 0, -2)
    end
    hits.stamp = log.created(hits)
    hits.size, hits.dropped, hits.total, hits.gaps, hits.refunded = 0, 0, 0, nil, 0
    return finish
  end

  -- Drops the hits from `index` on.
  function log.truncate(hits, index)
    if index == 0 then return log.drop(hits, hits.size, 0) end
    hits.total = log.total_before(hits, index)
    if hits.gaps then
      local _, before = read(hits, index)
      log.drop_gaps_after(hits, before)
    end
    redis.call('ZREMRANGEBYRANK', hits.key, index, -1)
    hits.size = index
    log.save(hits)
  end

  -- Writes the gaps into the oldest member.
  function log.save(hits)
    local time, before, cost, member = read(hits, 0)
    local gaps = log.gaps_text(hits)
    if (string.match(member, ';[%d,]*') or '') == gaps then return end
    replace(hits, member, time, before, cost, gaps)
  end

  -- Refunds units of the hit at `index`, which is neither the oldest nor the newest one. `whole` means all of its units.
  function log.refund_at(hits, index, units, whole)
    local time, before, cost = read(hits, index)
    redis.call('ZREMRANGEBYRANK', hits.key, index, index)
    if whole then hits.size = hits.size - 1 else add(hits, time, before, cost - units) end
    log.add_gap(hits, before + cost, units)
  end

  -- The position of the hit at `index`, which gaps refer to.
  function log.position(hits, index)
    local _, before = read(hits, index)
    return before
  end

  -- Subtracts units from the figures of the members from `first` to `last`.
  function log.subtract(hits, first, last, units)
    local finish = first == 0 and hold(hits)
    for start = first, last, 500 do -- Lua can pass only some thousand values at once.
      local stop = math.min(last, start + 499)
      local found = redis.call('ZRANGE', hits.key, start, stop, 'WITHSCORES')
      local members = {}
      for place = 1, #found, 2 do
        local before, rest = string.match(found[place], '^(%d+)(.*)$')
        if not before then error('damaged', 0) end
        members[place], members[place + 1] = found[place + 1], string.format('%016d', before - units) .. rest
      end
      redis.call('ZREMRANGEBYRANK', hits.key, start, stop)
      redis.call('ZADD', hits.key, unpack(members))
    end
    if finish then finish() end
  end

  -- Lowers the units of the hit at `index`, and the figures of the later ones. Returns the position from which gaps belong to these.
  function log.lower_figures(hits, index, units)
    if index + 1 < hits.size then log.subtract(hits, index + 1, hits.size - 1, units) end
    local time, _, cost, member = read(hits, index)
    local before, rest = string.match(member, '^(%d+):%d+(.*)$')
    redis.call('ZADD', hits.key, string.format('%d', time), before .. string.format(':%d', cost - units) .. rest)
    redis.call('ZREM', hits.key, member)
    return tonumber(before) + cost
  end
end)
