-- The main program: runs the operations of one call in order. Each operation is atomic, and fails without the others.
--
-- KEYS     for each operation, the keys of its rules in the order of the rules
-- ARGV     one run after the other. A run consists of operations that differ only in their keys: their kind, the number of operations,
--          a plan and an input. A plan is a text: the algorithm and the settings of each rule, and "unenforced" if it never rejects, with
--          spaces between them. The input of a check and a peek are two arguments: now, which is empty for the server's time, and the cost, or the costs of the rules with
--          spaces between them. A rule with a cost of 0 never rejects and records nothing. The input of any other operation is one
--          JSON list:
--            "charge"  number, now, and the cost of each rule
--                                      records without deciding, then decides like a "peek" with a cost of 1. A negative cost
--                                      gives so many recorded units back. If true follows the costs, it
--                                      adds to the period what exceeds those
--            "settle"  number, now, stamp, recorded_at, and for each key the number of a rule, `at`, the cost, and the settled cost
--                                      replaces the costs that the check with this stamp recorded. The inputs of a run follow
--                                      each other, because decoding one list takes less time
--            "reset"                   deletes the state of the keys
--            "renew"   now, and for each key the limit, the lease, the units, and the id of a lease. Of a reservation, the stamp of
--                      its check in the place of the limit
--                                      extends these leases, and returns the indices of those that are lost. Its plan names their
--                                      algorithm
--            "count"   now, width, span, expiry, units, interval
--                                      adds to a rolling counter, and returns its count. Its plan is empty
--          In these, `now` is false for the server's time. `number` is false, or the operation runs only once: see `is_done`.
--          A call of nothing but checks by the server's time with a cost of 1 has only the plan. If that is a rolling window that has no
--          minDifference and counts no rejected attempts, it has only the limit and the window, because a check is then as short as
--          possible
-- returns  one text, because clients read it much faster than many numbers. If operations failed, an array of the text and their
--          messages, in order. If the server is read-only and rejected all operations of the call, an error. The first line of
--          the text has the server's time in seconds and microseconds. A line follows for each operation that ran, which is at
--          least the first one:
--            "!" for an operation that failed
--            "+" for an operation on queues that has to run again. It is the last line
--            nothing for a settle or reset, and for a check that the queues hold up: see ../queues/unless-queued.lua
--            the count for a "count"
--            the indices of the leases that are lost, for a "renew"
--            the results of the rules, with a comma between them, for a check, peek or charge: see `to_result` in decide.lua
--          The time and the stamp of an operation are the server's time plus the number of operations before it. So no two
--          checks record at the same microsecond.

local read_plan = #ARGV ~= 2 and function(text)
  -- Tables with room for two rules and for six settings, because a table that grows takes longer.
  local plan, rule = { nil, nil }, nil
  for word in string.gmatch(text, '%S+') do
    local apply = applies[word]
    if apply then
      rule = { nil, nil, nil, nil, nil, nil, name = word, apply = apply, limit = nil }
      plan[#plan + 1] = rule
    elseif word == 'unenforced' then rule.is_unenforced = true
    else rule[#rule + 1] = word + 0 end
  end
  for index = 1, #plan do
    rule = plan[index]
    if rule.name == 'rolling-window' and rule[1] then
      rule.window, rule.counts_rejected = rule[2], rule[4] == 1
      if rule[3] > 0 or rule.counts_rejected then rule.apply = steps_for_all_states().apply end
      rule.half_start = false -- It remembers the expiry.
    end
    if rule.name ~= 'block' then rule.limit = rule[1] elseif rule[2] then rule.used_up = plan[index - 1] end
  end
  return plan
end

local values, time = ARGV, redis.call('TIME')
local server_time, messages = time[1] * 1000000 + time[2], nil
local argument_count, position, done, next_key, read_only_count, read_only_message = #values, 1, 0, 0, 0, nil
local lines = keys -- What has the keys of operations that have run gets their lines, because a list that grows takes longer.
local last_plan_text, last_plan -- Runs often have the plan of the one before.

while position <= argument_count and step_count < MAX_STEPS do
  -- A check of one rule needs nothing but the rule, its function, now and the cost.
  local last, key_count, run, rule, apply, injected_now, cost = #keys, 1, nil, nil, nil, nil, 1
  local limit, window, plan, costs, records
  local both, allowed_line -- Of the last check, because the next one often has the same.
  if argument_count == 2 then
    limit, window, position = values[1] + 0, values[2] + 0, 3
    rule, apply = { limit, window, 0 }, apply_rolling_window
    if last > 1 then rule.half_start = false end
  else
    local kind = 'check'
    if argument_count == 1 then
      plan, position = read_plan(values[1]), 2
      key_count = #plan
      last = #keys / key_count
    else
      local text = values[position + 2]
      kind, last = values[position], done + values[position + 1]
      if text ~= last_plan_text then last_plan_text, last_plan = text, read_plan(text) end
      plan, key_count, position = last_plan, #last_plan, position + 4
      if kind == 'check' or kind == 'peek' then
        injected_now, cost = tonumber(values[position - 1]), tonumber(values[position])
        if not cost then
          costs = {}
          for own_cost in string.gmatch(values[position], '%d+') do costs[#costs + 1] = tonumber(own_cost) end
        end
        position = position + 1
      else
        local times, input = last - done, cjson.decode(values[position - 1])
        if kind == 'count' then key_count = 1
        elseif kind == 'renew' then key_count = (#input - 1) / 4
        elseif kind == 'settle' then
          input.next, input.size = 0, #input / times
          key_count = (input.size - 4) / 4
        end
        if (kind == 'settle' or kind == 'charge') and input[1] then key_count = key_count + 1 end
        run = { operate = kinds[kind], plan = plan, input = input }
      end
    end
    if kind == 'check' and key_count == 1 and cost and cost > 0 and not plan[1].is_unenforced then
      rule = plan[1]
      apply, limit, window = rule.apply, rule.limit, rule.window
    end
    records = kind == 'check'
  end
-- include unless-queued
  local steps, scale = 10 * key_count, limit and limit + 1
  while done < last and step_count < MAX_STEPS do
    local stamp, line, failure = server_time + done, nil, nil
    step_count = step_count + steps
-- include unless-tickets
    if apply and not line then
      local wait, remaining, reset, next_unit, ahead, delay, reason, _, usage =
        apply(rule, keys[next_key + 1], injected_now or stamp, cost, CHECK, stamp, injected_now)
      if wait == 0 and not reset then
        local number = next_unit * scale + remaining
        if number ~= both then
          both = number
          if number < 2 ^ 53 then allowed_line = string.format('%d', number)
          else allowed_line = string.format('%d %d %d', remaining, window, next_unit) end
        end
        line = allowed_line
      elseif wait == false then failure = remaining
      else
        local is_allowed = wait == 0
        line = to_result(rule, is_allowed, is_allowed or rule.counts_rejected, is_allowed, wait, remaining, reset, next_unit, ahead,
          delay, reason, usage)
      end
    elseif not line and not run then line, failure = decide(plan, cost, costs, records, injected_now, stamp, next_key)
    elseif not line then
      local succeeded, result = pcall(run.operate, run, stamp, next_key)
      if succeeded then line = result
      elseif result == '+' then line, step_count = '+', MAX_STEPS
      else failure = type(result) == 'table' and result.err or tostring(result) end
    end
    if failure then
      if string.find(failure, 'READONLY', 1, true) then read_only_message, read_only_count = failure, read_only_count + 1 end
      messages = messages or {}
      messages[#messages + 1], line = failure, '!' -- Separate from the text, because a message may contain anything.
    end
    done = done + 1
    lines[done] = line
    next_key = next_key + key_count
  end
end

-- Clients detect a failover by an error of the whole call. Other results must not get lost, so the store sends the operations
-- that failed again, without those that need no write.
if read_only_count == done and next_key == #keys then return redis.error_reply(read_only_message) end
local text = time[1] .. ' ' .. time[2] .. '\n' .. (done > 1 and table.concat(lines, '\n', 1, done) or lines[1])
if messages then return { text, unpack(messages) } end
return text
