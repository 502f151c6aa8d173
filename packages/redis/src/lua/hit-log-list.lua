-- The hits of one key as a Redis list, oldest first. An integer takes about 10 bytes there.
--
-- An element is the time of a hit in microseconds. From the first hit with a cost other than 1 on, it is "time:total", where
-- the total is the units of all hits up to and including it. The oldest element also contains the data of the key:
--   - If there are totals: ";" and the units before the oldest hit that the totals include, then ";" and how many hits at the
--     front have no total. If there are gaps, ";" and the gaps follow (see hit-log.lua).
--   - A space and the keep of the limit that recorded last. Once a limit with a minDifference has recorded, the keep is at least
--     the longest minDifference so far, and "+" and this minDifference follow.
--   - A space and the stamp of the first record.
--
-- An opened log has the fields that hit-log.lua describes, and `plain_count`: how many hits at the front have no total. It is
-- nil without totals, when every hit is one unit.

local log = {}

-- Opens the log of a key. `rule` is probably the limit that recorded last.
function log.open(key, rule)
  local size = redis.call('LLEN', key)
  if size == 0 then return { key = key, size = 0, dropped = 0, total = 0, refunded = 0 } end
  local text = redis.call('LINDEX', key, 0)
  local tags = rule and string.find(text, rule.signature, 1, true)
  local oldest = tags and tonumber(string.sub(text, 1, tags - 1))
  local hits = {
    key = key, size = size, text = text, oldest = oldest, newest = oldest, dropped = 0, total = size, refunded = 0,
    recorder = tags and rule,
  }
  if not oldest then log.parse_oldest(hits, text) end
  if size > 1 then
    local newest = redis.call('LINDEX', key, -1)
    hits.newest = tonumber(newest)
    if not hits.newest then hits.newest, hits.total = log.parse(newest) end
  end
  hits.total = hits.total - hits.refunded
  return hits
end

-- Adds the newest hit.
function log.append(hits, time, cost)
  local begins_totals = cost ~= 1 and not hits.plain_count
  if begins_totals then hits.plain_count = hits.size end
  hits.total = hits.total + cost
  local total = hits.plain_count and hits.total + hits.refunded
  if hits.size == 0 then
    hits.oldest, hits.oldest_total = time, total
    redis.call('RPUSH', hits.key, log.oldest_text(hits))
  else
    redis.call('RPUSH', hits.key, total and string.format('%d:%d', time, total) or format_integer(time))
    if begins_totals then redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end
  end
  hits.size, hits.newest = hits.size + 1, time
end

define_lazily(log, function()
  function log.created(hits)
    return hits.stamp or tonumber(string.match(hits.text, '%d+$'))
  end

  function log.oldest_text(hits)
    local text = format_integer(hits.oldest)
    if hits.oldest_total then text = text .. ':' .. format_integer(hits.oldest_total) end
    if hits.plain_count then text = text .. string.format(';%d;%d', hits.dropped, hits.plain_count) .. log.gaps_text(hits) end
    return text .. hits.recorder.signature .. format_integer(log.created(hits))
  end

  -- The time and the total of an element with a total.
  function log.parse(text)
    local time, total = string.match(text, '^(.+):(.+)$')
    return tonumber(time), tonumber(total)
  end

  -- Parses an oldest element that another limit wrote, or that has totals.
  function log.parse_oldest(hits, text)
    local rest, tag, keep, longest = string.match(text, '^(.-) ((%d+)%+?(%d*)) %d+$')
    local time, total, dropped, plain, gaps = string.match(rest, '^([^:;]+):?(%d*);(%d+);(%d+);?([%d,]*)$')
    hits.oldest, hits.oldest_total = tonumber(time or rest), tonumber(total)
    hits.plain_count, hits.dropped = tonumber(plain), tonumber(dropped) or 0
    hits.newest, hits.total = hits.oldest, hits.oldest_total or hits.dropped + hits.size
    if gaps and gaps ~= '' then log.read_gaps(hits, gaps) end
    hits.recorder = hits.recorder or { keep = tonumber(keep), min_difference = tonumber(longest) or 0, signature = ' ' .. tag .. ' ' }
  end

  -- The time of the hit at `index`, and its total if it has one. Caches the last one, which is often read again.
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

  -- The units of all hits before `index`, including those before the oldest hit.
  function log.total_before(hits, index)
    if index == hits.size then return hits.total end
    if not hits.plain_count or index <= hits.plain_count then return hits.dropped + index end
    local _, total = read(hits, index - 1)
    return total - log.refunded_before(hits, total)
  end

  -- Drops the hits before `index`, and the units before the unit number `dropped`.
  function log.drop(hits, index, dropped)
    hits.stamp = log.created(hits)
    if index == hits.size then
      redis.call('UNLINK', hits.key)
      hits.size, hits.plain_count, hits.dropped, hits.total, hits.read_index = 0, nil, 0, 0, nil
      hits.gaps, hits.refunded = nil, 0
      return
    end
    if hits.gaps and index > hits.plain_count then
      local _, total = read(hits, index - 1)
      dropped = dropped + log.drop_gaps_before(hits, total)
    end
    if index > 0 then
      hits.oldest, hits.oldest_total = read(hits, index)
      if index == 1 then redis.call('LPOP', hits.key) else redis.call('LTRIM', hits.key, index, -1) end
      hits.size, hits.read_index = hits.size - index, nil
    end
    if hits.plain_count then hits.plain_count, hits.dropped = math.max(0, hits.plain_count - index), dropped
    else hits.total = hits.size end
    redis.call('LSET', hits.key, 0, log.oldest_text(hits))
  end

  -- Sets the limit that records now. `stamp` identifies a new log.
  function log.set_recorder(hits, rule, stamp)
    if hits.size == 0 then hits.stamp = stamp end
    hits.recorder = rule
    if hits.size > 0 then redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end
  end

  -- Refunds up to `cost` hits of this time, and returns true. Returns false if some hits have other costs than 1.
  function log.remove(hits, time, cost)
    if hits.plain_count then return false end
    count_steps(hits.size / 50)
    -- LREM searches from the nearer end. It never finds the oldest element, which contains more than its time.
    local is_old = time - hits.oldest < hits.newest - time
    local removed = redis.call('LREM', hits.key, is_old and cost or -cost, format_integer(time))
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
      local total = own ~= '' and own - log.refunded_before(hits, tonumber(own)) or before + 1
      entries[offset] = { time = tonumber(time), units = total - before }
      before = total
    end
    return entries
  end

  -- Drops the hits from `index` on.
  function log.truncate(hits, index)
    if index == 0 then return log.drop(hits, hits.size) end
    hits.total = log.total_before(hits, index)
    local had_gaps = hits.gaps
    if had_gaps then log.drop_gaps_after(hits, index > hits.plain_count and select(2, read(hits, index - 1)) or 0) end
    redis.call('LTRIM', hits.key, 0, index - 1)
    hits.size, hits.read_index = index, nil
    if had_gaps or hits.plain_count and hits.plain_count > index then
      hits.plain_count = math.min(hits.plain_count, index)
      log.save(hits)
    end
  end

  -- Writes the oldest element, which contains the data of the key.
  function log.save(hits) redis.call('LSET', hits.key, 0, log.oldest_text(hits)) end

  -- Refunds units of the hit at `index`, which is neither the oldest nor the newest one. `whole` means all of its units.
  function log.refund_at(hits, index, units, whole)
    local _, total = read(hits, index)
    if whole then
      redis.call('LSET', hits.key, index, '')
      redis.call('LREM', hits.key, 1, '')
      hits.size, hits.read_index = hits.size - 1, nil
      count_steps(hits.size / 50)
    end
    if index >= hits.plain_count then return log.add_gap(hits, total, units) end
    -- The totals of later hits stay, because all of them now include one dropped unit more.
    hits.plain_count, hits.dropped = hits.plain_count - 1, hits.dropped + 1
    log.save(hits)
  end

  -- The position of the hit at `index`, which gaps refer to.
  function log.position(hits, index)
    if index < hits.plain_count then return -1 end
    local _, total = read(hits, index)
    return total
  end

  -- Subtracts units from the totals of the elements from `first` to `last`.
  function log.subtract(hits, first, last, units)
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
