-- The rolling window: at no instant are there more than `limit` units in the last `window`. The counterpart of
-- rolling-window.ts. The settings are the limit, the window and the minDifference.

local rolling_steps

-- Returns the steps for all states. Creates them once, because most scripts need none of them.
local function steps_for_all_states()
  if rolling_steps then return rolling_steps end

  -- Calls `define` to add more functions to a module when a missing one is first used, because few operations need them.
  local function define_lazily(module, define)
    local before = getmetatable(module)
    setmetatable(module, {
      __index = function(_, name)
        setmetatable(module, before)
        define()
        return module[name]
      end,
    })
  end

  local MAX_UNITS = 2 ^ 53 - 1

  local function count_steps(steps) step_count = step_count + steps end

-- include log
  -- The most hits that one check drops. A sorted set takes time for each of them, and the server serves no other client until
  -- then. Hits outside the window do not count, so the rest can wait for the next check.
  local MAX_DROPPED <const> = 10000
  -- How far ahead of now a queue records hits at most (see tickets.lua). The log of such hits is dated.
  local MAX_DATED = 1000000

  -- When a key with its newest hit at `time` expires: `keep` after the end of the half of a keep in which the time lies. So most
  -- hits leave the TTL as it is. And for how long after that hit the key lives at most.
  local function life_of(time, keep)
    local half = keep / 2
    return time - time % half + half + keep, keep + half
  end

  -- How long until a unit more is free, if the hits from `first` on leave `free`. One of them is in the window.
  local function until_next_unit(hits, first, free, window, now)
    if free < 0 then first = log.index_of_unit(hits, first, 1 - free) end
    return (first == 0 and hits.oldest or log.time_of(hits, first)) + window - now
  end

  -- From what time on windows end for a check at `now`. A newest hit ahead of now means that the clock has stepped back, so time
  -- stands still until then. That of a dated log is a start that is due soon, and all hits in the window that ends now count.
  local function present(hits, now)
    local newest = hits.newest
    if newest <= now then return now end
    return hits.is_dated and math.max(now, newest - MAX_DATED) or newest
  end

  -- Redis accepts every string of this length and one more hit, because `proto-max-bulk-len` is at least 1 MiB.
  local SAFE_LENGTH <const> = 1048476

  local function find(rule, key, now)
    local hits = log.open(key, rule)
    if hits.size == 0 then return hits end
    local newest = hits.newest
    if newest - now > rule.window + (hits.is_dated and MAX_DATED or 0) then
      redis.call('UNLINK', key) -- A broken clock wrote it.
      return log.empty(key)
    end
    -- The log of a start ahead of now still has hits that count until then.
    if newest + hits.recorder.keep > now - (rule.is_dated and MAX_DATED or 0) then return hits end
    local empty = log.empty(key)
    empty.expired = hits
    return empty
  end

  local function test(rule, hits, now, cost)
    local limit, window = rule.limit, rule.window
    local wait, by_min_difference = 0, nil
    if hits.size == 0 then
      if cost > limit then wait = NEVER end
      return { wait = wait, remaining = limit, reset = 0, at = now, next_unit = 0 }
    end
    local newest = hits.newest
    local at, time = now, now
    if newest > now then at, time = newest, present(hits, now) end
    local first, dropped = 0, hits.dropped
    if hits.oldest <= time - window then
      first = log.first_after(hits, time - window)
      dropped = log.total_before(hits, first)
    end
    local free = limit - (hits.total - dropped)
    -- The key expires by the limit that recorded last and the longest minDifference. No wait is longer, because an expired key
    -- rejects nothing.
    local left = newest + hits.recorder.keep - now
    if left < 0 then left = 0 end -- A start ahead of now finds a log that ends before it.
    if cost > limit then wait = NEVER
    else
      if cost > free then wait = log.time_of(hits, log.index_of_unit(hits, first, cost - free)) + window - now end
      local difference_wait = rule.min_difference > 0 and newest + rule.min_difference - now or 0
      if difference_wait > wait then wait, by_min_difference = difference_wait, true end
      if wait > left then wait = left end
    end
    local reset = newest + window - now
    if reset > left then reset = left end
    local next_unit = free < limit and until_next_unit(hits, first, free, window, now) or 0
    return {
      wait = wait,
      remaining = free > 0 and free or 0,
      reset = reset > 0 and reset or 0,
      at = at,
      next_unit = next_unit < left and next_unit or left,
      by_min_difference = by_min_difference,
    }
  end

  -- The recorder of the log after `rule` records. It keeps the longest minDifference of all limits that have recorded.
  local function next_recorder(recorder, rule)
    local longest = recorder and recorder.min_difference or 0
    if longest <= rule.min_difference then return rule end
    return { keep = math.max(rule.keep, longest), min_difference = longest }
  end

  local function record(rule, hits, now, cost, verdict, stamp)
    local at = verdict.at
    -- Only the newest `limit` units affect decisions with countRejected. An overdraft must not make the units inexact.
    local most = rule.counts_rejected and rule.limit or MAX_UNITS
    local units = math.min(cost, most)
    local finish = hits.expired and log.clear(hits.expired)
    if hits.recorder ~= rule then
      local last, recorder = hits.recorder, next_recorder(hits.recorder, rule)
      if not last or last.keep ~= recorder.keep or last.min_difference ~= recorder.min_difference then
        log.set_recorder(hits, recorder, stamp)
      end
    end
    local keep = hits.recorder.keep
    -- Older versions reject a dated log, whose hits they would count wrongly. It is dated as long as a hit may be ahead of now.
    hits.is_dated = rule.is_dated or (hits.is_dated and hits.size > 0 and hits.newest > now) or nil
    local oldest_kept = at - keep - (hits.is_dated and MAX_DATED or 0)
    local overflows = hits.total + hits.refunded + units > MAX_UNITS
    local first, dropped = 0, hits.dropped
    if hits.size > 0 and hits.oldest <= oldest_kept then
      first = log.first_after(hits, oldest_kept)
      dropped = log.total_before(hits, first)
    end
    local excess = hits.total - dropped - (most - units)
    if excess > 0 then
      dropped = dropped + excess
      first = dropped == hits.total and hits.size or log.index_of_unit(hits, 0, dropped - hits.dropped + 1)
    end
    if first > MAX_DROPPED and first < hits.size and not overflows then
      first, dropped = MAX_DROPPED, log.total_before(hits, MAX_DROPPED)
    end
    count_steps(first / 10)
    if first > 0 and first == hits.size then finish = log.clear(hits)
    elseif first > 0 or dropped > hits.dropped then log.drop(hits, first, dropped) end
    if overflows and hits.size > 0 then log.restart(hits) end
    log.append(hits, at, units)
    if finish then finish() end
    if rule.counts_rejected then
      local rejection = verdict
      verdict = test(rule, hits, now, cost)
      -- What rejected the attempt stays its reason, even if the attempt has filled the window.
      if rejection.wait > 0 then verdict.by_min_difference = rejection.by_min_difference end
    else
      verdict.remaining = math.max(0, verdict.remaining - cost)
      verdict.reset = at > now and at + rule.window - now or nil
      local start = (hits.is_dated and math.max(now, at - MAX_DATED) or at) - rule.window
      first = hits.oldest <= start and log.first_after(hits, start) or 0
      verdict.next_unit = until_next_unit(hits, first, 0, rule.window, now)
    end
    verdict.expires, verdict.keep = life_of(at, keep)
    return verdict
  end

  local function decide_by_log(rule, key, now, cost, mode, stamp, injected_now, hits)
    hits = hits or find(rule, key, now)
    local verdict = test(rule, hits, now, cost)
    local wait, at = verdict.wait, verdict.at
    if mode > CHECK or (mode == CHECK and (wait == 0 or rule.counts_rejected)) then
      verdict = record(rule, hits, now, cost, verdict, stamp)
      if injected_now then redis.call('PEXPIRE', key, string.format('%d', math.ceil(verdict.keep / 1000) + 60000))
      else redis.call('PEXPIREAT', key, string.format('%d', math.ceil(verdict.expires / 1000))) end
      if rule.counts_rejected and (wait > 0 or mode == RECORD) then wait = verdict.wait end
    elseif mode == TEST and (hits.length or 0) > SAFE_LENGTH then hits.misfit = log.misfit(hits) end
    return wait, verdict.remaining, verdict.reset, verdict.next_unit, at - now, nil, verdict.by_min_difference and -2 or nil, hits
  end

  local function refund(key, stamp, at, cost, kept)
    local hits = log.open(key)
    if hits.size == 0 or log.created(hits) > stamp then return nil end
    log.refund(hits, at, cost - kept)
    if hits.size == 0 then return nil end
    -- The newest hit may be gone. Then the key expires earlier.
    return life_of(hits.newest, hits.recorder.keep)
  end

  local function credit(key, now, units)
    local hits = log.open(key)
    if hits.size == 0 or hits.newest + hits.recorder.keep <= now then return nil end
    log.keep_oldest(hits, math.max(0, hits.total - hits.dropped - units))
    if hits.size == 0 then return nil end
    return life_of(hits.newest, hits.recorder.keep)
  end

  local function apply(rule, key, now, cost, mode, stamp, injected_now, state)
    if not rule.keep then
      rule.limit, rule.window, rule.min_difference, rule.keep = rule[1], rule[2], rule[3], math.max(rule[2], rule[3])
    end
    if type(state) == 'string' then state = nil end
    while true do
      local succeeded, wait, remaining, reset, next_unit, ahead, delay, reason, tested =
        pcall(decide_by_log, rule, key, now, cost, mode, stamp, injected_now, state)
      if succeeded then return wait, remaining, reset, next_unit, ahead, delay, reason, tested end
      local reply = wait == 'damaged' and redis.pcall('UNLINK', key) or wait
      if type(reply) ~= 'number' then return false, type(reply) == 'table' and reply.err or tostring(reply) end
      state = nil
    end
  end

  rolling_steps = { apply = apply, read = log.open, refund = refund, credit = credit }
  return rolling_steps
end

-- Variables of the script, because each look-up of `struct.pack` takes two tables, for each check of a batch.
local pack, unpack_at = struct.pack, struct.unpack

-- Decides by a packed log in its usual state, for a limit that has no minDifference and counts no rejected attempts. That takes a third
-- of the instructions of other states, and leaves the same bytes. The log is empty or was written by the same limit. Either each hit has
-- a total or none has, and among the first hits is one in the window. If units are rejected other than one, the steps for any state
-- decide. What a test returns is the tail of the log, whose numbers a record reads again, because a table of them takes longer.
--
-- Each step of Lua takes 50 instructions. So the usual state assigns variables one by one, because assigning several at once copies each
-- of them twice.
local function apply_rolling_window(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, window = rule[1], rule[2]
  if HAS_PACKED_LOG then
    repeat
      -- The forms of a packed log (see hit-log-packed.lua), and the sizes of a hit and of what follows the last one.
      local PLAIN <const>, HIT <const>, END <const> = 0xF8, 7, 32
      local WITH_TOTALS <const>, HIT_WITH_TOTAL <const>, END_WITH_TOTALS <const> = 0xF9, 14, 45
      -- The number of hits, the size of the room and the form are one number here, because each number takes time. There is no room.
      local ONE_HIT <const> = 16777216
      -- Without hits in the window, the newest one counts as that which has just left it.
      local start = now - window
      local newest, oldest, created, dropped, count, free, total, dropped_units, expiry, bytes, message
      local tail = state or command('GETRANGE', key, '-269', '-1') -- The whole of a log of up to 16 hits.
      local size = #tail
      if size > 0 then
        if size < HIT + END then break end
        local keep, ending
        newest, oldest, created, keep, dropped, ending = unpack_at('>i7i7i7I7I4I7', tail, size - 38)
        local form = ending % ONE_HIT
        count = (ending - form) / ONE_HIT
        if form ~= PLAIN then
          if form ~= WITH_TOTALS or size < HIT_WITH_TOTAL + END_WITH_TOTALS then break end
          local plain_count, gaps_size
          newest, total, plain_count, dropped_units, gaps_size = unpack_at('>i7I7I4I7I2', tail, size - 58)
          if plain_count > 0 or gaps_size > 0 or total - dropped_units > limit or total - dropped_units < count then break end
        elseif cost ~= 1 and newest > start then break end
        if keep ~= window or newest > now or count > limit or oldest > newest then break end
        if newest <= start then size, total = 0, nil
        else
          if oldest <= start then
            -- Finds the oldest hit in the window, among the first hits.
            local hit_size, end_size = HIT, END
            if total then hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS end
            local hits_text, from, left = tail, size - end_size - hit_size * count, 0
            if from < 0 then
              from = hit_size * dropped
              hits_text = state and rule.first_hits
                or command('GETRANGE', key, string.format('%d', from), string.format('%d', from + 9 * hit_size - 1))
              rule.first_hits, from = hits_text, 0 -- For the record that follows a test.
            end
            repeat
              left = left + 1
              if from + hit_size * left + 7 > #hits_text then left = nil break end
              oldest = unpack_at('>i7', hits_text, from + hit_size * left + 1)
            until oldest > start
            if not left or oldest > newest then break end
            dropped, count = dropped + left, count - left
            if total then dropped_units = unpack_at('>I7', hits_text, from + 14 * left - 6) end
          end
          free = total and limit - total + dropped_units or limit - count
        end
      elseif tail ~= '' then
        if state then break end -- What the steps for all states have tested.
        return false, tail.err
      end
      if size == 0 then
        newest = start
        oldest = now
        created = stamp
        dropped = 0
        count = 0
        free = limit
        if cost ~= 1 then total, dropped_units = 0, 0 end
      end
      if mode == TEST or free < cost then
        -- A wait depends on the costs of the oldest hits.
        if free < cost and (total or mode > CHECK) then break end
        local wait, reset, next_unit = 0, newest + window - now, 0
        if count > 0 then next_unit = oldest + window - now end
        if cost > limit then wait = NEVER elseif free < cost then wait = next_unit end
        if mode ~= TEST then return wait, free, reset, next_unit, 0 end
        -- Redis may reject a longer value with one more hit.
        if (dropped + count) * (total and 14 or 7) > 2 ^ 20 - 200 then break end
        return wait, free, reset, next_unit, 0, nil, nil, tail
      end
      -- The TTL changes only when a new half of a window has begun, as `life_of` describes.
      local half = window / 2
      local half_start = now - now % half
      if newest < half_start or injected_now then
        if rule.half_start == half_start then expiry = rule.expiry
        else
          -- Rounds up, as `write_text` does.
          expiry = string.format('%d', injected_now and (window + half) / 1000 + 60000 or (half_start + half + window + 999) / 1000)
          if rule.half_start ~= nil then rule.half_start, rule.expiry = half_start, expiry end
        end
      end
      local ending = count * ONE_HIT + (ONE_HIT + PLAIN)
      if total then
        if total + cost >= 2 ^ 53 then break end -- The steps for all states keep it exact.
        ending = ending + (WITH_TOTALS - PLAIN)
      end
      -- A log of up to 15 hits is written whole, and a longer one of which a fifth has left the window. To others a hit is appended.
      if count < 16 or (dropped > 16 and dropped * 4 > count + 1) then
        -- The hits that stay, which are in the tail unless there are many.
        local kept, many
        if count > 0 then
          local hit_size, end_size = HIT, END
          if total then hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS end
          local length = hit_size * count + end_size
          if size >= length then kept = tail:sub(-length, -1 - end_size)
          else
            local first = hit_size * dropped
            many = command('GETRANGE', key, string.format('%d', first), string.format('%d', first + hit_size * count - 1))
            if #many < hit_size * count then break end -- The state is damaged.
            step_count = step_count + count / 40
          end
        end
        -- The number of dropped hits in the log is 0 then. One number of 11 bytes is both this and the ending.
        if total then
          bytes = pack('>c0i7I7I4I7I2i7i7I7I11', kept or '', now, total + cost, 0, dropped_units, 0, oldest, created, window, ending)
        elseif kept then bytes = pack('>c0i7i7i7I7I11', kept, now, oldest, created, window, ending)
        else bytes = pack('>i7i7i7I7I11', now, oldest, created, window, ending) end
        if many then bytes = many .. bytes end
        if not expiry then message = command('SET', key, bytes, 'KEEPTTL').err
        else message = command('SET', key, bytes, injected_now and 'PX' or 'PXAT', expiry).err end
        if message then return false, message end
      else
        local hit_size, end_size = HIT, END
        if total then
          hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS
          bytes = pack('>i7I7I4I7I2i7i7I7I4I7', now, total + cost, 0, dropped_units, 0, oldest, created, window, dropped, ending)
        else bytes = pack('>i7i7i7I7I4I7', now, oldest, created, window, dropped, ending) end
        -- A state whose counts do not match its length is damaged. Looking at the length before each record would take too long.
        local length = hit_size * (dropped + count) + end_size
        if expiry and command('STRLEN', key) ~= length then break end
        local reply = command('SETRANGE', key, string.format('%d', length - end_size), bytes)
        if type(reply) == 'table' then return false, reply.err end
        if reply ~= length + hit_size then break end
        if expiry then
          reply = command(injected_now and 'PEXPIRE' or 'PEXPIREAT', key, expiry)
          if type(reply) == 'table' then return false, reply.err end
        end
      end
      return 0, free - cost, nil, oldest + window - now
    until true
  end
  return steps_for_all_states().apply(rule, key, now, cost, mode, stamp, injected_now, state)
end
-- end of what checks need

changes['rolling-window'] = {
  read = function(key) steps_for_all_states().read(key) end,
  refund = function(_, key, stamp, _, at, cost, kept) return steps_for_all_states().refund(key, stamp, at, cost, kept) end,
  credit = function(_, key, _, now, units) return steps_for_all_states().credit(key, now, units) end,
}
