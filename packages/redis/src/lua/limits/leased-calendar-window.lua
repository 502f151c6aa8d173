-- The window of a calendar whose checks reserve units. The counterpart of leased-calendar-window.ts.
--
-- The value begins like that of calendar-window.lua, whose count contains the reserved units. Once a key has had a reservation,
-- three numbers follow: the id of the newest reservation, a time before which none ends, and the units of all reservations.
-- Then come the reservations in the order of their ids: the id, when it ends, and its units, which are negative if they stay
-- spent. So a check reads and writes only the beginning, and appends its reservation. The settings
-- are the limit, the keep, the scale, the lease, 1 if units come back when it ends, and the periods as in calendar-window.lua.

-- The sizes of the beginning and of a reservation.
local LEASES_START <const>, LEASE_SIZE <const> = 49, 24
-- A check that finds more reservations than this after one has ended keeps what it has found, even if it records nothing.
local MAX_READ <const> = 100

-- Reads the beginning of a value.
local function read_reservations(key)
  local text = redis.call('GETRANGE', key, 0, LEASES_START + 7)
  local state = { key = key, ends = -NEVER, count = 0, scale = 0, newest = 0, earliest = NEVER, reserved = 0, extra = 0 }
  if text == '' then return state end
  local size = 25
  if #text >= 33 and string.byte(text, 25) >= HAS_EXTRA then size = 33 end
  if #text ~= size and #text < size + 24 then error(rare_steps().foreign(key), 0) end
  state.first, state.ends, state.count, state.scale = struct.unpack('>dddB', text)
  if size > 25 then state.scale, state.extra = state.scale - HAS_EXTRA, struct.unpack('>d', text, 26) end
  if #text == size then return state end
  state.newest, state.earliest, state.reserved = struct.unpack('>ddd', text, size + 1)
  return state
end

-- The text of a state without its reservations.
local function pack_count(state)
  return pack_calendar_window(state.first, state.ends, state.count, state.scale, state.extra)
end

local function pack_beginning(state)
  return pack_count(state) .. struct.pack('>ddd', state.newest, state.earliest, state.reserved)
end

-- The size of what is in front of the reservations.
local function size_of_beginning(state)
  return state.extra > 0 and LEASES_START + 8 or LEASES_START
end

-- The reservations of a state as text.
local function reservations_of(state)
  local text = string.sub(redis.call('GET', state.key), size_of_beginning(state) + 1)
  if #text % LEASE_SIZE ~= 0 then error(rare_steps().foreign(state.key), 0) end
  step_count = step_count + #text / LEASE_SIZE / 4
  return text
end

-- Drops the reservations that have ended. Then `leases` is the text of the others, and `returned` are units that have come back.
local function drop_ended(state, now)
  local text, left, earliest, reserved, returned = reservations_of(state), {}, NEVER, 0, 0
  local kept_from = 1
  for position = 1, #text, LEASE_SIZE do
    local _, ends, units = struct.unpack('>ddd', text, position)
    if ends > now then
      earliest, reserved = math.min(earliest, ends), reserved + math.abs(units)
    else
      left[#left + 1] = string.sub(text, kept_from, position - 1)
      kept_from = position + LEASE_SIZE
      returned = returned + math.max(0, units)
    end
  end
  left[#left + 1] = string.sub(text, kept_from)
  state.leases, state.earliest, state.reserved = table.concat(left), earliest, reserved
  state.count = math.max(0, state.count - returned)
  -- A read-only server keeps what has ended.
  if #text > MAX_READ * LEASE_SIZE and state.count + state.extra > 0 then
    redis.pcall('SET', state.key, pack_beginning(state) .. state.leases, 'KEEPTTL')
  end
end

-- A key of which nothing is left begins a new period. `ended` is when the last one would have ended.
local function blank(state)
  state.ends, state.count, state.scale, state.extra = -NEVER, 0, 0, 0
end

local function find_reservations(rule, key, now)
  local state = read_reservations(key)
  if state.ends <= now or state.ends - now > 2 ^ (state.scale + 1) then
    if state.ends > now then redis.call('UNLINK', key) end -- A broken clock wrote it.
    state = { key = key, newest = 0, earliest = NEVER, reserved = 0, extra = 0 }
    blank(state)
  elseif state.earliest <= now then
    drop_ended(state, now)
    if state.count + state.extra == 0 then
      state.ended = state.ends
      blank(state)
    end
  end
  local problem
  state.period_end, problem = period_end_of(rule, now, 6)
  if not state.period_end then error(problem, 0) end
  return state
end

-- Writes a state, or deletes one of which nothing is left. Reservations that have not been read stay.
local function write_reservations(state)
  if state.count + state.extra == 0 then redis.call('UNLINK', state.key)
  elseif state.newest == 0 then redis.call('SET', state.key, pack_count(state), 'KEEPTTL')
  elseif state.leases then redis.call('SET', state.key, pack_beginning(state) .. state.leases, 'KEEPTTL')
  else redis.call('SETRANGE', state.key, 0, pack_beginning(state)) end
end

-- Records what a check reserves, or what a charge spends.
local function spend(rule, state, now, cost, id, stamp, reserves)
  local key, is_listed = state.key, state.newest > 0 and state.first
  state.first, state.ends = state.first or stamp, math.max(state.ends, state.period_end)
  state.scale, state.count = math.max(state.scale, rule[3]), math.min(state.count + cost, MAX_UNITS)
  if not reserves then
    if not is_listed then state.newest = 0 end
    return write_reservations(state)
  end
  local ends = now + rule[4]
  local lease = struct.pack('>ddd', id, ends, rule[5] == 1 and cost or -cost)
  state.newest, state.earliest, state.reserved = id, math.min(state.earliest, ends), state.reserved + cost
  if is_listed and not state.leases then
    redis.call('APPEND', key, lease) -- First, because only this can exceed the size of a string.
    write_reservations(state)
  else redis.call('SET', key, pack_beginning(state) .. (state.leases or '') .. lease) end
end

local function decide_on_reservations(rule, key, now, cost, mode, stamp, injected_now, state)
  local limit, lease = rule[1], rule[4]
  state = state or find_reservations(rule, key, now)
  local extra = state.extra
  local quota = math.min(limit + extra, MAX_UNITS)
  local free, left = quota - state.count, state.count + extra > 0 and state.ends - now or 0
  local wait, reason = cost > limit and NEVER or cost > free and left or 0, nil
  if cost > free and cost <= math.min(free + state.reserved, limit) then wait, reason = math.min(left, lease), -3 end
  local id = math.max(1, now, state.newest + 1)
  if mode > CHECK or (mode == CHECK and wait == 0) then
    spend(rule, state, now, cost, id, stamp, mode ~= OVERDRAW)
    expire(key, state.ends, rule[2], injected_now)
    left = state.ends - now
  end
  local remaining = math.max(0, quota - state.count)
  local usage = string.format(extra > 0 and ' %d %d %d 0' or ' %d %d', math.max(0, state.count - state.reserved), state.reserved, extra)
  return wait, remaining, left, left, id - now, nil, reason, mode == TEST and state or nil, usage
end

local function apply_leased_calendar_window(...) return protect(decide_on_reservations, ...) end
-- end of what checks need

-- The position of the reservation with this id, if it exists.
local function position_of(text, id)
  local low, high = 0, #text / LEASE_SIZE
  while low < high do
    local middle = math.floor((low + high) / 2)
    if struct.unpack('>d', text, middle * LEASE_SIZE + 1) < id then low = middle + 1 else high = middle end
  end
  local position = low * LEASE_SIZE + 1
  if position < #text and struct.unpack('>d', text, position) == id then return position end
end

-- Replaces what a check has reserved by what it has cost. A negative cost stands for one that a release has spent before.
-- `state` is what `find` has returned.
local function settle_reservation(rule, state, stamp, recorded_stamp, recorded_at, now, id, cost, settled)
  local is_spent, owed = cost < 0, nil
  cost = math.abs(cost)
  -- If the server's clock has stepped back to an earlier period, a state that began later may have an earlier stamp.
  local is_same_start = state.first and state.first <= recorded_stamp
  local is_own_life = is_same_start and recorded_at < state.ends
  local text = is_own_life and state.newest > 0 and (state.leases or reservations_of(state)) or ''
  local position = position_of(text, id)
  if not is_own_life then
    owed = is_spent and settled - cost or settled
    -- Nothing is left of its life, so what it has cost begins another one.
    if is_same_start and state.ended and recorded_at < state.ended then state.first = nil end
  elseif not position and rule[5] == 1 and not is_spent then owed = settled
  else
    owed = settled - cost
    -- A credit may have given back what was spent. What others have reserved stays.
    local reserved = state.reserved - (position and cost or 0)
    state.count = math.max(math.min(state.count, reserved), state.count - math.max(0, -owed))
    if position then
      state.leases = string.sub(text, 1, position - 1) .. string.sub(text, position + LEASE_SIZE)
      state.reserved = math.max(0, state.reserved - cost)
    end
    -- Without reservations, the value is as short as before the first one. Ids stay unique while the server's clock decides.
    if state.leases == '' and now == stamp then state.newest, state.leases = 0, nil end
    if owed <= 0 then return write_reservations(state) end
  end
  if owed <= 0 then
    -- What has ended stays so, even if the clock steps back.
    if is_same_start and state.leases then write_reservations(state) end
    return
  end
  spend(rule, state, now, owed, 0, stamp, false)
  return state.ends, rule[2]
end

-- The input of a lease is the stamp of its check, its length, its units and its id. A reservation in an earlier life of the key
-- has nothing to lose.
local function renew_reservations(key, input, first, last, now, lost)
  local state = read_reservations(key)
  if not state.first or state.ends <= now then return end
  if state.ends - now > 2 ^ (state.scale + 1) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return
  end
  local text, earliest = state.newest > 0 and reservations_of(state) or '', state.earliest
  for index = first, last do
    local stamp, lease, _, id = unpack(input, 4 * index - 2, 4 * index + 1)
    if state.first <= stamp then
      local position = position_of(text, id)
      if position and struct.unpack('>d', text, position + 8) > now then
        redis.call('SETRANGE', key, size_of_beginning(state) + position + 7, struct.pack('>d', now + lease))
        state.earliest = math.min(state.earliest, now + lease)
      else lost[#lost + 1] = index - 1 end
    end
  end
  if state.earliest < earliest then redis.call('SETRANGE', key, 0, pack_beginning(state)) end
end

-- Gives spent units back. Those of reservations stay.
local function credit_spent(rule, _, stamp, _, units, state, is_beyond)
  if not state.first and not is_beyond then return end
  if is_beyond and state.newest > 0 then state.leases = state.leases or reservations_of(state) end -- They move.
  local reserved = math.min(state.reserved, state.count)
  local spent, extra = credit_period(state.count - reserved, state.extra, units, is_beyond)
  state.count, state.extra = reserved + spent, extra
  if not is_beyond or state.count + extra == 0 then return write_reservations(state) end
  state.first, state.ends, state.scale = state.first or stamp, math.max(state.ends, state.period_end), math.max(state.scale, rule[3])
  write_reservations(state)
  return state.ends, rule[2]
end

changes['leased-calendar-window'] = {
  credit = credit_spent,
  read = read_reservations, find = find_reservations, settle = settle_reservation, renew = renew_reservations,
}
