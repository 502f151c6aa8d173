-- The usual check: one of cost 1, by rolling windows that have no minDifference and count no rejected attempts, on packed logs
-- of plain hits. It decides what rolling-window.lua decides, and leaves the bytes that hit-log-packed.lua leaves. It is
-- faster, because it is a single function and creates no table.
--
-- Returns nothing, and has written nothing, for any other log. main.lua then runs the general check. Returns nil and a message
-- if a command fails.
--
-- `rules` has a table for each key, with its limit and window. A check leaves these fields in it, which only the check itself
-- reads:
--   count, oldest, newest  the hits in the window, and their times; `newest` is nil without a hit
--   bytes, offset          what to write, and where; `offset` is nil for the whole string
--   keeps_ttl, expiry      whether the TTL stays; when the key expires otherwise, which is the same for all hits of a half window
local function check_usual(rules, first_key, stamp, injected_now)
  local call, pack, unpack_at, format = redis.pcall, struct.pack, struct.unpack, string.format
  local now, allowed, has_long_log = injected_now or stamp, true, false

  for index = 1, #rules do
    local rule, key = rules[index], KEYS[first_key + index]
    local limit, window = rule.limit, rule.window
    local half, start = window / 2, now - window
    local tail = call('GETRANGE', key, '-144', '-1') -- The whole of a log of up to 16 hits.
    if type(tail) ~= 'string' then return nil, tail.err end
    local size = #tail
    local newest, oldest, created, dropped_hits, count = nil, now, stamp, 0, 0
    if size > 0 then
      local keep, room, form
      if size < 39 then return end
      newest, oldest, created, keep, dropped_hits, count, room, form = unpack_at('>i7i7i7I7I4I4I2B', tail, size - 38)
      if form ~= 0xF8 or keep ~= window or room > 0 or newest > now or count > limit then return end
      if newest <= start then
        newest, oldest, created, dropped_hits, count = nil, now, stamp, 0, 0
      elseif oldest <= start then
        local bytes, from, left = tail, size - 32 - 7 * count, 0
        if from < 0 then
          bytes, from = call('GETRANGE', key, format('%d', 7 * dropped_hits), format('%d', 7 * dropped_hits + 62)), 0
        end
        repeat
          left = left + 1
          if from + 7 * left + 7 > #bytes then return end -- More hits have left than these bytes contain.
          oldest = unpack_at('>i7', bytes, from + 7 * left + 1)
        until oldest > start
        dropped_hits, count = dropped_hits + left, count - left
      end
    end
    rule.count, rule.oldest, rule.newest = count, oldest, newest
    if count >= limit then allowed = false end

    if allowed then
      -- A short log is written whole, and a long one when its dropped hits are a fifth of it.
      if count < 16 or (dropped_hits > 16 and dropped_hits * 4 > count + 1) then
        local kept, from = '', size - 32 - 7 * count
        if from >= 0 then kept = string.sub(tail, from + 1, size - 32)
        else
          kept = call('GETRANGE', key, format('%d', 7 * dropped_hits), format('%d', 7 * (dropped_hits + count) - 1))
          step_count = step_count + count / 40
        end
        rule.bytes = kept .. pack('>i7i7i7I7I4I4I2B', now, oldest, created, window, 0, count + 1, 0, 0xF8)
        rule.offset = nil
      else
        rule.bytes = pack('>i7i7i7I7I4I4I2B', now, oldest, created, window, dropped_hits, count + 1, 0, 0xF8)
        local offset = 7 * (dropped_hits + count)
        rule.offset = format('%d', offset)
        has_long_log = has_long_log or offset > 1048000 -- See SAFE_LENGTH in rolling-window.lua.
      end
      local half_start = now - now % half
      rule.keeps_ttl = newest and not injected_now and newest - newest % half == half_start
      if not rule.keeps_ttl and rule.half_start ~= half_start then
        rule.half_start = half_start
        -- Rounds up, as `expire` in common.lua does.
        rule.expiry = format('%d', injected_now and (window + half) / 1000 + 60000 or (half_start + half + window + 999) / 1000)
      end
    end
  end

  -- Redis rejects a write that makes a log too long, so no other key may be written before. GETBIT has the same bound as
  -- SETRANGE. If it fails, the general check reports the error.
  if has_long_log and allowed and #rules > 1 then
    for index = 1, #rules do
      local offset = rules[index].offset
      local reply = offset and call('GETBIT', KEYS[first_key + index], format('%d', 8 * (offset + 39) - 1))
      if type(reply) == 'table' then return end
    end
  end

  local line
  for index = 1, #rules do
    local rule, key, result = rules[index], KEYS[first_key + index], nil
    local limit, count = rule.limit, rule.count
    if allowed then
      local reply
      if rule.offset then
        reply = call('SETRANGE', key, rule.offset, rule.bytes)
        if type(reply) == 'number' and not rule.keeps_ttl then
          reply = call(injected_now and 'PEXPIRE' or 'PEXPIREAT', key, rule.expiry)
        end
      elseif rule.keeps_ttl then reply = call('SET', key, rule.bytes, 'KEEPTTL')
      else reply = call('SET', key, rule.bytes, injected_now and 'PX' or 'PXAT', rule.expiry) end
      if type(reply) == 'table' and reply.err then return nil, reply.err end
      if rule.result_count ~= count then rule.result_count, rule.result = count, format('%d', limit - count - 1) end
      result = rule.result
    elseif rule.newest then
      local stable, reset = rule.oldest + rule.window - now, rule.newest + rule.window - now
      local is_full = count >= limit
      result = format('%d %d %d %d %d', is_full and -1 or 0, is_full and stable or 0, limit - count, reset, stable)
    else
      result = format('0 0 %d 0 -1', limit)
    end
    line = line and line .. ',' .. result or result
  end
  return line
end
