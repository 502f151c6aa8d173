-- The operations on tickets. Each may run twice. The input of all starts as `open_line` describes, and their keys are those of the
-- rules and then the queues.

local function is_empty(line)
  for index = 1, #line.queues do
    if first_in(line, index) then return false end
  end
  return true
end

local function is_full(line, most)
  if most < 0 then return false end
  for index = 1, #line.queues do
    if redis.call('ZCOUNT', line[index], '0', '+inf') >= most then return true end
  end
  return false
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

local function tell_place(line, ticket)
  local number, wait = format_integer(ticket.number), estimate(line, ticket)
  add_item(line, line.owner, string.format('%d %s %s %d', QUEUED, ticket.id, number, wait))
end

-- Puts a ticket with a number into all queues, unless it is there.
local function put(line, ticket)
  for index = 1, #line.queues do add_to(line, index, ticket) end
end

local function is_queued(line, ticket)
  return redis.call('ZSCORE', line[1], ticket.member)
end

-- The number of a ticket that is in a queue.
local function number_of(line, ticket)
  for index = 1, #line.queues do
    local score = redis.call('ZSCORE', line[index], ticket.member)
    if score then return tonumber(score) end
  end
  return 0
end

-- A new ticket starts at once, or goes into the queues unless they are full or it can never start.
local function arrive(line, ticket, most)
  local wait = wait_of(line, ticket.costs)
  if wait == NEVER then return add_item(line, line.owner, string.format('%d %s', NEVER_ALLOWED, ticket.id)) end
  if is_empty(line) and wait <= line.horizon then
    local start = record_start(line, ticket.costs, wait)
    if start then return add_item(line, line.owner, string.format('%d %s ', GRANTED, ticket.id) .. start) end
  end
  if is_full(line, most) then return add_item(line, line.owner, string.format('%d %s', FULL, ticket.id)) end
  ticket.number = next_number(line)
  touch(line)
  put(line, ticket)
  grant_turns(line)
  tell_place(line, ticket)
end

-- The input continues with the id, the number (0 for a new ticket), the most tickets (-1 for any number of them), and the costs.
function kinds.enter(plan, input, stamp, first_key)
  local line = open_line(plan, input, stamp, first_key)
  local id, number, most, costs = unpack(input, 8, 11)
  local ticket = own_ticket(line, id, costs)
  note_first(line)
  -- A client that has lost the reply sends the operation again.
  if number == 0 then number = number_of(line, ticket) end
  if number == 0 then
    grant_turns(line)
    arrive(line, ticket, most)
  else
    ticket.number = number
    touch(line)
    put(line, ticket)
    grant_turns(line)
    if is_queued(line, ticket) then tell_place(line, ticket) end
  end
  tell_first(line)
  return close_line(line)
end

-- Extends the lease, grants turns, and tells what has become of tickets. The input continues with the id, the number and the costs of
-- each. A ticket that is in a part of the queues only, because the lease ended there, gets its places back.
function kinds.sync(plan, input, stamp, first_key)
  local line = open_line(plan, input, stamp, first_key)
  note_first(line)
  touch(line)
  grant_turns(line)
  local has_told = false
  for index = 8, #input, 3 do
    local id, number, costs = unpack(input, index, index + 2)
    local ticket = own_ticket(line, id, costs)
    local places = 0
    for place = 1, #line.queues do
      if redis.call('ZSCORE', line[place], ticket.member) then places = places + 1 end
    end
    ticket.number = number
    if places == 0 then add_item(line, line.owner, string.format('%d %d', MISSING, id))
    else
      if places < #line.queues then put(line, ticket) end
      if not has_told then tell_place(line, ticket) end
      has_told = true
    end
    count_steps(2)
  end
  tell_first(line)
  return close_line(line)
end

-- Takes a ticket out. The input continues with the id and the costs.
function kinds.leave(plan, input, stamp, first_key)
  local line = open_line(plan, input, stamp, first_key)
  local id, costs = unpack(input, 8, 9)
  note_first(line)
  if not remove_from_all(line, own_ticket(line, id, costs)) then
    add_item(line, line.owner, string.format('%d %d', MISSING, id))
  end
  grant_turns(line)
  tell_first(line)
  return close_line(line)
end

-- Grants the turns of quota that another operation of the same script has freed.
function kinds.wake(plan, input, stamp, first_key)
  local line = open_line(plan, input, stamp, first_key)
  if is_empty(line) then return close_line(line) end
  note_first(line)
  grant_turns(line)
  tell_first(line, true)
  return close_line(line)
end

-- How long a check waits in each queue behind the tickets there, by the numbers of the rules. No queue rejects it if all of their
-- units and its own are free. So a ticket that waits for another limit does not hold up checks that need none of its units. Only a
-- least difference of starts cannot be kept free for it.
local function waits_behind(line, costs)
  local ticket, waits, is_held = own_ticket(line, 0, costs), {}, false
  ticket.number = next_number(line)
  wait_of(line, costs) -- Reads the states.
  for index, own in ipairs(line.queues) do
    local wait = first_in(line, index) and math.min(wait_in(line, index, ticket), MAX_AHEAD) or 0
    local has_difference = (line.rules[own.number].min_difference or 0) > 0
    if wait > 0 or has_difference and first_in(line, index) then waits[own.number], is_held = math.max(wait, 1000), true end
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

-- A check by a caller that does not wait, which is behind all that do. The input continues with the costs.
function kinds.tail(plan, input, stamp, first_key)
  local line = open_line(plan, input, stamp, first_key)
  local costs = input[8]
  local _, list = cost_list(costs)
  line.owner = '-' -- The reply is that of a check, so the turns of its owner are told by messages, too.
  if not is_empty(line) then
    note_first(line)
    grant_turns(line)
    tell_first(line)
    close_line(line)
  end
  local waits = not is_empty(line) and waits_behind(line, costs)
  local results = decide(line.rules, 0, line.injected_now, not waits, stamp, first_key, list)
  return waits and reject_behind(results, waits) or results
end
