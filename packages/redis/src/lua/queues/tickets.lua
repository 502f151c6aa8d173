-- The queues of callers that wait, one for each state that they need. Only a store with the option `waiting` sends its operations.
--
-- A queue is a sorted set. A ticket is a member with its number as score, so a lower number comes first. Its member is
-- "owner:id:group:costs". The owner is the store of a process, and `id` is unique in it. Tickets of one group have the same
-- limits, keys and queues, and a script that knows them can grant their turns. Other members have negative scores:
--   "!owner"   when the owner's lease ends, in milliseconds, times 64, plus 4 times its span, plus how the owner gets messages: see
--              POLLS. Its tickets are dropped after that. The lease is at most 2 ^ span seconds, so an end that is further ahead
--              is from before the clock was set back
--   "+"        the units of all tickets
--   "~"        those of the tickets that may go to the queue of another state
--   "=member"  how often a ticket has been passed: see places.lua
-- The scores of the last three are the negative numbers.
--
-- A ticket stands in the queue of the state that keeps it waiting (see places.lua), and may start when no ticket with a lower number
-- is in any queue of its states. Each operation ends with `grant_turns`: while the first ticket may start within the horizon, this
-- records its hits at the time of its start, takes it out, and sends its owner that time. So a start is always recorded before any
-- process knows it, at a time at which there is room for it.

-- How an owner gets messages: not at all, by a connection that this server counts, or by one that may be at another node.
local POLLS <const>, COUNTED <const> = 0, 1
-- The items of a reply or of a message: see `add_item`.
local GRANTED <const>, FIRST <const>, QUEUED <const>, MISSING <const> = 1, 2, 3, 4
local FULL <const>, NEVER_ALLOWED <const> = 5, 6

-- Separates the rules of a plan from its queues, which follow. A queue has the number of the rule whose state it is for, how long the
-- rule takes to free its whole quota, 0 if unknown, and the number of the rule's settings.
local function split(plan)
  if plan.rules then return end
  plan.rules, plan.queues = {}, {}
  for index = 1, #plan do
    local rule = plan[index]
    if rule.name == 'queue' then plan.queues[#plan.queues + 1] = { number = rule[1], period = rule[2], settings = rule[3] }
    else plan.rules[#plan.rules + 1] = rule end
  end
end

-- What the operations on tickets have in common. `input` starts with now, the owner, the group, how the owner gets messages, the lease
-- in milliseconds, the horizon, and the most turns to grant.
local function open_line(run, stamp, first_key)
  local plan, input = run.plan, run.input
  split(plan)
  local injected_now, owner, group, contact, lease, horizon, max_turns = unpack(input, 1, 7)
  local line = {
    rules = plan.rules, queues = plan.queues, owner = owner, group = group, contact = contact, lease = lease, horizon = horizon,
    injected_now = injected_now or nil, now = injected_now or stamp, stamp = stamp, first_key = first_key, items = {}, messages = {},
    former = {}, heads = {}, receivers = {}, max_turns = max_turns, dropped = 0,
  }
  for index = 1, #line.queues do line[index] = KEYS[first_key + #line.rules + index] end
  return line
end

local function channel_of(owner) return 'rollgate:' .. owner end

-- Adds an item for the owner of a ticket: to the reply, or to its message.
--   1 id at stamp count, the results       the ticket starts at this time. Each of so many rules has a result
--   2 id wait settings                    it is the first one, and starts after the wait. If the settings are not 0, this is the wait
--                                         by a limit with these, so the ticket may have to wait longer
--   3 id number wait least                it is in the queues, and starts about after the wait, and not before the least one
--   4 id                                  it is in no queue
--   5 id                                  the queue has too many tickets
--   6 id                                  it can never start
--   7                                     the script has left tickets of owners that have ended, so a "wake" must follow
local function add_item(line, owner, item)
  local items = line.items
  if owner ~= line.owner then
    items = line.messages[owner] or {}
    line.messages[owner] = items
  end
  items[#items + 1] = item
end

-- Sends the messages and returns the reply: now and the items, with commas between them. A lost message is found by `sync`.
local function close_line(line)
  local now = string.format('%d', line.now)
  for owner, items in pairs(line.messages) do
    redis.pcall('PUBLISH', channel_of(owner), now .. ',' .. table.concat(items, ','))
  end
  if line.is_cut then add_item(line, line.owner, '7') end
  return #line.items > 0 and now .. ',' .. table.concat(line.items, ',') or now
end

local function cost_list(costs)
  local list = {}
  for cost in string.gmatch(costs, '%d+') do list[#list + 1] = tonumber(cost) end
  return list
end

local function ticket_of(member, number)
  local owner, id, group, costs = string.match(member, '^([^:]+):(%d+):([^:]+):([%d ]+)$')
  return { member = member, number = number, owner = owner, id = id, group = group, costs = costs }
end

local function own_ticket(line, id, costs)
  return ticket_of(string.format('%s:%d:%s:%s', line.owner, id, line.group, costs))
end

local function units_of(line, index, ticket)
  return cost_list(ticket.costs)[line.queues[index].number] or 1
end

-- Whether a ticket needs several states.
local function may_move(ticket)
  return select(2, string.gsub(ticket.costs, '%f[%d][1-9]', '')) > 1
end

-- Adds to the units of the tickets in a queue.
local function add_units(line, index, ticket, units)
  redis.call('ZINCRBY', line[index], -units, '+')
  if may_move(ticket) then redis.call('ZINCRBY', line[index], -units, '~') end
end

local function remove(line, index, ticket)
  if redis.call('ZREM', line[index], ticket.member, '=' .. ticket.member) == 0 then return false end
  add_units(line, index, ticket, -units_of(line, index, ticket))
  return true
end

local function remove_from_all(line, ticket)
  local was_present = false
  for index = 1, #line.queues do was_present = remove(line, index, ticket) or was_present end
  return was_present
end

local function add_to(line, index, ticket)
  if redis.call('ZADD', line[index], 'NX', string.format('%d', ticket.number), ticket.member) == 0 then return end
  add_units(line, index, ticket, units_of(line, index, ticket))
end

-- Forgets the owners in a queue whose lease has ended.
local function drop_ended_owners(line, index)
  local least = string.format('%d', -64 * math.floor(line.stamp / 1000))
  local ended = redis.call('ZRANGEBYSCORE', line[index], least, '-64', 'LIMIT', '0', '20')
  for _, member in ipairs(ended) do
    if string.sub(member, 1, 1) == '!' then redis.call('ZREM', line[index], member) end
  end
end

-- Extends the lease of this owner in all queues.
local function touch(line)
  local ends = math.ceil(line.stamp / 1000) + line.lease
  local span = math.max(0, math.ceil(math.log(line.lease / 1000) / math.log(2)))
  for index = 1, #line.queues do
    drop_ended_owners(line, index)
    redis.call('ZADD', line[index], string.format('%d', -64 * ends - 4 * span - line.contact), '!' .. line.owner)
    redis.call('PEXPIRE', line[index], string.format('%d', 2 * line.lease + 1000))
  end
end

-- How many connections get the messages of an owner. An unknown number counts as one.
local function receivers_of(line, owner)
  if not line.receivers[owner] then
    local reply = redis.pcall('PUBSUB', 'NUMSUB', channel_of(owner))
    line.receivers[owner] = type(reply[2]) == 'number' and reply[2] or 1
  end
  return line.receivers[owner]
end

-- Returns whether the owner of a ticket still runs, and whether it gets messages.
local function contact_with(line, index, owner)
  if owner == line.owner then return true, true end
  local score = -(tonumber(redis.call('ZSCORE', line[index], '!' .. owner)) or 0)
  local contact = score % 4
  local span, now = (score - contact) / 4 % 16, line.stamp / 1000
  local ends = (score - score % 64) / 64
  if ends <= now or ends > now + 1 + 2 ^ span * 1000 then return false end
  if contact == POLLS then return true, false end
  local is_subscribed = contact ~= COUNTED or receivers_of(line, owner) > 0
  return is_subscribed, is_subscribed
end

-- How many tickets one script drops at most, because each takes about 10 microseconds.
local MOST_DROPPED <const> = 200

-- The first ticket in a queue. Drops those before it whose owner has ended. If these are too many, the first of the others belongs to no
-- group, so that it holds up all behind it, and `line.is_cut` is true.
local function first_in(line, index)
  while true do
    local found = redis.call('ZRANGEBYSCORE', line[index], '0', '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
    if #found == 0 then return nil end
    local ticket = ticket_of(found[1], tonumber(found[2]))
    local is_live, gets_messages = false, nil
    if ticket.owner then is_live, gets_messages = contact_with(line, index, ticket.owner) end
    ticket.gets_messages = gets_messages
    if is_live then return ticket end
    if line.dropped == MOST_DROPPED then
      line.is_cut, ticket.group = true, nil
      return ticket
    end
    line.dropped, step_count = line.dropped + 1, step_count + 10
    if ticket.owner then remove(line, index, ticket) else redis.call('ZREM', line[index], found[1]) end
  end
end
