-- Operations that record or refund units after a decision, or without one. Scripts of checks alone do not contain this file.

local last_done_key

-- How long Redis knows that an operation has run, in milliseconds. A client that resends it later runs it again.
local DONE_TTL = 120000

-- Records units whether or not there is room.
local function overdraw(rule, state, key, units, injected_now, stamp)
  local now = injected_now or stamp
  local algorithm = rule.algorithm
  local verdict = algorithm.test(rule, state, now, units)
  verdict = (algorithm.overdraw or algorithm.record)(rule, state, now, units, verdict, stamp)
  expire(key, verdict.expires, verdict.keep, injected_now)
end

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

function kinds.charge(plan, input, stamp, first_key)
  local number, injected_now = input[1], input[2]
  -- First, because an operation that fails here runs again.
  for index = 1, #plan do
    states[index] = plan[index].algorithm.find(plan[index], KEYS[first_key + index], injected_now or stamp, stamp)
  end
  if not (number and is_done(KEYS[first_key + #plan + 1], number)) then
    ensure_all_fit(plan, true, input)
    for index = 1, #plan do
      local units = input[2 + index]
      if units > 0 then overdraw(plan[index], states[index], KEYS[first_key + index], units, injected_now, stamp) end
    end
  end
  return decide(plan, 1, injected_now, false, stamp, first_key)
end

-- The rule, `at`, the cost and the settled cost of the key at `index`. The input of this operation follows `start`.
local function settled_hit(plan, input, start, index)
  local number, at, cost, settled = unpack(input, start + 1 + 4 * index, start + 4 + 4 * index)
  return plan[number], at, cost, settled
end

-- Settles the `count` keys of an operation whose input follows `start`.
local function settle(plan, input, stamp, first_key, start, count)
  local number, injected_now, recorded_stamp, recorded_at = unpack(input, start + 1, start + 4)
  local now = injected_now or stamp
  -- Reads all keys before the first write, so that an error changes nothing.
  for index = 1, count do
    local rule, _, cost, settled = settled_hit(plan, input, start, index)
    local key, algorithm = KEYS[first_key + index], rule.algorithm
    if settled > cost or algorithm.settle then
      states[index] = algorithm.find(rule, key, now, stamp)
      if algorithm.ensure_fits then algorithm.ensure_fits(states[index]) end
    elseif count > 1 then algorithm.read(key) end
  end
  if number and is_done(KEYS[first_key + count + 1], number) then return '' end
  for index = 1, count do
    local rule, at, cost, settled = settled_hit(plan, input, start, index)
    local key = KEYS[first_key + index]
    if rule.algorithm.settle and (cost ~= 0 or rule.reported) then
      local state = states[index]
      local expires, keep = rule.algorithm.settle(rule, state, stamp, recorded_stamp, recorded_at, now, at, cost, settled)
      if expires then expire(key, expires, keep, injected_now) end
    elseif settled > cost then overdraw(rule, states[index], key, settled - cost, injected_now, stamp)
    else
      local expires, keep = rule.algorithm.refund(rule, key, recorded_stamp, now, at, cost, settled, recorded_at)
      if expires then expire(key, expires, keep, injected_now) end
    end
  end
  return ''
end

function kinds.settle(plan, input, stamp, first_key)
  local start, count = input.next, (input.size - 4) / 4
  input.next = start + input.size -- The next operation of the run starts there, even if this one fails.
  for index = 1, count do
    local _, _, cost, settled = settled_hit(plan, input, start, index)
    if settled > cost then return settle(plan, input, stamp, first_key, start, count) end
  end
  return change_without_memory(first_key, count, settle, plan, input, stamp, first_key, start, count)
end
