-- Reads the operations of ARGV that main.lua does not decide by itself.
--
-- A plan is a flat JSON list, because Redis takes twice as long to read nested lists: for each rule its algorithm, 1 if it counts
-- rejected attempts, the number of its settings, and the settings. The input of a check and a peek are two arguments: now, which
-- is empty for the server's time, and the cost, or the costs of the rules with spaces between them. A rule with a cost of 0 never
-- rejects and records nothing. The input of any other operation is one JSON list:
--   "charge"  number, now, and the cost of each rule
--                                      records without deciding, then decides like a "peek" with a cost of 1
--   "settle"  number, now, stamp, recorded_at, and for each key the number of a rule, `at`, the cost, and the settled cost
--                                      replaces the costs that the check with this stamp recorded. The inputs of a run follow
--                                      each other, because decoding one list takes less time
--   "reset"                            deletes the state of the keys
--   "renew"   now, and for each key the limit, the lease, the units, and the id of a lease. Of a reservation, the stamp of its
--             check in the place of the limit
--                                      extends these leases, and returns the indices of those that are lost. Its plan names
--                                      their algorithm
--   "count"   now, width, span, expiry, units, interval
--                                      adds to a rolling counter, and returns its count. It has no plan
-- In these, `now` is false for the server's time. `number` is false, or the operation runs only once: see `is_done`.

local plans = {}

local function create_rule(algorithm, counts_rejected, ...)
  local rule = algorithm.rule(...)
  rule.algorithm, rule.apply, rule.counts_rejected = algorithm, algorithm.apply or apply_steps, counts_rejected
  return rule
end

local function read_plan(text)
  if plans[text] then return plans[text] end
  local values, plan, position = cjson.decode(text), {}, 0
  while position < #values do
    local name, counts_rejected, count = unpack(values, position + 1, position + 3)
    position = position + 3
    plan[#plan + 1] = create_rule(algorithms[name], counts_rejected == 1, unpack(values, position + 1, position + count))
    position = position + count
  end
  plans[text] = plan
  return plan
end

local function read_costs(text)
  local costs = {}
  for cost in string.gmatch(text, '%d+') do costs[#costs + 1] = tonumber(cost) end
  return costs
end

-- Reads the run that starts at `position`, and returns where the next one starts, too.
local function read_run(values, position)
  local kind = values[position]
  local algorithm, plan = algorithms[kind], nil
  if algorithm then
    local settings = {}
    for index = 2, #values do settings[index - 1] = tonumber(values[index]) end
    plan = { create_rule(algorithm, false, unpack(settings)) }
  elseif #values == 1 then plan = read_plan(kind) end
  if plan then
    return { operate = decide, times = #KEYS / #plan, plan = plan, key_count = #plan, mode = CHECK, cost = 1 }, #values + 1
  end
  local times = tonumber(values[position + 1])
  plan = read_plan(values[position + 2])
  if kind == 'check' or kind == 'peek' then
    local cost = tonumber(values[position + 4])
    return {
      operate = decide, times = times, plan = plan, key_count = #plan, mode = kind == 'check' and CHECK or TEST,
      injected_now = tonumber(values[position + 3]), cost = cost, costs = not cost and read_costs(values[position + 4]) or nil,
    }, position + 5
  end
  local input, key_count = cjson.decode(values[position + 3]), #plan
  if kind == 'count' then key_count = 1
  elseif kind == 'renew' then key_count = (#input - 1) / 4
  elseif kind == 'settle' then
    input.next, input.size = 0, #input / times
    key_count = (input.size - 4) / 4
  end
  if (kind == 'settle' or kind == 'charge') and input[1] then key_count = key_count + 1 end
  return { operate = kinds[kind], times = times, plan = plan, key_count = key_count, input = input }, position + 4
end

-- The run of checks of one window of which `apply_usual` does not decide one.
local function run_of_window(limit, window, cost, injected_now)
  local rule = create_rule(algorithms['rolling-window'], false, limit, window, 0)
  rule.is_usual = false
  return { operate = decide, plan = { rule }, key_count = 1, mode = CHECK, injected_now = injected_now, cost = cost }
end

return { read_run = read_run, run_of_window = run_of_window }
