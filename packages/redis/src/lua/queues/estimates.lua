-- How long tickets wait. It continues places.lua.

-- The most tickets of which an operation adds the units one by one.
local MAX_ADDED <const> = 100

-- How long a ticket with these costs would wait if it were the first one, and the queue of the state with the longest wait.
local function wait_of(line, costs)
  raise_false(decide(line.rules, nil, costs, false, line.injected_now, line.stamp, line.first_key))
  local wait, longest = 0, nil
  for index, own in ipairs(line.queues) do
    local own_wait = line.rules[own.number].wait
    if own_wait > wait then wait, longest = own_wait, index end
  end
  return wait, longest
end

-- The units of the tickets with numbers in a range.
local function units_between(line, index, from, to)
  local units = 0
  local members = redis.call('ZRANGEBYSCORE', line[index], from, to)
  for _, member in ipairs(members) do units = units + units_of(line, index, ticket_of(member)) end
  step_count = step_count + #members
  return units
end

-- The units of the tickets before this one in a queue. In the middle of a long queue, at least that many.
local function units_before(line, index, ticket)
  local key, number = line[index], string.format('%d', ticket.number)
  local count = redis.call('ZCOUNT', key, '0', '(' .. number)
  if count <= MAX_ADDED then return units_between(line, index, '0', '(' .. number) end
  -- A caller whose wait seems longer than its timeout rejects, so it must not seem too long.
  if redis.call('ZCOUNT', key, '(' .. number, '+inf') > MAX_ADDED then return count end
  local all = -(tonumber(redis.call('ZSCORE', key, '+')) or 0)
  if redis.call('ZSCORE', key, ticket.member) then all = all - units_of(line, index, ticket) end
  return all - units_between(line, index, '(' .. number, '+inf')
end

-- How long a ticket waits for units of one state if so many others start before as early as possible, and nothing is freed. Exact
-- for costs of 1.
local function wait_behind(line, index, cost, ahead)
  local number, period = line.queues[index].number, line.queues[index].period
  local rule, longest = line.rules[number], line.rules[number].wait
  if not rule.limit or cost > rule.limit then return longest end
  local units = ahead + cost
  local rounds = period > 0 and math.max(0, math.floor((units - 1) / rule.limit)) or 0
  if period == 0 and units > rule.limit then return math.max(longest, 1000) end
  local rest = math.max(1, units - rounds * rule.limit)
  local key = KEYS[line.first_key + number]
  local wait, message = rule.apply(rule, key, line.now, rest, TEST, line.stamp, line.injected_now, rule.state)
  if wait == false then error(message, 0) end
  return math.max(longest, wait + rounds * period)
end

-- How long a ticket waits if all before it stay in their queues, and how long at least, because some may let it pass.
local function estimate(line, ticket)
  local longest = wait_of(line, cost_list(ticket.costs))
  local least = longest
  for index = 1, #line.queues do
    if line.queues[index].period > 0 then
      local cost, ahead = units_of(line, index, ticket), units_before(line, index, ticket)
      local movable = -(tonumber(redis.call('ZSCORE', line[index], '~') or 0))
      longest = math.max(longest, wait_behind(line, index, cost, ahead))
      least = math.max(least, wait_behind(line, index, cost, math.max(0, ahead - movable)))
    end
  end
  return math.min(longest, MAX_AHEAD), math.min(least, MAX_AHEAD)
end
