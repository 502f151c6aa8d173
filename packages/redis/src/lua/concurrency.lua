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

-- Adds a lease or extends it.
local function put(key, member, units, expires)
  local text = format_integer(expires)
  redis.call('ZADD', key, text, member)
  if units == 1 then return end
  local weighted_until = redis.call('ZSCORE', key, '*')
  if not weighted_until or tonumber(weighted_until) < expires then redis.call('ZADD', key, text, '*') end
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
  put(key, member_of(verdict.at, rule.lease, cost), cost, expires)
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
  if expires then put(key, member_of(id, rule.lease, kept), kept, tonumber(expires)) end
end

-- Extends the lease `id`, or takes its slots again if they are free. Returns when the last lease expires, or nothing if the slots
-- are lost.
function concurrency.renew(key, limit, lease, units, id, now)
  local member = member_of(id, lease, units)
  local expires = redis.pcall('ZSCORE', key, member)
  if type(expires) == 'table' then return end -- Another program has written the key, which must not cost other leases.
  local latest, length = concurrency.read(key)
  if latest and latest - now > 2 * length then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    latest, expires = nil, nil
  end
  local is_live = expires and tonumber(expires) > now
  if not is_live and used_units(key, now) + units > limit then return end
  put(key, member, units, now + lease)
  return math.max(latest or 0, now + lease)
end

function kinds.renew(_, input, stamp, first_key)
  local injected_now, lost = input[1], {}
  local now, count = injected_now or stamp, (#input - 1) / 4
  for index = 1, count do
    local key = KEYS[first_key + index]
    local limit, lease, units, id = unpack(input, 4 * index - 2, 4 * index + 1)
    local latest = algorithms.concurrency.renew(key, limit, lease, units, id, now)
    if latest then expire(key, latest, latest - now, injected_now) else lost[#lost + 1] = index - 1 end
  end
  return table.concat(lost, ' ')
end
