-- The operations on tickets. Each may run twice. The input of all starts as `open_line` describes, and their keys are those of the
-- rules and then the queues.

-- Defines an operation, which gets the line and the rest of its input. Unless it returns a result, the items are its result.
local function define(kind, operate)
  kinds[kind] = function(run, stamp, first_key)
    local line = open_line(run, stamp, first_key)
    return operate(line, unpack(run.input, 8)) or close_line(line)
  end
end

local function is_empty(line)
  for index = 1, #line.queues do
    if first_in(line, index) then return false end
  end
  return true
end

-- A number after that of the last ticket.
local function next_number(line)
  local number = line.stamp
  for index = 1, #line.queues do
    local last = redis.call('ZREVRANGEBYSCORE', line[index], '+inf', '0', 'WITHSCORES', 'LIMIT', '0', '1')
    if last[2] then number = math.max(number, tonumber(last[2]) + 1) end
  end
  return number
end

local function notify_place(line, ticket)
  local number, wait, least = string.format('%d', ticket.number), estimate(line, ticket)
  add_item(line, line.owner, string.format('%d %s %s %d %d', QUEUED, ticket.id, number, wait, least))
end

-- The number of a ticket that is in a queue, or 0.
local function number_of(line, ticket)
  for index = 1, #line.queues do
    local score = redis.call('ZSCORE', line[index], ticket.member)
    if score then return tonumber(score) end
  end
  return 0
end

-- Starts a ticket that is in no queue if it may start, or lets it wait unless it can never start or the queue has the most tickets.
-- Returns whether it waits.
local function arrive(line, ticket, most, may_start)
  local item, kept_by, wait, is_behind = attempt(line, ticket, may_start)
  kept_by = kept_by or 1
  local is_full = not item and most >= 0 and redis.call('ZCOUNT', line[kept_by], '0', '+inf') >= most
  if is_full then item = string.format('%d %s', FULL, ticket.id) end
  if item then add_item(line, line.owner, item) else wait_at(line, ticket, kept_by, is_behind, wait) end
  return not item
end

-- Lets a ticket wait, or start at once. Its number is 0 if it is new. The most tickets are -1 for any number of them.
define('enter', function(line, id, number, most, costs)
  local ticket = own_ticket(line, id, costs)
  note_first(line)
  -- A client that has lost the reply sends the operation again.
  ticket.number = number_of(line, ticket)
  local waits = ticket.number > 0
  if not waits then
    -- A new ticket is behind all others. One that has lost its place is before those with higher numbers.
    if number == 0 then grant_turns(line) else read_heads(line) end
    ticket.number = number == 0 and next_number(line) or number
    waits = arrive(line, ticket, number == 0 and most or -1, true)
  end
  if waits or number > 0 then
    touch(line)
    grant_turns(line)
    if number_of(line, ticket) > 0 then notify_place(line, ticket) end
  end
  notify_first(line)
end)

-- Gives a ticket that was too late for its turn its place back. Starts no ticket, because the units of that turn would count against it.
-- A settlement that frees them follows, and a "wake".
define('restore', function(line, id, number, costs)
  local ticket = own_ticket(line, id, costs)
  ticket.number = number_of(line, ticket)
  if ticket.number == 0 then
    read_heads(line)
    ticket.number = number
    arrive(line, ticket, -1, false)
  end
  touch(line)
  if number_of(line, ticket) > 0 then notify_place(line, ticket) end
end)

-- Extends the lease, grants turns, and replies what has become of tickets. The input has the id, the number and the costs of each.
define('sync', function(line, ...)
  note_first(line)
  touch(line)
  grant_turns(line)
  local asked, has_notified = { ... }, false
  for index = 1, #asked, 3 do
    local id, costs = asked[index], asked[index + 2]
    local ticket = own_ticket(line, id, costs)
    ticket.number = number_of(line, ticket)
    if ticket.number == 0 then add_item(line, line.owner, string.format('%d %d', MISSING, id))
    elseif not has_notified then
      notify_place(line, ticket)
      has_notified = true
    end
    step_count = step_count + 2
  end
  notify_first(line)
end)

-- Takes a ticket out.
define('leave', function(line, id, costs)
  note_first(line)
  if not remove_from_all(line, own_ticket(line, id, costs)) then
    add_item(line, line.owner, string.format('%d %d', MISSING, id))
  end
  grant_turns(line)
  notify_first(line)
end)

-- Grants the turns of quota that another operation of the same script has freed.
define('wake', function(line)
  if is_empty(line) then return end
  note_first(line)
  grant_turns(line)
  notify_first(line, true)
end)

-- Where the settings of an algorithm have the minDifference.
local DIFFERENCES = {
  ['rolling-window'] = 3, ['fixed-window'] = 4, ['sliding-window-counter'] = 4, ['bucketed-window'] = 4, ['token-bucket'] = 6,
}

-- How long a check waits in each queue behind the tickets there, by the numbers of the rules. No queue rejects it if all of their
-- units and its own are free. Only a least difference of starts cannot be kept free for them.
local function waits_behind(line, costs)
  local ticket, waits, is_held = own_ticket(line, 0, costs), {}, false
  ticket.number = next_number(line)
  wait_of(line, cost_list(costs)) -- Reads the states.
  for index, own in ipairs(line.queues) do
    if first_in(line, index) then
      local wait = wait_behind(line, index, units_of(line, index, ticket), units_before(line, index, ticket))
      local rule = line.rules[own.number]
      local has_difference = (rule[DIFFERENCES[rule.name] or 0] or 0) > 0
      if wait > 0 or has_difference then waits[own.number], is_held = math.max(math.min(wait, MAX_AHEAD), 1000), true end
    end
  end
  return is_held and waits
end

-- Makes the results of a peek those of a check that is rejected because of the tickets before it.
local function reject_behind(results, waits)
  local number = 0
  local rejected = string.gsub(results .. ',', '(%-?%d+) (%-?%d+)([^,]*),', function(delay, own_wait, rest)
    number = number + 1
    if not waits[number] or own_wait == '-1' then return nil end
    local reason = string.find(delay, '-', 1, true) and delay or '-1'
    return string.format('%s %d%s,', reason, math.max(tonumber(own_wait), waits[number]), rest)
  end)
  return string.sub(rejected, 1, -2)
end

-- A check by a caller that does not wait, which is behind all that do.
define('tail', function(line, costs)
  line.owner = '-' -- The reply is that of a check, so its owner gets its turns by messages, too.
  if not is_empty(line) then
    note_first(line)
    grant_turns(line)
    notify_first(line)
    close_line(line)
    if line.is_cut then error('+', 0) end
  end
  local waits = not is_empty(line) and waits_behind(line, costs)
  local results = raise_false(decide(line.rules, nil, cost_list(costs), not waits, line.injected_now, line.stamp, line.first_key))
  return waits and reject_behind(results, waits) or results
end)
