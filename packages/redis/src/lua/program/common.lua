-- The functions that all operations share. `load_operations` consists of this file, the algorithms that a script needs and the
-- files that they depend on (see ../algorithm-registry.ts), decisions.lua, settlements.lua if it is needed, and operations.lua.
--
-- All times are whole microseconds, because differences of whole numbers below 2^53 are exact. Redis runs a script for every
-- check, so a script computes what that of plain windows does not need only on demand.

local NEVER = math.huge
-- Sums of units above this are not exact.
local MAX_UNITS = 2 ^ 53 - 1
-- How far ahead of now a debt ends at most: 100 years.
local MAX_AHEAD = 3155760000000000

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

-- The operations by their kind (see operations.lua). Each is called with its plan, its input, its stamp, and the number of keys
-- before its own.
local kinds = {}

local last_number, last_text
local last_expires_ms, last_expires_text

-- A whole number as text. Lua's own conversion would round it. Most numbers of a script are the same time, so the last text
-- is cached.
local function format_integer(number)
  if number ~= last_number then last_number, last_text = number, string.format('%d', number) end
  return last_text
end

-- A step takes about a microsecond. A script that reaches MAX_STEPS leaves its remaining operations to the next script, so every
-- function that takes more than a few steps counts them.
local function count_steps(steps) step_count = step_count + steps end

-- Calls `define` to add more functions to a module when a missing one is first used. Each run of a script creates its
-- functions again, and the check of plain windows needs few of them.
local function define_lazily(module, define)
  local before = getmetatable(module)
  setmetatable(module, {
    __index = function(_, name)
      setmetatable(module, before)
      define()
      return module[name]
    end,
  })
end

-- The message of what `pcall` caught. Redis 6 raises texts, and later versions raise tables.
local function message_of(failure)
  return type(failure) == 'table' and failure.err or tostring(failure)
end

-- Makes a change that needs no more memory than it frees, which must work on a full server, too. Such a server rejects the first
-- write of a script if the command may need memory, and none after that. So if the change fails, this writes a TTL again
-- before it repeats the change. The script then ends, so that the checks behind this operation still get no memory.
local function change_without_memory(first_key, key_count, change, ...)
  local succeeded, failure = pcall(change, ...)
  if succeeded then return failure end
  if string.find(message_of(failure), 'OOM', 1, true) then
    for index = first_key + 1, first_key + key_count do
      local ttl = redis.call('PTTL', KEYS[index])
      if ttl > 0 then
        redis.call('PEXPIRE', KEYS[index], ttl)
        step_count = MAX_STEPS
        return change(...)
      end
    end
  end
  error(failure, 0)
end

-- Rounds up, because a key must not expire before its state does. An injected clock may stand still, so a key then lives for
-- its keep and a minute by the server's clock.
local function expire(key, expires, keep, injected_now)
  if injected_now then redis.call('PEXPIRE', key, math.ceil(keep / 1000) + 60000) return end
  local expires_ms = math.ceil(expires / 1000)
  if expires_ms ~= last_expires_ms then last_expires_ms, last_expires_text = expires_ms, string.format('%d', expires_ms) end
  redis.call('PEXPIREAT', key, last_expires_text)
end
