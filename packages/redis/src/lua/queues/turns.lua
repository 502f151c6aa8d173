-- The turns of tickets. It continues estimates.lua.
--
-- An operation that changes the first ticket, or frees quota, tells the owner of the first ticket, which then asks in time.

-- The most tickets that one operation lets wait elsewhere.
local MAX_MOVES = 20

-- Records the hits of a ticket that starts after the wait. Returns the time, the stamp and the result of each rule, or false if
-- a rule rejects.
local function record_start(line, costs, wait)
  local input = input_of(cost_list(costs))
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
  return is_recorded and string.format('%d %d %d,', at, line.injected_now and line.stamp or at, #line.rules) .. result
end

-- The units of each rule that the tickets of this group need that are before a ticket in a queue.
local function units_of_mates(line, index, ticket)
  local units, before = {}, '(' .. format_integer(ticket.number)
  local members = redis.call('ZRANGEBYSCORE', line[index], '0', before, 'LIMIT', '0', MAX_ADDED)
  for _, member in ipairs(members) do
    local mate = ticket_of(member)
    if mate.group == line.group then
      for number, cost in ipairs(cost_list(mate.costs)) do units[number] = (units[number] or 0) + cost end
    end
  end
  count_steps(#members)
  return units
end

-- The queue that keeps a ticket behind the earlier ones in another queue: that of the longest wait after the start of those of its
-- group. So only as many tickets of a client go to a shared queue as its own limit lets start.
local function queue_behind(line, ticket, taken)
  local mates, longest, kept_by = units_of_mates(line, taken, ticket), line.horizon, taken
  for index, own in ipairs(line.queues) do
    local wait = wait_behind(line, index, units_of(line, index, ticket), mates[own.number] or 0)
    if wait > longest then longest, kept_by = wait, index end
  end
  return kept_by
end

-- Returns the turn of a ticket, if it may start. Otherwise returns nil, the queue that keeps it, how long its states let it wait, and
-- whether it is behind an earlier ticket.
local function attempt(line, ticket, may_start)
  local wait, kept_by = wait_of(line, cost_list(ticket.costs))
  if wait == NEVER then return string.format('%d %s', NEVER_ALLOWED, ticket.id) end
  local taken = queue_before(line, ticket)
  if taken then return nil, queue_behind(line, ticket, taken), wait, true end
  local start = wait <= line.horizon and may_start and record_start(line, ticket.costs, wait)
  if start then return string.format('%d %s ', GRANTED, ticket.id) .. start end
  return nil, kept_by, wait, false
end

-- Grants the turns that are due, and lets the other first tickets of this group wait where their states keep them. Leaves in `line`
-- the first one that waits for units, and how long.
local function grant_turns(line)
  line.waiting, line.wait = nil, nil
  local tried, turns, moves = {}, 0, 0
  read_heads(line)
  while moves < MAX_MOVES do
    local ticket = first_of_group(line, tried)
    if not ticket then return end
    local turn, kept_by, wait, is_behind = attempt(line, ticket, ticket.gets_messages and turns < line.max_turns)
    if turn then
      turns = turns + 1
      remove_from_all(line, ticket)
      add_item(line, ticket.owner, turn)
      read_heads(line)
    else
      tried[ticket.member] = true
      if kept_by and wait_at(line, ticket, kept_by, is_behind) then
        moves = moves + 1
        read_heads(line)
      end
      if not line.waiting and (wait > line.horizon or not is_behind) then line.waiting, line.wait = ticket, wait end
    end
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
  local waiting, told = line.waiting or {}, {}
  for index = 1, #line.queues do
    local first = first_in(line, index)
    if first and first.gets_messages and not told[first.member] then
      -- Only a script with its limits and keys knows its wait.
      local has_wait = first.member == waiting.member
      if has_freed or line.former[index] ~= first.member or has_wait and first.owner == line.owner then
        told[first.member] = true
        add_item(line, first.owner, string.format('%d %s %d', FIRST, first.id, has_wait and line.wait or 0))
      end
    end
  end
end
