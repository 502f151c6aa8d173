-- The token bucket. The counterpart of token-bucket.ts.
--
-- The text is "full:parts:refunded:since_newest:since_created:scale". The bucket is full again at `full`, in microseconds, and
-- `parts`, in fractions of a microsecond. `refunded` is the sum of the refunded times. `since_newest` is the time from the newest
-- action to `full`, and `since_created` is the time from the stamp of the first record to `full`. These are shorter than times:
-- a usual text has at most 44 characters, and a longer one takes 16 bytes more. For the scale see clock-skew-bound.ts. For a
-- minDifference, ":newest:longest_difference" follows.
--
-- The settings are the limit, the rate as tokens per microseconds in lowest terms, how long an empty bucket takes to become full, the
-- scale and the minDifference.

-- How long so many tokens take to refill, in whole microseconds and parts.
local function time_of_tokens(rule, tokens)
  local rate_tokens, micros = rule[2], rule[3]
  if tokens > rule[1] then return divide_product(tokens, micros, rate_tokens) end
  local rest = micros % rate_tokens
  local whole = tokens * ((micros - rest) / rate_tokens)
  if rest == 0 then return whole, 0 end
  local parts = tokens * rest
  return whole + math.floor(parts / rate_tokens), parts % rate_tokens
end

-- How long until the bucket contains so many tokens, if it is full at `full` and `parts`.
local function until_tokens(rule, full, parts, now, tokens)
  local micros, spared_parts = time_of_tokens(rule, rule[1] - tokens)
  return math.max(0, full - micros + (parts > spared_parts and 1 or 0) - now)
end

-- Returns the numbers of a state, of which the newest action and the stamp of the first record are times.
local function read_token_bucket(key)
  local text = redis.pcall('GET', key)
  if not text then return nil end
  if text.err then return false, text.err end
  local pattern = '^(%-?%d+):(%d+):(%d+):(%-?%d+):(%-?%d+):(%d+):?(%-?%d*):?(%d*)$'
  local full, parts, refunded, since_newest, since_created, scale, newest, longest = string.match(text, pattern)
  if newest ~= '' then newest, longest = tonumber(newest), tonumber(longest) else newest, longest = nil, nil end
  if not full or (newest and not longest) then return false, rare_steps().foreign(key) end
  full = full + 0
  return full, parts + 0, refunded + 0, full - since_newest, full - since_created, scale + 0, newest, longest
end

local function format_token_bucket(full, parts, refunded, newest_action, created, scale, newest, longest)
  local text = string.format('%d:%d:%d:%d:%d:%d', full, parts, refunded, full - newest_action, full - created, scale)
  return newest and text .. string.format(':%d:%d', newest, longest) or text
end

local function apply_token_bucket(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, rate_tokens, micros, fill, own_scale, min_difference = rule[1], rule[2], rule[3], rule[4], rule[5], rule[6]
  local full, parts, refunded, newest_action, created, scale, newest, longest
  if state then full, parts, refunded, newest_action, created, scale, newest, longest = unpack(state, 1, 8)
  else
    full, parts, refunded, newest_action, created, scale, newest, longest = read_token_bucket(key)
    if full == false then return false, parts end
    if full then
      local expires = parts > 0 and full + 1 or full
      if newest and newest + longest > expires then expires = newest + longest end
      if expires <= now then full = nil
      elseif full - now > 2 ^ (scale + 1) or (newest and newest - now > math.max(fill, min_difference)) then
        local message = rare_steps().reset(key) -- A broken clock wrote it.
        if message then return false, message end
        full = nil
      end
    end
    if not full then full, parts, refunded, newest_action, created, scale, newest, longest = -NEVER, 0, 0, -NEVER, nil, 0, nil, nil end
  end
  -- The parts of another limit may have another size.
  local own_parts, start = math.min(parts, rate_tokens - 1), math.max(full, now)
  local reset = full + (own_parts > 0 and 1 or 0) - now
  local wait, remaining, next_unit, at, reason = cost > limit and NEVER or 0, limit, 0, start + refunded, nil
  if reset > 0 then
    -- A token that refills at the moment is not available yet.
    local missing, rest = divide_product(full - now, rate_tokens, micros)
    remaining = math.max(0, limit - missing - math.ceil((rest + own_parts) / micros))
    if cost > remaining and cost <= limit then wait = until_tokens(rule, full, own_parts, now, cost) end
    next_unit = until_tokens(rule, full, own_parts, now, remaining + 1)
  else reset = 0 end
  if newest and min_difference > 0 and wait < NEVER then
    if newest + min_difference - now > wait then wait, reason = newest + min_difference - now, -2 end
    -- An expired state rejects nothing.
    wait = math.min(wait, math.max(parts > 0 and full + 1 or full, newest + longest) - now)
  end
  if mode > CHECK or (mode == CHECK and wait == 0) then
    local is_full = full < now or (full == now and own_parts == 0)
    local added, added_parts = time_of_tokens(rule, cost)
    scale = is_full and own_scale or math.max(scale, own_scale)
    newest_action, created = math.max(newest_action, now), created or stamp
    -- Actions of limits without a minDifference count too once a limit with one has recorded.
    if newest then newest, longest = math.max(now, newest), math.max(min_difference, longest)
    elseif min_difference > 0 then newest, longest = now, min_difference end
    parts = added_parts + (full < now and 0 or own_parts)
    local carried = math.floor(parts / rate_tokens)
    full, parts = start + added + carried, parts - carried * rate_tokens
    if full - now > fill then
      -- The bucket is in debt.
      if full - now > MAX_AHEAD then full, parts = now + MAX_AHEAD, 0 end
      scale = math.max(scale, rare_steps().scale_of(full - now))
    end
    reset = full + (parts > 0 and 1 or 0) - now
    local expires, keep = now + reset, math.max(fill, min_difference)
    if newest then expires, keep = math.max(expires, newest + longest), math.max(keep, longest) end
    local text = format_token_bucket(full, parts, refunded, newest_action, created, scale, newest, longest)
    local message = write_text(key, text, expires, math.max(keep, expires - now), injected_now)
    if message then return false, message end
    local missing, rest = divide_product(full - now, rate_tokens, micros)
    remaining = math.max(0, limit - missing - math.ceil((rest + parts) / micros))
    next_unit = until_tokens(rule, full, parts, now, remaining + 1)
  end
  return wait, remaining, reset, next_unit, at - now, nil, reason,
    mode == TEST and { full, parts, refunded, newest_action, created, scale, newest, longest } or nil
end
-- end of what checks need

-- Writes a state after the tokens of so many micros and parts have come back. Returns when it expires and its keep.
local function return_tokens(rule, key, now, micros, returned_parts, full, parts, refunded, newest_action, created, scale, newest, longest)
  local left = math.min(parts, rule[2] - 1) - returned_parts
  local carried = math.floor(left / rule[2])
  -- The time since the first record counts from the new time.
  full, parts = full - micros + carried, left - carried * rule[2]
  refunded = refunded + micros + (returned_parts > 0 and 1 or 0)
  redis.call('SET', key, format_token_bucket(full, parts, refunded, newest_action, created, scale, newest, longest))
  local expires, keep = parts > 0 and full + 1 or full, math.max(rule[4], rule[6])
  if newest then expires, keep = math.max(expires, newest + longest), math.max(keep, longest) end
  return expires, math.max(keep, expires - now)
end

changes['token-bucket'] = {
  read = read_token_bucket,
  refund = function(rule, key, stamp, now, at, cost, kept, recorded_at)
    local full, parts, refunded, newest_action, created, scale, newest, longest = raise_false(read_token_bucket(key))
    -- If the server's clock has stepped back, a state that began later may have an earlier stamp, but no action so late.
    if not full or created > stamp or recorded_at > newest_action then return end
    local micros, returned_parts = time_of_tokens(rule, cost - kept)
    if kept > 0 then
      -- The tokens that stay taken refill first.
      local kept_micros = time_of_tokens(rule, kept)
      at, recorded_at = at + kept_micros, recorded_at + kept_micros
    end
    -- Excludes the time in which the hit's tokens have refilled: after those taken before it, and after it was recorded.
    -- The clock may have stepped back since the newest action.
    local latest = math.max(newest_action, now)
    micros = micros - math.max(0, math.min(latest + refunded - at, latest - recorded_at))
    if micros < 0 then return end
    return return_tokens(rule, key, now, micros, returned_parts, full, parts, refunded, newest_action, created, scale, newest, longest)
  end,
  credit = function(rule, key, _, now, units, state)
    local full, parts, refunded, newest_action, created, scale, newest, longest = unpack(state, 1, 8)
    -- The bucket has refilled up to its newest action, even if the clock has stepped back since.
    local latest, own_parts = math.max(newest_action, now), math.min(parts, rule[2] - 1)
    local micros, returned_parts = full - latest, own_parts -- All that are missing.
    if micros < 0 or micros + own_parts == 0 then return end
    local missing, rest = divide_product(micros, rule[2], rule[3])
    if units < missing + math.ceil((rest + own_parts) / rule[3]) then micros, returned_parts = time_of_tokens(rule, units) end
    return return_tokens(rule, key, now, micros, returned_parts, full, parts, refunded, newest_action, created, scale, newest, longest)
  end,
}
