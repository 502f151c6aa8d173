-- The hits of one key as a Redis sorted set, as people know it from the published algorithm: the score of a member is
-- the time of a hit in microseconds.
--
-- A member is "before:cost keep since", in which `before` is the units of all earlier hits, written with 16 digits
-- so that hits of one microsecond stand in their order; the keep is that of the limit that recorded it,
-- and since says since when there is a log (a stamp).
--
-- An opened log has no hits when `size` is 0. `by` is the limit that recorded last: its keep, and the signature
-- by which a member says so. `dropped` is the units in front of the oldest hit, `total` those of all hits.

local log = {}

-- The time of the hit at `index`, the units before it and its own, and its member.
local function read(hits, index)
  local found = redis.call('ZRANGE', hits.key, index, index, 'WITHSCORES')
  local before, cost = string.match(found[1], '^(%d+):(%d+)')
  return tonumber(found[2]), tonumber(before), tonumber(cost), found[1]
end

-- The log of a key, of which `rule` is likely to have recorded last.
function log.open(key, rule)
  local size = redis.call('ZCARD', key)
  if size == 0 then return { key = key, size = 0, dropped = 0, total = 0 } end
  local hits = { key = key, size = size }
  local newest, before, cost, text = read(hits, -1)
  hits.newest, hits.text, hits.total = newest, text, before + cost
  if rule and string.find(text, rule.signature, 1, true) then hits.by = rule
  else
    local keep = string.match(text, ' (%d+) ')
    hits.by = { keep = tonumber(keep), signature = ' ' .. keep .. ' ' }
  end
  hits.oldest, hits.dropped = newest, before
  if size > 1 then hits.oldest, hits.dropped = read(hits, 0) end
  return hits
end

function log.since(hits)
  return hits.stamp or tonumber(string.match(hits.text, '%d+$'))
end

local function add(hits, time, before, cost)
  local member = string.format('%016d:%d', before, cost) .. hits.by.signature .. string.format('%d', log.since(hits))
  redis.call('ZADD', hits.key, text_of(time), member)
end

-- Adds the newest hit.
function log.append(hits, time, cost)
  add(hits, time, hits.total, cost)
  if hits.size == 0 then hits.oldest = time end
  hits.size, hits.newest, hits.total = hits.size + 1, time, hits.total + cost
end

on_demand(log, function()
  function log.time_of(hits, index)
    if index == 0 then return hits.oldest end
    return (read(hits, index))
  end

  -- The units of all hits before `index`, and those in front of the oldest.
  function log.total_before(hits, index)
    if index == hits.size then return hits.total end
    if hits.total - hits.dropped == hits.size then return hits.dropped + index end -- Every hit is one unit.
    local _, before = read(hits, index)
    return before
  end

  -- Forgets the hits before `index`, and of the units of those that stay all before `dropped`.
  function log.drop(hits, index, dropped)
    hits.stamp = log.since(hits)
    if index > 0 then redis.call('ZREMRANGEBYRANK', hits.key, 0, index - 1) end
    hits.size = hits.size - index
    if hits.size == 0 then
      hits.dropped, hits.total = 0, 0
      return
    end
    local time, before, cost = read(hits, 0)
    hits.oldest, hits.dropped = time, dropped
    if dropped > before then
      redis.call('ZREMRANGEBYRANK', hits.key, 0, 0)
      add(hits, time, dropped, before + cost - dropped)
    end
  end

  -- Notes the limit that records now: the next hit says it. A new log is there since `stamp`.
  function log.sign(hits, rule, stamp)
    if hits.size == 0 then hits.stamp = stamp end
    hits.by = rule
  end

  -- Every member says the units before it, so that none can go alone.
  function log.remove() return false end

  -- The hits from `index` on, as a list of times and units.
  function log.entries(hits, index)
    local entries = {}
    local found = redis.call('ZRANGE', hits.key, index, -1, 'WITHSCORES')
    for place = 1, #found, 2 do
      local cost = string.match(found[place], '^%d+:(%d+)')
      entries[#entries + 1] = { time = tonumber(found[place + 1]), units = tonumber(cost) }
    end
    return entries
  end

  -- Forgets the hits from `index` on.
  function log.truncate(hits, index)
    if index == 0 then return log.drop(hits, hits.size, 0) end
    hits.total = log.total_before(hits, index)
    redis.call('ZREMRANGEBYRANK', hits.key, index, -1)
    hits.size = index
  end
end)
