-- Actions in flight: at no instant do more than `limit` units have a slot. The counterpart of concurrency.ts.
--
-- The key is a sorted set of leases. The score of a lease is when it expires. Its member is "id:lease", where `lease` is
-- its length in microseconds, and ":units" follows unless it has one unit. While a lease has more units, the key has a
-- member "*", whose score is not below that of any such lease. Without it, the number of leases is the number of units.

local concurrency = {}
algorithms.concurrency = concurrency

function concurrency.rule(limit, lease, retry_after)
  return { limit = limit, lease = lease, retry_after = retry_after }
end

local function member_of(id, lease, units)
  return units == 1 and string.format('%d:%d', id, lease) or string.format('%d:%d:%d', id, lease, units)
end

-- When the last lease expires, and its length. Nothing without a lease.
function concurrency.read(key)
  local found = redis.call('ZRANGE', key, '-2', '-1', 'WITHSCORES')
  local last = #found - 1
  if found[last] == '*' then last = last - 2 end
  if last < 1 then return end
  local length = string.match(found[last], '^%d+:(%d+)')
  if not length then error('Expected leases in ' .. key .. ', got another value. Delete the key or change the prefix', 0) end
  return tonumber(found[last + 1]), tonumber(length)
end

-- The units of all leases that have not expired.
local function used_units(key, now)
  local from = '(' .. format_integer(now)
  local weighted_until = redis.call('ZSCORE', key, '*')
  if not weighted_until or tonumber(weighted_until) <= now then return redis.call('ZCOUNT', key, from, '+inf') end
  local used, members = 0, redis.call('ZRANGEBYSCORE', key, from, '+inf')
  for _, member in ipairs(members) do
    if member ~= '*' then used = used + (string.match(member, ':%d+:(%d+)$') or 1) end
  end
  count_steps(#members / 2)
  return used
end

-- Adds leases or extends them. `ends` is a list of when each expires and its member, and `weighted_end` is the latest of those
-- with more than one unit, or nil. An injected clock may have times below 0.
local function put(key, ends, weighted_end)
  if #ends > 0 then redis.call('ZADD', key, unpack(ends)) end
  if not weighted_end then return end
  local before = redis.call('ZSCORE', key, '*')
  if not before or tonumber(before) < weighted_end then redis.call('ZADD', key, format_integer(weighted_end), '*') end
end

local function put_one(key, member, units, expires)
  put(key, { format_integer(expires), member }, units > 1 and expires or nil)
end

function concurrency.find(_, key, now, stamp)
  local latest, length = concurrency.read(key)
  if latest and latest - now > 2 * length then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    latest = nil
  end
  return { key = key, stamp = stamp, latest = latest, used = latest and latest > now and used_units(key, now) or 0 }
end

function concurrency.test(rule, state, now, cost)
  local free, wait, id = rule.limit - state.used, 0, state.stamp
  if cost > rule.limit then wait = NEVER elseif cost > free then wait = rule.retry_after end
  -- Another lease may have this id if the server's clock has stepped back.
  if state.latest and state.latest >= now + rule.lease then
    while redis.call('ZSCORE', state.key, member_of(id, rule.lease, cost)) do id = id + 1 end
  end
  return {
    wait = wait, at = id, stable = 0,
    remaining = math.max(0, free),
    reset = state.used > 0 and rule.retry_after or 0,
  }
end

function concurrency.record(rule, state, now, cost, verdict)
  local key, expires = state.key, now + rule.lease
  redis.call('ZREMRANGEBYSCORE', key, '-inf', format_integer(now))
  put_one(key, member_of(verdict.at, rule.lease, cost), cost, expires)
  state.used = state.used + cost
  verdict.remaining, verdict.reset = math.max(0, rule.limit - state.used), rule.retry_after
  verdict.expires = math.max(expires, state.latest or 0)
  verdict.keep = verdict.expires - now
  return verdict
end

-- Frees all but the first `kept` units of the lease `id`.
function concurrency.refund(rule, key, _, _, id, cost, kept)
  local member = member_of(id, rule.lease, cost)
  local expires = kept > 0 and redis.call('ZSCORE', key, member)
  redis.call('ZREM', key, member)
  if expires then put_one(key, member_of(id, rule.lease, kept), kept, tonumber(expires)) end
end

-- The members of the leases from `first` to `last` of a renewal's input.
local function members_of(input, first, last)
  local members = {}
  for index = first, last do
    local lease, units, id = unpack(input, 4 * index - 1, 4 * index + 1)
    members[#members + 1] = member_of(id, lease, units)
  end
  return members
end

-- Extends the leases from `first` to `last` of a renewal's input, which have this key, or takes their slots again if they are
-- free. Adds the indices of the others to `lost`. Returns when the last lease of the key expires, if it has extended any.
function concurrency.renew(key, input, first, last, now, lost)
  local is_ours, latest, length = pcall(concurrency.read, key)
  if not is_ours then
    -- If another program has written the key, its leases are lost, but not those of other keys.
    local message = type(latest) == 'table' and latest.err or latest
    local is_foreign = string.find(message, 'WRONGTYPE', 1, true) or string.find(message, 'Expected leases', 1, true)
    if not is_foreign then error(message, 0) end
    latest = nil
  end
  local members, ends, weighted_end, renewed_end, used = members_of(input, first, last), {}, nil, nil, nil
  local scores = is_ours and redis.call('ZMSCORE', key, unpack(members)) or {}
  if latest and (latest <= now or latest - now > 2 * length) then
    redis.call('UNLINK', key) -- All have ended, even if the clock steps back. Or a broken clock wrote it.
    latest, scores = nil, {}
  end
  for index = first, last do
    local limit, lease, units = unpack(input, 4 * index - 2, 4 * index)
    local place = index - first + 1
    local is_held = scores[place] and tonumber(scores[place]) > now
    if is_ours and not is_held then
      used = used or used_units(key, now)
      is_held = used + units <= limit
      if is_held then used = used + units end
    end
    if is_held then
      ends[#ends + 1], ends[#ends + 2] = format_integer(now + lease), members[place]
      if units > 1 then weighted_end = math.max(weighted_end or now, now + lease) end
      renewed_end = math.max(renewed_end or now, now + lease)
    else lost[#lost + 1] = index - 1 end
  end
  put(key, ends, weighted_end)
  return renewed_end and math.max(renewed_end, latest or renewed_end)
end

function kinds.renew(_, input, stamp, first_key)
  local injected_now, lost = input[1], {}
  local now, count, first = injected_now or stamp, (#input - 1) / 4, 1
  while first <= count do
    -- The client sends the leases of a key in a row, because the calls for a key take most of the time.
    local key, last = KEYS[first_key + first], first
    while last < count and KEYS[first_key + last + 1] == key do last = last + 1 end
    local expires = algorithms.concurrency.renew(key, input, first, last, now, lost)
    if expires then expire(key, expires, expires - now, injected_now) end
    first = last + 1
  end
  return table.concat(lost, ' ')
end
