-- The bucketed window. The counterpart of bucketed-window.ts.
--
-- The text is "window:created", where `window` is in milliseconds and belongs to the limit that recorded last, and `created` is
-- the stamp of the first record. For a minDifference, ":newest:longest_difference" follows. Then "/" and the buckets follow
-- (see bucket-counts.lua). The settings are the limit, the window, the width of a bucket and the minDifference.

-- Returns the buckets (nil without a state), and the numbers in the order of the text.
local function read_bucketed_window(key)
  local text = redis.pcall('GET', key)
  if not text then return nil end
  if text.err then return false, text.err end
  local window, created, newest, longest, head = string.match(text, '^(%d+):(%d+):?(%-?%d*):?(%d*)/()')
  local buckets = window and bucket_counts.read(text, head)
  newest, longest = tonumber(newest), tonumber(longest)
  if not buckets or (newest and not longest) then return false, rare_steps().foreign(key) end
  return buckets, window * 1000, tonumber(created), newest, longest
end

local function format_bucketed_window(buckets, window, created, newest, longest)
  local head = string.format('%d:%d', window / 1000, created)
  if newest then head = head .. string.format(':%d:%d', newest, longest) end
  return bucket_counts.format(head .. '/', buckets)
end

local function decide_in_buckets(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, window, own_width, min_difference = rule[1], rule[2], rule[3], rule[4]
  local buckets, last_window, created, newest, longest, newest_end
  local latest, expires = now, NEVER
  if state then buckets, last_window, created, newest, longest, newest_end, latest, expires = unpack(state, 1, 8)
  else
    buckets, last_window, created, newest, longest = read_bucketed_window(key)
    if buckets == false then return false, last_window end
    if buckets then
      newest_end, latest = bucket_counts.newest_end(buckets), math.max(now, bucket_counts.newest_start(buckets))
      expires = newest_end + last_window
      if newest then expires = math.max(expires, newest + longest) end
      if expires <= now then buckets = nil
      elseif latest - now > window or (newest and newest - now > math.max(window, min_difference)) then
        local message = rare_steps().reset(key) -- A broken clock wrote it.
        if message then return false, message end
        buckets = nil
      end
    end
    if not buckets then
      buckets, created, newest, longest, newest_end, latest, expires = bucket_counts.empty(), nil, nil, nil, -NEVER, now, NEVER
    end
    bucket_counts.drop(buckets, latest - window)
  end
  local width = bucket_counts.width_for(buckets, own_width, window)
  local used = buckets.units
  local wait, reset, next_unit, reason = cost > limit and NEVER or 0, 0, 0, nil
  if used > 0 then
    if cost > limit - used and cost <= limit then
      wait = bucket_counts.end_of_unit(buckets, cost - (limit - used)) + window - now
    end
    reset = newest_end + window - now
    next_unit = bucket_counts.end_of_unit(buckets, math.max(1, 1 - limit + used)) + window - now
  end
  -- An expired state rejects nothing.
  local left, at = expires - now, (math.floor(latest / width) + 1) * width
  if wait < NEVER then
    if newest and min_difference > 0 and newest + min_difference - now > wait then
      wait, reason = newest + min_difference - now, -2
    end
    wait = math.min(wait, left)
  end
  if mode > CHECK or (mode == CHECK and wait == 0) then
    bucket_counts.resize(buckets, width, latest)
    created = created or stamp
    bucket_counts.add(buckets, latest, cost)
    -- Actions of limits without a minDifference count too once a limit with one has recorded.
    if newest then newest, longest = math.max(now, newest), math.max(min_difference, longest)
    elseif min_difference > 0 then newest, longest = now, min_difference end
    local keep
    expires, keep = at + window, window + own_width
    if newest then expires, keep = math.max(expires, newest + longest), math.max(keep, longest) end
    local text = format_bucketed_window(buckets, window, created, newest, longest)
    local message = write_text(key, text, expires, keep, injected_now)
    if message then return false, message end
    used, reset, left = buckets.units, at + window - now, expires - now
    next_unit = bucket_counts.end_of_unit(buckets, 1) + window - now
  end
  return wait, math.max(0, limit - used), math.min(reset, left), math.min(next_unit, left), at - now, nil, reason,
    mode == TEST and { buckets, last_window, created, newest, longest, newest_end, latest, expires } or nil
end

local function apply_bucketed_window(...) return protect(decide_in_buckets, ...) end
-- end of what checks need

-- Writes what is left of a state. Returns when it expires and its keep.
local function rewrite_buckets(rule, key, buckets, window, created, newest, longest)
  if buckets.units == 0 and not newest then redis.call('UNLINK', key) return end
  redis.call('SET', key, format_bucketed_window(buckets, window, created, newest, longest))
  local expires, keep = bucket_counts.newest_end(buckets) + window, rule[2] + rule[3]
  if newest then expires, keep = math.max(expires, newest + longest), math.max(keep, longest) end
  return expires, keep
end

changes['bucketed-window'] = {
  read = read_bucketed_window,
  refund = function(rule, key, stamp, _, at, cost, kept)
    local buckets, window, created, newest, longest = raise_false(read_bucketed_window(key))
    if not buckets or created > stamp then return end
    bucket_counts.take(buckets, at, cost - kept)
    return rewrite_buckets(rule, key, buckets, window, created, newest, longest)
  end,
  credit = function(rule, key, _, _, units, state)
    if not state[3] then return end -- There is no state.
    local buckets, window, created, newest, longest = raise_false(read_bucketed_window(key)) -- With what the test has dropped.
    if buckets.units == 0 then return end
    bucket_counts.keep_oldest(buckets, math.max(0, buckets.units - units))
    return rewrite_buckets(rule, key, buckets, window, created, newest, longest)
  end,
}
