-- The turns of tickets. It continues estimates.lua.
--
-- An operation that changes the first ticket, or frees quota, notifies the owner of the first ticket, which then asks in time.

-- The most tickets that one operation lets wait elsewhere.
local MAX_MOVES <const> = 20

-- Records the hits of a ticket that starts after the wait. Returns the time, the stamp and the result of each rule, or false if
-- a rule rejects.
local function record_start(line, costs, wait)
  for _, rule in ipairs(line.rules) do
    rule.is_dated = wait > 0 or nil
    if rule.name == 'rolling-window' then rule.apply = steps_for_all_states().apply end
  end
  local at = line.now + wait
  local injected_now, stamp = line.injected_now and at, line.injected_now and line.stamp or at
  -- The time of the start is also its stamp, so that the keys expire by the time of the server.
  local result = raise_false(decide(line.rules, nil, cost_list(costs), true, injected_now, stamp, line.first_key))
  local is_recorded = true
  for _, rule in ipairs(line.rules) do
    rule.is_dated = nil
    is_recorded = is_recorded and (rule.wait == 0 or rule.is_unenforced)
  end
  step_count = step_count + 20
  return is_recorded and string.format('%d %d %d,', at, stamp, #line.rules) .. result
end

-- The units of each rule that the tickets of this group need that are before a ticket in a queue.
local function units_of_mates(line, index, ticket)
  local units, before = {}, '(' .. string.format('%d', ticket.number)
  local members = redis.call('ZRANGEBYSCORE', line[index], '0', before, 'LIMIT', '0', MAX_ADDED)
  for _, member in ipairs(members) do
    local mate = ticket_of(member)
    if mate.group == line.group then
      for number, cost in ipairs(cost_list(mate.costs)) do units[number] = (units[number] or 0) + cost end
    end
  end
  step_count = step_count + #members
  return units
end

local function count_before(line, index, ticket)
  return redis.call('ZCOUNT', line[index], '0', '(' .. string.format('%d', ticket.number))
end

-- The queue that keeps a ticket behind the earlier ones in another queue, which is that of the longest wait after the start of those of
-- its group. So only as many tickets of a client go to a shared queue as its own limit lets start. Returns the wait, too, or false if
-- that other queue keeps it.
local function queue_behind(line, ticket, taken)
  local mates, longest, kept_by = units_of_mates(line, taken, ticket), false, taken
  local shared = wait_behind(line, taken, units_of(line, taken, ticket), count_before(line, taken, ticket))
  for index, own in ipairs(line.queues) do
    local wait = wait_behind(line, index, units_of(line, index, ticket), mates[own.number] or 0)
    if wait > (longest or math.max(line.horizon, shared)) then longest, kept_by = wait, index end
  end
  return kept_by, longest
end

-- Returns the turn of a ticket, if it may start. Otherwise returns nil, the queue that keeps it, how long that queue does, or false if
-- an earlier ticket there keeps it, and whether it is behind an earlier ticket at all.
local function attempt(line, ticket, may_start)
  local wait, kept_by = wait_of(line, cost_list(ticket.costs))
  if wait == NEVER then return string.format('%d %s', NEVER_ALLOWED, ticket.id) end
  local taken = queue_before(line, ticket)
  if taken then
    local queue, longest = queue_behind(line, ticket, taken)
    return nil, queue, longest, true
  end
  local start = wait <= line.horizon and may_start and record_start(line, ticket.costs, wait)
  if start then return string.format('%d %s ', GRANTED, ticket.id) .. start end
  return nil, kept_by, wait, false
end

-- Grants the turns that are due, and lets the other first tickets of this group wait where their states keep them. Leaves in `line` how
-- long each of these waits, or false if it waits for an earlier ticket.
local function grant_turns(line)
  line.waits = {}
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
      tried[ticket.member], line.waits[ticket.member] = true, wait
      if kept_by and wait_at(line, ticket, kept_by, is_behind, wait) then
        moves = moves + 1
        read_heads(line)
      end
    end
  end
end

-- Remembers the first tickets, so that `notify_first` finds those that have become the first ones.
local function note_first(line)
  for index = 1, #line.queues do
    line.former[index] = redis.call('ZRANGEBYSCORE', line[index], '0', '+inf', 'LIMIT', '0', '1')[1]
  end
end

-- How long each queue lets a ticket wait that needs one unit.
local function least_waits(line)
  local costs, waits = {}, {}
  for number = 1, #line.rules do costs[number] = 0 end
  for _, own in ipairs(line.queues) do costs[own.number] = 1 end
  wait_of(line, costs)
  for index, own in ipairs(line.queues) do
    local wait = line.rules[own.number].wait
    waits[index] = wait < NEVER and wait or 0
  end
  return waits
end

-- The message to the owner of the first ticket in a queue. Only a script with its limits and keys knows how long it waits. Others know
-- how long it does at least, if it has the same limit.
local function first_item(line, index, ticket)
  local wait, settings = line.waits[ticket.member] or 0, 0
  if ticket.group ~= line.group then
    line.least = line.least or least_waits(line)
    wait, settings = line.least[index], line.queues[index].settings
  end
  return string.format('%d %s %d %d', FIRST, ticket.id, wait, settings)
end

-- Notifies the owner of each ticket that has become the first one of a queue. After an operation that has freed quota, notifies all. A ticket
-- that waits for an earlier one in another queue is notified when that has started.
local function notify_first(line, has_freed)
  local notified = {}
  for index = 1, #line.queues do
    local first = first_in(line, index)
    local wait = first and line.waits[first.member]
    if first and first.gets_messages and not notified[first.member] and wait ~= false then
      if has_freed or line.former[index] ~= first.member or wait and first.owner == line.owner then
        notified[first.member] = true
        add_item(line, first.owner, first_item(line, index, first))
      end
    end
  end
end
