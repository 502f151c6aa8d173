-- What both logs have in common: searching the hits of a key, and taking some back. The twin of hit-log.ts.
--
-- Every hit says how many units there are up to it. To take back an old hit would be to write all newer ones, so a gap stands for
-- it: "position,units" says that what is at least `position` includes `units` that are no longer there. There are few gaps:
-- with one too many, the hits between two of them are written, and one gap is left of the two.

-- So many newer hits are written at most in the place of a gap.
local NEAR = 32
-- Each is looked at in each search, so that more would make the usual check of such a key slow.
local MOST_GAPS = 64

on_demand(log, function()
  -- The first index above `low` for which `holds`; `high` when none below it does. Once it holds, it holds ever after.
  local function first_where(low, high, holds)
    while low + 1 < high do
      local middle = math.floor((low + high) / 2)
      if holds(middle) then high = middle else low = middle end
    end
    return high
  end

  -- The index of the first hit later than `time`. Fast near the oldest.
  function log.first_after(hits, time)
    local size = hits.size
    if size == 0 or hits.oldest > time then return 0 end
    if hits.newest <= time then return size end
    local step = 1
    while step < size and log.time_of(hits, step) <= time do step = step * 2 end
    return first_where(math.floor(step / 2), math.min(step, size), function(index) return log.time_of(hits, index) > time end)
  end

  -- The index of the hit that holds the unit number `units`, counted from the hit at `from`. There are that many.
  function log.index_of_unit(hits, from, units)
    if hits.total - hits.dropped == hits.size then return from + units - 1 end
    local total = log.total_before(hits, from) + units
    return first_where(from - 1, hits.size - 1, function(index) return log.total_before(hits, index + 1) >= total end)
  end

  -- Writes the hits anew from `index` on, with these in their place.
  function log.replace(hits, index, entries)
    log.truncate(hits, index)
    for _, entry in ipairs(entries) do log.append(hits, entry.time, entry.units) end
  end

  -- Takes back up to `cost` of the units that were recorded at `time`.
  function log.take_back(hits, time, cost)
    if log.remove(hits, time, cost) then return end
    local from, last = log.first_after(hits, time - 1), log.first_after(hits, time) - 1
    if hits.size - from > NEAR then return log.take_far_back(hits, time, cost, last) end
    -- From one hit earlier on, so that the newest of those that stay is written last, and says what the key is to say.
    local index = math.max(0, from - 1)
    spend(5 * (hits.size - index))
    local entries, left = log.entries(hits, index), cost
    for place = #entries, 1, -1 do
      local entry = entries[place]
      if entry.time == time then
        local taken = math.min(left, entry.units)
        left, entry.units = left - taken, entry.units - taken
        if entry.units == 0 then table.remove(entries, place) end
      end
    end
    if left < cost then log.replace(hits, index, entries) end
  end

  -- As take_back, writing none of the newer hits; `index` is that of the last hit of this time.
  function log.take_far_back(hits, time, cost, index)
    local left = cost
    while left > 0 and index >= 0 and log.time_of(hits, index) == time do
      local before, after = log.total_before(hits, index), log.total_before(hits, index + 1)
      local units = math.min(left, after - before)
      local whole = units == after - before
      if index == 0 then log.drop(hits, whole and 1 or 0, before + units)
      elseif index == hits.size - 1 then
        local entries = log.entries(hits, index - 1) -- The one before it becomes the newest, and is written like one.
        entries[2] = not whole and { time = time, units = after - before - units } or nil
        log.replace(hits, index - 1, entries)
      else log.take_at(hits, index, units, whole) end
      left, index = left - units, index - 1
      spend(60)
    end
    if hits.size > 0 then hits.newest = log.time_of(hits, hits.size - 1) end
  end

  function log.read_gaps(hits, text)
    hits.gaps = {}
    for position, units in string.gmatch(text, '(%d+),(%d+)') do
      hits.gaps[#hits.gaps + 1] = { position = tonumber(position), units = tonumber(units) }
      hits.taken = hits.taken + units
    end
    spend(#hits.gaps)
  end

  function log.gaps_text(hits)
    local parts = {}
    for index, gap in ipairs(hits.gaps or {}) do parts[index] = string.format('%d,%d', gap.position, gap.units) end
    return #parts > 0 and ';' .. table.concat(parts, ',') or ''
  end

  -- The units that are no longer there, of those up to `position`.
  function log.taken_before(hits, position)
    local taken = 0
    if hits.gaps then spend(4) end
    for _, gap in ipairs(hits.gaps or {}) do
      if gap.position > position then break end
      taken = taken + gap.units
    end
    return taken
  end

  -- Keeps the gaps for which `keeps`; returns the units of the others.
  local function filter(hits, keeps)
    local kept, units = {}, 0
    for _, gap in ipairs(hits.gaps) do
      if keeps(gap) then kept[#kept + 1] = gap else units = units + gap.units end
    end
    hits.gaps, hits.taken = #kept > 0 and kept or nil, hits.taken - units
    return units
  end

  -- Forgets the gaps in front of the hit that says `position`: from now on the figures include their units, which are returned.
  function log.forget_gaps(hits, position)
    local units = filter(hits, function(gap) return gap.position > position end)
    hits.total = hits.total + units
    return units
  end

  -- Forgets the gaps behind the hit that says `position`: no newer one is there.
  function log.keep_gaps(hits, position)
    filter(hits, function(gap) return gap.position <= position end)
  end

  -- Closes a gap with few hits between it and the next one, by writing these.
  local function close_gap(hits)
    local gaps, from = hits.gaps, {}
    -- The first hit that says no less than the gap. It lies behind that of the gap before it, if that is known.
    local function find(index)
      local low = from[index - 1] or 0
      from[index] = first_where(low - 1, hits.size, function(hit) return log.position(hits, hit) >= gaps[index].position end)
      spend(60)
    end
    local pairs_of_gaps = #gaps - 1
    local best, least, fewest = 1, NEVER, NEVER
    for index = 1, pairs_of_gaps do
      local units = gaps[index + 1].position - gaps[index].position
      if units < least then best, least = index, units end
    end
    if least <= 4 * NEAR then -- Nor are there more hits than units.
      find(best)
      find(best + 1)
    else
      -- Some pairs, begun with by chance, so that no caller can see to it that there are many hits between all of them.
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
    if first <= last then log.lower(hits, first, last, gaps[best].units) end
    spend(5 * (from[best + 1] - from[best]))
    gaps[best + 1].units = gaps[best + 1].units + gaps[best].units
    table.remove(gaps, best)
  end

  -- Notes that what is at least `position` includes units that are no longer there.
  function log.add_gap(hits, position, units)
    local gaps = hits.gaps or {}
    local index = #gaps
    while index > 0 and gaps[index].position > position do index = index - 1 end
    if index > 0 and gaps[index].position == position then gaps[index].units = gaps[index].units + units
    else table.insert(gaps, index + 1, { position = position, units = units }) end
    hits.gaps, hits.taken, hits.total = gaps, hits.taken + units, hits.total - units
    if #gaps > MOST_GAPS then close_gap(hits) end
    log.save(hits)
  end
end)
