-- The rolling window: at no instant are there more than `limit` units in the last `window`. The counterpart of
-- rolling-window.ts.

-- Decides on the usual states of a packed log in a third of the instructions that others take, and leaves the same bytes: the log is
-- empty or was written by the same limit, which has no minDifference and counts no rejected attempts. Either each hit has a total or
-- none has, and among the first hits is one in the window.
--
-- Returns the wait, the remaining units, the reset, how long until more units remain, and after a test the state, with which the
-- record of the same cost follows. Checks of one run pass one table as `shared`. Returns nil for other states, if more units than one are rejected, and if Redis rejects the first
-- command that changes the state. So the steps below decide then. If it rejects a later one, returns false and the message.
local function apply_usual(limit, window, key, now, cost, mode, stamp, injected_now, state, shared)
  -- The forms of a packed log (see hit-log-packed.lua), and the sizes of a hit and of what follows the last one. They are here
  -- because a variable that a function captures costs more than the function.
  local PLAIN, HIT, END, WITH_TOTALS, HIT_WITH_TOTAL, END_WITH_TOTALS = 0xF8, 7, 32, 0xF9, 14, 45
  -- The number of hits, the size of the room and the form are one number here, because each number takes time. There is no room.
  local ONE_HIT = 2 ^ 24
  local call, start = redis.pcall, now - window
  local tail, newest, oldest, created, dropped, count, total, dropped_units, free
  if state then
    tail, newest, oldest, created = state.tail, state.newest, state.oldest, state.created
    dropped, count, total, dropped_units, free = state.dropped, state.count, state.total, state.dropped_units, state.free
  else
    -- The tail is the whole of a log of up to 16 hits.
    tail = call('GETRANGE', key, cost == 1 and '-144' or '-269', '-1')
    if tail.err then return nil end
    local size, last = #tail, start
    if size > 0 then
      if size < HIT + END then return nil end
      local first, birth, keep, dropped_before, ending, last_total, units_before
      last, first, birth, keep, dropped_before, ending = struct.unpack('>i7i7i7I7I4I7', tail, size - 38)
      local form = ending % ONE_HIT
      local hits = (ending - form) / ONE_HIT
      if form ~= PLAIN then
        if form ~= WITH_TOTALS or size < HIT_WITH_TOTAL + END_WITH_TOTALS then return nil end
        local plain_count, gaps_size
        last, last_total, plain_count, units_before, gaps_size = struct.unpack('>i7I7I4I7I2', tail, size - 58)
        if plain_count > 0 or gaps_size > 0 or last_total - units_before > limit then return nil end
      end
      if keep ~= window or last > now or hits > limit then return nil end
      if last > start then
        if cost ~= 1 and not last_total then return nil end
        newest, oldest, created, dropped, count, total, dropped_units = last, first, birth, dropped_before, hits, last_total, units_before
        if first <= start then
          -- Finds the oldest hit in the window, among the first hits.
          local hit_size, end_size = HIT, END
          if total then hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS end
          local hits_text, from, left = tail, size - end_size - hit_size * count, 0
          if from < 0 then
            from = hit_size * dropped
            hits_text, from = call('GETRANGE', key, string.format('%d', from), string.format('%d', from + 9 * hit_size - 1)), 0
          end
          repeat
            left = left + 1
            if from + hit_size * left + 7 > #hits_text then left = nil break end
            oldest = struct.unpack('>i7', hits_text, from + hit_size * left + 1)
          until oldest > start
          if not left then return nil end
          dropped, count = dropped + left, count - left
          if total then dropped_units = struct.unpack('>I7', hits_text, from + 14 * left - 6) end
        end
      end
    end
    if last <= start then newest, oldest, created, dropped, count, total, dropped_units = nil, now, stamp, 0, 0, cost ~= 1 and 0 or nil, 0 end
    -- A wait depends on the costs of the oldest hits, and the steps for all states keep large totals exact.
    free = total and limit - total + dropped_units or limit - count
    if total and (free < cost or total + cost >= 2 ^ 53) then return nil end
  end
  if mode == 0 or free < cost then
    local wait, reset, next_unit = 0, 0, 0
    if newest then reset, next_unit = newest + window - now, oldest + window - now end
    if cost > limit then wait = math.huge elseif free < cost then wait = next_unit end
    if mode ~= 0 then return wait, free, reset, next_unit end
    return wait, free, reset, next_unit, state or {
      tail = tail, newest = newest, oldest = oldest, created = created, dropped = dropped, count = count, total = total,
      dropped_units = dropped_units, free = free, cost = cost, key = key,
    }
  end
  -- The TTL changes only when a new half of a window has begun, as `expiry_of` describes.
  local half = window / 2
  local half_start, expiry = now - now % half, nil
  if injected_now or not newest or newest < half_start then
    if shared and shared.half_start == half_start then expiry = shared.expiry
    else
      -- Rounds up, as `expire` in common.lua does.
      expiry = string.format('%d', injected_now and (window + half) / 1000 + 60000 or (half_start + half + window + 999) / 1000)
      if shared then shared.half_start, shared.expiry = half_start, expiry end
    end
  end
  -- A log of up to 15 hits is written whole, and a longer one of which a fifth has left the window. To others a hit is appended.
  local is_whole = count < 16 or (dropped > 16 and dropped * 4 > count + 1)
  local dropped_before, hit_size, end_size, bytes, reply = is_whole and 0 or dropped, HIT, END, nil, nil
  if total then
    hit_size, end_size = HIT_WITH_TOTAL, END_WITH_TOTALS
    bytes = struct.pack('>i7I7I4I7I2i7i7I7I4I7', now, total + cost, 0, dropped_units, 0, oldest, created, window, dropped_before,
      (count + 1) * ONE_HIT + WITH_TOTALS)
  else bytes = struct.pack('>i7i7i7I7I4I7', now, oldest, created, window, dropped_before, (count + 1) * ONE_HIT + PLAIN) end
  if is_whole then
    local from, first = #tail - end_size - hit_size * count, hit_size * dropped
    if count > 0 and from < 0 then
      bytes = call('GETRANGE', key, string.format('%d', first), string.format('%d', first + hit_size * count - 1)) .. bytes
      step_count = step_count + count / 40
    elseif count > 0 then bytes = string.sub(tail, from + 1, -1 - end_size) .. bytes end
    if not expiry then reply = call('SET', key, bytes, 'KEEPTTL')
    else reply = call('SET', key, bytes, injected_now and 'PX' or 'PXAT', expiry) end
    if reply.err then return nil end
  else
    reply = call('SETRANGE', key, string.format('%d', hit_size * (dropped + count)), bytes)
    if type(reply) == 'table' then return nil end
    if expiry then
      reply = call(injected_now and 'PEXPIRE' or 'PEXPIREAT', key, expiry)
      if type(reply) == 'table' then return false, reply.err end
    end
  end
  return 0, free - cost, window, oldest + window - now
end

-- end of what main.lua needs

local rolling_window = {}
algorithms['rolling-window'] = rolling_window

-- Redis accepts every string of this length and one more hit, because `proto-max-bulk-len` is at least 1 MiB.
local SAFE_LENGTH = 2 ^ 20 - 100

-- Creates the steps for all states. Most scripts need none of them.
function rolling_window.load()
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

-- include log
  -- The most hits that one check drops. A sorted set takes time for each of them, and the server serves no other client until
  -- then. Hits outside the window do not count, so the rest can wait for the next check.
  local MAX_DROPPED = 10000
  -- How far ahead of now a queue records hits at most (see tickets.lua). The log of such hits is dated.
  local MAX_DATED = 1000000

  -- When a key with its newest hit at `time` expires: `keep` after the end of the half of a keep in which the time lies. So most
  -- hits leave the TTL as it is.
  local function expiry_of(time, keep)
    local half = keep / 2
    return time - time % half + half + keep
  end

  -- For how long after its newest hit a key lives at most.
  local function longest_life(keep)
    return keep + keep / 2
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

  rolling_window.read = log.open

  function rolling_window.find(rule, key, now)
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

  function rolling_window.test(rule, hits, now, cost)
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

  function rolling_window.record(rule, hits, now, cost, verdict, stamp)
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
      verdict = rolling_window.test(rule, hits, now, cost)
      -- What rejected the attempt stays its reason, even if the attempt has filled the window.
      if rejection.wait > 0 then verdict.by_min_difference = rejection.by_min_difference end
    else
      verdict.remaining = math.max(0, verdict.remaining - cost)
      verdict.reset = at + rule.window - now
      local start = (hits.is_dated and math.max(now, at - MAX_DATED) or at) - rule.window
      first = hits.oldest <= start and log.first_after(hits, start) or 0
      verdict.next_unit = until_next_unit(hits, first, 0, rule.window, now)
    end
    verdict.expires, verdict.keep = expiry_of(at, keep), longest_life(keep)
    return verdict
  end

  function rolling_window.refund(_, key, stamp, _, at, cost, kept)
    local hits = log.open(key)
    if hits.size == 0 or log.created(hits) > stamp then return nil end
    log.refund(hits, at, cost - kept)
    if hits.size == 0 then return nil end
    -- The newest hit may be gone. Then the key expires earlier.
    return expiry_of(hits.newest, hits.recorder.keep), longest_life(hits.recorder.keep)
  end

  rolling_window.log = log
end

function rolling_window.rule(limit, window, min_difference)
  local keep, is_usual = math.max(window, min_difference), HAS_PACKED_LOG and min_difference == 0
  return { limit = limit, window = window, min_difference = min_difference, keep = keep, is_usual = is_usual }
end

function rolling_window.apply(rule, key, now, cost, mode, stamp, injected_now, state)
  -- A usual state is that for one cost.
  if state and state.tail and state.cost ~= cost then state = nil end
  if state and state.tail or not state and rule.is_usual and not rule.counts_rejected and not rule.is_dated then
    local wait, remaining, reset, next_unit, tested =
      apply_usual(rule.limit, rule.window, key, now, cost, mode, stamp, injected_now, state)
    if wait == false then error(remaining, 0) end
    if wait then return wait, remaining, reset, next_unit, 0, nil, nil, tested end
    state = nil
  end
  if not rolling_window.find then rolling_window.load() end
  return apply_steps(rule, key, now, cost, mode, stamp, injected_now, state)
end

-- Raises an error if a record would make the log too long for Redis. Only this algorithm keeps values that grow without a bound.
function rolling_window.ensure_fits(state)
  local length = state.length
  if state.tail then
    local hits = state.dropped + state.count
    length = state.total and 14 * hits + 45 or 7 * hits + 32
  end
  if not length or length <= SAFE_LENGTH then return end
  if not rolling_window.find then rolling_window.load() end
  rolling_window.log.ensure_fits({ key = state.key, length = length })
end
