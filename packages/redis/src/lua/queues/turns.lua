-- The turns of tickets. It continues tickets.lua.
--
-- An operation that changes the first ticket, or frees quota, tells the owner of the first ticket, which then asks in time.

-- The most tickets of which an operation adds the units one by one.
local MAX_ADDED = 100

-- How long a ticket with these costs would wait if it were the first one.
local function wait_of(line, costs)
  local list, input = cost_list(costs)
  decide(line.rules, 0, line.injected_now, false, line.stamp, line.first_key, input)
  local wait = 0
  for index = 1, #list do
    if list[index] > 0 then wait = math.max(wait, verdicts[index].wait) end
  end
  return wait
end

-- Records the hits of a ticket that starts after the wait. Returns the time, the stamp and the result of each rule, or false if
-- a rule rejects.
local function record_start(line, costs, wait)
  local _, input = cost_list(costs)
  for _, rule in ipairs(line.rules) do rule.is_dated = wait > 0 or nil end
  local at, result = line.now + wait, nil
  -- The time of the start is also its stamp, so that the keys expire by the time of the server.
  if line.injected_now then result = decide(line.rules, 0, at, true, line.stamp, line.first_key, input)
  else result = decide(line.rules, 0, nil, true, at, line.first_key, input) end
  local is_recorded = true
  for index, rule in ipairs(line.rules) do
    rule.is_dated = nil
    is_recorded = is_recorded and verdicts[index].wait == 0
  end
  count_steps(20)
  return is_recorded and string.format('%d %d,', at, line.injected_now and line.stamp or at) .. result
end

-- Grants the turns that are due. Leaves the first ticket of this group in `line`, and how long it waits.
local function grant_turns(line)
  line.first, line.wait = nil, nil
  local turns = 0
  while true do
    local ticket = first_of_all(line)
    if not ticket then return end
    local wait, start = wait_of(line, ticket.costs), nil
    if wait == NEVER then start = string.format('%d %s', NEVER_ALLOWED, ticket.id)
    elseif wait <= line.horizon and ticket.gets_messages and turns < line.max_turns then
      start = record_start(line, ticket.costs, wait)
      start = start and string.format('%d %s ', GRANTED, ticket.id) .. start
    end
    if not start then
      line.first, line.wait = ticket, wait
      return
    end
    turns = turns + 1
    remove_from_all(line, ticket)
    add_item(line, ticket.owner, start)
  end
end

-- Remembers the first tickets, so that `tell_first` finds those that have become the first ones.
local function note_first(line)
  for index = 1, #line.queues do
    line.former[index] = redis.call('ZRANGEBYSCORE', line[index], '0', '+inf', 'LIMIT', '0', '1')[1]
  end
end

-- Tells the owner of each ticket that has become the first one of a queue. After an operation that has freed quota, tells all.
local function tell_first(line, has_freed)
  local first = line.first
  if first and first.gets_messages and (has_freed or first.owner == line.owner or line.former[1] ~= first.member) then
    add_item(line, first.owner, string.format('%d %s %d', FIRST, first.id, line.wait))
  end
  local told = { [first and first.member or ''] = true }
  for index = 1, #line.queues do
    local other = first_in(line, index)
    if other and not told[other.member] and (has_freed or line.former[index] ~= other.member) then
      told[other.member] = true
      -- Only a script with its limits and keys knows its wait.
      if other.gets_messages then
        add_item(line, other.owner, string.format('%d %s 0', FIRST, other.id))
      end
    end
  end
end

-- The units of the tickets with numbers in a range.
local function units_between(line, index, from, to)
  local units = 0
  local members = redis.call('ZRANGEBYSCORE', line[index], from, to)
  for _, member in ipairs(members) do units = units + units_of(line, index, ticket_of(member)) end
  count_steps(#members)
  return units
end

-- The units of the tickets before this one, for the rule of a queue. In the middle of a long queue, at least that many.
local function units_before(line, index, ticket)
  local key, number = line[index], format_integer(ticket.number)
  local count = redis.call('ZCOUNT', key, '0', '(' .. number)
  if count <= MAX_ADDED then return units_between(line, index, '0', '(' .. number) end
  -- A caller whose wait seems longer than its timeout rejects, so it must not seem too long.
  if redis.call('ZCOUNT', key, '(' .. number, '+inf') > MAX_ADDED then return count end
  local all = -(tonumber(redis.call('ZSCORE', key, '+')) or 0)
  if redis.call('ZSCORE', key, ticket.member) then all = all - units_of(line, index, ticket) end
  return all - units_between(line, index, '(' .. number, '+inf')
end

-- How long a ticket waits in one queue if all before it start as early as possible and nothing is freed. Exact for costs of 1.
local function wait_in(line, index, ticket)
  local number, period = line.queues[index].number, line.queues[index].period
  local rule, cost = line.rules[number], units_of(line, index, ticket)
  local longest = verdicts[number].wait
  if not rule.limit or cost > rule.limit then return longest end
  local units = units_before(line, index, ticket) + cost
  local rounds = period > 0 and math.max(0, math.floor((units - 1) / rule.limit)) or 0
  if period == 0 and units > rule.limit then return math.max(longest, 1000) end
  local verdict = rule.algorithm.test(rule, states[number], line.now, math.max(1, units - rounds * rule.limit))
  return math.max(longest, verdict.wait + rounds * period)
end

-- How long a ticket waits in all queues.
local function estimate(line, ticket)
  local longest = wait_of(line, ticket.costs)
  for index = 1, #line.queues do
    if line.queues[index].period > 0 then longest = math.max(longest, wait_in(line, index, ticket)) end
  end
  return math.min(longest, MAX_AHEAD)
end
