-- What both hit logs share: searching the hits of a key, and refunding some. The counterpart of hit-log.ts.
--
-- Every hit contains the number of units up to it. A refund of an old hit would have to rewrite all newer ones, so it leaves a
-- gap instead. The gap "position,units" means that every figure from `position` on includes `units` that are no longer there.
-- A key has at most MAX_GAPS gaps. One more closes a gap: the hits between two gaps are rewritten, and both become one.
--
-- An opened log is a table with these fields:
--   size                   the number of hits
--   recorder               the limit that recorded last: its keep, and the longest minDifference so far
--   dropped                the units before the oldest hit
--   total                  the units of all hits
--   gaps, refunded         the gaps, and their units, which the stored figures still include

-- A refund rewrites at most this many newer hits instead of leaving a gap.
local NEAR = 32
-- The same for a part of a hit, as a settlement refunds it. Then only figures change.
local NEAR_PART = 512
-- Every search reads all gaps, so more of them would slow down the usual check of such a key.
local MAX_GAPS = 64

function log.time_of(hits, index)
  if index == 0 then return hits.oldest end
  return (read(hits, index))
end

-- Sets the limit that records now. The next write saves it. `stamp` identifies a new log.
function log.set_recorder(hits, rule, stamp)
  if hits.size == 0 then hits.stamp = stamp end
  hits.recorder = rule
end

define_lazily(log, function()
  function log.raise_foreign(key)
    error('Expected a log of hits in ' .. key .. ', got another value. Delete the key or change the prefix', 0)
  end

  -- The first index above `low` for which `predicate` is true; `high` if it is false below it. It never changes back to false.
  local function first_where(low, high, predicate)
    while low + 1 < high do
      local middle = math.floor((low + high) / 2)
      if predicate(middle) then high = middle else low = middle end
    end
    return high
  end

  -- The index of the first hit later than `time`. Fast near the oldest hit.
  function log.first_after(hits, time)
    local size = hits.size
    if size == 0 or hits.oldest > time then return 0 end
    if hits.newest <= time then return size end
    local step = 1
    while step < size and log.time_of(hits, step) <= time do step = step * 2 end
    return first_where(math.floor(step / 2), math.min(step, size), function(index) return log.time_of(hits, index) > time end)
  end

  -- The index of the first hit that is not earlier than `time`. Fast near the newest hit, where most refunds are.
  local function first_since(hits, time)
    local size, step = hits.size, 1
    while step < size and log.time_of(hits, size - step) >= time do step = step * 4 end
    local low, high = step < size and size - step or -1, step > 1 and size - step / 4 or size
    return first_where(low, high, function(index) return log.time_of(hits, index) >= time end)
  end

  -- The index of the first hit of this time, and of the last one. If there is none, the last index is one less than the first.
  function log.range_of(hits, time)
    local size, step, first = hits.size, 1, first_since(hits, time)
    if first == size or log.time_of(hits, first) > time then return first, first - 1 end
    while first + step < size and log.time_of(hits, first + step) <= time do step = step * 2 end
    local low, high = first + math.floor(step / 2), math.min(first + step, size)
    return first, first_where(low, high, function(index) return log.time_of(hits, index) > time end) - 1
  end

  -- The index of the hit that contains the unit number `units`, counted from the hit at `from`. There are that many.
  function log.index_of_unit(hits, from, units)
    if hits.total - hits.dropped == hits.size then return from + units - 1 end
    local total = log.total_before(hits, from) + units
    return first_where(from - 1, hits.size - 1, function(index) return log.total_before(hits, index + 1) >= total end)
  end

  -- Replaces the hits from `index` on with these entries. The key must stay, because a script cannot create a key whose hash
  -- slot moves to another node of a Cluster.
  function log.rewrite_from(hits, index, entries)
    local finish
    if index == 0 and #entries > 0 then finish = log.clear(hits) else log.truncate(hits, index) end
    for _, entry in ipairs(entries) do log.append(hits, entry.time, entry.units) end
    if finish then finish() end
  end

  -- Drops all but the oldest `units` units. Writes the newest hit that is left again, with the data of the key.
  function log.keep_oldest(hits, units)
    if units == 0 then return log.truncate(hits, 0) end
    local index = log.index_of_unit(hits, 0, units)
    local time, before = log.time_of(hits, index), log.total_before(hits, index) - hits.dropped
    count_steps(60)
    log.rewrite_from(hits, index, { { time = time, units = units - before } })
  end

  -- Refunds up to `cost` of the units that were recorded at `time`.
  function log.refund(hits, time, cost)
    if log.remove(hits, time, cost) then return end
    local from, last = log.range_of(hits, time)
    local is_part = from == last and log.total_before(hits, from + 1) - log.total_before(hits, from) > cost
    if is_part and hits.size - from <= NEAR_PART then return log.lower(hits, from, cost) end
    if hits.size - from > NEAR then return log.refund_far(hits, time, cost, last) end
    -- Starts one hit earlier, because the newest remaining hit must be written last, with the data of the key.
    local index = math.max(0, from - 1)
    count_steps(5 * (hits.size - index))
    local entries, left = log.entries(hits, index), cost
    for place = #entries, 1, -1 do
      local entry = entries[place]
      if entry.time == time then
        local taken = math.min(left, entry.units)
        left, entry.units = left - taken, entry.units - taken
        if entry.units == 0 then table.remove(entries, place) end
      end
    end
    if left < cost then log.rewrite_from(hits, index, entries) end
  end

  -- Does the same without rewriting newer hits. `index` is the last hit of this time.
  function log.refund_far(hits, time, cost, index)
    local left = cost
    while left > 0 and index >= 0 and log.time_of(hits, index) == time do
      local before, after = log.total_before(hits, index), log.total_before(hits, index + 1)
      local units = math.min(left, after - before)
      local whole = units == after - before
      if index == 0 then
        log.drop(hits, whole and 1 or 0, before + units)
        if hits.size > 0 then log.save(hits) end
      elseif index == hits.size - 1 then
        local entries = log.entries(hits, index - 1) -- The hit before it becomes the newest, and is written like one.
        entries[2] = not whole and { time = time, units = after - before - units } or nil
        log.rewrite_from(hits, index - 1, entries)
      else log.refund_at(hits, index, units, whole) end
      left, index = left - units, index - 1
      count_steps(60)
    end
    if hits.size > 0 then hits.newest = log.time_of(hits, hits.size - 1) end
  end

  -- Takes some, but not all, of the units of the hit at `index`.
  function log.lower(hits, index, units)
    local position = log.lower_figures(hits, index, units)
    for _, gap in ipairs(hits.gaps or {}) do
      if gap.position >= position then gap.position = gap.position - units end
    end
    hits.total = hits.total - units
    count_steps((hits.size - index) / 2)
    if hits.gaps then log.save(hits) end
  end

  function log.read_gaps(hits, text)
    hits.gaps = {}
    for position, units in string.gmatch(text, '(%d+),(%d+)') do
      hits.gaps[#hits.gaps + 1] = { position = tonumber(position), units = tonumber(units) }
      hits.refunded = hits.refunded + units
    end
    count_steps(#hits.gaps)
  end

  function log.gaps_text(hits)
    local parts = {}
    for index, gap in ipairs(hits.gaps or {}) do parts[index] = string.format('%d,%d', gap.position, gap.units) end
    return #parts > 0 and ';' .. table.concat(parts, ',') or ''
  end

  -- The refunded units that the figures up to `position` include.
  function log.refunded_before(hits, position)
    local refunded = 0
    if hits.gaps then count_steps(4) end
    for _, gap in ipairs(hits.gaps or {}) do
      if gap.position > position then break end
      refunded = refunded + gap.units
    end
    return refunded
  end

  -- Drops the gaps for which `keeps` is false, and returns their units.
  local function filter(hits, keeps)
    local kept, units = {}, 0
    for _, gap in ipairs(hits.gaps) do
      if keeps(gap) then kept[#kept + 1] = gap else units = units + gap.units end
    end
    hits.gaps, hits.refunded = #kept > 0 and kept or nil, hits.refunded - units
    return units
  end

  -- Drops the gaps up to `position`, and returns their units, which the figures include from now on.
  function log.drop_gaps_before(hits, position)
    local units = filter(hits, function(gap) return gap.position > position end)
    hits.total = hits.total + units
    return units
  end

  -- Drops the gaps after `position`, because no newer hit exists.
  function log.drop_gaps_after(hits, position)
    filter(hits, function(gap) return gap.position <= position end)
  end

  -- Merges two gaps that have few hits between them, by rewriting these hits.
  local function close_gap(hits)
    local gaps, from = hits.gaps, {}
    local has_ones = hits.total - hits.dropped == hits.size -- Every hit is one unit.
    -- Finds the first hit of a gap. It comes after the first hit of the previous gap.
    local function find(index)
      local low, position, refunded = from[index - 1] or 0, gaps[index].position, 0
      local function is_behind(hit) return log.position(hits, hit) >= position end
      for before = 1, has_ones and index or 0 do refunded = refunded + gaps[before].units end
      local guess = position - hits.dropped - refunded
      local is_found = has_ones and guess > low and guess < hits.size and is_behind(guess) and not is_behind(guess - 1)
      from[index] = is_found and guess or first_where(low - 1, hits.size, is_behind)
      count_steps(is_found and 10 or 60)
    end
    local pairs_of_gaps = #gaps - 1
    local best, least, fewest = 1, NEVER, NEVER
    for index = 1, pairs_of_gaps do
      local units = gaps[index + 1].position - gaps[index].position
      if units < least then best, least = index, units end
    end
    if has_ones or least <= 4 * NEAR then -- There are at most as many hits as units.
      find(best)
      find(best + 1)
    else
      -- Looks at some pairs from a random start, so that no client can force a search with many hits between each pair.
      local start = redis.call('TIME')[2] % pairs_of_gaps
      for step = 0, math.min(pairs_of_gaps, 16) - 1 do
        local index = (start + 4 * step) % pairs_of_gaps + 1
        find(index)
        find(index + 1)
        local between = from[index + 1] - from[index]
        if between < fewest then best, fewest = index, between end
      end
    end
    local first, last = from[best], from[best + 1] - 1
    if first <= last then log.subtract(hits, first, last, gaps[best].units) end
    count_steps(5 * (from[best + 1] - from[best]))
    gaps[best + 1].units = gaps[best + 1].units + gaps[best].units
    table.remove(gaps, best)
  end

  -- Rewrites all figures without the units that were dropped or refunded, so that they start at the oldest hit.
  function log.restart(hits)
    local units, from = hits.dropped, 0
    if units + hits.refunded == 0 then return end
    local function subtract_before(stop)
      if units > 0 and from < stop then log.subtract(hits, from, stop - 1, units) end
      from = stop
    end
    -- Hits without a figure come first. They stay as they are.
    from = first_where(-1, hits.size, function(hit) return log.position(hits, hit) >= 0 end)
    for _, gap in ipairs(hits.gaps or {}) do
      subtract_before(first_where(from - 1, hits.size, function(hit) return log.position(hits, hit) >= gap.position end))
      units = units + gap.units
    end
    subtract_before(hits.size)
    count_steps(5 * hits.size)
    hits.total, hits.dropped, hits.gaps, hits.refunded = hits.total - hits.dropped, 0, nil, 0
    log.save(hits)
  end

  -- Adds a gap: figures from `position` on include units that are no longer there.
  function log.add_gap(hits, position, units)
    local gaps = hits.gaps or {}
    local index = #gaps
    while index > 0 and gaps[index].position > position do index = index - 1 end
    if index > 0 and gaps[index].position == position then gaps[index].units = gaps[index].units + units
    else table.insert(gaps, index + 1, { position = position, units = units }) end
    hits.gaps, hits.refunded, hits.total = gaps, hits.refunded + units, hits.total - units
    if #gaps > MAX_GAPS then close_gap(hits) end
    log.save(hits)
  end
end)
