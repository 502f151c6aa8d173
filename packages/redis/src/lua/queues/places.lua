-- The places of tickets. It continues tickets.lua.
--
-- A ticket holds only the queue of the state that keeps it waiting. So tickets that need others of its states pass, and a client that
-- has used up its own limit holds up no other client at a limit that they share. When that state no longer keeps the ticket, and
-- another one does, it goes to the queue of that state. Its number stays, so it is before all later tickets there.
--
-- Later tickets could pass for ever, each time taking the units for which the ticket does not wait. So a ticket that no earlier one
-- holds up, and that still goes to another queue more often than it has queues, also holds the queues of other states: those whose
-- whole quota takes at least as long to become free as it waits. So it holds up nobody at a state for longer than that state does. When
-- it has waited, all states that it has held have room, because nobody could pass there. Another one has a shorter period then, and the
-- ticket holds one queue more. So it starts after at most as many moves as it has queues.

-- The queues in which a ticket stands, by their numbers, and how often it has been passed there.
local function places_of(line, ticket)
  local places, passed = {}, 0
  for index = 1, #line.queues do
    places[index] = redis.call('ZSCORE', line[index], ticket.member) ~= false
    if places[index] then
      local score = #line.queues > 1 and redis.call('ZSCORE', line[index], '=' .. ticket.member)
      passed = math.max(passed, -(tonumber(score or 0)))
    end
  end
  return places, passed
end

-- Lets a ticket wait in the queue that keeps it for so long, and in others if it has been passed too often. Returns whether it has moved.
local function wait_at(line, ticket, kept_by, is_behind, wait)
  local places, passed = places_of(line, ticket)
  -- Only so many earlier tickets exist. When they have started, no ticket can pass any more without being counted.
  if is_behind then passed = 0
  elseif not places[kept_by] then passed = passed + 1 end
  local has_moved = false
  for index, own in ipairs(line.queues) do
    local holds_too = passed > #line.queues and (own.period == 0 or wait <= own.period)
    local is_held = index == kept_by or holds_too
    if is_held ~= places[index] then
      has_moved = true
      if is_held then add_to(line, index, ticket) else remove(line, index, ticket) end
    end
    if is_held and passed > 0 and #line.queues > 1 then redis.call('ZADD', line[index], -passed, '=' .. ticket.member) end
  end
  return has_moved
end

-- Ends an operation that has done nothing yet but drop as many tickets as it may. It then runs again, in the next script.
local function read_heads(line)
  for index = 1, #line.queues do line.heads[index] = first_in(line, index) or false end
  if line.is_cut and not line.has_begun then error('+', 0) end
  line.has_begun = true
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
