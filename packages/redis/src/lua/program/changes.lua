-- Operations that change states after a decision, or without one. Scripts of checks alone do not contain this file. An algorithm has
-- these steps among the `changes`, behind what checks need of its file:
--   read(key)              returns false and a message, or raises an error, if another program has written the value
--   refund(rule, key, stamp, now, at, cost, kept, recorded_at)  refunds all but the first `kept` units of what the check with
--                          this stamp recorded, unless the key was reset or expired since. Returns when the key expires and
--                          its keep, if they have changed
--   credit(rule, key, stamp, now, units, state, is_beyond)  gives up to `units` recorded units back, the newest first, and adds the
--                          others to the period if `is_beyond`. `state` is that of a test. Returns when the key expires and its keep,
--                          if they have changed
--   has_marker             true if a reset must leave a marker, so that a refund finds nothing that was recorded before
--   find, settle           what ends a reservation: see leased-calendar-window.lua. With `settles_free_calls`, a rule with reported
--                          numbers also settles what has cost nothing: see reported-quota.lua

-- The message of what `pcall` caught. Redis 6 raises texts, and later versions raise tables.
local function message_of(failure)
  return type(failure) == 'table' and failure.err or tostring(failure)
end

-- Makes a change that needs no more memory than it frees, which must work on a full server, too. Such a server rejects the first
-- write of a script if the command may need memory, and none after that. So if the change fails, this writes a TTL again
-- before it repeats the change. The script then ends, so that the checks behind this operation still get no memory.
local function change_without_memory(first_key, key_count, change, ...)
  local succeeded, failure = pcall(change, ...)
  if succeeded then return failure end
  if string.find(message_of(failure), 'OOM', 1, true) then
    for index = first_key + 1, first_key + key_count do
      local ttl = redis.call('PTTL', KEYS[index])
      if ttl > 0 then
        redis.call('PEXPIRE', KEYS[index], ttl)
        step_count = MAX_STEPS
        return change(...)
      end
    end
  end
  error(failure, 0)
end

local last_done_key

-- How long Redis knows that an operation has run, in milliseconds. A client that resends it later runs it again.
local DONE_TTL <const> = 120000

-- Whether an operation with this number has run before, because a client sent it twice. Marks it as done. A full server rejects
-- the mark, but must not reject a refund. It is marked when `change_without_memory` repeats it.
local function is_done(key, number)
  local reply = redis.pcall('SETBIT', key, number, 1)
  if type(reply) == 'table' then
    if string.find(reply.err, 'OOM', 1, true) then return false end
    error(reply.err, 0)
  end
  local was_done = reply == 1
  if key ~= last_done_key then redis.call('PEXPIRE', key, DONE_TTL) end
  last_done_key = key
  return was_done
end

-- The state with which an overdraft of so many units follows. Raises an error if the key has a foreign value, or no room.
local function state_before(rule, key, now, units, stamp, injected_now)
  local state = select(8, raise_false(rule.apply(rule, key, now, math.max(1, units), TEST, stamp, injected_now)))
  if units > 0 then raise(state.misfit) end
  return state
end

local function overdraw(rule, key, now, units, stamp, injected_now, state)
  raise_false(rule.apply(rule, key, now, units, OVERDRAW, stamp, injected_now, state))
end

-- Reads or changes a state by a step of an algorithm. Drops a damaged state.
local function run_step(step, key, ...)
  local succeeded, one, other = pcall(step, ...)
  if succeeded then return one, other end
  if one ~= 'damaged' then error(one, 0) end
  redis.call('UNLINK', key)
end

local function charge(plan, input, stamp, first_key)
  local number, injected_now, states = input[1], input[2] or nil, {}
  local now = injected_now or stamp
  -- First, because an operation that fails here runs again.
  for index = 1, #plan do
    states[index] = state_before(plan[index], KEYS[first_key + index], now, input[2 + index], stamp, injected_now)
  end
  if number and is_done(KEYS[first_key + #plan + 1], number) then return end
  for index = 1, #plan do
    local rule, key, units = plan[index], KEYS[first_key + index], input[2 + index]
    if units > 0 then overdraw(rule, key, now, units, stamp, injected_now, states[index])
    elseif units < 0 and changes[rule.name].credit then
      local expires, keep = run_step(changes[rule.name].credit, key, rule, key, stamp, now, -units, states[index], input[3 + #plan])
      if expires then expire(key, expires, keep, injected_now) end
    end
  end
end

function kinds.charge(run, stamp, first_key)
  local plan, input, injected_now, frees = run.plan, run.input, run.input[2] or nil, false
  for index = 1, #plan do frees = frees or input[2 + index] < 0 end
  -- What is added to a period needs memory.
  if frees and not input[3 + #plan] then change_without_memory(first_key, #plan, charge, plan, input, stamp, first_key)
  else charge(plan, input, stamp, first_key) end
  return raise_false(decide(plan, 1, nil, false, injected_now, stamp, first_key))
end

-- The rule, `at`, the cost and the settled cost of the key at `index`. The input of this operation follows `start`.
local function settled_hit(plan, input, start, index)
  local number, at, cost, settled = unpack(input, start + 1 + 4 * index, start + 4 + 4 * index)
  return plan[number], at, cost, settled
end

-- Settles the `count` keys of an operation whose input follows `start`.
local function settle(plan, input, stamp, first_key, start, count)
  local number, injected_now, recorded_stamp, recorded_at = unpack(input, start + 1, start + 4)
  injected_now = injected_now or nil
  local now, states = injected_now or stamp, {}
  -- Reads all keys before the first write, so that an error changes nothing.
  for index = 1, count do
    local rule, _, cost, settled = settled_hit(plan, input, start, index)
    local key, steps = KEYS[first_key + index], changes[rule.name]
    if steps.settle then states[index] = steps.find(rule, key, now)
    elseif settled > cost then states[index] = state_before(rule, key, now, settled - cost, stamp, injected_now)
    elseif count > 1 then raise_false(run_step(steps.read, key, key)) end
  end
  if number and is_done(KEYS[first_key + count + 1], number) then return '' end
  for index = 1, count do
    local rule, at, cost, settled = settled_hit(plan, input, start, index)
    local key, steps = KEYS[first_key + index], changes[rule.name]
    if steps.settle and (cost ~= 0 or (steps.settles_free_calls and rule[5])) then
      local expires, keep = steps.settle(rule, states[index], stamp, recorded_stamp, recorded_at, now, at, cost, settled)
      if expires then expire(key, expires, keep, injected_now) end
    elseif settled > cost then overdraw(rule, key, now, settled - cost, stamp, injected_now, states[index])
    elseif steps.refund then
      local expires, keep = run_step(steps.refund, key, rule, key, recorded_stamp, now, at, cost, settled, recorded_at)
      if expires then expire(key, expires, keep, injected_now) end
    end
  end
  return ''
end

function kinds.settle(run, stamp, first_key)
  local plan, input = run.plan, run.input
  local start, count = input.next, (input.size - 4) / 4
  input.next = start + input.size -- The next operation of the run starts there, even if this one fails.
  for index = 1, count do
    local _, _, cost, settled = settled_hit(plan, input, start, index)
    if settled > cost then return settle(plan, input, stamp, first_key, start, count) end
  end
  return change_without_memory(first_key, count, settle, plan, input, stamp, first_key, start, count)
end

local function reset(plan, stamp, first_key)
  for index = 1, #plan do
    local key = KEYS[first_key + index]
    if changes[plan[index].name].has_marker then raise(reset_text(key, stamp)) else redis.call('UNLINK', key) end
  end
  return ''
end

function kinds.reset(run, stamp, first_key)
  return change_without_memory(first_key, #run.plan, reset, run.plan, stamp, first_key)
end

-- Extends leases. An algorithm with leases has the step `renew` among its changes:
--
--   renew(key, input, first, last, now, lost)
--       extends the leases from `first` to `last` of a renewal's input, which have this key. Adds the indices of those that are
--       lost to `lost`. Returns when the key expires if that has changed

local function renew_all(steps, input, stamp, first_key, count)
  local injected_now, lost, first = input[1], {}, 1
  local now = injected_now or stamp
  while first <= count do
    -- The client sends the leases of a key in a row, because the calls for a key take most of the time.
    local key, last = KEYS[first_key + first], first
    while last < count and KEYS[first_key + last + 1] == key do last = last + 1 end
    local expires = steps.renew(key, input, first, last, now, lost)
    if expires then expire(key, expires, expires - now, injected_now) end
    first = last + 1
  end
  return table.concat(lost, ' ')
end

function kinds.renew(run, stamp, first_key)
  local plan, input = run.plan, run.input
  local count = (#input - 1) / 4
  return change_without_memory(first_key, count, renew_all, changes[plan[1].name], input, stamp, first_key, count)
end
