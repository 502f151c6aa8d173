-- Actions in flight: at no instant do more than `limit` units have a slot. The counterpart of concurrency.ts.
--
-- The key is a sorted set of leases. The score of a lease is when it expires. Its member is "id:lease", where `lease` is
-- its length in microseconds, and ":units" follows unless it has one unit. A lease with more has extra units. While the set
-- contains such leases, expired or not, it has a mark: a member "+extra" with an infinite score, where `extra` is the sum of
-- their extra units. So a check counts the units of all leases without reading them.
--
-- The settings are the limit, the lease and the advice of when to retry.

-- A check that finds more expired leases than this removes them even if it records nothing, so that none is read often.
local MAX_EXPIRED <const> = 100

local function member_of(id, lease, units)
  return units == 1 and string.format('%d:%d', id, lease) or string.format('%d:%d:%d', id, lease, units)
end

-- The extra units of these members.
local function extra_of(members)
  local extra = 0
  for _, member in ipairs(members) do extra = extra + (string.match(member, '^%d+:%d+:(%d+)$') or 1) - 1 end
  step_count = step_count + #members / 2
  return extra
end

-- When the last lease expires, its length, and the mark with its number of extra units if the key has one.
local function read_leases(key)
  local found = redis.call('ZRANGE', key, '-2', '-1', 'WITHSCORES')
  local last, mark, extra = #found - 1, nil, nil
  if last < 1 then return end
  if found[last + 1] == 'inf' then
    mark, extra = string.match(found[last], '^(%+(%d+))$')
    if mark then last, extra = last - 2, tonumber(extra) end
    if last < 1 then return nil, nil, mark, extra end
  end
  local length = string.match(found[last], '^%d+:(%d+)')
  if not length then error('Expected leases in ' .. key .. ', got another value. Delete the key or change the prefix', 0) end
  return tonumber(found[last + 1]), tonumber(length), mark, extra
end

-- Replaces the mark `before` by one with so many extra units, and returns that. Without any, the mark goes.
local function set_extra(key, before, extra)
  local mark = extra > 0 and string.format('+%d', extra) or nil
  if mark and mark ~= before then redis.call('ZADD', key, 'inf', mark) end
  if before and mark ~= before then redis.call('ZREM', key, before) end
  return mark
end

-- The units of the leases that have not expired. If there is a mark, how many of them are extra units, and the number of the
-- leases that have expired.
local function count_units(key, now, mark, extra)
  local now_text = string.format('%d', now)
  local used = redis.call('ZCOUNT', key, '(' .. now_text, '(inf')
  if not mark then return used end
  local expired = redis.call('ZRANGEBYSCORE', key, '-inf', now_text)
  local live_extra = extra - extra_of(expired)
  return used + live_extra, live_extra, #expired
end

local function find_leases(key, now)
  local latest, length, mark, extra = read_leases(key)
  if latest and latest - now > 2 * length then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    latest, mark = nil, nil
  end
  local used, live_extra, expired_count = 0, 0, 0
  if latest and latest > now then used, live_extra, expired_count = count_units(key, now, mark, extra) end
  if not mark then return { latest = latest, used = used } end
  -- A read-only server keeps expired leases.
  if expired_count > MAX_EXPIRED and type(redis.pcall('ZREMRANGEBYSCORE', key, '-inf', string.format('%d', now))) == 'number' then
    mark = set_extra(key, mark, live_extra)
  end
  return { latest = latest, used = used, mark = mark, live_extra = live_extra }
end

local function decide_on_leases(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, lease, retry_after = rule[1], rule[2], rule[3]
  state = state or find_leases(key, now)
  local latest, used, id = state.latest, state.used, stamp
  local wait = cost > limit and NEVER or cost > limit - used and retry_after or 0
  -- Another lease may have this id if the server's clock has stepped back.
  if latest and latest >= now + lease then
    while redis.call('ZSCORE', key, member_of(id, lease, cost)) do id = id + 1 end
  end
  if mode > CHECK or (mode == CHECK and wait == 0) then
    local expires = now + lease
    -- In this order, because a script cannot create a key whose hash slot moves to another node of a Cluster.
    redis.call('ZADD', key, string.format('%d', expires), member_of(id, lease, cost))
    redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%d', now))
    if state.mark or cost > 1 then set_extra(key, state.mark, (state.live_extra or 0) + cost - 1) end
    used, expires = used + cost, math.max(expires, latest or 0)
    expire(key, expires, expires - now, injected_now)
  end
  return wait, math.max(0, limit - used), used > 0 and retry_after or 0, nil, id - now, nil, nil, mode == TEST and state or nil
end

local function apply_concurrency(...) return protect(decide_on_leases, ...) end
-- end of what checks need

-- Frees all but the first `kept` units of the lease `id`.
local function free_lease(rule, key, _, _, id, cost, kept)
  local member = member_of(id, rule[2], cost)
  local expires, mark, extra = cost > 1 and redis.call('ZSCORE', key, member), nil, nil
  if expires then _, _, mark, extra = read_leases(key) end
  redis.call('ZREM', key, member)
  if not expires then return end
  if kept > 0 then redis.call('ZADD', key, expires, member_of(id, rule[2], kept)) end
  set_extra(key, mark, extra - (cost - 1) + math.max(0, kept - 1)) -- Last, because an empty set would lose its TTL.
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
local function renew_leases(key, input, first, last, now, lost)
  local is_ours, latest, length, mark, extra = pcall(read_leases, key)
  if not is_ours then
    -- If another program has written the key, its leases are lost, but not those of other keys.
    local message = type(latest) == 'table' and latest.err or tostring(latest)
    local is_foreign = string.find(message, 'WRONGTYPE', 1, true) or string.find(message, 'Expected leases', 1, true)
    if not is_foreign then error(message, 0) end
    latest = nil
  end
  local members, ends, renewed_end, used = members_of(input, first, last), {}, nil, nil
  local scores = is_ours and redis.call('ZMSCORE', key, unpack(members)) or {}
  if latest and (latest <= now or latest - now > 2 * length) then
    redis.call('UNLINK', key) -- All have ended, even if the clock steps back. Or a broken clock wrote it.
    latest, mark, extra, scores = nil, nil, nil, {}
  end
  local total_extra = extra or 0
  for index = first, last do
    local limit, lease, units = unpack(input, 4 * index - 2, 4 * index)
    local place = index - first + 1
    local is_held = scores[place] and tonumber(scores[place]) > now
    if is_ours and not is_held then
      used = used or count_units(key, now, mark, extra)
      is_held = used + units <= limit
      if is_held then
        used = used + units
        if not scores[place] then total_extra = total_extra + units - 1 end
      end
    end
    if is_held then
      ends[#ends + 1], ends[#ends + 2] = string.format('%d', now + lease), members[place]
      renewed_end = math.max(renewed_end or now, now + lease)
    else lost[#lost + 1] = index - 1 end
  end
  if not renewed_end then return nil end
  redis.call('ZADD', key, unpack(ends))
  set_extra(key, mark, total_extra)
  return math.max(renewed_end, latest or renewed_end)
end

changes.concurrency = { read = read_leases, refund = free_lease, renew = renew_leases }
