-- Changes of a packed log other than a new hit: deleting, removing and rewriting hits, for refunds and for totals that have
-- become too large. It continues hit-log-packed.lua.

-- How many hits one call reads or writes.
local MAX_BLOCK = 64

define_lazily(log, function()
  -- Deletes the log. A hit that follows starts it again.
  function log.delete(hits)
    redis.call('UNLINK', hits.key)
    log.clear(hits)
  end

  -- Empties the log. The hit that must follow overwrites the key.
  function log.clear(hits)
    hits.stamp = log.created(hits)
    hits.size, hits.dropped_hits, hits.plain_count, hits.dropped, hits.total = 0, 0, nil, 0, 0
    hits.gaps, hits.refunded, hits.length, hits.bytes, hits.from = nil, 0, 0, '', 0
  end

  -- Writes the description again.
  function log.save(hits) write(hits, offset_of(hits, hits.size), '') end

  -- Removes the hits from `index` to before `stop`, of which `plain` have no total, and moves the bytes on the shorter side.
  -- Where older hits move, what is left in front of them counts as dropped hits without a total.
  local function cut(hits, index, stop, plain)
    local first, offset = offset_of(hits, 0), offset_of(hits, index)
    local next_offset, last = offset_of(hits, stop), offset_of(hits, hits.size)
    if last - next_offset <= offset - first then
      local moved = read_bytes(hits, next_offset, last)
      hits.size = hits.size - (stop - index)
      if hits.plain_count then hits.plain_count = hits.plain_count - plain end
      return write(hits, offset, moved)
    end
    local gap, moved = next_offset - offset, read_bytes(hits, first, offset)
    if moved ~= '' then redis.call('SETRANGE', hits.key, string.format('%d', first + gap), moved) end
    hits.size, hits.dropped_hits, hits.bytes = hits.size - (stop - index), hits.dropped_hits + gap / 7, ''
    if hits.plain_count then hits.plain_count = hits.plain_count + gap / 7 - plain end
    log.save(hits)
  end

  -- Refunds up to `cost` hits of this time, and returns true. Returns false if some hits have other costs than 1.
  function log.remove(hits, time, cost)
    if hits.plain_count then return false end
    local from, last = log.range_of(hits, time)
    local stop = last + 1
    local first = math.max(from, stop - cost)
    if first == stop then return true end
    if stop - first == hits.size then log.delete(hits) return true end
    if first == 0 then hits.oldest = log.time_of(hits, stop) end
    cut(hits, first, stop, 0)
    hits.total, hits.newest = hits.size, log.time_of(hits, hits.size - 1)
    return true
  end

  -- The hits from `index` on, as a list of times and units.
  function log.entries(hits, index)
    local entries, before = {}, log.total_before(hits, index)
    for place = index, hits.size - 1 do
      local time, own = read(hits, place)
      local total = own and own - log.refunded_before(hits, own) or before + 1
      entries[#entries + 1] = { time = time, units = total - before }
      before = total
    end
    return entries
  end

  -- Drops the hits from `index` on.
  function log.truncate(hits, index)
    if index == 0 then return log.delete(hits) end
    hits.total = log.total_before(hits, index)
    if hits.gaps then log.drop_gaps_after(hits, select(2, read(hits, index - 1)) or 0) end
    hits.size = index
    if hits.plain_count then hits.plain_count = math.min(hits.plain_count, hits.dropped_hits + index) end
    log.save(hits)
  end

  -- Refunds units of the hit at `index`, which is neither the oldest nor the newest one. `whole` means all of its units.
  function log.refund_at(hits, index, units, whole)
    local _, total = read(hits, index)
    -- Without a total it has one unit. Later totals stay, because all of them now include one dropped unit more.
    if not total then hits.dropped = hits.dropped + 1 end
    if whole then cut(hits, index, index + 1, total and 0 or 1) end
    if total then log.add_gap(hits, total, units) end
  end

  -- The position of the hit at `index`, which gaps refer to.
  function log.position(hits, index)
    local _, total = read(hits, index)
    return total or -1
  end

  -- Subtracts units from the totals of the hits from `first` to `last`.
  function log.subtract(hits, first, last, units)
    local start, stop, parts = offset_of(hits, first), offset_of(hits, last + 1), {}
    local bytes, format, formatted = read_bytes(hits, start, stop), nil, 0
    -- One call reads or writes many hits, because the calls take most of the time.
    for place = first, last, MAX_BLOCK do
      local count = math.min(MAX_BLOCK, last + 1 - place)
      if count ~= formatted then format, formatted = '>' .. string.rep('i7I7', count), count end
      local numbers = { unpack_at(format, bytes, 14 * (place - first) + 1) }
      for index = 2, 2 * count, 2 do numbers[index] = numbers[index] - units end
      parts[#parts + 1] = pack(format, unpack(numbers, 1, 2 * count))
    end
    redis.call('SETRANGE', hits.key, string.format('%d', start), table.concat(parts))
    hits.bytes = ''
  end

  -- Lowers the figures from the hit at `index` on, which has a total because it has more than one unit. Returns the position from
  -- which gaps belong to these figures.
  function log.lower_figures(hits, index, units)
    local position = log.position(hits, index)
    log.subtract(hits, index, hits.size - 1, units)
    return position
  end
end)
