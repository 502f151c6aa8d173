-- The tickets that a queue expects. It continues estimates.lua.
--
-- A ticket waits in the queue of the state that keeps it, so scripts that know only its other states do not see it there. Its own script
-- knows when that state lets it go, and its other queues expect it from then on. A later ticket that would start after that time, and
-- take what the expected one needs, lets it join the queue with its old number. So a ticket takes no call to keep its place.
--
-- A queue has two members for an expected ticket:
--   "@member"  the negative time from which on it is expected, less EXPECTED_BASE, so that no other score is in between
--   "#member"  its negative number

local EXPECTED_BASE = 2 ^ 52
-- The part of the horizon by which an expected ticket may start after a later one, so that it need not join.
local EXPECTED_PART = 2
-- The most expected tickets that one operation looks at in a queue.
local MAX_EXPECTED = 100

-- The queues in which a ticket does not stand expect it after the wait.
local function expect(line, ticket, wait)
  for index = 1, #line.queues do
    if not redis.call('ZSCORE', line[index], ticket.member) then
      local from = format_integer(-EXPECTED_BASE - line.now - wait)
      redis.call('ZADD', line[index], from, '@' .. ticket.member, format_integer(-ticket.number), '#' .. ticket.member)
    end
    count_steps(2)
  end
end

-- The tickets that a queue expects until a time, or at all, in the order in which they are expected.
local function expected_until(line, index, time, most)
  local tickets, least = {}, time and format_integer(-EXPECTED_BASE - time) or '-inf'
  local found = redis.call('ZREVRANGEBYSCORE', line[index], format_integer(-EXPECTED_BASE / 2), least, 'WITHSCORES', 'LIMIT', '0', most)
  for place = 1, #found, 2 do
    local member = string.sub(found[place], 2)
    local ticket = ticket_of(member, -tonumber(redis.call('ZSCORE', line[index], '#' .. member) or 0))
    ticket.from = -tonumber(found[place + 1]) - EXPECTED_BASE
    tickets[#tickets + 1] = ticket
  end
  count_steps(#found)
  return tickets
end

-- The first ticket that a queue expects. Forgets those before it whose owner has ended.
local function first_expected(line, index)
  while true do
    local ticket = expected_until(line, index, nil, 1)[1]
    if not ticket then return nil end
    local is_live, gets_messages = contact_with(line, index, ticket.owner)
    ticket.gets_messages = gets_messages
    if is_live then return ticket end
    forget_expected(line, index, ticket)
  end
end

-- Forgets tickets that this queue has expected for a lease. Their owners ask at least twice per lease, so older scripts have let them go.
local function drop_unexpected(line, index)
  local least, most = format_integer(-EXPECTED_BASE - line.now + 1000 * line.lease), format_integer(-EXPECTED_BASE / 2)
  local found = redis.call('ZRANGEBYSCORE', line[index], least, most, 'LIMIT', '0', '20')
  for _, member in ipairs(found) do redis.call('ZREM', line[index], member, '#' .. string.sub(member, 2)) end
end

-- Lets the earlier tickets join a queue that it expects before this one starts, or little later. They need not join if there is room
-- for all of them then. Returns whether some have joined.
local function join_expected(line, index, ticket, wait)
  local earlier, units, latest = {}, units_of(line, index, ticket), wait + line.horizon / EXPECTED_PART
  for _, other in ipairs(expected_until(line, index, line.now + latest, MAX_EXPECTED)) do
    if other.number < ticket.number and other.group ~= line.group then
      earlier[#earlier + 1] = other
      units = units + units_of(line, index, other)
    end
  end
  if #earlier == 0 then return false end
  local has_difference = (line.rules[line.queues[index].number].min_difference or 0) > 0
  if not has_difference and wait_behind(line, index, 0, units) <= latest then return false end
  for _, other in ipairs(earlier) do
    add_to(line, index, other)
    forget_expected(line, index, other)
    line.joined[other.member] = other.from
  end
  return true
end

-- How long a ticket that one queue keeps for so long waits for those that are before it in the others then. If that is longer than
-- the horizon, it need not ask before.
local function wait_in_others(line, ticket, wait)
  wait_of(line, cost_list(ticket.costs)) -- Reads the states.
  local longest = wait
  for index, own in ipairs(line.queues) do
    if own.period > 0 and not redis.call('ZSCORE', line[index], ticket.member) then
      local ahead = units_before(line, index, ticket)
      for _, other in ipairs(expected_until(line, index, line.now + wait, MAX_EXPECTED)) do
        if other.number < ticket.number and other.group ~= line.group then ahead = ahead + units_of(line, index, other) end
      end
      longest = math.max(longest, wait_behind(line, index, units_of(line, index, ticket), ahead))
    end
  end
  return longest > wait + line.horizon and longest or wait
end
