-- What a key of a reported quota knows. The counterpart of reported-state.ts.
--
-- The value has the numbers in a binary form: the stamp of its first record, the kind, the limit, the remaining units, when they
-- arrived, how long they matter, the end of a window at the latest and at the earliest or the units and the time of a rate, since
-- when a quota refills, until when no call starts, the units that calls leave to other clients, by how many thousandths calls
-- take more than their costs, and the id of the newest call.
-- Then come the open calls in the order of their ids: the id, when its lease ends, its units, and the length of the lease.

local reported_state = {}

local FORMAT, CALL_FORMAT = '>dBddddddddddd', '>dddd'
local SIZE, CALL_SIZE = struct.size(FORMAT), struct.size(CALL_FORMAT)
local function mul_div(a, b, c)
  return (divide_product(a, b, c))
end

local function mul_div_up(a, b, c)
  local whole, left = divide_product(a, b, c)
  return left > 0 and whole + 1 or whole
end

-- What a server has reported: nothing, a quota that comes back at once when its window ends, or one that refills evenly.
local NOTHING <const>, WINDOW <const>, REFILL <const> = 0, 1, 2

local function blank(key)
  return {
    key = key, kind = NOTHING, limit = 0, remaining = 0, at = 0, keep = 0, one = 0, other = 0, since = 0, blocked = -NEVER,
    reserve = 0, excess = 0, newest = 0, calls = {},
  }
end

function reported_state.read(key)
  local text, state = redis.call('GET', key), blank(key)
  if not text then return state end
  if #text < SIZE or (#text - SIZE) % CALL_SIZE ~= 0 then error(rare_steps().foreign(key), 0) end
  state.first, state.kind, state.limit, state.remaining, state.at, state.keep, state.one, state.other, state.since,
    state.blocked, state.reserve, state.excess, state.newest = struct.unpack(FORMAT, text)
  for position = SIZE + 1, #text, CALL_SIZE do
    local id, ends, units, length = struct.unpack(CALL_FORMAT, text, position)
    state.calls[#state.calls + 1] = { id = id, ends = ends, units = units, length = length }
  end
  step_count = step_count + #state.calls / 2
  return state
end

-- When neither the numbers nor a block matter any more, if no call is open.
function reported_state.forgotten(state)
  return math.max(state.blocked, state.kind ~= NOTHING and state.at + state.keep or -NEVER)
end

-- When the last lease ends, and its length.
local function last_end(state)
  local ends, length = -NEVER, 0
  for _, call in ipairs(state.calls) do
    if call.ends >= ends then ends, length = call.ends, call.length end
  end
  return ends, length
end

function reported_state.expires_of(state)
  return math.max(reported_state.forgotten(state), (last_end(state)))
end

function reported_state.drop_ended(state, now)
  local left = {}
  for _, call in ipairs(state.calls) do
    if call.ends > now then left[#left + 1] = call end
  end
  state.calls = left
end

local function is_plausible(state, now)
  local ends, length = last_end(state)
  return reported_state.forgotten(state) - now <= 2 * state.keep and ends - now <= 2 * length
end

-- The state at this time, which has no `first` if it is like new. Deletes one that a broken clock wrote.
function reported_state.find(key, now)
  local state = reported_state.read(key)
  if not state.first then return state end
  if reported_state.expires_of(state) <= now then
    local fresh = blank(key)
    fresh.replaces = true
    return fresh
  end
  if not is_plausible(state, now) then
    redis.call('UNLINK', key)
    return blank(key)
  end
  return state
end

function reported_state.open_units(state, now)
  local units = 0
  for _, call in ipairs(state.calls) do
    if call.ends > now then units = units + call.units end
  end
  return units
end

-- The units of the full quota. After a window without a reported limit, at least one unit is free.
function reported_state.limit_of(state)
  return state.limit == 0 and state.kind == WINDOW and math.max(1, state.remaining) or state.limit
end

-- Whether the server has reported a limit that no call of this cost fits into.
function reported_state.is_above_limit(state, cost) return state.limit > 0 and cost > state.limit end

-- The units that the server has left at a time, if no call reaches it until then.
function reported_state.units_at(state, at)
  if state.kind == WINDOW then return at >= state.one and reported_state.limit_of(state) or state.remaining end
  return math.min(state.limit, state.remaining + mul_div(math.max(0, at - state.since), state.one, state.other))
end

-- The units that calls of this cost are expected to take.
function reported_state.expected_units(state, cost)
  return state.kind == REFILL and cost + mul_div_up(cost, state.excess, 1000) or cost
end

-- The largest cost of calls that are expected to take at most these units.
function reported_state.cost_within(state, units)
  if units <= 0 then return 0 end
  return state.kind == REFILL and mul_div(units, 1000, 1000 + state.excess) or units
end

-- The units that a call leaves to other clients if it takes so many. It may use them if it could not start otherwise.
function reported_state.reserve_next_to(state, units)
  if state.kind ~= REFILL then return 0 end
  return math.min(math.floor(state.reserve), state.limit - units)
end

-- The first time at which the server has so many units, which are at most its limit.
function reported_state.time_of_units(state, units)
  local missing = units - state.remaining
  if missing <= 0 then return -NEVER end
  if state.kind == WINDOW then return state.one end
  return state.since + mul_div_up(missing, state.other, state.one)
end

-- Counts units of which the server has reported nothing. Once a window is over, it is unknown when they would come back.
function reported_state.spend(state, units, now)
  if state.kind == NOTHING or (state.kind == WINDOW and now >= state.one) then return end
  local left = reported_state.units_at(state, now)
  state.remaining = math.max(0, left - units)
  if state.kind == REFILL then state.since = math.max(state.since, now) end
end

-- Writes a state, or deletes one that is like new, and an expired one in its place. Returns when the key expires, and in how long.
function reported_state.write(state, now, stamp)
  local expires = reported_state.expires_of(state)
  if expires == -NEVER then
    if state.first or state.replaces then redis.call('UNLINK', state.key) end
    return now, 0
  end
  state.first = state.first or stamp
  local parts = {
    struct.pack(FORMAT, state.first, state.kind, state.limit, state.remaining, state.at, state.keep, state.one, state.other,
      state.since, state.blocked, state.reserve, state.excess, state.newest),
  }
  for _, call in ipairs(state.calls) do
    parts[#parts + 1] = struct.pack(CALL_FORMAT, call.id, call.ends, call.units, call.length)
  end
  step_count = step_count + #parts / 2
  redis.call('SET', state.key, table.concat(parts))
  return expires, expires - now
end
