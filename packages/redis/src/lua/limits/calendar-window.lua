-- The window of a calendar. The counterpart of calendar-window.ts.
--
-- The value has four numbers in a binary form, because Redis keeps up to 28 bytes in little memory: the stamp of the period's
-- first record, the period's end, the count, and the scale (see clock-skew-bound.ts). Every later record of the period has a
-- larger stamp, so a refund finds only those. What follows belongs to leased-calendar-window.lua, and stays.
--
-- The script knows no calendar. A rule has the boundaries of two periods, and the client sends others if now is in neither.

local calendar_window = {}
algorithms['calendar-window'] = calendar_window

function calendar_window.rule(limit, keep, scale, first_start, first_end, second_end)
  return {
    limit = limit, keep = keep, scale = scale,
    first_start = first_start, first_end = first_end, second_end = second_end,
  }
end

local FORMAT = '>dddB'
local SIZE = struct.size(FORMAT)
-- The size of each part that leased-calendar-window.lua adds.
local PART_SIZE = 24
calendar_window.FORMAT, calendar_window.SIZE = FORMAT, SIZE

-- The end of the period that contains now.
function calendar_window.period_end(rule, now)
  if now >= rule.first_start and now < rule.first_end then return rule.first_end end
  if now >= rule.first_end and now < rule.second_end then return rule.second_end end
  error(string.format('Expected the period of %d', now), 0) -- The client reads this (see missing-period.ts).
end

local function read(key)
  local text = redis.call('GET', key)
  if not text then return { key = key, ends = -NEVER, count = 0, scale = 0 } end
  if #text ~= SIZE and (#text < SIZE or (#text - SIZE) % PART_SIZE ~= 0) then string_state.raise_foreign(key) end
  local first, ends, count, scale = struct.unpack(FORMAT, text)
  local state = { key = key, first = first, ends = ends, count = count, scale = scale }
  if #text > SIZE then state.rest = string.sub(text, SIZE + 1) end
  return state
end

function calendar_window.pack(state)
  local text = struct.pack(FORMAT, state.first, state.ends, state.count, state.scale)
  return state.rest and text .. state.rest or text
end

calendar_window.read = read

function calendar_window.find(rule, key, now)
  local state = read(key)
  if state.ends <= now then state = { key = key, ends = -NEVER, count = 0, scale = 0 }
  elseif not string_state.is_within_scale(state.ends - now, state.scale) then
    redis.call('UNLINK', key) -- A broken clock wrote it.
    state = { key = key, ends = -NEVER, count = 0, scale = 0 }
  end
  state.period_end = calendar_window.period_end(rule, now)
  return state
end

function calendar_window.test(rule, state, now, cost)
  local used, left = state.count, state.count > 0 and state.ends - now or 0
  local wait = 0
  if cost > rule.limit then wait = NEVER elseif cost > rule.limit - used then wait = left end
  return { wait = wait, remaining = math.max(0, rule.limit - used), reset = left, next_unit = left, at = now }
end

-- The units that a peek reports as spent, and those that it reports as reserved.
function calendar_window.usage(_, state)
  return string.format(' %d 0', state.count)
end

function calendar_window.add(rule, state, cost, stamp)
  state.first = state.first or stamp
  state.ends = math.max(state.ends, state.period_end)
  state.scale = math.max(state.scale, rule.scale)
  state.count = math.min(state.count + cost, MAX_UNITS)
end

function calendar_window.report(rule, state, now, verdict)
  verdict.remaining, verdict.reset = math.max(0, rule.limit - state.count), state.ends - now
  verdict.next_unit = verdict.reset
  verdict.expires, verdict.keep = state.ends, rule.keep
  return verdict
end

function calendar_window.record(rule, state, now, cost, verdict, stamp)
  calendar_window.add(rule, state, cost, stamp)
  redis.call('SET', state.key, calendar_window.pack(state))
  return calendar_window.report(rule, state, now, verdict)
end

function calendar_window.refund(_, key, stamp, _, _, cost, kept, recorded_at)
  local state = read(key)
  -- If the server's clock has stepped back to an earlier period, a state that began later may have an earlier stamp.
  if not state.first or state.first > stamp or recorded_at >= state.ends then return end
  state.count = math.max(0, state.count - (cost - kept))
  if state.count > 0 then redis.call('SET', key, calendar_window.pack(state), 'KEEPTTL') else redis.call('UNLINK', key) end
end
