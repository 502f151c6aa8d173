-- The main program: runs the operations of one call in order. Each operation is atomic, and fails without the others.
--
-- KEYS     for each operation, the keys of its rules in the order of the rules
-- ARGV     one run after the other. A run consists of operations that differ only in their keys:
--            "window", the number of operations, now, the cost, the limit and the window
--                     checks of a rolling window that has no minDifference and counts no rejected attempts, on packed logs. `now` is
--                     empty for the server's time
--            others   their kind, the number of operations, a plan and an input: see operations.lua
--          A call of nothing but such checks by the server's time with a cost of 1 has only the limit and the window. If they are
--          those of another limit, it has the algorithm and its settings, or the plan if they are those of several limits. Each
--          argument takes as long as three functions
-- returns  one text, because clients read it much faster than many numbers. If operations failed, an array of the text and their
--          messages, in order. If the server is read-only and rejected all operations of the call, an error. The first line of
--          the text has the server's time in seconds and microseconds. A line follows for each operation that ran, which is at
--          least the first one:
--            "!" for an operation that failed
--            nothing for a settle or reset, and for a check that the queues hold up: see ../queues/unless-queued.lua
--            the count for a "count"
--            the indices of the leases that are lost, for a "renew"
--            the results of the rules, with a comma between them, for a check, peek or charge: see `to_result` in decide.lua
--          The time and the stamp of an operation are the server's time plus the number of operations before it. So no two
--          checks record at the same microsecond.
--
-- The loop decides a check of one window by itself, because it takes as long to create the functions that all others need.

local keys, values, time = KEYS, ARGV, redis.call('TIME')
local server_time, lines, messages = time[1] * 1000000 + time[2], {}, nil
local argument_count, position, done, next_key, read_only_count, read_only_message = #values, 1, 0, 0, 0, nil
local operations

while position <= argument_count and step_count < MAX_STEPS do
  local last, run, injected_now, cost, limit, window
  local both, allowed_line, shared -- Of the last check, because the next one often has the same.
  if argument_count == 2 then
    last, cost, limit, window, position = #keys, 1, tonumber(values[1]), tonumber(values[2]), 3
  elseif values[position] == 'window' then
    last, injected_now, cost = done + values[position + 1], tonumber(values[position + 2]), tonumber(values[position + 3])
    limit, window, position = tonumber(values[position + 4]), tonumber(values[position + 5]), position + 6
  else
    operations = operations or load_operations()
    run, position = operations.read_run(values, position)
    last = done + run.times
  end
  local key_count = run and run.key_count or 1
  if last > done + 1 then shared = {} end
-- include unless-queued
  while done < last and step_count < MAX_STEPS do
    local stamp, first_key, line, failure = server_time + done, next_key, nil, nil
    done, next_key, step_count = done + 1, first_key + key_count, step_count + 10 * key_count
-- include unless-tickets
    if limit and not line then
      local wait, remaining, reset, next_unit =
        apply_usual(limit, window, keys[first_key + 1], injected_now or stamp, cost, 1, stamp, injected_now, nil, shared)
      if wait == 0 then
        local number = next_unit * (limit + 1) + remaining
        if number ~= both then both, allowed_line = number, to_allowed(limit, window, remaining, reset, next_unit) end
        line = allowed_line
      elseif wait then line = string.format('-%d %d', wait, reset)
      elseif wait == false then failure = remaining
      elseif not run then
        operations = operations or load_operations()
        run = operations.run_of_window(limit, window, cost, injected_now)
      end
    end
    if not line and not failure then
      local succeeded, result = pcall(run.operate, run, stamp, first_key)
      if succeeded then line = result else failure = type(result) == 'table' and result.err or tostring(result) end
    end
    if failure then
      if string.find(failure, 'READONLY', 1, true) then read_only_message, read_only_count = failure, read_only_count + 1 end
      messages = messages or {}
      messages[#messages + 1], line = failure, '!' -- Separate from the text, because a message may contain anything.
    end
    lines[done] = line
  end
end

-- Clients detect a failover by an error of the whole call. Other results must not get lost, so the store sends the operations
-- that failed again, without those that need no write.
if read_only_count == done and next_key == #keys then return redis.error_reply(read_only_message) end
local text = time[1] .. ' ' .. time[2] .. '\n' .. table.concat(lines, '\n')
if messages then return { text, unpack(messages) } end
return text
