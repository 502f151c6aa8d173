-- A block: a key that is closed until a time. The counterpart of block.ts.
--
-- The text is "ends:longest": when the key opens, and the longest of its blocks. Without an end, both are FOREVER, which is MAX_UNITS.
-- The settings are how long a record closes the key, and 1 for the block of a limit, which is the rule before it. Only a rejection
-- because that has too few units for a cost which could be allowed closes the key then.

local function read_block(key)
  local text = redis.pcall('GET', key)
  if not text then return nil, 0 end
  if text.err then return false, text.err end
  local ends, longest = string.match(text, '^(%-?%d+):(%d+)$')
  if not ends then return false, rare_steps().foreign(key) end
  return tonumber(ends), tonumber(longest)
end

local function apply_block(rule, key, now, cost, mode, _, injected_now, state)
  local length = rule[1]
  local ends, longest
  if state then ends, longest = state[1], state[2]
  else
    ends, longest = read_block(key)
    if ends == false then return false, longest end
    if not ends or ends <= now then ends, longest = now, 0
    elseif ends - now > 2 * longest then
      local message = rare_steps().reset(key) -- A broken clock wrote it.
      if message then return false, message end
      ends, longest = now, 0
    end
  end
  local wait = ends == MAX_UNITS and NEVER or ends - now
  local records = length > 0 and (mode > CHECK or (mode == CHECK and wait == 0))
  local used_up = rule.used_up
  if used_up then
    if mode == TEST and not state then
      rule.counts_rejected = wait == 0 and (used_up.wait or 0) ~= 0 and cost > used_up.remaining and cost <= used_up.limit
    end
    records = mode == RECORD and rule.counts_rejected
  end
  -- A check of block() closes nothing, so its rule has no length and it writes nothing.
  if records then
    ends, longest = math.max(ends, length == MAX_UNITS and MAX_UNITS or now + length), math.max(longest, length)
    local message = write_text(key, string.format('%d:%d', ends, longest), ends, ends - now, injected_now)
    if message then return false, message end
    if used_up then rule.wait, wait = length, length end
  end
  local left = ends == MAX_UNITS and -1 or ends - now
  return wait, left ~= 0 and 0 or 1, left, left, 0, nil, nil, mode == TEST and { ends, longest } or nil
end
-- end of what checks need

changes.block = { read = read_block, refund = function() end }
