-- The main program: runs the operations of one call in order. Each operation is atomic, and fails without the others.
--
-- KEYS     for each operation, the keys of its rules in the order of the rules
-- ARGV     one run after the other. A run consists of operations that differ only in their keys. It has its kind, its length and
--            "plain"  now, the cost, the number of rules, and for each rule its limit and window: for checks that
--                     plain-window-check.lua decides. `now` is empty for the server's time. If the rules have different costs, the
--                     cost is 0 and the cost of each rule follows the windows
--            others   a plan and an input: see operations.lua. Settlements of a run have one input each
-- returns  one text, because clients read it much faster than many numbers. If operations failed, an array of the text and their
--          messages, in order. If the server is read-only and rejected all operations of the call, an error. The first line of
--          the text has the server's time in seconds and microseconds. A line follows for each operation that ran, which is at
--          least the first one:
--            "!" for an operation that failed
--            nothing for a settle or reset, and for a check that the queues hold up: see ../queues/unless-queued.lua
--            the count for a "count"
--            the indices of the leases that are lost, for a "renew"
--            the results of the rules, with a comma between them, for a check, peek or charge
--          The result of a rule that recorded an undelayed action is "remaining reset". If the hit was recorded ahead of now,
--          the difference follows. "remaining" alone means that the reset is the window. Then follows how long until more units
--          remain, in letters (see letters.lua), unless that is the reset. "-wait reset" means that the limit rejects, has no
--          units left, and has one after the wait. Any other result has five numbers:
--            the delay of the action; -1 if the limit rejects it, -2 if the minDifference does, -3 if reserved units do
--            the wait; -1 if it is infinite, also instead of the times that follow
--            the remaining units
--            the reset
--            how long until more units remain, 0 if the full quota is free. If the action was recorded: how far ahead of now,
--            and the other time follows in letters
--          Two more follow for a peek or a charge of an algorithm that reports them: the spent units, and the reserved ones.
--          The time and the stamp of an operation are the server's time plus the number of operations before it. So no two
--          checks record at the same microsecond.
--
-- Each run of a script creates its functions again, and a variable that a function captures costs as much as a function. So
-- `load_operations` creates those that plain-window-check.lua does not need.

local call, pack, unpack_at, format, sub, keys = redis.call, struct.pack, struct.unpack, string.format, string.sub, KEYS
local time = call('TIME')
local server_time = time[1] * 1000000 + time[2]
local lines, done_count, next_key, position = {}, 0, 0, 1
local messages, read_only_message, operations, prepare_plain
local read_only_count = 0

-- include plain-window-check.lua

-- Runs operations up to the number `last`, or until one fails. After MAX_STEPS the rest waits for the next script, so that other
-- clients get their turn.
local function run_operations(run, plan, input, key_count, last)
  while done_count < last and step_count < MAX_STEPS do
    local before, first_key = done_count, next_key
    done_count, next_key, step_count = before + 1, first_key + key_count, step_count + 10 * key_count
    lines[before + 1] = run(plan, input, server_time + before, first_key)
  end
end

while position < #ARGV and step_count < MAX_STEPS do
  local kind, last = ARGV[position], done_count + ARGV[position + 1]
  local run, plan, input, key_count
  if kind == 'plain' then run, plan, input, key_count, position = prepare_plain(position + 2)
  else
    operations = operations or load_operations()
    run, plan, input, key_count = operations.prepare(kind, ARGV[position + 2], ARGV[position + 3], last - done_count)
    position = position + 4
  end
-- include unless-queued.lua
  repeat
    local succeeded, failure = pcall(run_operations, run, plan, input, key_count, last)
    if not succeeded then
      local message = type(failure) == 'table' and failure.err or tostring(failure)
      if string.find(message, 'READONLY', 1, true) then read_only_message, read_only_count = message, read_only_count + 1 end
      messages = messages or {}
      messages[#messages + 1], lines[done_count] = message, '!' -- Separate from the text, because a message may contain anything.
    end
  until succeeded
end

-- Clients detect a failover by an error of the whole call. Other results must not get lost, so the store sends the operations
-- that failed again, without those that need no write.
if read_only_count == done_count and next_key == #keys then return redis.error_reply(read_only_message) end
local text = time[1] .. ' ' .. time[2] .. '\n' .. table.concat(lines, '\n')
if messages then return { text, unpack(messages) } end
return text
