-- The hits of one key as a Redis list, oldest first. An integer takes about 10 bytes there.
--
-- An element is the time of a hit in microseconds; from the first hit on that cost anything but 1 it is "time:total",
-- the total being the units of all hits up to and including it. The oldest element says more about the key. Where there
-- are totals, ";" and the units in front of it that they include, ";" and how many hits at the front have no total, and, where
-- there are gaps, ";" and these (see hit-log.lua). Then, each after a blank, the keep of the limit that recorded last, and since when there is a log (a stamp).
-- Once a limit with a minDifference has recorded, the keep is at least the longest minDifference so far, and "+" and this follow it.
--
-- An opened log has no hits when `size` is 0. `by` is the limit that recorded last: its keep, and the signature
-- by which an element says so. Without totals `plain` is nil and every hit is one unit; with totals it is how
-- many hits at the front have none. `dropped` is the units in front of the oldest hit, `total` those of all hits.

local log = {}

-- The log of a key, of which `rule` is likely to have recorded last.
function log.open(key, rule)
  local size = redis.call('LLEN', key)
  if size == 0 then return { key = key, size = 0, dropped = 0, total = 0, taken = 0 } end
  local text = redis.call('LINDEX', key, 0)
  local tags = rule and string.find(text, rule.signature, 1, true)
  local oldest = tags and tonumber(string.sub(text, 1, tags - 1))
  local hits = {
    key = key, size = size, text = text, oldest = oldest, newest = oldest, dropped = 0, total = size, taken = 0,
    by = tags and rule,
  }
  if not oldest then log.parse_oldest(hits, text) end
  if size > 1 then
    local newest = redis.call('LINDEX', key, -1)
    hits.newest = tonumber(newest)
    if not hits.newest then hits.newest, hits.total = log.parse(newest) end
  end
  hits.total = hits.total - hits.taken
  return hits
end

-- Adds the newest hit.
function log.append(hits, time, cost)
  local begins_totals = cost ~= 1 and not hits.plain
  if begins_totals then hits.plain = hits.size end
  hits.total = hits.total + cost
  local total = hits.plain and hits.total + hits.taken
  if hits.size == 0 then
    hits.oldest, hits.oldest_total = time, total
    redis.call('RPUSH', hits.key, log.oldest_text(hits))
  else
    redis.call('RPUSH', hits.key, total and string.format('%d:%d', time, total) or text_of(time))
    if begins_totals then redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end
  end
  hits.size, hits.newest = hits.size + 1, time
end

on_demand(log, function()
  function log.since(hits)
    return hits.stamp or tonumber(string.match(hits.text, '%d+$'))
  end

  function log.oldest_text(hits)
    local text = text_of(hits.oldest)
    if hits.oldest_total then text = text .. ':' .. text_of(hits.oldest_total) end
    if hits.plain then text = text .. string.format(';%d;%d', hits.dropped, hits.plain) .. log.gaps_text(hits) end
    return text .. hits.by.signature .. text_of(log.since(hits))
  end

  -- The time and the total of an element that has one.
  function log.parse(text)
    local time, total = string.match(text, '^(.+):(.+)$')
    return tonumber(time), tonumber(total)
  end

  -- Of a log whose oldest element is not the usual one.
  function log.parse_oldest(hits, text)
    local rest, tag, keep, longest = string.match(text, '^(.-) ((%d+)%+?(%d*)) %d+$')
    local time, total, dropped, plain, gaps = string.match(rest, '^([^:;]+):?(%d*);(%d+);(%d+);?([%d,]*)$')
    hits.oldest, hits.oldest_total = tonumber(time or rest), tonumber(total)
    hits.plain, hits.dropped = tonumber(plain), tonumber(dropped) or 0
    hits.newest, hits.total = hits.oldest, hits.oldest_total or hits.dropped + hits.size
    if gaps and gaps ~= '' then log.read_gaps(hits, gaps) end
    hits.by = hits.by or { keep = tonumber(keep), min_difference = tonumber(longest) or 0, signature = ' ' .. tag .. ' ' }
  end

  -- The time of the hit at `index`, and its total if it has one. The last one read is often asked for again.
  local function read(hits, index)
    if index == 0 then return hits.oldest, hits.oldest_total end
    if index == hits.read_index then return hits.read_time, hits.read_total end
    local text = redis.call('LINDEX', hits.key, index)
    local time, total = tonumber(text), nil
    if not time then time, total = log.parse(text) end
    hits.read_index, hits.read_time, hits.read_total = index, time, total
    return time, total
  end

  function log.time_of(hits, index)
    return (read(hits, index))
  end

  -- The units of all hits before `index`, and those in front of the oldest.
  function log.total_before(hits, index)
    if index == hits.size then return hits.total end
    if not hits.plain or index <= hits.plain then return hits.dropped + index end
    local _, total = read(hits, index - 1)
    return total - log.taken_before(hits, total)
  end

  -- Forgets the hits before `index`, and of the units of those that stay all before `dropped`.
  function log.drop(hits, index, dropped)
    hits.stamp = log.since(hits)
    if index == hits.size then
      redis.call('UNLINK', hits.key)
      hits.size, hits.plain, hits.dropped, hits.total, hits.read_index = 0, nil, 0, 0, nil
      hits.gaps, hits.taken = nil, 0
      return
    end
    if hits.gaps and index > hits.plain then
      local _, total = read(hits, index - 1)
      dropped = dropped + log.forget_gaps(hits, total)
    end
    if index > 0 then
      hits.oldest, hits.oldest_total = read(hits, index)
      if index == 1 then redis.call('LPOP', hits.key) else redis.call('LTRIM', hits.key, index, -1) end
      hits.size, hits.read_index = hits.size - index, nil
    end
    if hits.plain then hits.plain, hits.dropped = math.max(0, hits.plain - index), dropped
    else hits.total = hits.size end
    redis.call('LSET', hits.key, 0, log.oldest_text(hits))
  end

  -- Notes the limit that records now. A new log is there since `stamp`.
  function log.sign(hits, rule, stamp)
    if hits.size == 0 then hits.stamp = stamp end
    hits.by = rule
    if hits.size > 0 then redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end
  end

  -- Takes back up to `cost` hits of this time, and answers true; false when not every hit is one unit.
  function log.remove(hits, time, cost)
    if hits.plain then return false end
    spend(hits.size / 50)
    -- LREM searches from the nearer end. It never finds the oldest element, which says more than its time.
    local is_old = time - hits.oldest < hits.newest - time
    local removed = redis.call('LREM', hits.key, is_old and cost or -cost, text_of(time))
    hits.size, hits.total, hits.read_index = hits.size - removed, hits.total - removed, nil
    if removed < cost and hits.oldest == time then log.drop(hits, 1, 0) end
    if hits.size > 0 then hits.newest = log.time_of(hits, hits.size - 1) end
    return true
  end

  -- The hits from `index` on, as a list of times and units.
  function log.entries(hits, index)
    local entries, before = {}, log.total_before(hits, index)
    for offset, text in ipairs(redis.call('LRANGE', hits.key, index, -1)) do
      local time, own = string.match(text, '^([^ :;]+):?(%d*)')
      local total = own ~= '' and own - log.taken_before(hits, tonumber(own)) or before + 1
      entries[offset] = { time = tonumber(time), units = total - before }
      before = total
    end
    return entries
  end

  -- Forgets the hits from `index` on.
  function log.truncate(hits, index)
    if index == 0 then return log.drop(hits, hits.size) end
    hits.total = log.total_before(hits, index)
    local had_gaps = hits.gaps
    if had_gaps then log.keep_gaps(hits, index > hits.plain and select(2, read(hits, index - 1)) or 0) end
    redis.call('LTRIM', hits.key, 0, index - 1)
    hits.size, hits.read_index = index, nil
    if had_gaps or hits.plain and hits.plain > index then
      hits.plain = math.min(hits.plain, index)
      log.save(hits)
    end
  end

  -- Writes what the oldest element says about the key.
  function log.save(hits) redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end

  -- Takes back units of the hit at `index`, which is neither the oldest nor the newest one; `whole` if these are all it has.
  function log.take_at(hits, index, units, whole)
    local _, total = read(hits, index)
    if whole then
      redis.call('LSET', hits.key, index, '')
      redis.call('LREM', hits.key, 1, '')
      hits.size, hits.read_index = hits.size - 1, nil
      spend(hits.size / 50)
    end
    if index >= hits.plain then return log.add_gap(hits, total, units) end
    -- The totals of later hits stay, because one unit more lies in front of them all.
    hits.plain, hits.dropped = hits.plain - 1, hits.dropped + 1
    log.save(hits)
  end

  -- From which gap on the units of a gap are in what the element at `index` says.
  function log.position(hits, index)
    if index < hits.plain then return -1 end
    local _, total = read(hits, index)
    return total
  end

  -- Lowers what the elements from `first` to `last` say by so many units.
  function log.lower(hits, first, last, units)
    hits.read_index = nil
    for offset, text in ipairs(redis.call('LRANGE', hits.key, first, last)) do
      local index = first + offset - 1
      if index == 0 then hits.oldest_total = hits.oldest_total - units
      else
        local time, total = log.parse(text)
        redis.call('LSET', hits.key, index, string.format('%d:%d', time, total - units))
      end
    end
  end
end)
