-- What both logs have in common: searching the hits of a key, and taking some back. The twin of hit-log.ts.

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
    -- From one hit earlier on, so that the newest of those that stay is written last, and says what the key is to say.
    local index = math.max(0, log.first_after(hits, time - 1) - 1)
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
end)
