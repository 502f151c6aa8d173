-- The window of a calendar whose checks reserve units. The counterpart of leased-calendar-window.ts.
--
-- The value begins like that of calendar-window.lua, whose count contains the reserved units. Once a key has had a reservation,
-- three numbers follow: the id of the newest reservation, a time before which none ends, and the units of all reservations.
-- Then come the reservations in the order of their ids: the id, when it ends, and its units, which are negative if they stay
-- spent. So a check reads and writes only the beginning, and appends its reservation.

local leased_calendar_window = {}
algorithms['leased-calendar-window'] = leased_calendar_window

local BASE_SIZE = calendar_window.SIZE
local LIST_FORMAT, LEASE_FORMAT = '>ddd', '>ddd'
local LEASES_START = BASE_SIZE + struct.size(LIST_FORMAT)
local LEASE_SIZE = struct.size(LEASE_FORMAT)
-- A check that finds more reservations than this after one has ended keeps what it has found, even if it records nothing.
local MAX_READ = 100

function leased_calendar_window.rule(limit, keep, scale, lease, refunds, ...)
  local rule = calendar_window.rule(limit, keep, scale, ...)
  rule.lease, rule.refunds = lease, refunds == 1
  return rule
end

-- Reads the beginning of a value.
local function read(key)
  local text = redis.call('GETRANGE', key, 0, LEASES_START - 1)
  local state = { key = key, ends = -NEVER, count = 0, scale = 0, newest = 0, earliest = NEVER, reserved = 0 }
  if text == '' then return state end
  if #text ~= BASE_SIZE and #text ~= LEASES_START then string_state.raise_foreign(key) end
  state.first, state.ends, state.count, state.scale = struct.unpack(calendar_window.FORMAT, text)
  if #text == BASE_SIZE then return state end
  state.newest, state.earliest, state.reserved = struct.unpack(LIST_FORMAT, text, BASE_SIZE + 1)
  return state
end

leased_calendar_window.read = read

local function pack_beginning(state)
  return calendar_window.pack(state) .. struct.pack(LIST_FORMAT, state.newest, state.earliest, state.reserved)
end

-- The reservations of a key as text.
local function read_leases(key)
  local text = string.sub(redis.call('GET', key), LEASES_START + 1)
  if #text % LEASE_SIZE ~= 0 then string_state.raise_foreign(key) end
  count_steps(#text / LEASE_SIZE / 4)
  return text
end

-- Drops the reservations that have ended. Then `leases` is the text of the others, and `returned` are units that have come back.
local function drop_ended(state, now)
  local text, left, earliest, reserved, returned = read_leases(state.key), {}, NEVER, 0, 0
  local kept_from = 1
  for position = 1, #text, LEASE_SIZE do
    local _, ends, units = struct.unpack(LEASE_FORMAT, text, position)
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
  if #text > MAX_READ * LEASE_SIZE and state.count > 0 then
    redis.pcall('SET', state.key, pack_beginning(state) .. state.leases, 'KEEPTTL')
  end
end

-- A key of which nothing is left begins a new period.
local function blank(state)
  state.ends, state.count, state.scale = -NEVER, 0, 0
end

function leased_calendar_window.find(rule, key, now)
  local state = read(key)
  if state.ends <= now or not string_state.is_within_scale(state.ends - now, state.scale) then
    if state.ends > now then redis.call('UNLINK', key) end -- A broken clock wrote it.
    state = { key = key, newest = 0, earliest = NEVER, reserved = 0 }
    blank(state)
  elseif state.earliest <= now then
    drop_ended(state, now)
    if state.count == 0 then blank(state) end
  end
  state.period_end = calendar_window.period_end(rule, now)
  return state
end

function leased_calendar_window.test(rule, state, now, cost)
  local verdict = calendar_window.test(rule, state, now, cost)
  local free = rule.limit - state.count
  if cost > free and cost <= free + state.reserved then
    verdict.wait, verdict.is_estimate = math.min(verdict.reset, rule.lease), true
  end
  verdict.at = math.max(1, now, state.newest + 1)
  return verdict
end

function leased_calendar_window.usage(_, state)
  return string.format(' %d %d', math.max(0, state.count - state.reserved), state.reserved)
end

-- Writes a state whose reservations have been read, or the beginning of one whose reservations stay.
local function write(state)
  if state.leases then redis.call('SET', state.key, pack_beginning(state) .. state.leases, 'KEEPTTL')
  else redis.call('SETRANGE', state.key, 0, pack_beginning(state)) end
end

function leased_calendar_window.record(rule, state, now, cost, verdict, stamp)
  local ends = now + rule.lease
  local lease = struct.pack(LEASE_FORMAT, verdict.at, ends, rule.refunds and cost or -cost)
  local is_listed = state.newest > 0 and state.first and not state.leases
  calendar_window.add(rule, state, cost, stamp)
  state.newest, state.earliest = verdict.at, math.min(state.earliest, ends)
  state.reserved = state.reserved + cost
  if is_listed then
    redis.call('APPEND', state.key, lease) -- First, because only this can exceed the size of a string.
    write(state)
  else redis.call('SET', state.key, pack_beginning(state) .. (state.leases or '') .. lease) end
  return calendar_window.report(rule, state, now, verdict)
end

-- Records without a reservation.
function leased_calendar_window.overdraw(rule, state, now, cost, verdict, stamp)
  local is_listed = state.newest > 0 and state.first
  calendar_window.add(rule, state, cost, stamp)
  if is_listed then write(state) else redis.call('SET', state.key, calendar_window.pack(state)) end
  return calendar_window.report(rule, state, now, verdict)
end

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
function leased_calendar_window.settle(rule, state, stamp, recorded_stamp, recorded_at, now, id, cost, settled)
  local key, is_spent, owed = state.key, cost < 0, nil
  cost = math.abs(cost)
  -- If the server's clock has stepped back to an earlier period, a state that began later may have an earlier stamp.
  local is_own_life = state.first and state.first <= recorded_stamp and recorded_at < state.ends
  local text = is_own_life and state.newest > 0 and (state.leases or read_leases(key)) or ''
  local position = position_of(text, id)
  if not is_own_life then owed = is_spent and settled - cost or settled
  elseif not position and rule.refunds and not is_spent then owed = settled
  else
    owed = settled - cost
    state.count = math.max(0, state.count - math.max(0, -owed))
    if position then
      state.leases = string.sub(text, 1, position - 1) .. string.sub(text, position + LEASE_SIZE)
      state.reserved = math.max(0, state.reserved - cost)
    end
    if state.count == 0 and owed <= 0 then redis.call('UNLINK', key) return end
    -- Without reservations, the value is as short as before the first one. Ids stay unique while the server's clock decides.
    if state.leases == '' and now == stamp then state.newest, state.leases = 0, nil end
    if state.newest > 0 then write(state) else redis.call('SET', key, calendar_window.pack(state), 'KEEPTTL') end
  end
  if owed <= 0 then return end
  local verdict = leased_calendar_window.test(rule, state, now, owed)
  verdict = leased_calendar_window.overdraw(rule, state, now, owed, verdict, stamp)
  return verdict.expires, verdict.keep
end

-- The input of a lease is the stamp of its check, its length, its units and its id. A reservation in an earlier life of the key
-- has nothing to lose.
function leased_calendar_window.renew(key, input, first, last, now, lost)
  local state = read(key)
  if not state.first or state.ends <= now then return end
  if not string_state.is_within_scale(state.ends - now, state.scale) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return
  end
  local text, earliest = state.newest > 0 and read_leases(key) or '', state.earliest
  for index = first, last do
    local stamp, lease, _, id = unpack(input, 4 * index - 2, 4 * index + 1)
    if state.first <= stamp then
      local position = position_of(text, id)
      if position and struct.unpack('>d', text, position + 8) > now then
        redis.call('SETRANGE', key, LEASES_START + position + 7, struct.pack('>d', now + lease))
        state.earliest = math.min(state.earliest, now + lease)
      else lost[#lost + 1] = index - 1 end
    end
  end
  if state.earliest < earliest then redis.call('SETRANGE', key, 0, pack_beginning(state)) end
end
