-- How to run operations in their general form. main.lua runs them, and this file returns how to prepare a run: `prepare` for the
-- operations of a run of ARGV, and `check_plain_windows` for the checks that
-- plain-window-check.lua leaves to it.
--
-- A plan is a flat JSON list, because Redis takes twice as long to read nested lists: for each rule its algorithm, 1 if it counts
-- rejected attempts, the number of its settings, and the settings. The input of an operation is a JSON list, too:
--   "check"   cost, now                decides and records
--   "peek"    cost, now                decides only
--             If the rules have different costs, the cost is 0 and the cost of each rule follows `now`. A rule with a cost of 0
--             never rejects and records nothing.
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
-- `now` is false for the server's time. `number` is false, or the operation runs only once: see `is_done`.

local plans = {}

local function read_plan(text)
  if plans[text] then return plans[text] end
  local values, plan, position = cjson.decode(text), {}, 0
  while position < #values do
    local algorithm, counts_rejected, count = unpack(values, position + 1, position + 3)
    position = position + 3
    local rule = algorithms[algorithm].rule(unpack(values, position + 1, position + count))
    rule.algorithm, rule.counts_rejected = algorithms[algorithm], counts_rejected == 1
    plan[#plan + 1], position = rule, position + count
  end
  plans[text] = plan
  return plan
end

-- Returns the function that runs operations of this kind, their plan and input, and how many keys each has.
local function prepare(kind, plan_text, input_text, times)
  local plan, input = read_plan(plan_text), cjson.decode(input_text)
  local key_count = #plan
  if kind == 'count' then key_count = 1
  elseif kind == 'renew' then key_count = (#input - 1) / 4
  elseif kind == 'settle' then
    input.next, input.size = 0, #input / times
    key_count = (input.size - 4) / 4
  end
  if (kind == 'settle' or kind == 'charge') and input[1] then key_count = key_count + 1 end
  return kinds[kind], plan, input, key_count
end

-- Decides a check of plain windows that plain-window-check.lua leaves to the general one.
local function check_plain_windows(windows, injected_now, stamp, first_key)
  if not windows.plan then
    local plan, input = {}, { 0, injected_now or false }
    for index, plain in ipairs(windows) do
      local rule = algorithms['rolling-window'].rule(plain.limit, plain.window, 0)
      rule.algorithm = algorithms['rolling-window']
      plan[index], input[index + 2] = rule, plain.cost
    end
    windows.plan, windows.input = plan, input
  end
  return kinds.check(windows.plan, windows.input, stamp, first_key)
end

return { prepare = prepare, check_plain_windows = check_plain_windows }
