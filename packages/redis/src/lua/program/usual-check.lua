    -- The usual check: one by rolling windows that have no minDifference and count no rejected attempts, on packed logs. In
    -- each log, either all hits are plain and the cost is 1, or all hits have totals. It decides what rolling-window.lua
    -- decides, and leaves the bytes that hit-log-packed.lua leaves.
    --
    -- These lines belong to the loop of main.lua, where script-builder.ts puts them. In a function, or with a table for the
    -- values of a single rule, a check would take a tenth longer. So one rule has local variables, and no `usual_rules`. With
    -- several rules, each loop moves their values from and to their tables.
    --
    -- Reads   keys, key_count, next_key, stamp, injected_now, cost, usual_rules, limit, window
    -- Keeps   half_start, expiry, remaining, remaining_text for the next check of the run
    -- Sets    line, or message if a command fails. Sets neither, and has written nothing, for any other log. main.lua then runs
    --         the general check
    if kind == 'usual' then
      local now, allowed, is_usual, has_long_log = injected_now or stamp, true, true, false
      local key, tail, newest, oldest, created, dropped_hits, count
      local total, dropped_units -- The total of the newest hit and the units before the oldest one, or nil for a log of plain hits.
      for index = 1, key_count do
        key = keys[next_key + index]
        if usual_rules then
          local rule = usual_rules[index]
          limit, window, cost, total, dropped_units = rule.limit, rule.window, rule.cost, nil, nil
        end
        tail = call('GETRANGE', key, cost == 1 and '-144' or '-269', '-1') -- The whole of a log of up to 16 hits.
        if type(tail) ~= 'string' then message, is_usual = tail.err, false break end
        local size, start = #tail, now - window
        newest, oldest, created, dropped_hits, count = nil, now, stamp, 0, 0
        if cost ~= 1 then total, dropped_units = 0, 0 end
        if size > 0 then
          if size < 39 then is_usual = false break end
          local last, first, birth, keep, dropped, hits, room, form = unpack_at('>i7i7i7I7I4I4I2B', tail, size - 38)
          local last_total, last_dropped
          if form ~= 0xF8 then
            if form ~= 0xF9 or size < 59 then is_usual = false break end
            local plain, gaps
            last, last_total, plain, last_dropped, gaps = unpack_at('>i7I7I4I7I2', tail, size - 58)
            if plain > 0 or gaps > 0 or last_total - last_dropped > limit then is_usual = false break end
          end
          if keep ~= window or room > 0 or last > now or hits > limit then is_usual = false break end
          if last > start then
            if last_total ~= total then -- One of them may be nil, because the cost or the log is another one.
              if not last_total then is_usual = false break end
              total, dropped_units = last_total, last_dropped
            end
            newest, oldest, created, dropped_hits, count = last, first, birth, dropped, hits
            if oldest <= start then
              local hit_size = total and 14 or 7
              local bytes, from, left = tail, size - (total and 45 or 32) - hit_size * count, 0
              if from < 0 then
                from = hit_size * dropped
                bytes, from = call('GETRANGE', key, format('%d', from), format('%d', from + 9 * hit_size - 1)), 0
              end
              repeat
                left = left + 1
                is_usual = from + hit_size * left + 7 <= #bytes -- Or more hits have left than these bytes contain.
                if is_usual then oldest = unpack_at('>i7', bytes, from + hit_size * left + 1) end
              until not is_usual or oldest > start
              if not is_usual then break end
              dropped_hits, count = dropped + left, count - left
              if total then dropped_units = unpack_at('>I7', bytes, from + 14 * left - 6) end
            end
          end
        end
        if total then
          -- The wait depends on the costs of the oldest hits, and the general check keeps large totals exact.
          if total - dropped_units + cost > limit or total + cost >= 2 ^ 53 then is_usual = false break end
        elseif count >= limit then allowed = false end
        if usual_rules then
          local rule = usual_rules[index]
          rule.tail, rule.newest, rule.oldest, rule.created = tail, newest, oldest, created
          rule.dropped_hits, rule.count = dropped_hits, count
          -- Not for plain hits, because a table grows even for fields that are nil.
          if total or rule.total then rule.total, rule.dropped_units = total, dropped_units end
          has_long_log = has_long_log or 14 * (dropped_hits + count) > 1048000 -- At most SAFE_LENGTH of rolling-window.lua.
        end
      end

      -- Redis rejects a write that makes a log too long, so no other key may be written before. GETBIT has the same bound as
      -- SETRANGE. If it fails, the general check reports the error.
      if has_long_log and allowed and is_usual then
        for index = 1, key_count do
          local rule = usual_rules[index]
          local hit_size, new_size = rule.total and 14 or 7, rule.total and 59 or 39
          local last_bit = 8 * (hit_size * (rule.dropped_hits + rule.count) + new_size) - 1
          if type(call('GETBIT', keys[next_key + index], format('%d', last_bit))) == 'table' then is_usual = false end
        end
      end

      for index = 1, is_usual and key_count or 0 do
        local rule, result = usual_rules and usual_rules[index], nil
        if rule then
          key, limit, window, tail, newest = keys[next_key + index], rule.limit, rule.window, rule.tail, rule.newest
          oldest, created, dropped_hits, count = rule.oldest, rule.created, rule.dropped_hits, rule.count
          total = rule.total
          if total then cost, dropped_units = rule.cost, rule.dropped_units end
          half_start, expiry, remaining, remaining_text = rule.half_start, rule.expiry, rule.remaining, rule.remaining_text
        end
        if allowed then
          local half, reply = window / 2, nil
          local present_start = now - now % half
          local keeps_ttl = newest and not injected_now and newest - newest % half == present_start
          if not keeps_ttl and half_start ~= present_start then
            half_start = present_start
            -- Rounds up, as `expire` in common.lua does.
            expiry = format('%d', injected_now and (window + half) / 1000 + 60000 or (half_start + half + window + 999) / 1000)
            if rule then rule.half_start, rule.expiry = half_start, expiry end
          end
          -- A short log is written whole, and a long one when its dropped hits are a fifth of it.
          if count < 16 or (dropped_hits > 16 and dropped_hits * 4 > count + 1) then
            local hit_size, end_size, bytes = 7, 32, nil
            if total then
              hit_size, end_size = 14, 45
              bytes = pack('>i7I7I4I7I2i7i7I7I4I4I2B', now, total + cost, 0, dropped_units, 0, oldest, created, window, 0,
                count + 1, 0, 0xF9)
            else bytes = pack('>i7i7i7I7I4I4I2B', now, oldest, created, window, 0, count + 1, 0, 0xF8) end
            local from = #tail - end_size - hit_size * count
            if from < 0 and count > 0 then
              local first_byte, next_byte = hit_size * dropped_hits, hit_size * (dropped_hits + count)
              bytes = call('GETRANGE', key, format('%d', first_byte), format('%d', next_byte - 1)) .. bytes
              step_count = step_count + count / 40
            elseif count > 0 then bytes = string.sub(tail, from + 1, -1 - end_size) .. bytes end
            if keeps_ttl then reply = call('SET', key, bytes, 'KEEPTTL')
            else reply = call('SET', key, bytes, injected_now and 'PX' or 'PXAT', expiry) end
          else
            local hit_size, bytes = 7, nil
            if total then
              hit_size, bytes = 14, pack('>i7I7I4I7I2i7i7I7I4I4I2B', now, total + cost, 0, dropped_units, 0, oldest, created,
                window, dropped_hits, count + 1, 0, 0xF9)
            else bytes = pack('>i7i7i7I7I4I4I2B', now, oldest, created, window, dropped_hits, count + 1, 0, 0xF8) end
            reply = call('SETRANGE', key, format('%d', hit_size * (dropped_hits + count)), bytes)
            if type(reply) == 'number' and not keeps_ttl then
              reply = call(injected_now and 'PEXPIRE' or 'PEXPIREAT', key, expiry)
            end
          end
          if type(reply) == 'table' and reply.err then message = reply.err break end
          local left = total and limit - total + dropped_units - cost or limit - count - 1
          if remaining ~= left then
            remaining = left
            remaining_text = format('%d', remaining)
            if rule then rule.remaining, rule.remaining_text = remaining, remaining_text end
          end
          result = remaining_text
        elseif count >= limit then result = format('-%d %d', oldest + window - now, newest + window - now)
        elseif newest then
          local left = limit - (total and total - dropped_units or count)
          result = format('0 0 %d %d %d', left, newest + window - now, oldest + window - now)
        else result = format('0 0 %d 0 -1', limit) end
        line = line and line .. ',' .. result or result
      end
    end
