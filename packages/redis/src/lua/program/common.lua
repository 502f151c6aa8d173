-- What all scripts have. A script consists of this file, the algorithms that it needs and the files that they depend on (see
-- ../algorithm-registry.ts), decide.lua, what changes states if an operation does (see changes.lua), and main.lua.
--
-- All times are whole microseconds, because differences of whole numbers below 2^53 are exact. Each call of a script creates its
-- functions again, at 300 instructions each, and each variable that a function captures takes 150. So functions are few, they get
-- what they need as arguments, and what few operations need is created when one needs it. A text that is a number for sure is added to
-- 0, because `tonumber` reads it twice.

-- Redis has Lua 5.1. The build puts the values of constants in the place of their names.
local NEVER <const> = (1 / 0)
-- Sums of units above this are not exact.
local MAX_UNITS = 2 ^ 53 - 1
-- How far ahead of now a debt ends at most: 100 years.
local MAX_AHEAD <const> = 3155760000000000

-- What `apply` does: tests only, records if there is room, records what a test has found to have room, or records more than there
-- is room for, without the reservation of a check.
local TEST <const>, CHECK <const>, RECORD <const>, OVERDRAW <const> = 0, 1, 2, 3

-- A rule is a list of the settings of a limit, and has the name of the algorithm and the function that decides by them:
--
--   apply(rule, key, now, cost, mode, stamp, injected_now, state)
--       decides, and records if the mode says so. `stamp` is a number that only grows, and identifies the record. `state` is what a
--       test of the same operation has returned. A test writes nothing, but deletes a state that a broken clock wrote
--
-- It returns, in this order:
--   wait                   0 if the action is allowed; NEVER if it will never be; false if Redis has rejected a command, or the key has
--                          a foreign value. A message follows then, and nothing has changed
--   remaining, reset       as in a decision. A reset of -1 is infinite. Nil is the window, if the action was recorded at now without a
--                          delay, so that the usual result takes few steps
--   next_unit              how long until `remaining` is higher, and nothing but the waits changes until then. 0 if the full quota
--                          is free, and nil for slots
--   ahead                  how far ahead of now the time is by which a refund finds the hit
--   delay                  how long an allowed action has to wait in the queue
--   reason                 why it rejects: -2 if the minDifference does, and for longer than the limit does, and -3 if the wait is
--                          advice, because reserved units may come back at any time
--   state                  after a test
--   usage                  after a test, what a peek reports in addition. Of a calendar's window always, because a check reports it, too

local keys = KEYS

-- Runs a command, and returns its error as a table with `err`.
local command = redis.pcall

-- How many steps the script has taken. A step takes about a microsecond. A script that reaches MAX_STEPS leaves its remaining
-- operations to the next script, so every function that takes more than a few steps counts them.
local step_count = 0
