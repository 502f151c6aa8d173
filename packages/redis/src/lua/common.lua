-- One script is made of: this, the algorithms that are asked for and what they need (see ../algorithm-registry.ts), and main.lua.
--
-- All times are whole microseconds: differences of whole numbers below 2^53 are exact. A script is run for every check,
-- so whatever the usual check does not need is looked for only where it is needed.

local NEVER = math.huge

-- Each algorithm by the name of its TypeScript twin, as a table of steps:
--   rule(numbers...)       a rule from the numbers of a limit
--   find(rule, key, now, stamp)  what is known of a key; writes nothing, but forgets what a broken clock wrote
--   test(rule, state, now, cost)  the verdict; writes nothing
--   record(rule, state, now, cost, verdict, stamp)  records, and returns the verdict from then on. `stamp` is a number that
--                          only grows: what is known of a new key is known since then
--   refund(rule, key, stamp, now, at, cost, recorded_at)  takes back what was recorded, if the key is still the one that it
--                          was when the stamp was this; returns when the key expires, and the keep, if they have changed
--   forget(key, stamp)     forgets the key, where more than its removal is needed: nothing recorded before is to be found
-- A verdict has: wait (0 allows, NEVER is for ever), remaining, reset, at (by which the hit can be refunded), steady (how
-- long nothing but the waits changes by the passing of time), delay if the action is to be held, is_apart
-- if a minDifference rejects longer than the limit does; after a record also expires and keep.
local algorithms = {}

local written, text_written

-- A whole number as text, which Lua would round. Most numbers of one script are the same moment.
local function text_of(number)
  if number ~= written then written, text_written = number, string.format('%d', number) end
  return text_written
end

-- What this script has cost so far, in steps that take about a microsecond each. A script that has done too much leaves the
-- rest of its operations to the next one, so whatever takes more than some steps says so.
local work = 0

local function spend(steps) work = work + steps end

-- Defines more of a module when something is asked for that it does not have yet: each run of a script makes its
-- functions anew, and the usual check needs few of them.
local function on_demand(module, define)
  local before = getmetatable(module)
  setmetatable(module, {
    __index = function(_, name)
      setmetatable(module, before)
      define()
      return module[name]
    end,
  })
end
