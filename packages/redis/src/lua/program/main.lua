-- The main program: runs the operations of one call in order. Each operation is atomic, and fails without the others.
--
-- KEYS     for each operation, the keys of its rules in the order of the rules
-- ARGV     one run after the other. A run consists of operations that differ only in their keys. It has its kind, its length and
--            "usual"  now, the cost, the number of rules, and for each rule its limit and window: for checks that
--                     usual-check.lua describes. `now` is empty for the server's time. If the rules have different costs, the
--                     cost is 0 and the cost of each rule follows the windows
--            others   a plan and an input: see operations.lua. Settlements of a run have one input each
-- returns  one text, because clients read it much faster than many numbers. If operations failed, an array of the text and their
--          messages, in order. The first line of the text has the server's time in seconds and microseconds. A line follows for
--          each operation that ran, which is at least the first one:
--            "!" for an operation that failed
--            nothing for a settle or reset
--            the count for a "count"
--            the indices of the leases that are lost, for a "renew"
--            the results of the rules, with a comma between them, for a check, peek or charge
--          The result of a rule that recorded an undelayed action is "remaining reset". If the hit was recorded ahead of now,
--          the difference follows. "remaining" alone means that the reset is the window. "-wait reset" means that the limit
--          rejects, has no units left, and stays so for the wait. Any other result has five numbers:
--            the delay of the action; -1 if the limit rejects it, -2 if the minDifference does
--            the wait; -1 if it is infinite
--            the remaining units
--            the reset
--            how far ahead of now the hit was recorded. If nothing was recorded: for how long the verdict is stable, -1 if
--            that is infinite
--          The time and the stamp of an operation are the server's time plus the number of operations before it. So no two
--          checks record at the same microsecond.
--
-- This file has no functions, and all but the usual check are in `load_operations`, because each run of a script creates its
-- functions again. A variable that a function captures costs as much as a function.

local call, pack, unpack_at, format, type, keys = redis.pcall, struct.pack, struct.unpack, string.format, type, KEYS
local time = redis.call('TIME')
local server_time = time[1] * 1000000 + time[2]
local lines, done_count, next_key, position = {}, 0, 0, 1
local messages, read_only_message, prepare, prepare_usual

-- After MAX_STEPS the remaining operations wait for the next script, so that other clients get their turn.
while position < #ARGV and step_count < MAX_STEPS do
  local run, plan, input, key_count, injected_now, cost, usual_rules, limit, window
  local half_start, expiry, remaining, remaining_text -- Of the last usual check, because often the next one has the same.
  local kind, times = ARGV[position], tonumber(ARGV[position + 1])
  if kind == 'usual' then
    injected_now, cost, key_count = tonumber(ARGV[position + 2]), tonumber(ARGV[position + 3]), tonumber(ARGV[position + 4])
    if key_count == 1 then limit, window = tonumber(ARGV[position + 5]), tonumber(ARGV[position + 6])
    else
      usual_rules = {}
      for index = 1, key_count do
        local place = position + 3 + 2 * index
        local own_cost = cost > 0 and cost or tonumber(ARGV[position + 4 + 2 * key_count + index])
        usual_rules[index] = { limit = tonumber(ARGV[place]), window = tonumber(ARGV[place + 1]), cost = own_cost }
      end
    end
    position = position + 5 + (cost > 0 and 2 or 3) * key_count
  else
    if not prepare then prepare, prepare_usual = load_operations() end
    run, plan, input, key_count = prepare(kind, ARGV[position + 2], ARGV[position + 3], times)
    position = position + 4
  end
  for _ = 1, times do
    local stamp, line, message = server_time + done_count, nil, nil
    -- include usual-check.lua
    if not line and not message then
      if not run then
        if not prepare then prepare, prepare_usual = load_operations() end
        run, plan, input = prepare_usual(usual_rules or { { limit = limit, window = window, cost = cost } }, injected_now)
      end
      local succeeded
      succeeded, line = pcall(run, plan, input, stamp, next_key)
      if not succeeded then message = type(line) == 'table' and line.err or tostring(line) end
    end
    if message then
      if string.find(message, 'READONLY', 1, true) then read_only_message = message end
      messages = messages or {}
      messages[#messages + 1], line = message, '!' -- Separate from the text, because a message may contain anything.
    end
    done_count, next_key, step_count = done_count + 1, next_key + key_count, step_count + 10 * key_count
    lines[done_count] = line
    if step_count >= MAX_STEPS then break end
  end
end

-- Clients detect a failover by an error of the whole call. A read-only server has written nothing.
if read_only_message then return redis.error_reply(read_only_message) end
local text = time[1] .. ' ' .. time[2] .. '\n' .. table.concat(lines, '\n')
if messages then return { text, unpack(messages) } end
return text
