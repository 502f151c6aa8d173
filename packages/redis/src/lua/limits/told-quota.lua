-- A quota whose numbers a server tells. The counterpart of told-quota.ts, told-state.ts and tell-numbers.ts.
--
-- The value has the numbers in a binary form: the stamp of its first record, the kind, the limit, the remaining units, when they
-- arrived, how long they matter, the end of a window at the latest and at the earliest or the units and the time of a rate, since
-- when a quota refills, until when no call starts, and the id of the newest call. Then come the open calls in the order of their
-- ids: the id, when its lease ends, its units, and the length of the lease.

local told_quota = {}
algorithms['told-quota'] = told_quota

local FORMAT, CALL_FORMAT = '>dBddddddddd', '>dddd'
local SIZE, CALL_SIZE = struct.size(FORMAT), struct.size(CALL_FORMAT)
local NOTHING, WINDOW, REFILL = 0, 1, 2
local TOLERANCE, DEFAULT_SPAN, MAX_FILL = 1000000, 60000000, 2 ^ 51

-- The settings of a limit that tells have the numbers behind the others.
function told_quota.rule(limit, lease, max_age, retry_after, kind, remaining, told_limit, reset, window, block, age)
  local rule = { limit = limit, lease = lease, max_age = max_age, retry_after = retry_after }
  if kind then
    rule.told = {
      kind = kind, remaining = remaining, limit = told_limit, reset = reset, window = window, block = block, age = age,
    }
  end
  return rule
end

local function blank(key)
  return {
    key = key, kind = NOTHING, limit = 0, remaining = 0, at = 0, keep = 0, one = 0, other = 0, since = 0, blocked = -NEVER,
    newest = 0, calls = {},
  }
end

local function read(key)
  local text, state = redis.call('GET', key), blank(key)
  if not text then return state end
  if #text < SIZE or (#text - SIZE) % CALL_SIZE ~= 0 then string_state.raise_foreign(key) end
  state.first, state.kind, state.limit, state.remaining, state.at, state.keep, state.one, state.other, state.since,
    state.blocked, state.newest = struct.unpack(FORMAT, text)
  for position = SIZE + 1, #text, CALL_SIZE do
    local id, ends, units, length = struct.unpack(CALL_FORMAT, text, position)
    state.calls[#state.calls + 1] = { id = id, ends = ends, units = units, length = length }
  end
  count_steps(#state.calls / 2)
  return state
end

told_quota.read = read

-- When neither the numbers nor a block matter any more, if no call is open.
local function forgotten(state)
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

local function expires_of(state)
  return math.max(forgotten(state), (last_end(state)))
end

local function drop_ended(state, now)
  local left = {}
  for _, call in ipairs(state.calls) do
    if call.ends > now then left[#left + 1] = call end
  end
  state.calls = left
end

local function is_plausible(state, now)
  local ends, length = last_end(state)
  return forgotten(state) - now <= 2 * state.keep and ends - now <= 2 * length
end

function told_quota.find(_, key, now)
  local state = read(key)
  if not state.first then return state end
  if expires_of(state) <= now then
    local fresh = blank(key)
    fresh.replaces = true
    return fresh
  end
  if not is_plausible(state, now) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return blank(key)
  end
  return state
end

local function open_units(state, now)
  local units = 0
  for _, call in ipairs(state.calls) do
    if call.ends > now then units = units + call.units end
  end
  return units
end

-- The units that the server has left at a time, if no call reaches it until then.
local function units_at(state, at)
  if state.kind == WINDOW then return at >= state.one and state.limit or state.remaining end
  return math.min(state.limit, state.remaining + mul_div(math.max(0, at - state.since), state.one, state.other))
end

-- The first time at which the server has so many units, which are at most its limit.
local function time_of_units(state, units)
  local missing = units - state.remaining
  if missing <= 0 then return -NEVER end
  if state.kind == WINDOW then return state.one end
  return state.since + mul_div_up(missing, state.other, state.one)
end

-- When a call of this cost may start while so many units are open.
local function time_of(rule, state, cost, open)
  local time = NEVER
  if state.kind == NOTHING then
    -- Without open calls, a state that knows nothing has expired, so a call of any cost starts as a probe.
    if cost <= rule.limit - open then time = -NEVER end
  elseif cost <= state.limit - open then time = time_of_units(state, cost + open) end
  return math.max(state.blocked, time)
end

-- Fills in the figures that do not depend on the cost. Their times ignore open calls.
local function report(rule, state, now, open, verdict)
  local is_known, is_blocked = state.kind ~= NOTHING, state.blocked > now
  local units = is_known and units_at(state, now) or rule.limit
  local function wait_for(count)
    local time = math.max(state.blocked, is_known and time_of_units(state, count) or -NEVER)
    return math.max(0, math.min(time, forgotten(state)) - now)
  end
  verdict.remaining = is_blocked and 0 or math.max(0, units - open)
  verdict.reset = wait_for(is_known and state.limit or 1)
  verdict.next_unit = verdict.reset == 0 and 0 or wait_for(is_blocked and 1 or units + 1)
  return verdict
end

function told_quota.test(rule, state, now, cost)
  local open = open_units(state, now)
  -- The wait by the numbers alone, and the wait if all calls stay open until their leases end.
  local told_wait = math.max(0, math.min(time_of(rule, state, cost, 0), forgotten(state)) - now)
  local open_wait = math.max(0, math.min(time_of(rule, state, cost, open), expires_of(state)) - now)
  local verdict = { wait = told_wait, at = math.max(1, now, state.newest + 1) }
  if open_wait > told_wait then
    verdict.wait, verdict.is_estimate = math.max(told_wait, math.min(open_wait, rule.retry_after)), true
  end
  return report(rule, state, now, open, verdict)
end

function told_quota.usage(_, state, now)
  local spent = state.kind ~= NOTHING and state.limit - units_at(state, now) or 0
  return string.format(' %d %d', spent, open_units(state, now))
end

-- Writes a state, or deletes one that is like new, and an expired one in its place. Returns when the key expires, and in how long.
local function write(state, now, stamp)
  local expires = expires_of(state)
  if expires == -NEVER then
    if state.first or state.replaces then redis.call('UNLINK', state.key) end
    return now, 0
  end
  state.first = state.first or stamp
  local parts = {
    struct.pack(FORMAT, state.first, state.kind, state.limit, state.remaining, state.at, state.keep, state.one, state.other,
      state.since, state.blocked, state.newest),
  }
  for _, call in ipairs(state.calls) do
    parts[#parts + 1] = struct.pack(CALL_FORMAT, call.id, call.ends, call.units, call.length)
  end
  count_steps(#parts / 2)
  redis.call('SET', state.key, table.concat(parts))
  return expires, expires - now
end

function told_quota.record(rule, state, now, cost, verdict, stamp)
  drop_ended(state, now)
  state.calls[#state.calls + 1] = { id = verdict.at, ends = now + rule.lease, units = cost, length = rule.lease }
  state.newest = verdict.at
  verdict.expires, verdict.keep = write(state, now, stamp)
  return report(rule, state, now, open_units(state, now), verdict)
end

-- Counts units of which the server has told nothing. Once a window is over, it is unknown when they would come back.
local function spend(state, units, now)
  if state.kind == NOTHING or (state.kind == WINDOW and now >= state.one) then return end
  state.remaining = math.max(0, units_at(state, now) - units)
  if state.kind == REFILL then state.since = math.max(state.since, now) end
end

local function replace(state, told, limit, remaining, now, max_age)
  state.kind, state.limit, state.remaining, state.at = told.kind, limit, remaining, now
  state.keep = math.max(max_age, state.blocked - now) -- A block stays plausible.
end

local function tell_window(state, told, limit, remaining, now, sent, max_age)
  local latest, earliest, known = now + told.reset, sent + told.reset, state.one
  local is_over = now >= known
  -- Once a window is over, only numbers of a later one matter.
  local is_newer = earliest > known
  if not is_over then is_newer = sent >= state.at or earliest > known + TOLERANCE end
  if state.kind ~= WINDOW or is_newer then
    replace(state, told, limit, remaining, now, max_age)
    state.one, state.other = latest, earliest
    return
  end
  if is_over or latest + TOLERANCE < state.other then return end -- Of an earlier window.
  if remaining < state.remaining then state.limit, state.remaining, state.at = limit, remaining, now end
  state.one = math.min(known, latest)
  state.other = math.min(math.max(state.other, earliest), state.one)
end

local function tell_refill(state, told, limit, remaining, now, sent, max_age)
  local is_known, missing = state.kind == REFILL, limit - remaining
  if is_known and sent < state.at and remaining >= units_at(state, now) then return end
  local fill, span = state.one, state.other
  if told.window > 0 then fill, span = limit, told.window
  elseif missing > 0 and told.reset > 0 then fill, span = missing, told.reset
  elseif not is_known then fill, span = limit, DEFAULT_SPAN end
  replace(state, told, limit, remaining, now, max_age)
  state.one, state.other, state.since = math.min(fill, MAX_FILL), span, now
end

-- Updates what a key knows by the numbers of a call that was sent at a time.
local function tell(rule, state, now, sent)
  local told = rule.told
  if told.block > 0 then
    state.blocked = math.max(state.blocked, now + told.block)
    state.keep = math.max(state.keep, rule.max_age)
  end
  if told.kind == NOTHING then return end
  local limit = told.limit > 0 and told.limit or math.max(1, state.limit, told.remaining)
  local tell_kind = told.kind == WINDOW and tell_window or tell_refill
  tell_kind(state, told, limit, math.min(told.remaining, limit), now, math.min(sent, now), rule.max_age)
end

-- Records without opening a call.
function told_quota.overdraw(rule, state, now, cost, verdict, stamp)
  drop_ended(state, now)
  if rule.told then tell(rule, state, now, now - rule.told.age) else spend(state, cost, now) end
  verdict.expires, verdict.keep = write(state, now, stamp)
  return verdict
end

-- Closes a call. Returns whether it was open.
local function close(state, id)
  for index, call in ipairs(state.calls) do
    if call.id == id then
      table.remove(state.calls, index)
      return true
    end
  end
  return false
end

-- Closes the call of a check, and tells what its response has told or counts what it has cost. A negative cost stands for one
-- that a release has counted before. `state` is what `find` has returned.
function told_quota.settle(rule, state, stamp, recorded_stamp, recorded_at, now, id, cost, settled)
  local is_own_life = state.first and state.first <= recorded_stamp
  local spent = math.max(0, -cost)
  if not is_own_life and not rule.told and settled <= spent then return end
  drop_ended(state, now)
  local was_open = is_own_life and close(state, id)
  if rule.told then tell(rule, state, now, recorded_at)
  else spend(state, was_open and settled or math.max(0, settled - spent), now) end
  return write(state, now, stamp)
end

-- The input of a lease is the stamp of its check, its length, its units and its id. A call in an earlier life of the key has
-- nothing to lose.
function told_quota.renew(key, input, first, last, now, lost)
  local state = read(key)
  if not state.first or expires_of(state) <= now then return end
  if not is_plausible(state, now) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    return
  end
  local calls = {}
  for _, call in ipairs(state.calls) do calls[call.id] = call end
  for index = first, last do
    local stamp, lease, _, id = unpack(input, 4 * index - 2, 4 * index + 1)
    local call = calls[id]
    if state.first <= stamp then
      if call and call.ends > now then call.ends, call.length = now + lease, lease
      else lost[#lost + 1] = index - 1 end
    end
  end
  return (write(state, now))
end
