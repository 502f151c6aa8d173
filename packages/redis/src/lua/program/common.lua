-- What all scripts have. A script consists of this file, the algorithms that it needs and the files that they depend on (see
-- ../algorithm-registry.ts), decide.lua, what changes states if an operation does, and operations.lua.
--
-- All times are whole microseconds, because differences of whole numbers below 2^53 are exact. Each call of a script creates its
-- functions again, and each variable that a function captures costs as much as a function. So what few operations need is created
-- when one needs it.

local NEVER = math.huge
-- Sums of units above this are not exact.
local MAX_UNITS = 2 ^ 53 - 1
-- How far ahead of now a debt ends at most: 100 years.
local MAX_AHEAD = 3155760000000000

-- What `apply` does, as also rolling-window.lua and main.lua write it: tests only, records if there is room, records what a test has found to have room, or records without the
-- reservation of a check.
local TEST, CHECK, RECORD, OVERDRAW = 0, 1, 2, 3

-- The algorithms by name. Each is a table of steps, like its TypeScript counterpart:
--   rule(settings...)      returns a rule from the settings of a limit
--   find(rule, key, now, stamp)  returns the state of a key. Writes nothing, but deletes a state that a broken clock wrote
--   test(rule, state, now, cost)  returns the verdict. Writes nothing
--   ensure_fits(state)     raises an error if Redis would reject the value that a record writes. Only algorithms whose values
--                          grow without a bound have this step
--   record(rule, state, now, cost, verdict, stamp)  records, and returns the verdict after it. `stamp` is a number that only
--                          grows, and identifies the record
--                          It may be more than the limit has room for
--   read(key)              raises an error if another program has written the value
--   refund(rule, key, stamp, now, at, cost, kept, recorded_at)  refunds all but the first `kept` units of what the check with
--                          this stamp recorded, unless the key was reset or expired since. Returns when the key expires and
--                          its keep, if they have changed
--   usage(rule, state, now)  returns what a peek reports in addition. Only algorithms that report it have this step
--   overdraw, settle       like `record`, without a reservation, and what ends a reservation: see leased-calendar-window.lua.
--                          A rule with `reported` also settles what has cost nothing: see reported-quota.lua
--   reset(key, stamp)      deletes the state. Only algorithms that must leave a marker have this step, so that a refund finds
--                          nothing that was recorded before
-- A verdict has these fields:
--   wait                   0 if the action is allowed; NEVER if it will never be
--   is_estimate            true if the wait is advice, because reserved units may come back at any time
--   by_min_difference      true if the minDifference rejects, and for longer than the limit does
--   remaining, reset       as in a decision. A reset of -1 is infinite
--   delay                  how long an allowed action has to wait in the queue
--   at                     the time by which a refund finds the hit
--   next_unit              how long until `remaining` is higher, and nothing but the waits changes until then. 0 if the full
--                          quota is free, and nil for slots
--   expires, keep          after a record: when the key expires, and how long it lives after its newest action
local algorithms = {}

-- The operations that are neither checks nor peeks, by their kind (see operations.lua). Each is called with the run, its stamp, and the
-- number of keys before its own.
local kinds = {}

-- A step takes about a microsecond. A script that reaches MAX_STEPS leaves its remaining operations to the next script, so every
-- function that takes more than a few steps counts them.
local function count_steps(steps) step_count = step_count + steps end

-- Rounds up, because a key must not expire before its state does. An injected clock may stand still, so a key then lives for
-- its keep and a minute by the server's clock.
local function expire(key, expires, keep, injected_now)
  if injected_now then redis.call('PEXPIRE', key, math.ceil(keep / 1000) + 60000)
  else redis.call('PEXPIREAT', key, string.format('%d', math.ceil(expires / 1000))) end
end

-- The `apply` of an algorithm with the steps `find`, `test` and `record`, which leaves its state to the script.
local function apply_steps(rule, key, now, cost, mode, stamp, injected_now, state)
  local algorithm = rule.algorithm
  state = state or algorithm.find(rule, key, now, stamp)
  local verdict = algorithm.test(rule, state, now, cost)
  local wait, delay, at = verdict.wait, verdict.delay, verdict.at
  if mode >= RECORD or (mode == CHECK and (wait == 0 or rule.counts_rejected)) then
    local record = mode == OVERDRAW and algorithm.overdraw or algorithm.record
    verdict = record(rule, state, now, cost, verdict, stamp)
    expire(key, verdict.expires, verdict.keep, injected_now)
    if rule.counts_rejected and (wait > 0 or mode == RECORD) then wait = verdict.wait end
  end
  local reason = verdict.by_min_difference and -2 or verdict.is_estimate and -3 or nil
  return wait, verdict.remaining, verdict.reset, verdict.next_unit, at - now, delay, reason, state
end
