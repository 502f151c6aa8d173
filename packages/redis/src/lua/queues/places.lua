-- The places of tickets. It continues tickets.lua.
--
-- A ticket holds only the queue of the state that keeps it waiting. So tickets that need others of its states pass, and a client that
-- has used up its own limit holds up no other client at a limit that they share. When that state no longer keeps the ticket, and
-- another one does, it goes to the queue of that state. Its number stays, so it is before all later tickets there.
--
-- Later tickets could pass for ever, each time taking the units for which the ticket does not wait. So a ticket that no earlier one
-- holds up, and that still goes to another queue more often than it has queues, holds all of them.

-- The queues in which a ticket stands, and how often it has been passed there.
local function places_of(line, ticket)
  local places, passed = {}, 0
  for index = 1, #line.queues do
    if redis.call('ZSCORE', line[index], ticket.member) then
      places[#places + 1] = index
      local score = #line.queues > 1 and redis.call('ZSCORE', line[index], '=' .. ticket.member)
      passed = math.max(passed, -(tonumber(score or 0)))
    end
  end
  return places, passed
end

-- Lets a ticket wait in one queue, or in all of them if it has been passed too often. Returns whether it has moved.
local function wait_at(line, ticket, kept_by, is_behind)
  local places, passed = places_of(line, ticket)
  if #places == #line.queues or places[1] == kept_by and #places == 1 then return false end
  -- Only so many earlier tickets exist. When they have started, no ticket can pass any more without being counted.
  passed = is_behind and 0 or passed + 1
  for index = 1, #line.queues do
    if index == kept_by or passed > #line.queues then
      add_to(line, index, ticket)
      if passed > 0 and #line.queues > 1 then redis.call('ZADD', line[index], -passed, '=' .. ticket.member) end
    else remove(line, index, ticket) end
  end
  return true
end

local function read_heads(line)
  for index = 1, #line.queues do line.heads[index] = first_in(line, index) or false end
end

-- The first ticket of this group that is the first one of some queue, without those that were tried.
local function first_of_group(line, tried)
  local found
  for index = 1, #line.queues do
    local head = line.heads[index]
    local is_own = head and head.group == line.group and not tried[head.member]
    if is_own and (not found or head.number < found.number) then found = head end
  end
  return found
end

-- A queue in which another ticket is before this one.
local function queue_before(line, ticket)
  for index = 1, #line.queues do
    local head = line.heads[index]
    if head and head.number < ticket.number then return index end
  end
end
